/** Runs commands and notifies an agent of their end. */
export { runAndTell, type RanAndTold, type RunAndTellOptions } from './run-and-tell.ts';
export { run } from './run.ts';
