/** Files that are changed by others than the agent. */
export { filesSource, type FileContent, type FilesOptions, type FilesSource } from './files-source.ts';
export { hashOf, type Hash } from './look.ts';
export { globProblem } from './scope.ts';
