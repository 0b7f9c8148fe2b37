/**
 * Files that change while an agent works with them. The watcher only hints that something may have happened at a path;
 * what is told follows from what the agent knows of the file and what stands there now, by content. So it does not matter
 * how an editor saves, a touch is nothing, the agent's own writes are nothing, and what is put back is taken back.
 */
import { existsSync, type Stats } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

import type { Emitter, EventInput } from '../../core/event.ts';
import { Settling } from '../settling.ts';
import { Background, lineOf, startAndStop, troubleTeller, type Source } from '../source.ts';
import { alone, Entries, type Entry } from './entries.ts';
import { aboutFile, fileEvent, staleEvent, type FileChange } from './events.ts';
import { judge, type Content } from './knowledge.ts';
import { HASHED_BYTES, hashOf, isHash, look, stateOf, type Hash } from './look.ts';
import { isBehindLink, leadsToNoFile } from './links.ts';
import { scopeOf, type Scope } from './scope.ts';
import { FolderWatch } from './watching.ts';

export type FilesOptions = {
  readonly emitter: Emitter;
  /** Whom the events concern: `project/agent#conversation`. */
  readonly subject: string;
  /** The folder that paths are relative to. */
  readonly root: string;
  /**
   * Files below the root that are told of though the agent did not read them, as info: `src/**`, `*.{json,toml}`,
   * `!src/generated/**`. Never `.git`, `node_modules` and what `.gitignore` files name. Default: none.
   */
  readonly globs?: readonly string[];
  /** How long a path has to be quiet before somebody looks. Default 100. */
  readonly debounceMs?: number;
  /**
   * Most files that are remembered, of those read and of those in the globs. Of read ones those that were not read for
   * longest are forgotten, of the globs those found last are left out. Default 100,000.
   */
  readonly maxFiles?: number;
  /** What an earlier process knew when it ended, as `known()` gave it. */
  readonly known?: Readonly<Record<string, string>>;
  /** One line for each thing that went wrong beside the events. */
  readonly onTrouble?: (line: string) => void;
};

/** What the agent read or wrote: all bytes of the file (a text as UTF-8), or their hash. What was cut or converted is not that. */
export type FileContent = string | Uint8Array | { readonly hash: string };

/** Paths are relative to the root, or absolute. None of these rejects because of a file. */
export type FilesSource = Source & {
  /**
   * The agent has read this file; from now on it is told when somebody changes it. Without `content` the file is read
   * here. When an earlier read saw something else, and no event said so since, `source.stale` is emitted: awaited, it
   * rides on the result of this read.
   */
  noteRead(path: string, content?: FileContent): Promise<void>;
  /** The agent has just written it. Where that can be arranged, `withOwnWrite` also sees what others did right before. */
  noteWrite(path: string, content?: FileContent): Promise<void>;
  /** Whatever happens to these files while `write` runs is the agent's own doing. Returns and throws what `write` does. */
  withOwnWrite<T>(paths: string | readonly string[], write: () => T | Promise<T>): Promise<T>;
  /** What the agent knows now, by absolute path, for the next process. */
  known(): Readonly<Record<string, Hash>>;
  /** What a tool that shows the file returns in `ToolOutcome.knows`. */
  about(path: string): string;
};

const WORKERS = 16;
/** Emits that may be under way before the next look. */
const EMITS = 10_000;
const EMPTY = hashOf('');

export function filesSource(options: FilesOptions): FilesSource {
  return new Files(options);
}

class Files implements FilesSource {
  readonly name = 'files';
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly #options: FilesOptions;
  readonly #root: string;
  readonly #maxFiles: number;
  readonly #trouble: (line: string) => void;
  readonly #looks: Background;
  readonly #emits: Background;
  readonly #settling: Settling<Entry>;
  readonly #entries: Entries;
  #scope: Scope;
  #due = new Set<Entry>();
  #workers = 0;
  #watcher: FolderWatch | undefined;
  #mode: 'stopped' | 'scanning' | 'watching' | 'stopping' = 'stopped';

