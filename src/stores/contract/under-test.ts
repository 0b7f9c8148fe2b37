/** The options with which the suite opens a store. */
import type { LogKey } from '../../core/address.ts';
import type { Clock, Store } from '../../core/ports.ts';

export const CAPABILITIES = ['survives-restart', 'many-processes', 'overwrites-erased'] as const;

/**
 * A store may lack these: it keeps its data when it closes; several processes open it at the same time; nothing erased is left in
 * its bytes.
 */
export type Capability = (typeof CAPABILITIES)[number];

/** Running producers. `stop` ends them and returns the ids that the store acknowledged. */
export type Producing = { stop(): Promise<readonly string[]> };

/** Your store, as the suite opens it. */
export type StoreUnderTest<S extends Store = Store> = {
  /** A new, empty store whose time is this clock's. */
  readonly make: (options: { readonly clock: Clock }) => S | Promise<S>;
  /** Another handle on the same data, as another process would have it. A store that lacks the first two capabilities does not need it. */
  readonly again?: (store: S, options: { readonly clock: Clock }) => S | Promise<S>;
  /** All bytes that the closed store keeps, such as its files. A store that lacks `overwrites-erased` does not need it. */
  readonly contents?: (store: S) => Uint8Array | Promise<Uint8Array>;
  /**
   * Producers that queue into the log without pause. Start them in other processes if several can share your store.
   * By default they run in this process.
   */
  readonly producers?: (store: S, log: LogKey, count: number) => Promise<Producing>;
  /** Capabilities that your store lacks by design, each with the reason. The suite skips those cases and prints the reason. */
  readonly lacks?: Partial<Readonly<Record<Capability, string>>>;
};
