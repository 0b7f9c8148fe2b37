/** Reads the lines of files that programs name in their errors. */
import { resolve } from 'node:path';
import { textOf } from './read-file.ts';
import { statsOf } from './stamp.ts';

/** Returns a function that gives the lines of a file without their indent; undefined if the file cannot be read. */
export function sourceIn(folder: string): (file: string) => readonly string[] | undefined {
  // A build prints the errors of one file together, so only the lines of the last file are kept.
  let last: { readonly path: string; readonly stamp: string; readonly lines: readonly string[] } | undefined;
  return (file) => {
    const path = resolve(folder, file);
    const stats = statsOf(path);
    if (stats === undefined) return undefined;
    const stamp = `${stats.mtimeMs} ${stats.size}`;
    if (last?.path === path && last.stamp === stamp) return last.lines;
    const text = textOf(path);
    if (text === undefined) return undefined;
    last = { path, stamp, lines: text.split('\n').map((line) => line.trim()) };
    return last.lines;
  };
}
