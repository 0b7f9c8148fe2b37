/** Makes reminders without a timer. A reminder is queued durably at once, and delivered with the first carrier after its time. */
import { randomUUID } from 'node:crypto';
import type { Emitted, Emitter, EventInput } from '../../core/event.ts';
import type { Item } from '../../core/items.ts';
import { LIMITS } from '../../core/notification.ts';
import { EarpieceError } from '../../core/errors.ts';
import { REMINDER_LEVELS, type ReminderLevel } from './levels.ts';
import { checkWhen, type When } from './when.ts';

const DAY_MS = 86_400_000;

export type Reminder = {
  /** The address to remind. */
  readonly subject: string;
  readonly message: string;
  readonly when: When | { readonly inMs: number };
  /** The newest reminder with this key replaces the older reminders. */
  readonly key?: string | undefined;
  readonly level?: ReminderLevel;
  /**
   * The time until the reminder expires, counted from its due time. Default 24 h. For a reminder after a number of turns, the
   * time is counted from now, and the default is 7 d.
   */
  readonly ttlMs?: number | undefined;
};

export type Timers = { remind(reminder: Reminder): Promise<Emitted> };

/** Makes the source of reminders for programs. `now` returns milliseconds since the epoch. */
export const timersSource = ({ emitter, now = Date.now }: { emitter: Emitter; now?: () => number }): Timers => ({
  remind: async (reminder) => {
    checkWhen(reminder.when, now());
    return emitter.emit(reminderEvent(reminder, { id: shortId(), now: now() }));
  },
});

/** Makes the event of a reminder. Throws `bad_argument` for an invalid text or level. `checkWhen` checks the time. */
export function reminderEvent(reminder: Reminder, made: { readonly id: string; readonly now: number }): EventInput {
  const { message, when, key, level = 'info', ttlMs } = reminder;
  if (message.trim() === '') throw new EarpieceError('bad_argument', 'the text of the reminder is blank; write a text');
  if (message.length > LIMITS.messageChars - PREFIX.length)
    throw new EarpieceError(
      'bad_argument',
      `the text of the reminder has ${message.length} characters, at most ${LIMITS.messageChars - PREFIX.length} are allowed; write the text to a file and send the path`,
    );
  if (!REMINDER_LEVELS.includes(level))
    throw new EarpieceError(
      'bad_argument',
      `level must be one of ${REMINDER_LEVELS.join(', ')}, got ${JSON.stringify(level)}; a critical reminder would interrupt before its time`,
    );
  const deliver = 'inMs' in when ? { at: made.now + when.inMs } : when;
  return {
    type: 'timer.fired',
    source: SOURCE,
    subject: reminder.subject,
    id: made.id,
    time: made.now,
    severity: level,
    message: `${PREFIX}${message}`,
    data: {
      message: message.length > 4_000 ? `${message.slice(0, 3_999).toWellFormed()}…` : message,
      set_at: new Date(made.now).toISOString(),
    },
    key: keyOf(key ?? made.id),
    supersede: key !== undefined,
    deliver,
    ttlMs: ttlMs ?? ('at' in deliver ? DAY_MS : 7 * DAY_MS),
  };
}

/** Returns the reminder's id for people, from the id of its notification. */
export function reminderId(notificationId: string): string {
  const [, id] = /^timers\/([^~]+)/u.exec(notificationId) ?? [];
  return id ?? notificationId;
}

/** Whether a typed word is the reminder's id, its notification's id, or its key. */
export const isMeant = (word: string, { notification }: Pick<Item, 'notification'>): boolean =>
  reminderId(notification.id) === word || notification.id === word || notification.key === keyOf(word);

/** Makes an id that is short enough to type. */
export const shortId = (): string => `r${randomUUID().replaceAll('-', '').slice(0, 8)}`;

const SOURCE = 'timers';
const PREFIX = 'Reminder: ';
const keyOf = (name: string): string => `timer:${name}`;
