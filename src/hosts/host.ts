/** Coding agents. One that runs hooks has a table: how it spells its events, and what it does with the answers. */
import type { ContactPoint } from '../core/records.ts';
import type { Process } from '../inbox/index.ts';
import type { Answer, Caller, Moment } from './moment.ts';
import type { Mark } from './quiet-mark.ts';

/** The content of one hook call. Undefined: an event without a use. */
export type Heard = { readonly moment: Moment; readonly caller: Pick<Caller, 'session' | 'subagent' | 'folder' | 'transcript'> };

/** The output and the exit code of a hook command. */
export type Printed = { readonly stdout: string; readonly stderr?: string; readonly exitCode?: number };

/** One entry of a host's hook settings. */
export type HookEvent = {
  /** The host's own pattern of tool names; undefined: the event takes none. */
  readonly matcher?: string;
  /** The host ends a hook that takes longer, and goes on. */
  readonly timeoutS: number;
  /**
   * The host also starts this command with `--wait` behind it, in the background, and wakes its idle agent with what it says on
   * stderr when it ends with code 2. Default: no.
   */
  readonly waits?: true;
  /** The shell ends this hook by itself while this mark of the session holds (see `quiet-mark.ts`). Needs `sessionVariable`. */
  readonly marked?: Mark;
  /**
   * The host can call the tool `hook` of the running MCP server, with these arguments, which the host fills. The command beside
   * it ends while that server lives.
   */
  readonly served?: Readonly<Record<string, string>>;
};

/** The properties of a coding agent that answers depend on, whether a hook or a plugin reports its moments. */
export interface Host {
  /** The word on our command line: `claude`, `codex`. */
  readonly name: string;
  /** The name for people: `Claude Code`. */
  readonly title: string;
  /** The agent's name in its address; see `KNOWN_HOSTS`. */
  readonly agent: string;
  /** The contact points that its hooks reach. */
  readonly points: readonly ContactPoint[];
  /** Longer text does not reach the model whole, in characters. */
  readonly maxChars: number;
  /** `maxChars` counts bytes of UTF-8. */
  readonly inBytes?: boolean;
  /** One process shows many sessions at once, so that its process names none of them. Default: no. */
  readonly manySessions?: boolean;
  /** How to find in its own file of a session what its model was given. Missing where it keeps none that we can read. */
  readonly transcript?: Transcript;
}

export type Transcript = {
  /**
   * Whether a text was given to the model since then (epoch ms), for the texts that are asked for. Reads the end of the file only;
   * undefined where it cannot be read.
   */
  givenSince(file: string, since: number): ((text: string) => boolean) | undefined;
  /** The file of another session of the same folder. */
  ofSession(file: string, session: string): string;
};
/** A host that wakes its idle session by a separate command. */
export interface Waker {
  /** Whether a session of this process can be woken. */
  wakes(process: Process): boolean;
  /** Whether the session of this transcript waits for its person; false where that is not certain. */
  isIdle(transcript: string): boolean;
  /** The program and its arguments. */
  command(process: Process, session: string, message: string): readonly string[];
}

export interface HookHost extends Host {
  /** The entries of `earpiece install` in the host's settings: each event by its own name. */
  readonly events: Readonly<Record<string, HookEvent>>;
  /** The variable by which its hooks know their session. */
  readonly sessionVariable?: string;
  /** How its idle session is woken from outside. Default: not at all. */
  readonly waker?: Waker;

  /**
   * Reads the JSON that the host gives a hook. Undefined for an event without a use. Throws `EarpieceError` (`bad_argument`)
   * for input of another program.
   */
  hear(input: Readonly<Record<string, unknown>>): Heard | undefined;

  /** The answer in the host's shape. `input` is what `hear` read. */
  say(answer: Answer, input: Readonly<Record<string, unknown>>): Printed;
}

export const SILENT: Printed = { stdout: '' };
