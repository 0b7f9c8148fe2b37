/** Problem matchers: what a compiler, a test runner or a server says is wrong. */
export { problemsIn } from './reader.ts';
export { fingerprintOf, placeOf, sayProblem, type Problem } from './problem.ts';
export { OpenProblems, type Open } from './rounds.ts';
export { linesOf } from './lines.ts';
