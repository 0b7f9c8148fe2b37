/**
 * Remembers recent deliveries, to recognize a repetition at once. Repetitions of older deliveries are recognized by the ids of
 * events in the log.
 */
export type Replays = {
  /** Whether a delivery is remembered. Pass this function to `receive`. */
  readonly seen: (id: string) => boolean;
  /**
   * Remembers deliveries. Call this method only after the events of the deliveries are durable, because a sender repeats a
   * failed delivery.
   */
  readonly remember: (ids: readonly string[]) => void;
};

/** Makes a memory of at most `max` deliveries, which forgets the oldest first. */
export function replayWindow(max = 10_000): Replays {
  const known = new Set<string>();
  return {
    seen: (id) => known.has(id),
    remember: (ids) => {
      for (const id of ids) {
        known.delete(id);
        known.add(id);
      }
      for (const oldest of known) {
        if (known.size <= max) break;
        known.delete(oldest);
      }
    },
  };
}
