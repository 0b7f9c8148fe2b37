import type { Level } from '../../core/notification.ts';

/** A critical one would not wait for its time: it interrupts at once. */
export const REMINDER_LEVELS = ['info', 'warning', 'error'] as const satisfies readonly Level[];
export type ReminderLevel = (typeof REMINDER_LEVELS)[number];
