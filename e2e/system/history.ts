/**
 * Reads the records of a storm's processes: the producers' acknowledgements, the bytes on both sides of each gateway, the library
 * user's own transcript, and each kill. The checker reads these files and nothing else.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readJournal } from './journal.ts';

/** `said-*.jsonl`: written before a producer's request, and after its answer. Times are milliseconds of `now()`. */
export type ProducerLine =
  | {
      readonly t: number;
      readonly kind: 'asking';
      readonly nonce: string;
      /** `project/agent`, `project/agent#conversation` or `project/*`. */
      readonly to: string;
      readonly level: string;
      readonly action?: 'pause' | 'cancel';
      /** The text, with a nonce. */
      readonly text?: string;
      /** The time from queueing to expiry, in milliseconds. */
      readonly ttlMs?: number;
      /** A newer notification with this key replaces an older notification. */
      readonly supersedes?: string;
      /** The wall-clock time before which nothing may arrive, in milliseconds since 1970. */
      readonly notBefore?: number;
    }
  | { readonly t: number; readonly kind: 'acknowledged'; readonly nonce: string }
  /** From this request on, the notification may be missing, and its gate may be down. */
  | { readonly t: number; readonly kind: 'withdrawing'; readonly nonce: string }
  /**
   * From this request on, the pauses of this address may be missing, including a pause that is requested before the resume is
   * done.
   */
  | { readonly t: number; readonly kind: 'resuming' | 'resumed'; readonly to: string }
  /**
   * The product's answer for one log, such as `withdrawn` (no agent was notified) or `maybe_seen` (an agent may have been
   * notified).
   */
  | {
      readonly t: number;
      readonly kind: 'withdrawn';
      readonly nonce: string;
      readonly result: string;
      /** The log: an agent's, or the project's own, with notifications for later conversations. */
      readonly log: string;
    };

/** The first line of each `client-*.jsonl`, which describes one process of a host or of a library user. */
export type SessionLine = {
  readonly t: number;
  readonly kind: 'session';
  readonly form: 'mcp' | 'library';
  /** The window: one person's conversation, which continues over kills and resumes. */
  readonly window: string;
  /** `project/agent`. */
  readonly agent: string;
  readonly client: string;
  /** The conversation's name, if the host has one. */
  readonly conversation?: string;
  readonly pid: number;
};

/** One line of the record of a session: a request, its answer, or a change of the session. */
export type ClientLine =
  | SessionLine
  /** From here, the session uses this gateway. Over HTTP, other sessions may use the gateway too. */
  | { readonly t: number; readonly kind: 'gateway'; readonly pid: number; readonly shared?: true }
  /** The session continues under another name: `/clear`. */
  | { readonly t: number; readonly kind: 'renamed'; readonly conversation: string }
  | {
      readonly t: number;
      readonly kind: 'sent';
      readonly id: number;
      readonly method: string;
      readonly tool?: string;
      /** The id of the call, which the upstream server also records. */
      readonly call?: string;
    }
  /** The client cancels a request, before or after its answer. */
  | { readonly t: number; readonly kind: 'cancelled'; readonly id: number }
  /** The client stops reading: `late` for a while, `never` for the rest of this connection, whose writes fail from now on. */
  | { readonly t: number; readonly kind: 'deaf'; readonly how: 'late' | 'never' }
  | { readonly t: number; readonly kind: 'hears' }
  /** One frame as received, without its line break. */
  | { readonly t: number; readonly kind: 'received'; readonly line: string }
  | { readonly t: number; readonly kind: 'stderr'; readonly text: string }
  | { readonly t: number; readonly kind: 'gateway_ended'; readonly signal: string | null }
  /** An answer is missing although the gateway was alive. */
  | { readonly t: number; readonly kind: 'unanswered'; readonly method: string; readonly ms: number }
  /**
   * A library user's message to its model. `key` identifies the record, so that a message that is later read from the log counts
   * once.
   */
  | {
      readonly t: number;
      readonly kind: 'message';
      readonly way: 'carry' | 'offer';
      /**
       * The time of the loop's request. If a kill was between the record and this line, the next process writes the line, with
       * the time of the record.
       */
      readonly askedAt: number;
      readonly key: string;
      readonly text: string;
    }
  /** The host closes its connection on purpose. The host may open a new connection. */
  | { readonly t: number; readonly kind: 'closing' }
  /** The host ends normally. */
  | { readonly t: number; readonly kind: 'over' };

/** `upstream-*.jsonl`: the calls that reached a wrapped server, and the bytes of its answers. */
export type UpstreamLine =
  | { readonly t: number; readonly kind: 'started'; readonly pid: number }
  | { readonly t: number; readonly kind: 'call'; readonly call: string }
  | { readonly t: number; readonly kind: 'answered'; readonly call: string; readonly line: string };

/** `storm.jsonl`: the storm's actions on processes, and its own findings. */
export type StormLine =
  | { readonly t: number; readonly kind: 'killed'; readonly what: string; readonly pid: number; readonly point?: string }
  /** A line of the stderr of the server, or of a gateway for HTTP clients. */
  | { readonly t: number; readonly kind: 'stderr'; readonly pid: number; readonly text: string }
  | { readonly t: number; readonly kind: 'problem'; readonly text: string }
  | { readonly t: number; readonly kind: 'orphan'; readonly what: string; readonly pid: number };

export type Session = { readonly about: SessionLine; readonly lines: readonly ClientLine[] };
export type Upstream = { readonly t: number; readonly line?: string };

export type History = {
  readonly producers: readonly ProducerLine[];
  readonly sessions: readonly Session[];
  /** The calls that reached a wrapped server, by id. An id with several entries reached the server several times. */
  readonly upstream: ReadonlyMap<string, readonly Upstream[]>;
  readonly storm: readonly StormLine[];
};

/** Reads the journals in a storm's folder. */
export function readHistory(folder: string): History {
  const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  const of = <Line>(start: string): Line[][] =>
    files.filter((file) => file.startsWith(start)).map((file) => readJournal<Line>(join(folder, file)));
  const upstream = new Map<string, Upstream[]>();
  for (const line of of<UpstreamLine>('upstream-').flat()) {
    if (line.kind === 'started') continue;
    const calls = upstream.get(line.call) ?? [];
    upstream.set(line.call, calls);
    if (line.kind === 'call') calls.push({ t: line.t });
    else calls[calls.length - 1] = { ...(calls.at(-1) ?? { t: line.t }), line: line.line };
  }
  const sessions = of<ClientLine>('client-').flatMap((lines) =>
    lines[0]?.kind === 'session' ? [{ about: lines[0], lines }] : [],
  );
  return {
    producers: of<ProducerLine>('said-')
      .flat()
      .toSorted((a, b) => a.t - b.t),
    sessions: sessions.toSorted((a, b) => a.about.t - b.about.t),
    upstream,
    storm: of<StormLine>('storm')
      .flat()
      .toSorted((a, b) => a.t - b.t),
  };
}
