/** The files source, which emits changes that others make to files. */
export { fileEvent, shownPath, type FileChange } from './events.ts';
export { filesSource, type FilesOptions, type FilesSource } from './files-source.ts';
export { hashOf, look, stateOf } from './look.ts';
export { FolderWatch } from './watching.ts';
export { globProblem, scopeOf, withSlash, type Scope } from './scope.ts';
