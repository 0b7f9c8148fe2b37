/**
 * A repository that others work in too: its branch is switched, its upstream moves, a merge stops at a conflict. The watcher
 * only hints that something may have happened in git's folder; what is told follows from what git itself says now and said
 * before.
 */
import { basename, relative, sep } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';

import type { Emitter } from '../../core/event.ts';
import { Settling } from '../settling.ts';
import { Background, lineOf, startAndStop, troubleTeller, type Source } from '../source.ts';
import { changesBetween, NOTHING_TOLD, type Change, type Told } from './changes.ts';
import { gitIn, type Git } from './command.ts';
import { gitEvent, type Details } from './events.ts';
import { arrivedBetween, because, lastMove, placesOf, readState, type GitState, type Places } from './state.ts';

export type GitOptions = {
  readonly emitter: Emitter;
  /** Whom the events concern: `project/agent#conversation`. */
  readonly subject: string;
  /** A folder in the work tree. */
  readonly root: string;
  /** How long git's folder has to be quiet before somebody looks. Default 100. */
  readonly debounceMs?: number;
  /** Look so often without a hint too, where the file system gives none. Default 0: never. */
  readonly pollMs?: number;
  /** Fetch from the upstream's remote so often, beginning at the start. Opens the network. Default 0: never. */
  readonly fetchEveryMs?: number;
  /** One line for each thing that went wrong beside the events. */
  readonly onTrouble?: (line: string) => void;
  /** Default: `git` of the PATH. */
  readonly program?: string;
};

export type GitSource = Source & {
  /**
   * Whatever happens to the repository while `command` runs is the agent's own doing. For commands that end: what others
   * do meanwhile is not told. Returns and throws what `command` does.
   */
  withOwnCommand<T>(command: () => T | Promise<T>): Promise<T>;
  /** The agent has just changed something; as it is now it is known. Never rejects. */
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
  /** As the agent knows it, or was told. */
  #known: GitState | undefined;
  #told: Told = NOTHING_TOLD;
  #ownCommands = 0;
  /** The agent did something since the last look began: what the next one finds is known. */
  #adopt = false;
  /** The last look saw what may be half of something. */
  #doubted = false;
  #stopping = false;
  #watcher: FSWatcher | undefined;
  #fetching = new AbortController();
  #timers: NodeJS.Timeout[] = [];
  /** Looks, one after the other. */
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
    // What others did up to now is not the agent's doing, and after its command nobody could tell.
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
    this.#places = places.value;
    await this.#watch(places.value, signal);
    if (signal.aborted) return;
    // What it was before the start is known, what happened during a stop is told.
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
    // What was seen is told: nobody will look again.
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

  /** For whoever waits: it never rejects. */
  async #lookNow(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#trouble(lineOf(error));
    }
  }

  /** Asks git, and tells what is new; one look after the other. */
  async #look(): Promise<void> {
    const mine = this.#last.then(() => this.#lookAlone());
    this.#last = mine.catch(() => {});
    return mine;
  }

  async #lookAlone(): Promise<void> {
    const places = this.#places;
    if (places === undefined) {
      // What the agent did during a stop is not known; then the next start begins anew.
      if (this.#adopt) this.#known = undefined;
      return;
    }
    // The end of the agent's command looks.
    if (this.#ownCommands > 0) return;
    const own = this.#adopt;
    this.#adopt = false;
    const found = await readState(this.#git, places);
    if (found.kind === 'trouble') this.#trouble(`${places.top} cannot be read: ${found.line}`);
    // Of what git is doing at the moment half may be seen: a conflict before it is known of what. That is looked at again.
    const { conflict } = found.kind === 'found' ? found.value : {};
    const doubtful = found.kind === 'moving' || (conflict?.operation === 'other' && !own && !this.#doubted && !this.#stopping);
    if (doubtful) this.#settling.touch('look');
    this.#doubted = doubtful;
    // The agent did something meanwhile: what was read may be from before it, and the look after it is still to come.
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
    const details = await this.#detailsOf(change);
    if (details === undefined) return;
    this.#told = toldAfter(this.#told, change);
    const event = gitEvent(top, change, details, own);
    const { emitter, subject } = this.#options;
    // In the order of the calls; nobody waits for the last one to be durable before looking again.
    this.#background.run(async () => {
      try {
        await emitter.emit({ ...event, source: 'git', subject });
      } catch (error) {
        this.#trouble(`an event is lost: ${lineOf(error)}`);
      }
    });
  }

  /** Undefined when it was no change after all. */
  async #detailsOf(change: Change): Promise<Details | undefined> {
    switch (change.kind) {
      case 'switched': {
        const move = await lastMove(this.#git);
        // A commit on a detached HEAD moves it, and switches nothing.
        if (change.detached && change.wasDetached && move?.what.startsWith('checkout:') === false) return undefined;
        return { by: move?.by };
      }
      case 'moved':
        return { arrived: await arrivedBetween(this.#git, change.before, change.upstream.at) };
      case 'up_to_date':
      case 'conflict':
      case 'resolved':
        return {};
    }
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

function toldAfter(told: Told, change: Change): Told {
  switch (change.kind) {
    case 'switched':
      return told;
    case 'moved':
      return { ...told, upstream: change.upstream.name };
    case 'up_to_date':
      return { ...told, upstream: undefined };
    case 'conflict':
      return { ...told, conflict: true };
    case 'resolved':
      return { ...told, conflict: false };
  }
}

const OWN = /^(HEAD|index|(MERGE|CHERRY_PICK|REVERT|REBASE)_HEAD|rebase-(merge|apply)|config\.worktree)$/;
const COMMON = /^(packed-refs|config|refs|refs\/remotes(\/.*)?)$/;
/** Where newer repositories keep all of their references; a work tree has one of its own. */
const REFTABLE = /^reftable(\/tables\.list)?$/;

/** Of git's folders only what tells of a branch, an upstream or a conflict: objects and logs are written all the time. */
function matters(own: string, common: string, path: string): boolean {
  if (path === own || path === common) return true;
  if (basename(path).endsWith('.lock')) return false;
  const below = (folder: string): string => relative(folder, path).replaceAll(sep, '/');
  return OWN.test(below(own)) || COMMON.test(below(common)) || REFTABLE.test(below(own)) || REFTABLE.test(below(common));
}
