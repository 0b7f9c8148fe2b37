/** Remembers recent deliveries, to recognize a repetition at once. For older ones, the ids of events in the log do that. */
export type Replays = {
  /** For `receive`. */
  readonly seen: (id: string) => boolean;
  /** Call it when a delivery's events are durable, and not before: a sender repeats a failed delivery. */
  readonly remember: (ids: readonly string[]) => void;
};

/** Beyond `max` the oldest are forgotten. */
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
