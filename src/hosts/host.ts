/** Defines the types that describe a coding agent: its properties, its hook events and the formats of Earpiece's answers. */
import type { ContactPoint } from '../core/records.ts';
import type { Process, Proof } from '../inbox/index.ts';
import type { Answer, Caller, Moment } from './moment.ts';
import type { Mark } from './quiet-mark.ts';

/** The content of one hook call. */
export type HookCall = {
  readonly moment: Moment;
  readonly caller: Pick<Caller, 'session' | 'subagent' | 'folder' | 'transcript'>;
};

/** The output and the exit code of a hook command. */
export type Printed = { readonly stdout: string; readonly stderr?: string; readonly exitCode?: number };

/** One entry of a host's hook settings. */
export type HookEvent = {
  /** The host's own pattern of tool names; undefined if the event has no pattern. */
  readonly matcher?: string;
  /** The time limit in seconds, after which the host ends the hook and continues. */
  readonly timeoutS: number;
  /**
   * Whether the host also starts this command with `--wait` in the background. If that command ends with code 2, the host wakes
   * its idle agent with the command's stderr. Default: no.
   */
  readonly waits?: true;
  /**
   * While the session has a valid quiet mark of this kind, the shell line ends the hook without starting Earpiece: see
   * `quiet-mark.ts`. Needs `sessionVariable`.
   */
  readonly marked?: Mark;
  /**
   * Arguments for the tool `hook` of the running MCP server. The host fills in their values and calls this tool. A host that
   * cannot call tools as hooks runs the command.
   */
  readonly served?: Readonly<Record<string, string>>;
  /**
   * Rules for calls, in the host's own syntax, such as `Bash(git push *)`. The host starts the command if a rule matches.
   * Default: the host starts the command for each call.
   */
  readonly onlyIf?: readonly string[];
  /** Whether this hook before a tool carries notifications while the MCP server that answers the `served` events does not run. */
  readonly standsIn?: true;
};

/**
 * The properties of a coding agent that determine Earpiece's answers to its moments. The agent reports its moments through hooks
 * or a plugin.
 */
export interface Host {
  /** The host's name on Earpiece's command line: `claude`, `codex`. */
  readonly name: string;
  /** The host's name for people: `Claude Code`. */
  readonly title: string;
  /** The agent's name in addresses: see `KNOWN_HOSTS`. */
  readonly agent: string;
  /** The contact points that the host's hooks or plugin reach. */
  readonly points: readonly ContactPoint[];
  /** The maximum number of characters of Earpiece's text. The host cuts a longer text, so Earpiece never offers more. */
  readonly maxChars: number;
  /** Whether `maxChars` counts bytes of UTF-8. */
  readonly inBytes?: boolean;
  /** Whether one process shows many sessions at the same time, so that the process identifies no single session. Default: no. */
  readonly manySessions?: boolean;
  /** Whether Earpiece adds no text at the start of a session. The first frame then explains the mark. Default: no. */
  readonly startsWithoutText?: true;
  /** How the host proves that its model has read a refusal; missing if the only proof is the time of the next call. */
  readonly proof?: Proof;
  /**
   * Reads the host's transcript of a session, to find the texts that its model has read; missing if the host has no readable
   * transcript.
   */
  readonly transcript?: Transcript;
}

export type Transcript = {
  /**
   * Returns a function that tests whether the model has read a text since `since` (epoch ms). Only the end of the file is read.
   * Returns undefined if the file cannot be read.
   */
  givenSince(file: string, since: number): ((text: string) => boolean) | undefined;
  /** Returns the path of the transcript of `session`. `file` is the transcript of another session. */
  ofSession(file: string, session: string): string;
};
/** Wakes the idle sessions of a host by a separate command. */
export interface Waker {
  /** Whether a session of this process can be woken. */
  wakes(process: Process): boolean;
  /** Whether the session of this transcript waits for its person, and the command can wake it. False if the state is uncertain. */
  isIdle(transcript: string): boolean;
  /** Returns the program that wakes the session, and its arguments. */
  command(process: Process, session: string, message: string): readonly string[];
}

export interface HookHost extends Host {
  /**
   * The hook entries in the host's settings, by the host's name of the event. For some hosts, `earpiece install` makes these
   * entries.
   */
  readonly events: Readonly<Record<string, HookEvent>>;
  /** Whether the host shows a hook's name instead of the hook's command. By default, Earpiece writes no names for hooks. */
  readonly showsName?: true;
  /** The environment variable that holds the session's id in the host's hooks. */
  readonly sessionVariable?: string;
  /** Wakes an idle session from outside. Default: sessions cannot be woken. */
  readonly waker?: Waker;

  /**
   * Reads the JSON that the host gives to a hook. Returns undefined for an event that Earpiece does not use. Throws
   * `EarpieceError` (`bad_argument`) for input of another program.
   */
  parse(input: Readonly<Record<string, unknown>>): HookCall | undefined;

  /** Formats the answer for the host. `input` is the input that `parse` got. */
  format(answer: Answer, input: Readonly<Record<string, unknown>>): Printed;
}

export const SILENT: Printed = { stdout: '' };
