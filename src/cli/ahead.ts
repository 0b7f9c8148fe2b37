/**
 * Loads modules early. The files of a long-lived process may be deleted by an upgrade in place, or when npx cleans its cache.
 */
import type { ViewName } from '../core/records.ts';
import type { UserInbox } from '../user-inbox.ts';

/**
 * The delay before the modules are loaded, in ms. Without this delay, the loading would slow the first answers. A process that
 * ends earlier loads only the modules that it uses.
 */
const AFTER_MS = 3_000;

type Ahead = {
  /** The view that the inbox's conversations use, if it is not the configured view. */
  readonly view?: ViewName | undefined;
  /** Loads further modules, which the inbox itself does not use. */
  readonly more?: () => Promise<unknown>;
};

export function loadAheadSoon(inbox: UserInbox, { view, more }: Ahead = {}): void {
  const load = async (): Promise<void> => {
    await inbox.loadAhead(view);
    await more?.();
  };
  // If a module fails to load now, its first use reports the failure.
  setTimeout(() => void load().catch(() => {}), AFTER_MS).unref();
}
