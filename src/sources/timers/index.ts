/** Exports the source of reminders. */
export { REMINDER_LEVELS } from './levels.ts';
export { isMeant, reminderEvent, reminderId, shortId, timersSource, type Reminder, type Timers } from './timers.ts';
export { parseWhen, showTime, type When } from './when.ts';
