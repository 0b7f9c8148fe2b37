/** Which files a source follows: those that the agent has read, and those that its globs match. */
import { dirname } from 'node:path';
import type { Content } from './knowledge.ts';

export type Entry = {
  readonly path: string;
  known?: Content;
  state?: string;
  told?: Content | undefined;
  /** By the agent; otherwise it is in the globs. */
  read: boolean;
  /** Known from an earlier process, and not looked at since. */
  seeded: boolean;
  /** How many writes of the agent are under way. */
  writing: number;
  /** It seemed gone, empty or half written: that has to be seen twice. */
  doubted: boolean;
  /** The work on this file that was begun last. */
  last: Promise<unknown>;
};

type EntriesDeps = {
  /** At most so many files that were read are remembered. */
  readonly maxFiles: number;
  /** The globs match this path. */
  readonly isInGlobs: (path: string) => boolean;
  /** A file in this folder was read for the first time. */
  readonly follow: (folder: string) => void;
};

export class Entries {
  readonly #deps: EntriesDeps;
  readonly #byPath = new Map<string, Entry>();
  /** Those that the agent has read, the longest unread first. */
  readonly #reads = new Set<Entry>();
  /** Folders of files that were read. */
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

  /** How many are followed because of the globs alone. */
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

  /** The agent has read it now. Beyond `maxFiles` the file that was not read for longest is forgotten. */
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

  /** The agent's reading is forgotten. A file that exists in the globs is still followed. */
  forget(entry: Entry): void {
    this.#reads.delete(entry);
    entry.read = false;
    if (entry.known === undefined || entry.known === 'absent' || !this.#deps.isInGlobs(entry.path))
      this.#byPath.delete(entry.path);
  }
}

/** Runs `work` after all work on this file that was begun before. */
export async function alone<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
  const mine = entry.last.then(work, work);
  entry.last = mine.catch(() => {});
  return mine;
}
