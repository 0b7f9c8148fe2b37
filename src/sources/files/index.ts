/** Emits changes to files by others than the agent. */
export { filesSource, type FilesOptions, type FilesSource } from './files-source.ts';
export { hashOf } from './look.ts';
