export { memoryStore } from './memory.ts';
export { fileOf, openStore } from './open.ts';
export { openSqliteStore, type SqliteOptions, type SqliteStore } from './sqlite/store.ts';
