export { memoryStore } from './memory.ts';
export { openStore } from './open.ts';
export { openSqliteStore, type SqliteOptions, type SqliteStore } from './sqlite/store.ts';
