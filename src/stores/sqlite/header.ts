/** Recognizes a database of Earpiece by its first bytes, without opening the database. */
import { lstatSync } from 'node:fs';
import { APPLICATION_ID } from './migrations.ts';
import { readRaw } from './raw-file.ts';

const MAGIC = 'SQLite format 3\0';
/** The offset of the application's id, four bytes, big-endian: https://sqlite.org/fileformat.html#application_id */
const APPLICATION_ID_AT = 68;
const HEADER_BYTES = 100;

/** Whether the path is a regular, readable file with the header of an Earpiece database. */
export function isEarpieceFile(path: string): boolean {
  try {
    if (!lstatSync(path).isFile()) return false;
    const header = readRaw(path, HEADER_BYTES);
    if (header.length < HEADER_BYTES) return false;
    return header.toString('latin1', 0, MAGIC.length) === MAGIC && header.readInt32BE(APPLICATION_ID_AT) === APPLICATION_ID;
  } catch {
    return false;
  }
}
