/** The watcher of folders, reduced to hints: something may have happened at this path. */
import type { Stats } from 'node:fs';
import { resolve } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';

import { lineOf } from '../source.ts';

export type Hints = {
  /** May be asked before anybody has looked what it is, and again with `stats`. */
  readonly ignored: (path: string, stats: Stats | undefined) => boolean;
  /** Whether less than an event is enough at this path. */
  readonly follows: (path: string) => boolean;
  /** `added`: of a file that the watcher did not know. */
  readonly hint: (path: string, added?: Stats) => void;
  readonly trouble: (line: string) => void;
};

export class FolderWatch {
  readonly #watcher: FSWatcher;

  constructor({ ignored, follows, hint, trouble }: Hints) {
    // Saving is judged by what stands there afterwards, and what cannot be read is told by whoever looks at it.
    this.#watcher = watch([], { atomic: false, ignorePermissionErrors: true, ignored: (path, stats) => ignored(path, stats) });
    this.#watcher.on('error', (error) => {
      // A link that leads to itself is no file to be watched; who reads it is told.
      if ((error as NodeJS.ErrnoException).code !== 'ELOOP') trouble(watchTrouble(error));
    });
    this.#watcher.on('all', (event, path, stats) => hint(path, event === 'add' ? stats : undefined));
    // A file that becomes a folder, or keeps its size and time, is no event.
    this.#watcher.on('raw', (_event, name: unknown, details: unknown) => {
      const folder = (details as { readonly watchedPath?: unknown } | undefined)?.watchedPath;
      if (typeof folder !== 'string' || typeof name !== 'string') return;
      const path = resolve(folder, name);
      if (follows(path)) hint(path);
    });
  }

  /** Folders that are missing are found when they appear. */
  add(folders: readonly string[]): void {
    this.#watcher.add([...folders]);
  }

  /** Resolves when all that was added before is watched, or `signal` aborts. Call it once. */
  async ready(signal: AbortSignal): Promise<void> {
    await new Promise<void>((done) => {
      this.#watcher.once('ready', () => done());
      signal.addEventListener('abort', () => done());
    });
  }

  async close(): Promise<void> {
    await this.#watcher.close();
  }
}

function watchTrouble(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC')
    return "the system's limit of watched folders is reached (ENOSPC); raise fs.inotify.max_user_watches or narrow sources.files.globs";
  if (code === 'EMFILE')
    return "the system's limit of open files or watchers is reached (EMFILE); raise it (ulimit -n, fs.inotify.max_user_instances) or narrow sources.files.globs";
  return `watching failed: ${lineOf(error)}`;
}
