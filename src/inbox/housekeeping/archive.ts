/**
 * Copies each log into compressed files, so that pruned records stay readable. A file is complete before it gets its final name,
 * and a setting has the position up to which a log is archived. Therefore, each record is in exactly one file, even if several
 * processes archive at once or are killed.
 */
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import type { Store } from '../../core/ports.ts';
import { inPrintedForm } from '../../core/records.ts';
import { folderOf, madeFolder, placeOf, synced } from './archive-folder.ts';

export type Archived = { readonly folder: string; readonly records: number; readonly files: number };

/**
 * Every record up to `after` is in the archive. With `to`, some process is about to give a file its final name: the file of the
 * records after `after` up to `to`. Any process may write that file again, because no record after `after` has been pruned yet.
 */
type Position = { readonly after: number; readonly to?: number };

const keyOf = (log: LogKey): string => `archived ${log}`;

const PAGE = 1_000;
/** The size from which a file gets no further page of records, in bytes. */
const FILE_BYTES = 64 * 1_048_576;
/** The age from which an unfinished file is treated as left over from a process that was killed, in ms. */
const LEFT_OVER_MS = 24 * 3_600_000;

const zip = promisify(gzip);

/**
 * Writes the records that are not in the archive yet. Throws `store_full` or `store_unavailable` if the folder cannot be written,
 * and `store_refused` if the folder has files of another state of the database. After an error, the caller must not remove
 * records.
 */
export async function archive(store: Store, root: string, { fileBytes = FILE_BYTES } = {}): Promise<Archived> {
  const folder = await folderOf(store, root);
  let [records, files] = [0, 0];
  try {
    for (const { log } of await store.overview()) {
      for (;;) {
        const written = await archiveNext({ store, log, folder: placeOf(folder, log), fileBytes });
        if (written === undefined) break;
        records += written.records;
        files += written.files;
      }
    }
  } catch (error) {
    throw unwritable(error, root);
  }
  return { folder, records, files };
}

type Target = { readonly store: Store; readonly log: LogKey; readonly folder: string; readonly fileBytes: number };

/** Archives the next file of one log. Returns undefined if the log has nothing to archive. */
async function archiveNext(target: Target): Promise<{ records: number; files: number } | undefined> {
  const { store, log, folder } = target;
  const position = await positionOf(store, log);
  if (position === undefined) return undefined;
  const { after, to } = position;
  const isNext = (last: number): Promise<boolean> => store.swapSetting(keyOf(log), { after, to: last }, { after: last });
  const temporary = join(folder, `${crypto.randomUUID()}.tmp`);
  try {
    const written = await writeRecords(target, position, temporary);
    if (written === undefined) {
      if (to === undefined) return undefined;
      await isNext(to);
      return { records: 0, files: 0 };
    }
    const { first, last, records } = written;
    const file = join(folder, `${first}-${last}.jsonl.gz`);
    if (to === undefined && (await exists(file))) {
      if (!(await store.swapSetting(keyOf(log), position, position))) return { records: 0, files: 0 };
      throw new EarpieceError(
        'store_refused',
        `nothing was removed: ${file} already exists, but belongs to another state of the database (was a backup restored?). Move ${folder} to another place, then try again`,
      );
    }
    fault('archive.written');
    // If the position has changed, another process archives these records.
    if (!(await store.swapSetting(keyOf(log), position, { after, to: to ?? last }))) return { records: 0, files: 0 };
    fault('archive.claimed');
    // If the agent is forgotten at this moment, its folder is removed, and this call fails.
    await rename(temporary, file);
    await synced(folder);
    fault('archive.named');
    await isNext(to ?? last);
    return { records, files: 1 };
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

/**
 * Returns the position of a log. Undefined for a log without records. The first position of a log is just before its first
 * record. Therefore, after `forget` has removed the position and the records, the log does not get an earlier position again.
 */
async function positionOf(store: Store, log: LogKey): Promise<Position | undefined> {
  const known = (await store.setting(keyOf(log))) as Position | undefined;
  if (known !== undefined) return known;
  const [first] = await store.read({ log, limit: 1 });
  if (first === undefined) return undefined;
  await store.swapSetting(keyOf(log), undefined, { after: first.seq - 1 });
  return (await store.setting(keyOf(log))) as Position | undefined;
}

/** Writes the next records of a log, and syncs the file. Returns undefined and writes nothing if there are no records. */
async function writeRecords(
  { store, log, folder, fileBytes }: Target,
  { after, to }: Position,
  path: string,
): Promise<{ first: number; last: number; records: number } | undefined> {
  const next = (from: number): ReturnType<Store['read']> =>
    store.read({ log, after: from, limit: PAGE, ...(to === undefined ? {} : { upTo: to }) });
  let page = await next(after);
  const first = page[0]?.seq;
  if (first === undefined) return undefined;
  await madeFolder(folder);
  await removeLeftOver(folder);
  await using file = await open(path, 'wx', 0o600);
  let [last, records, bytes] = [first, 0, 0];
  while (page.length > 0) {
    const zipped = await zip(page.map((record) => `${JSON.stringify(inPrintedForm(record))}\n`).join(''));
    await file.writeFile(zipped);
    records += page.length;
    last = page.at(-1)?.seq ?? last;
    bytes += zipped.length;
    if (to === undefined && bytes >= fileBytes) break;
    page = await next(last);
  }
  await file.sync();
  return { first, last, records };
}

async function removeLeftOver(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.tmp')) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > LEFT_OVER_MS) await rm(path, { force: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Returns the error for a folder that cannot be written. Returns any other error, such as the store's, unchanged. */
function unwritable(error: unknown, root: string): unknown {
  const code = error instanceof Error && 'code' in error && 'syscall' in error ? String(error.code) : undefined;
  if (code === undefined || error instanceof EarpieceError) return error;
  const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code);
  const way = isFull ? 'free some space' : 'give yourself write access to the folder';
  return new EarpieceError(
    isFull ? 'store_full' : 'store_unavailable',
    `the archive ${root} cannot be written (${isFull ? `${code}: the disk is full or a quota is reached` : code}), so nothing was removed; ${way}. Or choose another folder: set archive in earpiece.toml, or pass --archive <folder> to earpiece db prune`,
    { retryable: true, cause: error },
  );
}
