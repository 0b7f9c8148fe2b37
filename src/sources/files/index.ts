/** Files that are changed by others than the agent. */
export { filesSource, type FilesOptions, type FilesSource } from './files-source.ts';
export { hashOf } from './look.ts';
