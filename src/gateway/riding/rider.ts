import type { ClientInfo } from '../../mcp/frames/protocol.ts';
import type { Profile } from './profiles.ts';

/**
 * Adds notifications to the results that pass through the gateway. The gateway handles MCP, transports and bytes. A rider handles
 * notifications. No method of a rider can stop traffic. If `before` throws or takes more than 250 ms, the call passes, unless
 * `held` refuses the call. If `after` throws or takes more than 250 ms, the result passes. Time while `working` is true does not
 * count, for at most 5 s a call. The gateway reports the beginning and the end of each outage.
 *
 * For one tools/call, the gateway calls `before`, passes the call to the upstream, calls `after`, and writes the bytes. Then the
 * gateway calls `confirm` or `release` of the delivery that `after` returned. For a tool of the rider, the gateway calls
 * `callTool`, writes the bytes, and then calls `confirm` or `release`. The gateway does not call `after` for a call that the
 * client has cancelled. `after` is not called for a JSON-RPC error, nor for a result that is not the final answer:
 * `input_required`, a task handle, or a result without `content`.
 */
export interface Rider {
  /**
   * Returns the rider's own tools, added to the end of tools/list. After `toolsKnown`, the tools must stay the same for a
   * connection.
   */
  tools(connection: Connection): readonly OwnTool[];

  /** Resolves when the rider's own tools are known, and never rejects. Returns undefined if the tools are already known. */
  toolsKnown?(): Promise<void> | undefined;

  /**
   * Runs one of the rider's own tools, without a time limit. `call.tool` is the tool's name in `tools`, even if the client knows
   * another name.
   */
  callTool(connection: Connection, call: OwnCall): Awaitable<OwnAnswer>;

  /** Decides whether a tools/call is refused, before the upstream gets the call. */
  before(connection: Connection, call: Call): Awaitable<Verdict>;

  /**
   * Returns the addition to a tools/call result on its way to the client, or a text in its place. The gateway also calls `after`
   * for failing results.
   */
  after(connection: Connection, result: Result): Awaitable<Ride>;

  /**
   * Whether `after` would now add nothing to any result. If so, the gateway does not parse results, unless the profile removes
   * structured content. Must not wait.
   */
  silent?(connection: Connection): boolean;
  /** Returns the refusal of the last known gate, for a call that `before` does not decide in time. Must not wait. */
  held?(connection: Connection, call: Call): Verdict | undefined;

  /**
   * Whether the rider is busy although its store answers, for example with a template or a late text. The wait for such a rider
   * does not count as an outage.
   */
  working?(): boolean;

  /**
   * Returns the text about notifications that is appended to the server's own instructions. The text must always be the same for
   * the same agent.
   */
  instructions?(connection: Connection): Awaitable<string | undefined>;

  /**
   * The gateway calls `opened` at a client's first request, such as `initialize`, and again after the client names another
   * identity. If the client names its session in each call (see `Connection.caller`), the gateway also calls `opened` at the
   * first call of each session.
   */
  opened(connection: Connection): void;
  closed(connection: Connection, how?: Ended): void;

  /**
   * The gateway calls `upstream` when the state of an upstream changes: see `UpstreamEvent`. If the upstream disconnects, the
   * call precedes the answers to the open calls, so that these answers can carry the notification. `of` is the key of the only
   * connection that uses the upstream. Without `of`, all connections share the upstream.
   */
  upstream(event: UpstreamEvent, of?: Connection['key']): void;
}

/** `mayReturn`: whether only the connection ends, so that its session may call again. */
export type Ended = { readonly mayReturn: boolean };

/** One client of the gateway. The rider gets the same object from `opened` to `closed`. */
export type Connection = {
  /** A key that is unique among the connections of this gateway. */
  readonly key: string;
  readonly client?: ClientInfo;
  /**
   * The conversation of the client: from its HTTP header `earpiece-conversation`, or from the gateway's start options.
   */
  readonly session?: string;
  /** Set if this connection is only for the calls of one session of the client: see `SessionConnections`. */
  readonly caller?: Caller;
  readonly profile: Profile;
  /**
   * Returns the client's name for one of the rider's own tools, after that name is fixed. The name differs if a server has a tool
   * of the same name.
   */
  readonly nameOf?: (tool: string) => string;
  /** Returns the client's name for a server's tool. By default, this is the server's own name for the tool. */
  readonly shown?: (server: string, tool: string) => string;
};

/** The session that a client names in its calls. `client`: the client's own connection, which all its sessions share. */
export type Caller = {
  readonly client: Connection;
  readonly session: string;
  /** Whether a sub-agent of the session calls. The gate applies to a sub-agent, but a sub-agent gets no notifications. */
  readonly subagent: boolean;
};

/** A tool as JSON for tools/list. A `hidden` tool is not listed. Only a host calls such a tool, never a model. */
export type OwnTool = { readonly name: string; readonly hidden?: true } & Readonly<Record<string, unknown>>;

