/**
 * Replays recorded outputs of real programs, and compares an agent's notifications with a golden file. In that file, `+` is
 * reported, `-` is withdrawn, and `~` is a change of the files. `record.ts` records the outputs. `--update` writes the golden
 * file again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { linesOf, OpenProblems, sayProblem } from '../../src/sources/problems/index.ts';
import { verifies } from '../verifies.ts';
import { RECORDINGS, SILENCE } from './record.ts';

const FOLDER = join(import.meta.dirname, 'outputs');

/** Reads the lines as `follow` does, with its checks at the recorded silences. */
function said(file: string): readonly string[] {
  const { files = {}, steps = [] } = RECORDINGS[file.replace(/\.txt$/u, '')] ?? {};
  const versions = new Map(Object.keys(files).map((name) => [name, 0]));
  const stampOf = (path: string): string | undefined => {
    const name = [...versions.keys()].find((each) => path === each || path.endsWith(`/${each}`));
    return name === undefined ? undefined : String(versions.get(name));
  };
  const contents = new Map(Object.entries(files));
  /** Returns the versions of the file and of the files that it names. */
  const importStampOf = (path: string): string | undefined => {
    const [, text] = [...contents].find(([name]) => path === name || path.endsWith(`/${name}`)) ?? [];
    return text === undefined
      ? undefined
      : [stampOf(path), ...[...versions].filter(([name]) => text.includes(`./${name}`))].join();
  };
  const sourceOf = (path: string): readonly string[] | undefined => contents.get(path)?.split('\n');
  const problems = new OpenProblems(undefined, { stampOf, importStampOf, sourceOf });
  const events: string[] = [];
  let before = new Map<string, string>();
  const look = (): void => {
    const now = new Map(
      [...problems.open()].map(([key, { problem, count }]) => [
        key,
        `${problem.tool}: ${sayProblem(problem)}${count > 1 ? ` (${count} times)` : ''}`,
      ]),
    );
    for (const [key, text] of before) if (!now.has(key)) events.push(`- ${text}`);
    for (const [key, text] of now) if (!before.has(key)) events.push(`+ ${text}`);
    before = now;
  };
  const stream = linesOf((line) => {
    problems.read(line);
    look();
  });
  for (const [at, part] of readFileSync(join(FOLDER, file), 'utf8').split(SILENCE).entries()) {
    stream.write(Buffer.from(part));
    look();
    problems.silent();
    look();
    // The program was silent, and then the files were changed.
    if (at < steps.length) events.push('~');
    for (const [name, text] of Object.entries(steps[at]?.write ?? {})) {
      versions.set(name, (versions.get(name) ?? 0) + 1);
      contents.set(name, text);
    }
  }
  stream.end();
  problems.silent();
  look();
  return events;
}

verifies('follow:problems', 'the matchers find the problems of the golden file in the outputs of real programs', async () => {
  const files = readdirSync(FOLDER).toSorted();
  expect(files.length).toBeGreaterThanOrEqual(30);
  const all = files.map((file) => [`## ${file}`, ...said(file), ''].join('\n'));
  await expect(all.join('\n')).toMatchFileSnapshot('golden/problems.txt');
});
