import type { ClientInfo } from '../../mcp/frames/protocol.ts';
import type { Profile } from './profiles.ts';

/**
 * What may ride on the results that pass through the gateway. The gateway knows MCP, transports and bytes; a rider knows
 * notifications. None of a rider's methods can stop traffic: whatever throws, or is slower than 250 ms, counts as "nothing
 * to say", and the call passes unchanged with one line on stderr for each outage.
 *
 * For one tools/call: `before` → the upstream works → `after` → the bytes are written → `confirm` or `release` of the
 * delivery that `after` gave. An own tool goes `callTool` → written → `confirm` or `release`. A call that the client has
 * cancelled is not asked about any more. A JSON-RPC error (there is no result that anything could ride on) and a result
 * without `content` (`input_required`, a task handle) skip `after`.
 */
export interface Rider {
  /** Own tools, added to the end of tools/list. Must be the same for the same connection each time, from `toolsKnown` on. */
  tools(connection: Connection): readonly OwnTool[];

  /** Resolves when it is known which own tools there are; undefined once it is. Does not reject. */
  toolsKnown?(): Promise<void> | undefined;

  /** An own tool was called. `call.tool` is its name as `tools` gave it, whatever the client knows it by. No time limit. */
  callTool(connection: Connection, call: OwnCall): Awaitable<OwnAnswer>;

  /** Before the upstream sees a tools/call. */
  before(connection: Connection, call: Call): Awaitable<Verdict>;

  /** A tools/call result (failing ones too) is about to go to the client: what rides on it. */
  after(connection: Connection, result: Result): Awaitable<Ride>;

  /** Certain, without waiting, that `after` has nothing for any result of this moment: then the result is not looked at. */
  silent?(connection: Connection): boolean;
  /** For a call on which `before` does not answer in time: the refusal of the gate as it was last known. Must not wait. */
  held?(connection: Connection, call: Call): Verdict | undefined;

  /** It has its log and works on what it read: waiting for it is no outage. */
  working?(): boolean;

  /** What the server's instructions say of notifications, behind the server's own text. Must be the same for the same agent. */
  instructions?(connection: Connection): Awaitable<string | undefined>;

  /** A client said who it is (initialize, or its first request in the stateless protocol). */
  opened(connection: Connection): void;
  closed(connection: Connection): void;

  /**
   * An upstream went away or came back. Called before the calls that it left open are answered, so that their results can
   * carry it. `of` is the key of the one connection whose upstream it is; without it, all connections share that upstream.
   */
  upstream(event: UpstreamEvent, of?: Connection['key']): void;
}

/** One client. The same object from `opened` to `closed`. */
export type Connection = {
  /** Unique among the connections of this gateway. */
  readonly key: string;
  readonly client?: ClientInfo;
  /** The conversation that the client named: HTTP header `earpiece-conversation`, or what the gateway was started with. */
  readonly session?: string;
  readonly profile: Profile;
  /** By which name the client knows a tool of ours, as far as that is settled: see `OwnNames`. */
  readonly nameOf?: (tool: string) => string;
  /** By which name the client knows a server's tool. Without it: by the server's own name for it. */
  readonly shown?: (server: string, tool: string) => string;
};

/** A tool in MCP's JSON, as it stands in tools/list. One with `hidden` is not listed: a host calls it, and no model does. */
export type OwnTool = { readonly name: string; readonly hidden?: true } & Readonly<Record<string, unknown>>;

export type Call = {
  readonly server: string;
  /** The name that the upstream knows the tool by. */
  readonly tool: string;
  /** The JSON text of the request's id, so that `1` and `"1"` differ. */
  readonly requestId: string;
  /** When its request arrived, as `performance.now()` counts. */
  readonly beganAt?: number;
};

export type OwnCall = { readonly tool: string; readonly args: unknown; readonly requestId: string };

export type Verdict =
  | { readonly kind: 'pass' }
  /** The upstream never sees the call; the client gets `text` as a failing result. */
  | { readonly kind: 'refuse'; readonly text: string; readonly meta?: object; readonly delivery?: Delivery };

export type Result = Call & {
  readonly isError: boolean;
  /** How many characters of it the model is shown, about. */
  readonly chars: number;
  /** `chars` and what rides must stay within this (`Infinity` when the client has no limit). */
  readonly maxChars: number;
  /** The result's JSON text, as the upstream sent it. */
  readonly raw: () => string;
};

export type Ride =
  | { readonly kind: 'none' }
  /** `text` is added as a block of its own after the result's (none when empty), `signal` as the result's field `notification`. */
  | { readonly kind: 'ride'; readonly text: string; readonly signal?: string; readonly delivery: Delivery }
  /** The client gets `text` and nothing of the result. */
  | { readonly kind: 'replace'; readonly text: string; readonly delivery: Delivery };

/**
 * The gateway calls exactly one of these, exactly once: `confirm` when the bytes were written and the client's next frame
 * is no cancel, or after 250 ms; `release` when it did not get there. A delivery that came too late (the 250
 * ms were over) is released too. Must not throw and must not block.
 */
export type Delivery = { confirm(): void; release(reason: ReleaseReason): void };

export type ReleaseReason = 'cancelled' | 'write_error' | 'too_big' | 'late' | 'client_died';

export type OwnAnswer = Delivery & { readonly result: CallToolResult };

/** MCP's CallToolResult; more fields may stand beside these. */
export type CallToolResult = { readonly content: readonly object[]; readonly isError?: boolean } & Readonly<
  Record<string, unknown>
>;

export type UpstreamEvent = {
  readonly server: string;
  /**
   * `failed`: it never worked, or not yet. `started`: it does now. `introduced`: the client has been answered without this
   * server, and `detail` is what its instructions say.
   */
  readonly state: 'disconnected' | 'reconnected' | 'failed' | 'started' | 'introduced';
  readonly detail: string;
};

/** A rider that is not asynchronous need not make promises: the gateway then has no turn of the event loop to wait for. */
export type Awaitable<T> = T | Promise<T>;

/** Nothing rides: the gateway is a plain pass-through. */
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
