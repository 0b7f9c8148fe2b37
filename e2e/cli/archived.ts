/** Reads an archive as its user does. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export type ArchivedRecord = { readonly seq: number; readonly log: string; readonly type: string };

/** Lists the files of an archive, with their folders. Leaves out unfinished files. */
export const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.jsonl.gz'))
        .toSorted()
    : [];

/** Returns the records of all files, in the order of their positions. */
export function archivedIn(folder: string): readonly ArchivedRecord[] {
  const lines = filesIn(folder).flatMap((name) =>
    gunzipSync(readFileSync(join(folder, name)))
      .toString()
      .trimEnd()
      .split('\n'),
  );
  return lines.map((line) => JSON.parse(line) as ArchivedRecord).toSorted((a, b) => a.seq - b.seq);
}
