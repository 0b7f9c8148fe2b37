/** The files that a source follows: those that the agent has read, and those that its globs match. */
import { dirname } from 'node:path';
import type { Content } from './knowledge.ts';

export type Entry = {
  readonly path: string;
  known?: Content;
  state?: string;
  told?: Content | undefined;
  /** Read by the agent; otherwise it matches the globs. */
  read: boolean;
  /** Known from an earlier process, and not checked since. */
  seeded: boolean;
  /** How many writes of the agent are running. */
  writing: number;
  /** It looked missing, empty or half written: a second check must confirm that. */
  doubted: boolean;
  /** The latest work on this file. */
  last: Promise<unknown>;
};

type EntriesDeps = {
  /** The most files to remember among those that were read. */
  readonly maxFiles: number;
  /** The globs match this path. */
  readonly isInGlobs: (path: string) => boolean;
  /** A file in this folder was read for the first time. */
  readonly follow: (folder: string) => void;
};

export class Entries {
  readonly #deps: EntriesDeps;
  readonly #byPath = new Map<string, Entry>();
  /** The files that the agent has read; those not read for longest come first. */
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

  /** How many files are followed only because of the globs. */
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

  /** The agent has read it now. Beyond `maxFiles`, the file not read for longest is forgotten. */
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

  /** Forgets the agent's read. An existing file in the globs is still followed. */
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
