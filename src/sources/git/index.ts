/** Emits changes by others in the agent's repository. */
export { gitSource, type GitOptions, type GitSource } from './git-source.ts';
