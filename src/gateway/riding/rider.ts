import type { ClientInfo } from '../../mcp/frames/protocol.ts';
import type { Profile } from './profiles.ts';

/**
 * Adds notifications to the results that pass through the gateway. The gateway knows MCP, transports and bytes; a rider knows
 * notifications. No method of a rider can stop traffic. A method that throws, or needs more than 250 ms, counts as "nothing to
 * say": the call passes unchanged, with one line on stderr for each outage.
 *
 * For one tools/call: `before` → the upstream works → `after` → the bytes are written → `confirm` or `release` of the
 * delivery that `after` returned. For an own tool: `callTool` → written → `confirm` or `release`. After the client cancels a
 * call, the rider is not asked about it. A JSON-RPC error (no result to add to) and a result without `content`
 * (`input_required`, a task handle) skip `after`.
 */
export interface Rider {
  /** Own tools, added to the end of tools/list. Must stay the same for a connection from `toolsKnown` on. */
  tools(connection: Connection): readonly OwnTool[];

  /** Resolves when the own tools are known; undefined if they already are. Does not reject. */
  toolsKnown?(): Promise<void> | undefined;

  /** Runs an own tool. `call.tool` is its name in `tools`, whatever name the client uses. No time limit. */
  callTool(connection: Connection, call: OwnCall): Awaitable<OwnAnswer>;

  /** Before the upstream sees a tools/call. */
  before(connection: Connection, call: Call): Awaitable<Verdict>;

  /** Returns what to add to a tools/call result (failing ones too) on its way to the client. */
  after(connection: Connection, result: Result): Awaitable<Ride>;

  /** True if `after` certainly has no addition for any result now. Must not wait. The result is then not parsed. */
  silent?(connection: Connection): boolean;
  /** For a call on which `before` does not answer in time: the refusal of the last known gate. Must not wait. */
  held?(connection: Connection, call: Call): Verdict | undefined;

  /** True while the rider works on an open log: waiting for it does not count as an outage. */
  working?(): boolean;

  /** Text about notifications, appended to the server's own instructions. Must be the same for the same agent. */
  instructions?(connection: Connection): Awaitable<string | undefined>;

  /** A client identified itself (initialize, or its first request in the stateless protocol). */
  opened(connection: Connection): void;
  closed(connection: Connection): void;

  /**
   * An upstream disconnected or reconnected. Called before its open calls are answered, so that their results can carry the
   * notification. `of` is the key of the one connection that uses the upstream. Without it, all connections share the upstream.
   */
  upstream(event: UpstreamEvent, of?: Connection['key']): void;
}

/** One client. The same object from `opened` to `closed`. */
export type Connection = {
  /** Unique among the connections of this gateway. */
  readonly key: string;
  readonly client?: ClientInfo;
  /**
   * The conversation that the client named: the HTTP header `earpiece-conversation`, or the address that the gateway was started
   * with.
   */
  readonly session?: string;
  readonly profile: Profile;
  /** The name under which the client knows an own tool, once that name is fixed. It differs if a server has a tool of the same name. */
  readonly nameOf?: (tool: string) => string;
  /** The name under which the client knows a server's tool. By default, the server's own name for it. */
  readonly shown?: (server: string, tool: string) => string;
};

/** A tool as JSON for tools/list. A tool with `hidden` is not listed: only a host calls it, never a model. */
export type OwnTool = { readonly name: string; readonly hidden?: true } & Readonly<Record<string, unknown>>;

export type Call = {
  readonly server: string;
  /** The name that the upstream knows the tool by. */
  readonly tool: string;
  /** The JSON text of the request's id, so that `1` and `"1"` differ. */
  readonly requestId: string;
  /** When its request arrived, on the clock of `performance.now()`. */
  readonly beganAt?: number;
};

export type OwnCall = { readonly tool: string; readonly args: unknown; readonly requestId: string };

export type Verdict =
  | { readonly kind: 'pass' }
  /** The upstream never sees the call; the client gets `text` as a failing result. */
  | { readonly kind: 'refuse'; readonly text: string; readonly meta?: object; readonly delivery?: Delivery };

export type Result = Call & {
  readonly isError: boolean;
  /** About how many characters of the result the model sees. */
  readonly chars: number;
  /** `chars` plus the addition must stay within this (`Infinity` if the client has no limit). */
  readonly maxChars: number;
  /** The result's JSON text, as the upstream sent it. */
  readonly raw: () => string;
};

export type Ride =
  | { readonly kind: 'none' }
  /**
   * `text` is added as a separate block after the result's blocks (no block if it is empty), `signal` as the result's field
   * `notification`.
   */
  | { readonly kind: 'ride'; readonly text: string; readonly signal?: string; readonly delivery: Delivery }
  /** The client gets `text` in place of the result. */
  | { readonly kind: 'replace'; readonly text: string; readonly delivery: Delivery };

/**
 * Settles a delivery. The gateway calls exactly one of these, exactly once. It calls `confirm` if the bytes were written and the
 * client's next frame is not a cancel, or after 250 ms. It calls `release` if the bytes did not arrive, or if the delivery came
 * after the time limit of 250 ms. Must not throw and must not block.
 */
export type Delivery = { confirm(): void; release(reason: ReleaseReason): void };

export type ReleaseReason = 'cancelled' | 'write_error' | 'too_big' | 'late' | 'client_died';

export type OwnAnswer = Delivery & { readonly result: CallToolResult };

/** MCP's CallToolResult; it may have more fields. */
export type CallToolResult = { readonly content: readonly object[]; readonly isError?: boolean } & Readonly<
  Record<string, unknown>
>;

export type UpstreamEvent = {
  readonly server: string;
  /**
   * `failed`: it never worked, or does not work yet. `started`: it works now. `introduced`: the client was answered without this
   * server, and `detail` holds its instructions.
   */
  readonly state: 'disconnected' | 'reconnected' | 'failed' | 'started' | 'introduced';
  readonly detail: string;
};

/** A synchronous rider returns plain values, so that the gateway does not wait for a turn of the event loop. */
export type Awaitable<T> = T | Promise<T>;

/** A rider that adds nothing: the gateway only passes frames through. */
export const noRider: Rider = {
  tools: () => [],
  callTool: () => ({ result: { content: [], isError: true }, ...noDelivery }),
  before: () => ({ kind: 'pass' }),
  after: () => ({ kind: 'none' }),
  opened: () => {},
  closed: () => {},
  upstream: () => {},
};

export const noDelivery: Delivery = { confirm: () => {}, release: () => {} };
