/** Reads the lines of files that programs name in their errors. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** The maximum size of a file that is read, in bytes. */
const MAX_BYTES = 2_000_000;

/** Returns a function that gives the lines of a file without their indent; undefined if the file cannot be read. */
export function sourceIn(folder: string): (file: string) => readonly string[] | undefined {
  // A build prints the errors of one file together, so only the lines of the last file are kept.
  let last: { readonly path: string; readonly stamp: string; readonly lines: readonly string[] } | undefined;
  return (file) => {
    const path = resolve(folder, file);
    try {
      const stats = statSync(path);
      if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
      const stamp = `${stats.mtimeMs} ${stats.size}`;
      if (last?.path !== path || last.stamp !== stamp)
        last = {
          path,
          stamp,
          lines: readFileSync(path, 'utf8')
            .split('\n')
            .map((line) => line.trim()),
        };
      return last.lines;
    } catch {
      return undefined;
    }
  };
}
