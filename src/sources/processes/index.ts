/** Commands whose end an agent is told. */
export { runAndTell, type RanAndTold, type RunAndTellOptions } from './run-and-tell.ts';
export { run } from './run.ts';
