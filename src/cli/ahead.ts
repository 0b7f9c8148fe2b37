/** A process that lives long outlives its files: an upgrade in place deletes them, and so does a clean of the cache of npx. */
import type { ViewName } from '../core/records.ts';
import type { UserInbox } from '../user-inbox.ts';

/** The first answers are out by then, so nobody waits for what is loaded. A process that ends sooner does not load it. */
const AFTER_MS = 3_000;

type Ahead = {
  /** What its readers read, where it is not what the configuration says. */
  readonly view?: ViewName | undefined;
  /** Loads what the inbox does not know of. */
  readonly more?: () => Promise<unknown>;
};

export function loadAheadSoon(inbox: UserInbox, { view, more }: Ahead = {}): void {
  const load = async (): Promise<void> => {
    await inbox.loadAhead(view);
    await more?.();
  };
  // What cannot be loaded now is missed when it is needed, and told then.
  setTimeout(() => void load().catch(() => {}), AFTER_MS).unref();
}
