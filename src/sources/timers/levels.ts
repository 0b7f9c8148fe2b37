import type { Level } from '../../core/notification.ts';

/** The levels of reminders. A critical reminder would interrupt at once, before its time. */
export const REMINDER_LEVELS = ['info', 'warning', 'error'] as const satisfies readonly Level[];
export type ReminderLevel = (typeof REMINDER_LEVELS)[number];
