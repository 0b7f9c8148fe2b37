/**
 * Whether any process committed to a database since the last check, found without a lock and without asking the thread.
 *
 * In WAL mode each commit of any process changes the header of the `-shm` file, its first 48 bytes: a counter, the length of
 * the log and a checksum (https://sqlite.org/walformat.html, "WAL-Index File Format"). SQLite keeps that file mapped in
 * memory, so a read of it waits for no disk. Equal bytes of the file at the path mean that nothing was committed. Different
 * bytes, and a file that cannot be read, prove nothing: then the thread is asked. The same holds for another file at the path:
 * the open one was deleted, moved away or replaced, and others commit elsewhere.
 */
import { closeSync, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { realPath } from '../sqlite/files.ts';

const HEADER_BYTES = 48;
/** An older look counts as news: somebody may have replaced the main file and left this one. */
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

  /** False: no commit since the last call. True: a commit, or unknown. */
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
    closeSync(fd);
  }

  /** Opens the current file at the path, if it was replaced. The open file keeps its inode, so no new one has that. */
  #follow(): boolean {
    const at = statSync(this.#path, { throwIfNoEntry: false });
    if (at !== undefined && at.ino === this.#opened?.ino && at.dev === this.#opened.dev) return false;
    this.close();
    if (at === undefined) return true;
    this.#fd = openSync(this.#path, 'r');
    this.#opened = fstatSync(this.#fd);
    return true;
  }
}
