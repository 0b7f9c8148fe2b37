/**
 * Emits changes to a repository that others also work in: a switched branch, a moved upstream, a merge conflict. The watcher only
 * reports that git's folder may have changed. The source then compares git's current answers with its earlier answers.
 */
import { basename, relative, sep } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';

import type { Emitter } from '../../core/event.ts';
import { Settling } from '../settling.ts';
import { Background, lineOf, startAndStop, troubleTeller, type Source } from '../source.ts';
import { changesBetween, NOTHING_TOLD, toldAfter, type Change, type Told } from './changes.ts';
import { gitIn, type Git } from './command.ts';
import { detailsOf } from './details.ts';
import { gitEvent } from './events.ts';
import { because, placesOf, readState, type GitState, type Places } from './state.ts';

export type GitOptions = {
  readonly emitter: Emitter;
  /** The subject of the events: `project/agent#conversation`. */
  readonly subject: string;
  /** A folder in the work tree. */
  readonly root: string;
  /** The time that git's folder must stay unchanged before the source checks it, in ms. Default 100. */
  readonly debounceMs?: number;
  /** The interval of additional checks, for file systems that report no changes. Default 0: never. */
  readonly pollMs?: number;
  /**
   * The interval of fetches from the upstream's remote, which use the network. The first fetch is at the start. Default 0: never.
   */
  readonly fetchEveryMs?: number;
  /**
   * Called with one line for each error of the source itself, such as a failed fetch. An equal line is repeated only after a
   * minute.
   */
  readonly onTrouble?: (line: string) => void;
  /** The path of git. Default: the `git` in the PATH. */
  readonly program?: string;
};

export type GitSource = Source & {
  /**
   * Runs `command`. All changes to the repository during the command count as the agent's, and the changes of others are not
   * emitted. So pass only commands that end. Returns and throws like `command`.
   */
  withOwnCommand<T>(command: () => T | Promise<T>): Promise<T>;
  /** Records that the agent has just changed the repository, so that the current state counts as known. Never rejects. */
  noteOwnChange(): Promise<void>;
};

const FETCH_WITHIN_MS = 120_000;

export function gitSource(options: GitOptions): GitSource {
  return new Repository(options);
}

