/**
 * Makes the wall clock of one process jump by 4 s, as after a sleep, when the database has a record of the type `JUMPS_AFTER`.
 * The process preloads this module.
 */
import { readFileSync } from 'node:fs';

const RealDate = Date;
const database = process.env['EARPIECE_DB'] ?? '';
const record = `"${process.env['JUMPS_AFTER'] ?? ''}"`;
const isWritten = (): boolean =>
  [database, `${database}-wal`].some((file) => {
    try {
      return readFileSync(file, 'latin1').includes(record);
    } catch {
      return false;
    }
  });

globalThis.Date = class extends RealDate {
  static override now(): number {
    return RealDate.now() + (isWritten() ? 4_000 : 0);
  }
} as DateConstructor;
