/** Problem matchers, which find the errors that compilers, test runners and servers print. */
export { matchersWith, type Matchers } from './own.ts';
export { MAX_PROBLEMS, problemsOf } from './output.ts';
export { problemsIn } from './reader.ts';
export { placeOf, sayProblem, type Problem } from './problem.ts';
export { OpenProblems, type Open } from './rounds.ts';
export { importStampIn } from './imports.ts';
export { linesOf } from './lines.ts';
export { sourceIn } from './source.ts';
export { stampIn } from './stamp.ts';
