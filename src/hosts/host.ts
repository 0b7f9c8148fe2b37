/** Coding agents. An agent that runs hooks has a table of its events and of the forms of its answers. */
import type { ContactPoint } from '../core/records.ts';
import type { Process } from '../inbox/index.ts';
import type { Answer, Caller, Moment } from './moment.ts';
import type { Mark } from './quiet-mark.ts';

/** The content of one hook call. Undefined for an event that Earpiece does not use. */
export type Heard = { readonly moment: Moment; readonly caller: Pick<Caller, 'session' | 'subagent' | 'folder' | 'transcript'> };

/** The output and the exit code of a hook command. */
export type Printed = { readonly stdout: string; readonly stderr?: string; readonly exitCode?: number };

/** One entry of a host's hook settings. */
export type HookEvent = {
  /** The host's own pattern of tool names; undefined: the event takes no pattern. */
  readonly matcher?: string;
  /** The host ends a hook that takes longer, and continues. */
  readonly timeoutS: number;
  /**
   * The host also starts this command with `--wait` added, in the background. If the command ends with code 2, the host wakes its
   * idle agent with the command's stderr. Default: no.
   */
  readonly waits?: true;
  /** The shell ends this hook itself while this mark of the session is valid (see `quiet-mark.ts`). Needs `sessionVariable`. */
  readonly marked?: Mark;
  /** The host can call the tool `hook` of the running MCP server instead of the command, with these arguments, which it fills. */
  readonly served?: Readonly<Record<string, string>>;
  /** The hook before a tool: it also carries while the server of a `served` event does not live. */
  readonly standsIn?: true;
};

/** The properties of a coding agent on which answers depend, whether a hook or a plugin reports its moments. */
export interface Host {
  /** Its name on Earpiece's command line: `claude`, `codex`. */
  readonly name: string;
  /** Its name for people: `Claude Code`. */
  readonly title: string;
  /** The agent's name in its address; see `KNOWN_HOSTS`. */
  readonly agent: string;
  /** The contact points that its hooks reach. */
  readonly points: readonly ContactPoint[];
  /** A longer text, in characters, does not reach the model whole. */
  readonly maxChars: number;
  /** `maxChars` counts bytes of UTF-8. */
  readonly inBytes?: boolean;
  /** One process shows many sessions at the same time, so the process identifies none of them. Default: no. */
  readonly manySessions?: boolean;
  /** How to find in the host's file of a session what its model has read. Missing if there is no readable file. */
  readonly transcript?: Transcript;
}

export type Transcript = {
  /**
   * Whether the model has read a text since `since` (epoch ms); the returned function answers for one text. It reads only the end
   * of the file; undefined if the file cannot be read.
   */
  givenSince(file: string, since: number): ((text: string) => boolean) | undefined;
  /** The file of another session in the same folder. */
  ofSession(file: string, session: string): string;
};
/** For a host that wakes its idle session by a separate command. */
export interface Waker {
  /** Whether a session of this process can be woken. */
  wakes(process: Process): boolean;
  /** Whether the session of this transcript waits for its person; false if that is uncertain. */
  isIdle(transcript: string): boolean;
  /** The program and its arguments. */
  command(process: Process, session: string, message: string): readonly string[];
}

export interface HookHost extends Host {
  /** The entries of `earpiece install` in the host's settings: each event by its own name. */
  readonly events: Readonly<Record<string, HookEvent>>;
  /** The environment variable that names the session in its hooks. */
  readonly sessionVariable?: string;
  /** How to wake its idle session from outside. Default: not at all. */
  readonly waker?: Waker;

  /**
   * Reads the JSON that the host gives a hook. Undefined for an event that Earpiece does not use. Throws `EarpieceError`
   * (`bad_argument`) for input of another program.
   */
  hear(input: Readonly<Record<string, unknown>>): Heard | undefined;

  /** The answer in the host's shape. `input` is the input that `hear` parsed. */
  say(answer: Answer, input: Readonly<Record<string, unknown>>): Printed;
}

export const SILENT: Printed = { stdout: '' };
