import type { InboxRider } from './inbox-rider.ts';
import type { OwnTool, Rider } from './rider.ts';

const RETRY_MS = 2_000;

/**
 * Makes a rider for a store that may be unavailable for a while. The gateway starts at once and passes calls. The rider opens the
 * store when the gateway needs the store, but not within 2 s of the last failure. The rider's own tools do not depend on the
 * store, so the bytes of tools/list stay the same.
 */
export function retryingRider(
  open: () => Promise<InboxRider>,
  tools: () => readonly OwnTool[],
  toolsKnown: () => Promise<void> | undefined = () => undefined,
): Rider & { open(): Promise<void>; end(): Promise<void> } {
  let opening: Promise<InboxRider> | undefined;
  let ready: InboxRider | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let lastError: unknown;

  const rider = (): Promise<InboxRider> => {
    if (ready) return Promise.resolve(ready);
    if (opening) return opening;
    if (performance.now() - failedAt < RETRY_MS) return Promise.reject(lastError);
    opening = open();
    opening.then(
      (opened) => (ready = opened),
      (error: unknown) => {
        opening = undefined;
        failedAt = performance.now();
        lastError = error;
      },
    );
    return opening;
  };
  const later = (work: (opened: Rider) => void): void => {
    rider().then(work, () => {});
  };

  return {
    /** Opens the store, or rejects with the error that a call would get. */
    open: async () => void (await rider()),
    tools,
    toolsKnown,
    callTool: async (connection, call) => (await rider()).callTool(connection, call),
    before: (connection, call) =>
      ready ? ready.before(connection, call) : rider().then((opened) => opened.before(connection, call)),
    after: (connection, result) =>
      ready ? ready.after(connection, result) : rider().then((opened) => opened.after(connection, result)),
    instructions: (connection) => rider().then((opened) => opened.instructions?.(connection)),
    held: (connection, call) => ready?.held?.(connection, call),
    silent: (connection) => ready?.silent?.(connection) ?? false,
    working: () => ready?.working?.() ?? false,
    // With an open store, `opened` is called at once, so that the next event about a server finds the conversation.
    opened: (connection) => (ready ? ready.opened(connection) : later((opened) => opened.opened(connection))),
    closed: (connection, how) => {
      if (ready) ready.closed(connection, how);
    },
    // The event is handled after `opened`, which may still wait for the store.
    upstream: (event, of) => (ready ? ready.upstream(event, of) : later((opened) => opened.upstream(event, of))),
    // `end` waits for a store that is still opening, and for receipts in progress.
    end: async () => {
      await opening?.catch(() => undefined);
      await ready?.idle();
    },
  };
}