export type Call = {
  readonly server: string;
  /** The upstream's name for the tool. */
  readonly tool: string;
  /** The JSON text of the request's id, so that `1` and `"1"` differ. */
  readonly requestId: string;
  /** When the request arrived, on the clock of `performance.now()`. */
  readonly beganAt?: number;
  /** Resolves when the late texts of this connection have arrived, and are kept or released. Missing if no answer is late. */
  readonly landed?: () => Promise<void>;
};

export type OwnCall = { readonly tool: string; readonly args: unknown; readonly requestId: string };

export type Verdict =
  | { readonly kind: 'pass' }
  /** The call does not reach the upstream. The client gets `text` as a failing result. */
  | {
      readonly kind: 'refuse';
      readonly text: string;
      readonly meta?: object;
      readonly delivery?: Delivery;
      /**
       * Only `held` sets this function. The gateway calls the function once, when `before` has ended. With `unrecorded`, the
       * rider records this refusal, because the client may have read the refusal and `before` has not returned the same refusal.
       * Resolves after the first attempt to record, and never rejects.
       */
      readonly ended?: (how: 'recorded' | 'unrecorded') => Promise<void>;
    };

export type Result = Call & {
  readonly isError: boolean;
  /** The approximate number of characters of the result that the model sees. */
  readonly chars: number;
  /** The limit for `chars` plus the addition. `Infinity` if the client has no limit. */
  readonly maxChars: number;
  /** The result's JSON text, as the upstream sent it. */
  readonly raw: () => string;
};

export type Ride =
  | { readonly kind: 'none' }
  /**
   * The gateway adds `text` as a separate block after the result's blocks, unless `text` is empty. The gateway adds `signal` as
   * the result's field `notification`. `leaseMs`: the time for which the notifications in `text` are reserved for this delivery.
   * A text that arrives too late may be added to the next result within half of `leaseMs`. `stands` says whether the text may
   * still be sent then. If not, `stands` has released the delivery. Default: the text may be sent. `on`: the next result, if the
   * gateway is about to add the text to this result.
   */
  | {
      readonly kind: 'ride';
      readonly text: string;
      readonly signal?: string;
      readonly delivery: Delivery;
      readonly leaseMs?: number;
      readonly stands?: (on?: Result) => Promise<boolean>;
    }
  /** The client gets `text` in place of the result. */
  | { readonly kind: 'replace'; readonly text: string; readonly delivery: Delivery };

/**
 * Settles a delivery. The gateway calls exactly one of the two methods. The gateway calls `confirm` after the bytes were written:
 * at the client's next frame that is not a cancel, when the client disconnects regularly, or after 250 ms. The gateway usually
 * calls `release` if the client cancels the call first (see `Settling`). The gateway also calls `release` if the bytes do not fit
 * or do not arrive. The same applies if the text arrives too late and no later result carries the text. Neither method may throw
 * or block.
 */
export type Delivery = {
  confirm(): void;
  release(reason: ReleaseReason): void;
  /** Missing if the text shows no notification. */
  readonly departure?: Departing;
};

/**
 * A text on its way to the client. `isOvertaken`: whether a text that has left shows a newer state of one of its notifications.
 * The gateway calls `leave` just before it writes the text.
 */
export type Departing = { readonly isOvertaken: boolean; leave(): void };

export type ReleaseReason = 'cancelled' | 'write_error' | 'too_big' | 'late' | 'client_died';

/** `again` returns the answer to send if this answer is overtaken (see `Departure`). Called after `release`. Must not reject. */
export type OwnAnswer = Delivery & { readonly result: CallToolResult; readonly again?: () => Awaitable<OwnAnswer> };

/** MCP's CallToolResult, which may have more fields. */
export type CallToolResult = { readonly content: readonly object[]; readonly isError?: boolean } & Readonly<
  Record<string, unknown>
>;

export type UpstreamEvent = {
  readonly server: string;
  /**
   * `failed`: the server does not work. `started`: the server works now. `introduced`: the server started after the client got
   * its handshake answer, and `detail` contains the server's instructions.
   */
  readonly state: 'disconnected' | 'reconnected' | 'failed' | 'started' | 'introduced';
  readonly detail: string;
};

/** A value or its promise. A rider returns a plain value if it can, so that the gateway does not wait for the event loop. */
export type Awaitable<T> = T | Promise<T>;

/** A rider that adds nothing, for a gateway that only passes frames. */
export const noRider: Rider = {
  tools: () => [],
  callTool: () => ({ result: { content: [], isError: true }, ...noDelivery }),
  before: () => ({ kind: 'pass' }),
  after: () => ({ kind: 'none' }),
  opened: () => {},
  closed: () => {},
  upstream: () => {},
};

export const isSubagent = ({ caller }: Connection): boolean => caller?.subagent === true;
export const PASS: Verdict = { kind: 'pass' };
export const noDelivery: Delivery = { confirm: () => {}, release: () => {} };
