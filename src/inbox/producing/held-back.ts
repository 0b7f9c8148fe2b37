/** A writer with notifications that are not queued yet. `flush` must not throw. */
export type Unwritten = { readonly pending: boolean; flush(): Promise<void> };

/** The writers that queue their notifications with a delay, such as the bus. */
export class HeldBack {
  readonly #holders = new Set<Unwritten>();

  add(holder: Unwritten): void {
    this.#holders.add(holder);
  }

  get pending(): boolean {
    for (const { pending } of this.#holders) if (pending) return true;
    return false;
  }

  async flush(): Promise<void> {
    for (const each of this.#holders) if (each.pending) await each.flush();
  }
}
