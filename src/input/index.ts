/** Reads untrusted input within limits: files of a limited size, patterns in linear time. Also makes private folders. */
export { keepPrivate, makeFolders } from './folders.ts';
export { readLimited } from './file.ts';
export { MAX_PATTERNS, readPattern, type Pattern } from './patterns.ts';