class Repository implements GitSource {
  readonly name = 'git';
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly #options: GitOptions;
  readonly #git: Git;
  readonly #trouble: (line: string) => void;
  readonly #background: Background;
  readonly #settling: Settling<'look'>;
  #places: Places | undefined;
  /** The state that the agent knows, from its own commands or from events. */
  #known: GitState | undefined;
  #told: Told = NOTHING_TOLD;
  #ownCommands = 0;
  /**
   * Whether the agent has changed the repository since the last check began. The result of the next check then counts as known.
   */
  #adopt = false;
  /** Whether the last check may have seen an incomplete change. */
  #doubted = false;
  #stopping = false;
  #watcher: FSWatcher | undefined;
  #fetching = new AbortController();
  #timers: NodeJS.Timeout[] = [];
  /** The last check. Checks run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: GitOptions) {
    const { root, debounceMs = 100, program } = options;
    this.#options = options;
    this.#git = gitIn(root, program);
    const tell = troubleTeller(options.onTrouble, () => performance.now());
    this.#trouble = (line) => tell(`git: ${line}`);
    const failed = (error: unknown): void => this.#trouble(lineOf(error));
    this.#background = new Background(failed);
    this.#settling = new Settling({ quietMs: debounceMs }, () => this.#background.run(() => this.#look()));
    ({ start: this.start, stop: this.stop } = startAndStop({
      enter: (signal) => this.#enter(signal),
      leave: () => this.#leave(),
      failed,
    }));
  }

  async withOwnCommand<T>(command: () => T | Promise<T>): Promise<T> {
    // Changes before the command are not the agent's. These changes must be found now, because after the command they look like
    // the agent's changes.
    if (this.#ownCommands === 0) await this.#lookNow();
    this.#ownCommands++;
    try {
      return await command();
    } finally {
      this.#ownCommands--;
      await this.noteOwnChange();
    }
  }

  async noteOwnChange(): Promise<void> {
    this.#adopt = true;
    await this.#lookNow();
  }

  async #enter(signal: AbortSignal): Promise<void> {
    const { root, pollMs = 0, fetchEveryMs = 0 } = this.#options;
    const places = await placesOf(this.#git, root);
    if (places.kind === 'trouble') return this.#trouble(places.line);
    if (signal.aborted) return;
    this.#places = places.value;
    await this.#watch(places.value, signal);
    if (signal.aborted) return;
    // At the first start, the current state counts as known. At a later start, the changes since the stop are emitted.
    this.#adopt ||= this.#known === undefined;
    await this.#look();
    if (pollMs > 0) this.#timers.push(setInterval(() => this.#settling.touch('look'), pollMs));
    if (fetchEveryMs > 0) {
      this.#fetching = new AbortController();
      this.#fetchIn(0, fetchEveryMs);
    }
  }

  async #leave(): Promise<void> {
    this.#stopping = true;
    this.#fetching.abort();
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    await this.#watcher?.close();
    this.#watcher = undefined;
    // No later check follows, so pending changes are emitted now.
    this.#settling.flush();
    await this.#background.idle();
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    this.#settling.clear();
    this.#places = undefined;
    this.#stopping = false;
  }

  async #watch({ own, common }: Places, signal: AbortSignal): Promise<void> {
    const watcher = watch([...new Set([own, common])], {
      ignoreInitial: true,
      atomic: false,
      ignorePermissionErrors: true,
      ignored: (path) => !matters(own, common, path),
    });
    this.#watcher = watcher;
    watcher.on('error', (error) => this.#trouble(`watching failed: ${lineOf(error)}`));
    watcher.on('all', () => this.#settling.touch('look'));
    await new Promise<void>((resolve) => {
      watcher.once('ready', () => resolve());
      signal.addEventListener('abort', () => resolve());
    });
  }

  /** Checks now, for callers that wait. Never rejects. */
  async #lookNow(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#trouble(lineOf(error));
    }
  }

  /** Asks git and emits the changes, after the earlier check has ended. */
  async #look(): Promise<void> {
    const mine = this.#last.then(() => this.#lookAlone());
    this.#last = mine.catch(() => {});
    return mine;
  }

  async #lookAlone(): Promise<void> {
    const places = this.#places;
    if (places === undefined) {
      // The source cannot see the agent's changes while it is stopped, so the next start begins with the current state.
      if (this.#adopt) this.#known = undefined;
      return;
    }
    // A check follows when the agent's command has ended.
    if (this.#ownCommands > 0) return;
    const own = this.#adopt;
    this.#adopt = false;
    const found = await readState(this.#git, places);
    if (found.kind === 'trouble') this.#trouble(`${places.top} cannot be read: ${found.line}`);
    // While git works, a check may see an incomplete change, such as a conflict of an unknown operation. After such a check, the
    // source checks again.
    const { conflict } = found.kind === 'found' ? found.value : {};
    const doubtful = found.kind === 'moving' || (conflict?.operation === 'other' && !own && !this.#doubted && !this.#stopping);
    if (doubtful) this.#settling.touch('look');
    this.#doubted = doubtful;
    // The state is unclear, or the agent changed the repository during the check. Another check follows.
    if (found.kind !== 'found' || doubtful || this.#ownCommands > 0 || this.#adopt) {
      this.#adopt ||= own;
      return;
    }
    const [before, now] = [this.#known, found.value];
    this.#known = now;
    if (before === undefined) return;
    for (const change of changesBetween(before, now, this.#told)) {
      const takesBack = change.kind === 'resolved' || change.kind === 'up_to_date';
      if (!own || takesBack) await this.#tell(places, change, own);
    }
  }

  async #tell({ top }: Places, change: Change, own: boolean): Promise<void> {
    const details = await detailsOf(this.#git, change);
    if (details === undefined) return;
    this.#told = toldAfter(this.#told, change);
    const event = gitEvent(top, change, details, own);
    const { emitter, subject } = this.#options;
    // Events are emitted in order, but the next check does not wait until the last event is durable.
    this.#background.run(async () => {
      try {
        await emitter.emit({ ...event, source: 'git', subject });
      } catch (error) {
        this.#trouble(`an event was lost: ${lineOf(error)}`);
      }
    });
  }

  #fetchIn(ms: number, everyMs: number): void {
    const { signal } = this.#fetching;
    const timer = setTimeout(() => {
      this.#timers = this.#timers.filter((each) => each !== timer);
      this.#background.run(async () => {
        if (this.#known?.upstream !== undefined) await this.#fetch(signal);
        if (!signal.aborted) this.#fetchIn(everyMs, everyMs);
      });
    }, ms);
    this.#timers.push(timer);
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    const quietly = ['--quiet', '--no-recurse-submodules', '--no-write-fetch-head'];
    const answer = await this.#git(['fetch', ...quietly], { signal, withinMs: FETCH_WITHIN_MS });
    if (answer.kind === 'ok') return this.#look();
    if (answer.kind !== 'stopped' || answer.why === 'timeout') this.#trouble(`the fetch failed: ${because(answer)}`);
  }
}

const OWN = /^(HEAD|index|(MERGE|CHERRY_PICK|REVERT|REBASE)_HEAD|rebase-(merge|apply)|config\.worktree)$/;
const COMMON = /^(packed-refs|config|refs|refs\/remotes(\/.*)?)$/;
/** Matches the folder in which newer repositories may keep all references. Each work tree then has such a folder. */
const REFTABLE = /^reftable(\/tables\.list)?$/;

/**
 * Whether a file in git's folders concerns a branch, an upstream or a conflict. Other files, such as objects and logs, change
 * often.
 */
function matters(own: string, common: string, path: string): boolean {
  if (path === own || path === common) return true;
  if (basename(path).endsWith('.lock')) return false;
  const below = (folder: string): string => relative(folder, path).replaceAll(sep, '/');
  return OWN.test(below(own)) || COMMON.test(below(common)) || REFTABLE.test(below(own)) || REFTABLE.test(below(common));
}
