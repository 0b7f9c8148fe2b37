/**
 * Finds import circles, and files that are too long. Imports of types count too: no reader can understand one file of a circle
 * without the other files. An `import()` does not count, because it runs later and on purpose.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The maximum number of lines of a file. A longer file contains several ideas. */
export const MAX_LINES = 400;

const STATIC = /^(?:import|export)\b[^'"`;=(]*?(?:\bfrom\s*)?(['"])(?<target>\.[^'"\n]+)\1/gmu;

/** Returns the TypeScript files in a folder, without tests and declarations, by their relative paths. */
const sourcesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/u.test(file) && !/\.test\.tsx?$|\.d\.ts$/u.test(file))
    .toSorted();

/** Returns each group of files that import each other, directly or through others of the group. */
export function circles(folder: string): readonly (readonly string[])[] {
  const imports = new Map(
    sourcesIn(folder).map((file) => {
      const code = readFileSync(join(folder, file), 'utf8');
      const targets = [...code.matchAll(STATIC)].map((match) => join(dirname(file), match.groups?.['target'] ?? ''));
      return [file, targets];
    }),
  );
  const reached = new Map([...imports.keys()].map((file) => [file, reachedFrom(file, imports)]));
  const found = new Map<string, readonly string[]>();
  for (const [file, targets] of reached) {
    if (!targets.has(file)) continue;
    const circle = [...targets].filter((target) => reached.get(target)?.has(file)).toSorted();
    found.set(circle.join(), circle);
  }
  return [...found.values()];
}

function reachedFrom(file: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const left = [...(imports.get(file) ?? [])];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    left.push(...(imports.get(next) ?? []));
  }
  return reached;
}

export function longFiles(folder: string): readonly { readonly file: string; readonly lines: number }[] {
  return sourcesIn(folder).flatMap((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n').length - 1;
    return lines > MAX_LINES ? [{ file, lines }] : [];
  });
}
