/**
 * Chooses the contents of an answer of `get_notifications`, so that the client shows the answer whole. The other notifications
 * wait for the next call.
 */
import { isInterrupt, type NotificationId } from '../../core/notification.ts';
import type { Item } from '../../core/items.ts';
import type { Withheld } from '../../core/ports.ts';
import type { Contents, PulledNotification } from './pulled.ts';

export type Fitting = {
  /** The notifications of the answer, newest first. */
  readonly items: readonly Item[];
  /** Whether the answer includes the withheld results. If not, these results wait for a later answer. */
  readonly takesWithheld: boolean;
  /**
   * The maximum number of characters of each text. Only an answer with a single notification, or with only withheld results, is
   * shortened.
   */
  readonly chars: number;
};

/** Whether the client shows an answer with these contents whole. */
export type Fits = (contents: Contents) => boolean;

/**
 * Chooses at most `limit` notifications for the answer, in the order of `all`. Unread interrupts, and the newer states that
 * replace them (`urgent`), are chosen first, because the interrupts hold a gate up. Items that were read before, such as an
 * active pause, are chosen last. With `fits`, the answer must fit. `show` converts an item to the form that the answer shows.
 */
export function fitting(
  all: readonly Item[],
  withheld: readonly Withheld[],
  {
    fits,
    limit,
    urgent,
    show,
  }: {
    fits: Fits | undefined;
    limit: number;
    urgent: ReadonlySet<NotificationId>;
    show: (item: Item) => PulledNotification;
  },
): Fitting {
  const whole = Number.POSITIVE_INFINITY;
  const rankOf = (item: Item): number => (item.read ? 2 : isInterrupt(item.notification) || urgent.has(item.id) ? 0 : 1);
  const ranked = all.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, limit);
  const firstOf = (count: number): readonly Item[] => {
    const chosen = new Set(ranked.slice(0, count));
    return all.filter((item) => chosen.has(item));
  };
  if (fits === undefined) return { items: firstOf(limit), takesWithheld: withheld.length > 0, chars: whole };

  const shown = ranked.map(show);
  let count = 0;
  while (count < ranked.length && fits({ notifications: shown.slice(0, count + 1), withheld: [] })) count++;
  const [first] = shown;
  if (count === 0 && first !== undefined) {
    const chars = longest(lengthOf(first), (most) => fits({ notifications: [shortened(first, most)], withheld: [] }));
    return { items: ranked.slice(0, 1), takesWithheld: false, chars };
  }

  const items = firstOf(count);
  if (withheld.length === 0 || count < all.length) return { items, takesWithheld: false, chars: whole };
  const notifications = shown.slice(0, count);
  if (fits({ notifications, withheld: shownResults(withheld) })) return { items, takesWithheld: true, chars: whole };
  // The results wait until no unread notification is left. Results that do not fit alone are then shortened.
  if (items.some((item) => !item.read)) return { items, takesWithheld: false, chars: whole };
  const most = Math.max(...withheld.map(({ body }) => body.length));
  return {
    items: [],
    takesWithheld: true,
    chars: longest(most, (chars) => fits({ notifications: [], withheld: shownResults(withheld, chars) })),
  };
}

/** Shortens a notification. Its data is left out. `all_of_it` names the command that prints the whole record. */
export function shortened(notification: PulledNotification, chars: number): PulledNotification {
  const { message, instruction, id } = notification;
  const fields = Object.entries(notification).filter(([field]) => field !== 'data');
  return {
    ...(Object.fromEntries(fields) as PulledNotification),
    message: cut(message, chars),
    instruction: instruction === null ? null : cut(instruction, chars),
    all_of_it: `earpiece why ${id} --json`,
  };
}

export const shownResults = (withheld: readonly Withheld[], chars = Number.POSITIVE_INFINITY): Contents['withheld'] =>
  withheld.map(({ tool, at, body }) => ({ tool, at: new Date(at).toISOString(), result: cut(body, chars) }));

const lengthOf = ({ message, instruction }: PulledNotification): number => Math.max(message.length, instruction?.length ?? 0);

const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}… (cut: ${chars} of ${text.length} characters)`;

/** Returns the largest number of characters up to `most` for which `fits` returns true. */
function longest(most: number, fits: (chars: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
