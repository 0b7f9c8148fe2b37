/**
 * Checks whether a main file is truncated. While a database is in use, some pages may be only in the `-wal`, so the size of the
 * main file alone proves nothing. Each page beyond the file's end must be in a part of the `-wal` that readers still use.
 */
import { statSync } from 'node:fs';
import { EarpieceError } from '../../core/errors.ts';
import { headerOf, realPath } from './files.ts';
import { readRaw } from './raw-file.ts';

/** The facts in the `-shm` or `-wal`: the size of the database in pages, and the pages that readers take from the `-wal`. */
type Log = { readonly pages: number; readonly held: () => ReadonlySet<number> };

/** How often the check is repeated while another process changes the files. */
const ATTEMPTS = 20;

/**
 * Returns the error that describes a truncated main file. Undefined if the file is complete. `opened`: this process has opened
 * the file before, so a missing header means that the file was truncated.
 */
export function truncation(path: string, opened = false): EarpieceError | undefined {
  const real = realPath(path);
  for (let attempt = 1; ; attempt++) {
    const before = state(real);
    const error = looked(path, real, opened);
    // Another process may have moved pages from the -wal into the main file between the two reads.
    if (error === undefined || attempt === ATTEMPTS || before === state(real)) return error;
  }
}

function looked(path: string, real: string, opened: boolean): EarpieceError | undefined {
  // The -wal's size is read first, because a process that creates the database writes the main file before the -wal.
  const hasWal = sizeOf(`${real}-wal`) > 0;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return undefined;
  if (file.size === 0) return opened || hasWal ? truncated(path, 'is empty: the file was truncated to 0 bytes') : undefined;
  const header = headerOf(path);
  if (header === undefined)
    return opened ? truncated(path, `has ${file.size} bytes left and no header: the file was truncated`) : undefined;
  const { pageSize } = header;
  // The `-shm` or `-wal` is read before the size, because SQLite writes pages into the main file before it counts them as
  // written.
  const log = byIndex(real) ?? byFrames(real, pageSize);
  const size = sizeOf(path);
  const bytes = log === undefined ? header.bytes : log.pages * pageSize;
  const cut = truncated(path, `has ${size} of ${bytes} bytes: the file was truncated`);
  if (size < pageSize) return cut;
  if (size >= bytes) return undefined;
  if (log === undefined) return cut;
  const held = log.held();
  for (let page = Math.floor(size / pageSize) + 1; page <= log.pages; page++) if (!held.has(page)) return cut;
  return undefined;
}

const truncated = (path: string, what: string): EarpieceError =>
  new EarpieceError(
    'store_corrupt',
    `the database ${path} ${what}. Stop the programs that use the database (\`fuser ${path}\`), then move the file away with its -wal and -shm files. Restore a backup if you have one`,
    { data: { path } },
  );

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Returns a text that changes with each commit and each checkpoint. */
const state = (real: string): string =>
  `${sizeOf(real)} ${sizeOf(`${real}-wal`)} ${readStart(`${real}-shm`, INDEX_START)?.toString('hex')}`;

/**
 * The size of the header of the `-shm`, in bytes. The `-shm` begins with two copies of this header, and then the number of frames
 * that are already in the main file. See "The WAL-Index Header" in SQLite's format.
 */
const INDEX_HEADER = 48;
const INDEX_START = 2 * INDEX_HEADER + 4;
/**
 * The size of a block of the `-shm`, in bytes. A block contains page numbers, one for each frame: in the first block after 136
 * bytes, in other blocks from their start.
 */
const BLOCK = 32_768;
const FIRST = 136;
const FRAMES_PER_BLOCK = 4_096;
const FRAMES_IN_FIRST = FRAMES_PER_BLOCK - FIRST / 4;

/** Reads the facts from the `-shm`. Undefined if there is no `-shm`, if the `-shm` is half written, or if the `-wal` is empty. */
function byIndex(real: string): Log | undefined {
  const start = readStart(`${real}-shm`, INDEX_START);
  if (start === undefined || start.length < INDEX_START) return undefined;
  if (!start.subarray(0, INDEX_HEADER).equals(start.subarray(INDEX_HEADER, 2 * INDEX_HEADER))) return undefined;
  const number = numberIn(start);
  const [frames, pages, written] = [number(16), number(20), number(2 * INDEX_HEADER)];
  if (start[12] !== 1 || pages === 0 || written > frames) return undefined;
  return {
    pages,
    held: () => {
      const whole = readAll(`${real}-shm`);
      const at = numberIn(whole);
      const held = new Set<number>();
      for (let frame = written; frame < frames; frame++) {
        const later = frame - FRAMES_IN_FIRST;
        const offset =
          later < 0 ? FIRST + 4 * frame : (1 + Math.floor(later / FRAMES_PER_BLOCK)) * BLOCK + 4 * (later % FRAMES_PER_BLOCK);
        if (offset + 4 <= whole.length) held.add(at(offset));
      }
      return held;
    },
  };
}

const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/**
 * Reads the facts from the `-wal`, as SQLite does after the last process was killed. Undefined if the `-wal` has no commit.
 */
function byFrames(real: string, pageSize: number): Log | undefined {
  const wal = `${real}-wal`;
  const start = readStart(wal, WAL_HEADER);
  if (start === undefined || start.length < WAL_HEADER) return undefined;
  const salts = start.subarray(16, 24);
  const whole = readAll(wal);
  let pages = 0;
  const found: number[] = [];
  let committed = 0;
  for (let at = WAL_HEADER; at + FRAME_HEADER + pageSize <= whole.length; at += FRAME_HEADER + pageSize) {
    // A frame with other salts, and each frame after it, is from an earlier use of the file.
    if (!whole.subarray(at + 8, at + 16).equals(salts)) break;
    found.push(whole.readUInt32BE(at));
    const size = whole.readUInt32BE(at + 4);
    if (size === 0) continue;
    pages = size;
    committed = found.length;
  }
  return pages === 0 ? undefined : { pages, held: () => new Set(found.slice(0, committed)) };
}

/** Reads numbers of the `-shm`, which has the byte order of the machine. */
function numberIn(bytes: Buffer): (at: number) => number {
  const isLittle = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
  return (at) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
}

const readAll = (path: string): Buffer => readStart(path) ?? Buffer.alloc(0);

function readStart(path: string, length?: number): Buffer | undefined {
  try {
    return readRaw(path, length);
  } catch {
    return undefined;
  }
}
