/** `earpiece/core`. The words and the pure rules: records, notifications, the open set, plan and views. No clock, no I/O. */
import '../node-version.ts';

export * from '../core/index.ts';