  constructor(options: FilesOptions) {
    const { root, debounceMs = 100, maxFiles = 100_000, known = {} } = options;
    this.#options = options;
    this.#root = resolve(root);
    this.#maxFiles = maxFiles;
    this.#scope = scopeOf(this.#root, options.globs ?? []);
    this.#entries = new Entries({
      maxFiles,
      isInGlobs: (path) => this.#scope.file(path),
      follow: (folder) => {
        if (this.#mode !== 'stopping') this.#watcher?.add([folder]);
      },
    });
    const tell = troubleTeller(options.onTrouble, () => performance.now());
    this.#trouble = (line) => tell(`files: ${line}`);
    const failed = (error: unknown): void => this.#trouble(lineOf(error));
    this.#looks = new Background(failed);
    this.#emits = new Background(failed);
    this.#settling = new Settling({ quietMs: debounceMs }, (entry) => this.#enqueue(entry));
    for (const [path, hash] of Object.entries(known)) {
      // What no earlier process can have written is not known.
      if (!isHash(hash)) continue;
      const entry = this.#entries.at(this.#absolute(path));
      this.#entries.isRead(entry);
      entry.known = hash;
      entry.seeded = true;
    }
    ({ start: this.start, stop: this.stop } = startAndStop({
      enter: (signal) => this.#enter(signal),
      leave: () => this.#leave(),
      failed,
    }));
  }

  about(path: string): string {
    return aboutFile(this.#root, path);
  }

  known(): Readonly<Record<string, Hash>> {
    const known: Record<string, Hash> = {};
    for (const entry of this.#entries.reads)
      if (entry.known !== undefined && entry.known !== 'absent') known[entry.path] = entry.known;
    return known;
  }

  async noteRead(path: string, content?: FileContent): Promise<void> {
    const entry = this.#noted(path);
    if (entry === undefined) return;
    const stale = await alone(entry, async () => {
      const { known, told, read } = entry;
      const now = await this.#contentOf(entry, content);
      if (now === undefined) return this.#unknown(entry);
      this.#knows(entry, now);
      const differs = read && told === undefined && known !== undefined && known !== now;
      return differs && known !== 'absent' && now !== 'absent' ? { previous: known, current: now } : undefined;
    });
    // It may have changed after it was read, and nobody watched yet.
    this.#touch(entry);
    if (stale === undefined || this.#mode === 'stopped') return;
    const event = staleEvent(this.#root, path, stale.previous, stale.current);
    await new Promise<void>((done) => this.#emits.run(() => this.#emit(event).catch(this.#lost).finally(done)));
  }

  async noteWrite(path: string, content?: FileContent): Promise<void> {
    const entry = this.#noted(path);
    if (entry === undefined) return;
    await alone(entry, async () => {
      const now = await this.#contentOf(entry, content);
      if (now === undefined) this.#unknown(entry);
      else this.#knows(entry, now);
    });
    this.#touch(entry);
  }

  async withOwnWrite<T>(paths: string | readonly string[], write: () => T | Promise<T>): Promise<T> {
    const entries = (typeof paths === 'string' ? [paths] : paths).flatMap((path) => this.#noted(path) ?? []);
    // What others did up to now is not the agent's doing, and after its write nobody could tell.
    if (this.#mode === 'watching') await Promise.all(entries.map((entry) => this.#check(entry, { sure: true })));
    for (const entry of entries) entry.writing++;
    try {
      return await write();
    } finally {
      await Promise.all(
        entries.map((entry) =>
          alone(entry, async () => {
            const now = await this.#contentOf(entry, undefined);
            entry.writing--;
            if (now === undefined) this.#unknown(entry);
            else this.#knows(entry, now);
          }),
        ),
      );
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    const { globs = [] } = this.#options;
    this.#scope = scopeOf(this.#root, globs);
    for (const problem of this.#scope.problems) this.#trouble(problem);
    this.#mode = 'scanning';
    const watched = this.#scope.globs.length > 0;
    if (watched && !existsSync(this.#root)) this.#trouble(`${this.#root} does not exist; its files are told when they appear`);
    const watcher = new FolderWatch({
      ignored: (path, stats) => this.#ignored(path, stats),
      follows: (path) => this.#entries.has(path),
      hint: (path, added) => this.#seen(path, added),
      trouble: this.#trouble,
    });
    this.#watcher = watcher;
    // What was known before the start, or changed during a stop. The watcher does not see what went while nobody watched.
    for (const entry of this.#entries.all) if (!entry.seeded) this.#touch(entry);
    watcher.add([...(watched ? [this.#root] : []), ...this.#entries.folders]);
    await watcher.ready(signal);
    this.#mode = 'watching';
  }

  async #leave(): Promise<void> {
    this.#mode = 'stopping';
    await this.#watcher?.close();
    this.#watcher = undefined;
    // What was seen is told: nobody will look again.
    this.#settling.flush();
    await this.#looks.idle();
    await this.#emits.idle();
    this.#mode = 'stopped';
    this.#settling.clear();
  }

  /** Files of folders that somebody read from are all followed, so that the next one that is read is already watched. */
  #ignored(path: string, stats: Stats | undefined): boolean {
    // A folder may stand where a file stood.
    if (this.#entries.folders.has(path) || this.#entries.has(path)) return false;
    // What stands behind a link to a folder stands somewhere else: there it is in the globs, or it is not.
    if (stats?.isSymbolicLink() && leadsToNoFile(path)) return true;
    const isFolder = stats?.isDirectory();
    if (isFolder !== true && this.#entries.folders.has(dirname(path))) return false;
    if (isFolder === true) return !this.#scope.folder(path);
    // Before anybody has looked what it is, both may hold.
    if (this.#scope.file(path) || (basename(path) === '.gitignore' && this.#scope.folder(dirname(path)))) return false;
    return isFolder === false || !this.#scope.folder(path);
  }

  #seen(path: string, added?: Stats): void {
    this.#scope.changed(path);
    let entry = this.#entries.get(path);
    if (entry === undefined) {
      if (added === undefined || !this.#scope.file(path)) return;
      if (this.#entries.unread >= this.#maxFiles)
        return this.#trouble(`the globs match more than ${this.#maxFiles} files; the rest is not watched`);
      if (this.#mode !== 'scanning' && isBehindLink(this.#root, path)) return;
      entry = this.#entries.at(path);
      if (this.#mode === 'scanning') {
        entry.state = stateOf(added);
        return this.#enqueue(entry);
      }
      entry.known = 'absent';
    }
    if (entry.seeded && this.#mode === 'scanning') return;
    if (!entry.read && !this.#scope.file(path)) return;
    this.#touch(entry);
  }

  #touch(entry: Entry): void {
    if (this.#mode === 'stopping') this.#enqueue(entry);
    else if (this.#mode !== 'stopped') this.#settling.touch(entry);
  }

  #enqueue(entry: Entry): void {
    this.#due.add(entry);
    if (this.#workers >= WORKERS) return;
    this.#workers++;
    this.#looks.run(async () => {
      try {
        for (const next of this.#due) {
          this.#due.delete(next);
          await this.#check(next, { sure: this.#mode === 'stopping' });
          if (this.#emits.size >= EMITS) await this.#emits.idle();
        }
      } finally {
        this.#workers--;
      }
    });
  }

  /** Looks, and tells what is new. `sure`: what seems gone or empty is not looked at again first. */
  async #check(entry: Entry, { sure }: { readonly sure: boolean }): Promise<void> {
    await alone(entry, async () => {
      if (entry.known === undefined && entry.state === undefined) return;
      const seen = await look(entry.path);
      // Its end looks again.
      if (entry.writing > 0) return;
      if (seen.kind === 'unclear') return this.#unclear(entry, seen.why);
      const now: Content = seen.kind === 'gone' ? 'absent' : seen.hash;
      const doubtful = seen.kind === 'gone' ? entry.known !== 'absent' : seen.moving || (seen.empty && entry.known !== EMPTY);
      if (doubtful && !entry.doubted && !sure) {
        entry.doubted = true;
        return this.#touch(entry);
      }
      entry.doubted = false;
      const verdict = judge(entry, now, seen.kind === 'file' ? seen.state : undefined);
      switch (verdict.kind) {
        case 'again':
          return;
        case 'same':
          entry.known = verdict.known;
          break;
        case 'restored':
          this.#tell(entry, verdict.kind, undefined, { current: now });
          break;
        case 'changed':
        case 'deleted':
        case 'created':
          this.#tell(entry, verdict.kind, now, { current: now, previous: verdict.previous });
      }
      // It came and went: nobody has to remember it.
      if (!entry.read && entry.known === 'absent' && now === 'absent') this.#entries.forget(entry);
    });
  }

  #tell(
    entry: Entry,
    change: FileChange,
    told: Content | undefined,
    { current, previous }: { readonly current: Content; readonly previous?: Hash | undefined },
  ): void {
    const before = entry.told;
    entry.told = told;
    const event = fileEvent(this.#root, { path: entry.path, change, read: entry.read, current, previous });
    this.#emits.run(() =>
      this.#emit(event).catch((error: unknown) => {
        // The next time that somebody looks it is new again.
        if (entry.told === told) entry.told = before;
        this.#lost(error);
      }),
    );
  }

  readonly #lost = (error: unknown): void => this.#trouble(`an event is lost: ${lineOf(error)}`);

  async #emit(event: Omit<EventInput, 'source' | 'subject'>): Promise<void> {
    await this.#options.emitter.emit({ ...event, source: 'files', subject: this.#options.subject });
  }

  #knows(entry: Entry, now: Content): void {
    entry.known = now;
    entry.seeded = false;
    entry.doubted = false;
    delete entry.told;
    delete entry.state;
    this.#entries.isRead(entry);
  }

  /** Nothing can be said of it now: what was known of it stays. */
  #unknown(entry: Entry): undefined {
    if (entry.known === undefined && entry.state === undefined && entry.writing === 0) this.#entries.forget(entry);
  }

  /** Undefined when nothing can be said of it. */
  async #contentOf(entry: Entry, content: FileContent | undefined): Promise<Content | undefined> {
    if (typeof content === 'string' && content.length <= HASHED_BYTES / 3) return hashOf(content);
    if (content instanceof Uint8Array && content.length <= HASHED_BYTES) return hashOf(content);
    if (typeof content === 'object' && 'hash' in content) {
      if (isHash(content.hash)) return content.hash;
      this.#trouble(
        `${JSON.stringify(content.hash)} is no hash: write "sha256:" and 64 hexadecimal digits; the file is read instead`,
      );
    }
    const seen = await look(entry.path);
    switch (seen.kind) {
      case 'file':
        return seen.hash;
      case 'gone':
        return 'absent';
      case 'unclear':
        this.#unclear(entry, seen.why);
        return undefined;
    }
  }

  #unclear(entry: Entry, why: string | undefined): void {
    if (why !== undefined) this.#trouble(`${entry.path} cannot be read (${why}); its changes are told when it can`);
  }

  /** The entry of a file that the agent has something to do with, watched. Undefined for what is no file on a disk. */
  #noted(path: string): Entry | undefined {
    const absolute = this.#absolute(path);
    return /^\/(proc|sys|dev)\//.test(absolute) ? undefined : this.#entries.at(absolute);
  }

  #absolute(path: string): string {
    return resolve(this.#root, path);
  }
}
