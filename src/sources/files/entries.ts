/** Lists the files that a source follows: files that the agent has read, and files that the globs match. */
import { dirname } from 'node:path';
import type { Content } from './knowledge.ts';

export type Entry = {
  readonly path: string;
  known?: Content;
  state?: string;
  told?: Content | undefined;
  /** Whether the agent has read or written the file. Otherwise the file is followed because the globs match it. */
  read: boolean;
  /** Whether the content is known only from an earlier process. */
  seeded: boolean;
  /** The number of the agent's current writes to the file. */
  writing: number;
  /** Whether the last check found the file missing, empty or half written, so that a second check must confirm that state. */
  doubted: boolean;
  /** Settles when the latest work on this file has ended. */
  last: Promise<unknown>;
};

type EntriesDeps = {
  /** The maximum number of files that are remembered because the agent has read them. */
  readonly maxFiles: number;
  readonly isInGlobs: (path: string) => boolean;
  /** Called with a folder when the agent first reads a file in that folder. */
  readonly follow: (folder: string) => void;
};

export class Entries {
  readonly #deps: EntriesDeps;
  readonly #byPath = new Map<string, Entry>();
  /** The files that the agent has read, ordered by the last read, oldest first. */
  readonly #reads = new Set<Entry>();
  /** The folders of files that the agent has read. */
  readonly #folders = new Set<string>();

  constructor(deps: EntriesDeps) {
    this.#deps = deps;
  }

  get all(): Iterable<Entry> {
    return this.#byPath.values();
  }

  get reads(): ReadonlySet<Entry> {
    return this.#reads;
  }

  get folders(): ReadonlySet<string> {
    return this.#folders;
  }

  /** The number of files that are followed only because of the globs. */
  get unread(): number {
    return this.#byPath.size - this.#reads.size;
  }

  has(path: string): boolean {
    return this.#byPath.has(path);
  }

  get(path: string): Entry | undefined {
    return this.#byPath.get(path);
  }

  at(path: string): Entry {
    let entry = this.#byPath.get(path);
    if (entry === undefined) {
      entry = { path, read: false, seeded: false, writing: 0, doubted: false, last: Promise.resolve() };
      this.#byPath.set(path, entry);
    }
    return entry;
  }

  /**
   * Records that the agent has just read the file. If more than `maxFiles` read files are remembered, the file with the oldest
   * read is forgotten.
   */
  isRead(entry: Entry): void {
    entry.read = true;
    this.#byPath.set(entry.path, entry);
    this.#reads.delete(entry);
    this.#reads.add(entry);
    const folder = dirname(entry.path);
    if (!this.#folders.has(folder)) {
      this.#folders.add(folder);
      this.#deps.follow(folder);
    }
    if (this.#reads.size <= this.#deps.maxFiles) return;
    const [oldest] = this.#reads;
    if (oldest !== undefined) this.forget(oldest);
  }

  /** Forgets that the agent has read the file. An existing file that the globs match is still followed. */
  forget(entry: Entry): void {
    this.#reads.delete(entry);
    entry.read = false;
    if (entry.known === undefined || entry.known === 'absent' || !this.#deps.isInGlobs(entry.path))
      this.#byPath.delete(entry.path);
  }
}

/** Runs `work` after all earlier work on this file. */
export async function alone<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
  const mine = entry.last.then(work, work);
  entry.last = mine.catch(() => {});
  return mine;
}
