/** Runs commands, and notifies an agent when a command ends. */
export { catchSignals, exitCodeOf, runAndReport, runAndTell, type RanAndTold, type RunAndTellOptions } from './run-and-tell.ts';
export { excerpt, EXCERPT_FROM } from './excerpt.ts';
export { LastLines } from './last-lines.ts';
export { commandLine, eventOf, isFailure, lostItsReader, type Outcome } from './outcome.ts';
export { run } from './run.ts';
