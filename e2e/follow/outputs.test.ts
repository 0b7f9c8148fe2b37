/** Recorded outputs of real programs, with the problems that an agent reads: `--update` writes them anew. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { linesOf, problemsIn, sayProblem } from '../../src/sources/problems/index.ts';
import { verifies } from '../verifies.ts';

const FOLDER = join(import.meta.dirname, 'outputs');

verifies('follow:problems', 'the outputs of real programs have the problems of the golden file', async () => {
  const said = readdirSync(FOLDER)
    .toSorted()
    .map((file) => {
      const lines: string[] = [];
      const stream = linesOf((line) => lines.push(line));
      stream.write(readFileSync(join(FOLDER, file)));
      stream.end();
      const problems = problemsIn(lines).map((problem) => `${problem.tool} ${problem.severity}: ${sayProblem(problem)}`);
      return [`## ${file}`, ...problems, ''].join('\n');
    });
  expect(said.length).toBeGreaterThan(15);
  await expect(said.join('\n')).toMatchFileSnapshot('golden/problems.txt');
});
