/** Recognizes a database of Earpiece by its first bytes, without opening the database. */
import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import { APPLICATION_ID } from './migrations.ts';

const MAGIC = 'SQLite format 3\0';
/** The offset of the application's id, four bytes, big-endian: https://sqlite.org/fileformat.html#application_id */
const APPLICATION_ID_AT = 68;
const HEADER_BYTES = 100;

/** Whether the path is a regular, readable file with the header of an Earpiece database. */
export function isEarpieceFile(path: string): boolean {
  let fd: number | undefined;
  try {
    if (!lstatSync(path).isFile()) return false;
    fd = openSync(path, 'r');
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false;
    return header.toString('latin1', 0, MAGIC.length) === MAGIC && header.readInt32BE(APPLICATION_ID_AT) === APPLICATION_ID;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
