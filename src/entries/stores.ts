/** `earpiece/stores`. Where the log lives: memory and SQLite. */
import '../node-version.ts';

export * from '../stores/index.ts';
