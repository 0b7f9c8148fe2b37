/** Defines the functions and the capabilities of a store that the suite tests. */
import type { LogKey } from '../../core/address.ts';
import type { Clock, Store } from '../../core/ports.ts';

export const CAPABILITIES = ['survives-restart', 'many-processes', 'overwrites-erased'] as const;

/**
 * The properties that a store may lack: the data survives a close, several processes may open the store at once, and the store's
 * bytes contain no erased data.
 */
export type Capability = (typeof CAPABILITIES)[number];

/** Producers that run. `stop` ends the producers and returns the ids that the store acknowledged. */
export type Producing = { stop(): Promise<readonly string[]> };

/** Your store, with the functions that the suite needs. */
export type StoreUnderTest<S extends Store = Store> = {
  /** Makes a new, empty store that uses this clock. */
  readonly make: (options: { readonly clock: Clock }) => S | Promise<S>;
  /**
   * Opens another handle on the same data, as another process would. A store that lacks `survives-restart` and
   * `many-processes` does not need this function.
   */
  readonly again?: (store: S, options: { readonly clock: Clock }) => S | Promise<S>;
  /**
   * Returns all bytes that the closed store keeps, such as its files. A store without `overwrites-erased` does not need this
   * function.
   */
  readonly contents?: (store: S) => Uint8Array | Promise<Uint8Array>;
  /**
   * Starts producers that queue into the log continuously. Use other processes if several can share your store. Default:
   * producers in this process.
   */
  readonly producers?: (store: S, log: LogKey, count: number) => Promise<Producing>;
  /** Capabilities that your store lacks by design, each with the reason. The suite skips their cases and prints the reason. */
  readonly lacks?: Partial<Readonly<Record<Capability, string>>>;
};
