/** Watches folders, and reports only that a path may have changed. */
import type { Stats } from 'node:fs';
import { resolve } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';

import { lineOf } from '../source.ts';

export type Hints = {
  /** Whether to ignore a path. May be called before the type is known, and again with `stats`. */
  readonly ignored: (path: string, stats: Stats | undefined) => boolean;
  /** Whether to call `hint` for each raw report about this path, even if the watcher emits no event. */
  readonly follows: (path: string) => boolean;
  /** Called for a path that may have changed. `added` is set if the watcher did not know the file before. */
  readonly hint: (path: string, added?: Stats) => void;
  readonly trouble: (line: string) => void;
};

export class FolderWatch {
  readonly #watcher: FSWatcher;

  constructor({ ignored, follows, hint, trouble }: Hints) {
    // The source itself waits for the end of a save and reports unreadable files, so these functions of the watcher are off.
    this.#watcher = watch([], { atomic: false, ignorePermissionErrors: true, ignored: (path, stats) => ignored(path, stats) });
    this.#watcher.on('error', (error) => {
      // A link to itself cannot be watched. The later read of the link reports the error.
      if ((error as NodeJS.ErrnoException).code !== 'ELOOP') trouble(watchTrouble(error));
    });
    this.#watcher.on('all', (event, path, stats) => hint(path, event === 'add' ? stats : undefined));
    // The watcher emits no event for a file that becomes a folder, or that keeps its size and time.
    this.#watcher.on('raw', (_event, name: unknown, details: unknown) => {
      const folder = (details as { readonly watchedPath?: unknown } | undefined)?.watchedPath;
      if (typeof folder !== 'string' || typeof name !== 'string') return;
      const path = resolve(folder, name);
      if (follows(path)) hint(path);
    });
  }

  /** Watches more folders. A missing folder is watched when it appears. */
  add(folders: readonly string[]): void {
    this.#watcher.add([...folders]);
  }

  /** Resolves when all folders that were added are watched, or when `signal` is aborted. Call this method once. */
  async ready(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
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
    return "the system's limit of watched folders is reached (ENOSPC); raise fs.inotify.max_user_watches or narrow the setting sources.files.globs";
  if (code === 'EMFILE')
    return "the system's limit of open files or watchers is reached (EMFILE); raise the limit (ulimit -n, fs.inotify.max_user_instances) or narrow the setting sources.files.globs";
  return `watching failed: ${lineOf(error)}`;
}
