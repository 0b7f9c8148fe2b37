/**
 * Defines the protocol between a plugin inside a coding agent and its bridge, a separate Earpiece process: one JSON object per
 * line. The plugin asks at each moment of the agent's work, and settles deliveries. The bridge pushes notifications that cannot
 * wait for a moment.
 */
import type { Moment } from '../moment.ts';

/** The session of a moment, in the host's own names. */
export type Whose = {
  readonly session: string;
  /** The id of a sub-agent's own session. `session` is then the session for which the sub-agent works. */
  readonly subagent?: string;
  readonly folder: string;
  readonly transcript?: string;
};

/**
 * The state of a session. `asking`: a request to the model streams. `working`: tools run. `idle`: the session waits for its
 * person, and a notification may wake it.
 */
export type SessionState = 'idle' | 'asking' | 'working';

export type FromPlugin =
  | ({ readonly do: 'ask'; readonly id: number; readonly moment: Moment } & Whose)
  /** The host received the answer or push with this id. `evidence` names the place where the host stores the text. */
  | { readonly do: 'confirm'; readonly id: number; readonly evidence?: string }
  | { readonly do: 'release'; readonly id: number }
  | ({ readonly do: 'state'; readonly state: SessionState } & Whose)
  /** The host's transcript contains the text of this lease, which another process may have offered. */
  | ({ readonly do: 'seen'; readonly carrier: string; readonly evidence: string } & Whose);

export type Reply = {
  readonly re: number;
  readonly kind: 'nothing' | 'tell' | 'deny' | 'hold';
  readonly text?: string;
  readonly carrier?: string;
  /** The duration of the text's lease in ms. The lease begins at the question or later. */
  readonly leaseMs?: number;
};

export type Push =
  /** The idle session begins a turn with this text. */
  | { readonly push: 'wake'; readonly id: number; readonly session: string; readonly text: string; readonly carrier?: string }
  /** The streaming request ends now, and the next request has this text. */
  | { readonly push: 'force'; readonly id: number; readonly session: string; readonly text: string; readonly carrier?: string }
  /** The state of the gate. The plugin applies this state if no answer arrives in time. */
  | { readonly push: 'gate'; readonly session: string; readonly up: boolean }
  /** A text for the person: a notification waits until the person sends a message. */
  | { readonly push: 'show'; readonly session: string; readonly text: string };

export type FromBridge = Reply | Push | { readonly ready: true };

/** Reads the JSON objects of a text stream, one per line. Other lines are passed to `odd`. */
export function lines(each: (value: Record<string, unknown>) => void, odd: (line: string) => void): (chunk: string) => void {
  let rest = '';
  return (chunk) => {
    rest += chunk;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (line.trim() === '') continue;
      const value = parsed(line);
      if (value === undefined) odd(line);
      else each(value);
    }
  };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
