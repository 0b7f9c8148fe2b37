/** Reminders. */
export { REMINDER_LEVELS, type ReminderLevel } from './levels.ts';
export { isMeant, isReminder, reminderEvent, reminderId, shortId, timersSource, type Reminder, type Timers } from './timers.ts';
export { parseWhen, showTime, type Here, type When } from './when.ts';
