/**
 * Whether any process committed to a database since the last look, found without a lock and without asking the thread.
 *
 * In WAL mode each commit of any process changes the header of the `-shm` file, its first 48 bytes: a counter, the length of
 * the log and a checksum (https://sqlite.org/walformat.html, "WAL-Index File Format"). SQLite keeps that file mapped in
 * memory, so a read of it waits for no disk. Equal bytes mean that nothing was committed. Different bytes, and a file that
 * cannot be read, prove nothing: then the thread is asked.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { realPath } from '../sqlite/files.ts';

const HEADER_BYTES = 48;
/**
 * An older look counts as news: another program may have deleted or replaced the file, and the open file's bytes do not show
 * that.
 */
const TRUSTED_MS = 200;

export class Commits {
  readonly #path: string;
  #fd: number | undefined;
  #seen = Buffer.alloc(HEADER_BYTES);
  #read = Buffer.alloc(HEADER_BYTES);
  #until = 0;

  /** `path`: the database's. */
  constructor(path: string) {
    this.#path = `${realPath(path)}-shm`;
  }

  /** False: no commit since the last call. True: a commit, or unknown. */
  news(): boolean {
    const now = performance.now();
    try {
      const isOld = now >= this.#until;
      if (isOld) this.#reopen();
      if (this.#fd === undefined || readSync(this.#fd, this.#read, 0, HEADER_BYTES, 0) !== HEADER_BYTES) return true;
      if (!isOld && this.#read.equals(this.#seen)) return false;
      [this.#seen, this.#read] = [this.#read, this.#seen];
      this.#until = now + TRUSTED_MS;
    } catch {
      this.close();
    }
    return true;
  }

  close(): void {
    this.#until = 0;
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    closeSync(fd);
  }

  /** Opens the file that is at the path now. */
  #reopen(): void {
    const at = statSync(this.#path, { throwIfNoEntry: false });
    if (this.#fd !== undefined) {
      const { dev, ino } = fstatSync(this.#fd);
      if (at?.ino === ino && at.dev === dev) return;
      this.close();
    }
    if (at !== undefined) this.#fd = openSync(this.#path, 'r');
  }
}
