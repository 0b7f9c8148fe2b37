/** Deliveries of late, so that the same one again is known at once. The ids of events in the log know it for longer. */
export type Replays = {
  /** For `receive`. */
  readonly seen: (id: string) => boolean;
  /** What came of a delivery is durable. Not before: a sender whose delivery failed sends it again. */
  readonly remember: (ids: readonly string[]) => void;
};

/** The oldest are forgotten beyond `max`. */
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
