/** A long-lived process outlives its files: an upgrade in place deletes them, and so does a clean of the cache of npx. */
import type { ViewName } from '../core/records.ts';
import type { UserInbox } from '../user-inbox.ts';

/** The first answers are out by then, so nobody waits for the loading. A process that ends sooner does not load it. */
const AFTER_MS = 3_000;

type Ahead = {
  /** The view of its conversations, if not the one of the configuration. */
  readonly view?: ViewName | undefined;
  /** Loads modules that the inbox does not use. */
  readonly more?: () => Promise<unknown>;
};

export function loadAheadSoon(inbox: UserInbox, { view, more }: Ahead = {}): void {
  const load = async (): Promise<void> => {
    await inbox.loadAhead(view);
    await more?.();
  };
  // A module that fails to load now is reported when it is needed.
  setTimeout(() => void load().catch(() => {}), AFTER_MS).unref();
}
