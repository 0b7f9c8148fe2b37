/**
 * Checks whether any process has committed to a database since the last check. Needs no lock and no call of the thread.
 *
 * In WAL mode, each commit of any process changes the header of the `-shm` file. The header is the first 48 bytes: a counter, the
 * length of the `-wal`, and a checksum (https://sqlite.org/walformat.html, "WAL-Index File Format"). SQLite maps that file into
 * memory, so a read of the header does not wait for the disk. If the header is unchanged, nothing was committed. If the header
 * differs, if the file cannot be read, or if another file is at the path, the thread must be asked. Another file means that the
 * open file was deleted, moved or replaced, and that other processes may commit elsewhere.
 */
import { fstatSync, readSync, statSync, type Stats } from 'node:fs';
import { realPath } from '../sqlite/files.ts';
import { closeRaw, openRaw } from '../sqlite/raw-file.ts';

const HEADER_BYTES = 48;
/** How long a check is valid. The time is short, because another program may replace the main file without the `-shm`. */
const TRUSTED_MS = 200;

export class Commits {
  readonly #path: string;
  #fd: number | undefined;
  #opened: Stats | undefined;
  #seen = Buffer.alloc(HEADER_BYTES);
  #read = Buffer.alloc(HEADER_BYTES);
  #until = 0;

  /** `path`: the path of the database. */
  constructor(path: string) {
    this.#path = `${realPath(path)}-shm`;
  }

  /** Whether a process may have committed since the last call. False is certain. */
  news(): boolean {
    const now = performance.now();
    try {
      const isOther = this.#follow();
      if (this.#fd === undefined || readSync(this.#fd, this.#read, 0, HEADER_BYTES, 0) !== HEADER_BYTES) return true;
      if (!isOther && now < this.#until && this.#read.equals(this.#seen)) return false;
      [this.#seen, this.#read] = [this.#read, this.#seen];
      this.#until = now + TRUSTED_MS;
    } catch {
      this.close();
    }
    return true;
  }

  close(): void {
    this.#until = 0;
    this.#opened = undefined;
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    closeRaw(fd);
  }

  /**
   * Returns false if the file at the path is already open. If not, closes the open file, opens the file at the path if there is
   * one, and returns true. No new file can have the inode of the open file.
   */
  #follow(): boolean {
    const at = statSync(this.#path, { throwIfNoEntry: false });
    if (at !== undefined && at.ino === this.#opened?.ino && at.dev === this.#opened.dev) return false;
    this.close();
    if (at === undefined) return true;
    this.#fd = openRaw(this.#path);
    this.#opened = fstatSync(this.#fd);
    return true;
  }
}
