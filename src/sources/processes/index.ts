/** Commands whose end an agent is told. */
export { runAndTell, type RanAndTold, type RunAndTellOptions } from './run-and-tell.ts';
export { run, type RunOptions } from './run.ts';
export { isFailure, type Outcome } from './outcome.ts';
