/** Reads the whole output of one run of a program. */
import { linesOf } from './lines.ts';
import type { Matcher } from './matcher.ts';
import type { Problem } from './problem.ts';
import { ProblemReader } from './reader.ts';

/** The maximum number of problems of an output that are kept. The first problems usually cause the others. */
export const MAX_PROBLEMS = 500;

type Output = {
  readonly stdout: (chunk: Buffer) => void;
  readonly stderr: (chunk: Buffer) => void;
  /** Ends the output, and returns its problems in their order. */
  readonly ended: () => readonly Problem[];
};

/** Finds the problems in an output of any length while a program writes it. */
export function problemsOf(matchers?: readonly Matcher[]): Output {
  const reader = new ProblemReader(matchers);
  const found: Problem[] = [];
  const keep = (problems: readonly Problem[]): void => void found.push(...problems.slice(0, MAX_PROBLEMS - found.length));
  const lines = (): ReturnType<typeof linesOf> => linesOf((line) => keep(reader.read(line)));
  const [stdout, stderr] = [lines(), lines()];
  return {
    stdout: stdout.write,
    stderr: stderr.write,
    ended: () => {
      stdout.end();
      stderr.end();
      keep(reader.end());
      return found;
    },
  };
}
