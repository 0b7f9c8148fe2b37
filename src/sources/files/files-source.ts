/**
 * Emits changes to the files that an agent works with. The watcher only reports that a path may have changed. The source then
 * compares the file's current content with the content that the agent knows, and so recognizes every way of saving a file. The
 * agent's own write emits nothing, and a `touch` emits nothing for files up to 16 MiB. If a file gets its earlier content back
 * after an event about a change, the source emits `file.restored`.
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
  /** The subject of the events: `project/agent#conversation`. */
  readonly subject: string;
  /** The folder to which paths are relative. */
  readonly root: string;
  /**
   * Globs of files whose changes are emitted even if the agent has not read them, with severity info: `src/**`, `*.{json,toml}`,
   * `!src/generated/**`. `.git`, `node_modules` and files that `.gitignore` excludes never match. Default: none.
   */
  readonly globs?: readonly string[];
  /** The time that a path must stay unchanged before the source checks it, in ms. Default 100. */
  readonly debounceMs?: number;
  /**
   * The maximum number of read files, and also of other files that the globs match. Above this number, the source forgets the
   * files with the oldest reads, and ignores further files that the globs match. Default 100,000.
   */
  readonly maxFiles?: number;
  /** The result of `known()` from an earlier process. */
  readonly known?: Readonly<Record<string, string>>;
  /** Called with one line for each error, such as an unreadable file. An equal line is repeated only after a minute. */
  readonly onTrouble?: (line: string) => void;
};

/**
 * The content that the agent read or wrote: all bytes of the file (a text as UTF-8), or their hash. A part of the file or a
 * converted text is not allowed.
 */
export type FileContent = string | Uint8Array | { readonly hash: string };

/** A source of file events. Paths are relative to the root, or absolute. An error of a file never rejects these methods. */
export type FilesSource = Source & {
  /**
   * Records that the agent has read this file, so that the source emits later changes. Without `content`, this method reads the
   * file. If an earlier read saw other content and no event has reported the change, a started source emits `source.stale`. If
   * you await this method, the result of the read can carry the notification of that event.
   */
  noteRead(path: string, content?: FileContent): Promise<void>;
  /**
   * Records that the agent has just written this file. Prefer `withOwnWrite`, which also finds changes that others made directly
   * before the write.
   */
  noteWrite(path: string, content?: FileContent): Promise<void>;
  /** Runs `write`. All changes to these files during the write count as the agent's changes. Returns and throws like `write`. */
  withOwnWrite<T>(paths: string | readonly string[], write: () => T | Promise<T>): Promise<T>;
  /** Returns the hash of the content that the agent knows of each file, by absolute path. Pass the result to the next process. */
  known(): Readonly<Record<string, Hash>>;
  /** Returns the fact that a tool puts into `ToolOutcome.knows` when the tool shows the file. */
  about(path: string): string;
};

const WORKERS = 16;
/** The maximum number of emits that may run before the next check. */
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
    // The file may have changed after the read and before the watch began.
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
    // Changes before the write are not the agent's. These changes must be found now, because after the write they look like the
    // agent's changes.
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
    if (watched && !existsSync(this.#root))
      this.#trouble(`${this.#root} does not exist; files in this folder are reported when they appear`);
    const watcher = new FolderWatch({
      ignored: (path, stats) => this.#ignored(path, stats),
      follows: (path) => this.#entries.has(path),
      hint: (path, added) => this.#seen(path, added),
      trouble: this.#trouble,
    });
    this.#watcher = watcher;
    // Known files are checked now, because the watcher does not report files that were removed earlier. Files that are known only
    // from an earlier process are not checked.
    for (const entry of this.#entries.all) if (!entry.seeded) this.#touch(entry);
    watcher.add([...(watched ? [this.#root] : []), ...this.#entries.folders]);
    await watcher.ready(signal);
    this.#mode = 'watching';
  }

  async #leave(): Promise<void> {
    this.#mode = 'stopping';
    await this.#watcher?.close();
    this.#watcher = undefined;
    // No later check follows, so pending changes are emitted now.
    this.#settling.flush();
    await this.#looks.idle();
    await this.#emits.idle();
    this.#mode = 'stopped';
    this.#settling.clear();
  }

  /**
   * Whether the watcher ignores a path. All files in the folders of read files are watched, because the agent may read other
   * files of these folders next.
   */
  #ignored(path: string, stats: Stats | undefined): boolean {
    // A known path is never ignored, because a folder may have replaced the file.
    if (this.#entries.folders.has(path) || this.#entries.has(path)) return false;
    // Links to folders are ignored. If the globs match the path of the target, the files are followed under that path.
    if (stats?.isSymbolicLink() && leadsToNoFile(path)) return true;
    const isFolder = stats?.isDirectory();
    if (isFolder !== true && this.#entries.folders.has(dirname(path))) return false;
    if (isFolder === true) return !this.#scope.folder(path);
    // Before the first check, the source does not know whether a path is a file or a folder.
    if (this.#scope.file(path) || (basename(path) === '.gitignore' && this.#scope.folder(dirname(path)))) return false;
    return isFolder === false || !this.#scope.folder(path);
  }

  #seen(path: string, added?: Stats): void {
    this.#scope.changed(path);
    let entry = this.#entries.get(path);
    if (entry === undefined) {
      if (added === undefined || !this.#scope.file(path)) return;
      if (this.#entries.unread >= this.#maxFiles)
        return this.#trouble(`the globs match more than ${this.#maxFiles} files, so only some are watched; use narrower globs`);
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

  /** Checks the file and emits its changes. With `sure`, a missing, empty or half-written file needs no second check. */
  async #check(entry: Entry, { sure }: { readonly sure: boolean }): Promise<void> {
    await alone(entry, async () => {
      if (entry.known === undefined && entry.state === undefined) return;
      const seen = await look(entry.path);
      // Another check follows when the agent's write has ended.
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
      // A file that the agent never read was created and deleted again, so the source forgets the file.
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
        // The emit failed, so the next check must treat the change as new.
        if (entry.told === told) entry.told = before;
        this.#lost(error);
      }),
    );
  }

  readonly #lost = (error: unknown): void => this.#trouble(`an event was lost: ${lineOf(error)}`);

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

  /** Keeps the known content of a file whose state is unclear. Forgets a file without known content. */
  #unknown(entry: Entry): undefined {
    if (entry.known === undefined && entry.state === undefined && entry.writing === 0) this.#entries.forget(entry);
  }

  /** Returns the content of a file; undefined if the file's state is unclear. */
  async #contentOf(entry: Entry, content: FileContent | undefined): Promise<Content | undefined> {
    if (typeof content === 'string' && content.length <= HASHED_BYTES / 3) return hashOf(content);
    if (content instanceof Uint8Array && content.length <= HASHED_BYTES) return hashOf(content);
    if (typeof content === 'object' && 'hash' in content) {
      if (isHash(content.hash)) return content.hash;
      this.#trouble(
        `${JSON.stringify(content.hash)} is not a hash ("sha256:" and 64 hexadecimal digits), so the file is read instead`,
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
    if (why !== undefined) this.#trouble(`${entry.path} cannot be read (${why}); changes are reported when the file can be read`);
  }

  /**
   * Returns the entry of a file that the agent uses, and makes a missing entry. Returns undefined for a path in `/proc`, `/sys`
   * or `/dev`.
   */
  #noted(path: string): Entry | undefined {
    const absolute = this.#absolute(path);
    return /^\/(proc|sys|dev)\//.test(absolute) ? undefined : this.#entries.at(absolute);
  }

  #absolute(path: string): string {
    return resolve(this.#root, path);
  }
}
