import type { Level } from '../../core/notification.ts';

/** A critical reminder would interrupt at once and not wait for its time. */
export const REMINDER_LEVELS = ['info', 'warning', 'error'] as const satisfies readonly Level[];
export type ReminderLevel = (typeof REMINDER_LEVELS)[number];
