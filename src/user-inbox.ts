/**
 * The user's inbox with its configuration, store and policies, for programs that queue, read or carry notifications. The bus and
 * the templates are loaded when the first event or the first rendered line needs them.
 */
import {
  formatProblem,
  loadConfig,
  policySource,
  readConfig,
  rememberProject,
  type Config,
  type Env,
  type Flags,
} from './config/index.ts';
import { GONE, isGone } from './core/errors.ts';
import type { Emitter } from './core/event.ts';
import type { Policy } from './core/policy.ts';
import type { Clock, LineRenderer, Store } from './core/ports.ts';
import type { ViewName } from './core/records.ts';
import type { Events } from './events.ts';
import {
  callersEmitter,
  insideAgent,
  Inbox,
  rendererOf,
  type Companion,
  type Archived,
  type InboxDeps,
  type Pruned,
} from './inbox/index.ts';
import { openStore } from './stores/open.ts';

/** The code for tasks is loaded only when an heir takes over, because a command that only sends does not need this code. */
const executionsPass: Companion = async (store, succession) =>
  (await import('./tasks/index.ts')).executionsPass(store, succession);

export type InboxOptions = {
  /**
   * The store: a path or URL (see `openStore`), such as a file or `memory:`, or an open store. Default: the configured database,
   * otherwise one file for the user.
   */
  readonly db?: string | Store;
  /** The folder where the search for `earpiece.toml` and the project begins. Default: the working folder. */
  readonly cwd?: string;
  readonly env?: Env;
  /** The values of flags, which override the files and the environment. */
  readonly flags?: Flags;
  /** Settings that override the policy in the files. */
  readonly policy?: Partial<Policy>;
  readonly clock?: Clock;
  /** Whether to open the database in a separate thread, for a long-lived process; see `openStore`. Default: no. */
  readonly thread?: boolean;
  readonly inbox?: Partial<Omit<InboxDeps, 'store' | 'policies'>>;
  /**
   * Called with one line for each problem that throws no error: of a configuration file, the store, a subscriber or a template.
   * Default: only the store reports its problems, as process warnings.
   */
  readonly onProblem?: (line: string) => void;
};

/** An open inbox that knows its project and configuration. Close the inbox, or declare it with `await using`. */
export class UserInbox extends Inbox {
  readonly config: Config;
  readonly #late: LateEvents;

  constructor({ config, deps, events }: Parts) {
    const late = new LateEvents();
    super({ ...deps, lines: late.lines });
    this.config = config;
    this.#late = late;
    late.load = () => events(this);
  }

  get project(): string {
    return this.config.project;
  }

  /** Turns events into notifications. */
  get emitter(): Emitter {
    return this.#late.emitter;
  }

  /** Turns events whose content the caller of this process chooses into notifications. See `callersEmitter`. */
  get callersEvents(): Emitter {
    return callersEmitter(this.emitter, this.speaker);
  }

  /**
   * Removes closed notifications and ended tasks. A task is kept for the retention time of its project, and a notification for
   * the longest retention time of all projects. `olderMs` replaces both times. With the setting `archive`, first writes the
   * records that the archive lacks. If this write fails, nothing is removed.
   */
  override async prune(olderMs?: number): Promise<Pruned & { readonly tasks: number }> {
    const { Tasks } = await import('./tasks/index.ts');
    const all = new Tasks(this);
    // The time is taken before the archive is written, so everything that closed before this time is in the archive.
    const now = await this.pruneTime();
    await this.archive();
    const total = { tasks: 0, records: 0 };
    for (const project of await this.projects()) {
      const keptMs = olderMs ?? this.policies.policy(project).taskRetentionMs;
      const { tasks, records } = await all.prune(project, now - keptMs);
      total.tasks += tasks;
      total.records += records;
    }
    const { records, items } = await super.prune(olderMs, now);
    return { records: records + total.records, items, tasks: total.tasks };
  }

  /**
   * Writes the records that the archive lacks. Returns undefined without the setting `archive`, and for a store in memory, which
   * ends with its process.
   */
  async archive(): Promise<Archived | undefined> {
    const folder = this.config.archive;
    if (folder === undefined || this.store.private === true) return undefined;
    const { archive } = await import('./inbox/housekeeping/archive.ts');
    return archive(this.store, folder);
  }

  /** Writes the notifications that the bus still holds back, and closes the inbox. */
  override async close(): Promise<void> {
    await this.#late.close();
    await super.close();
  }

  /**
   * Loads the modules that this process may need later, so that an upgrade or a removal of the program's files does not stop the
   * process. A long-lived process calls this method when it is idle. The promise does not reject: if a load fails, the module is
   * loaded again when it is needed.
   */
  async loadAhead(view: ViewName = this.policies.policy(this.project).view): Promise<void> {
    await Promise.allSettled([
      this.#late.begin(),
      import('./tasks/index.ts'),
      import('./inbox/housekeeping/archive.ts'),
      rendererOf(view),
    ]);
  }

  /** Sets the modules for events, for a subclass that has already loaded these modules. */
  protected use(events: Events): void {
    this.#late.load = () => Promise.resolve(events);
    void this.#late.begin();
  }
}

/** Loads the modules for events at their first use. */
class LateEvents {
  load: () => Promise<Events> = () => Promise.reject(new TypeError('there is no inbox yet'));
  #events: Promise<Events> | undefined;
  #ready: Events | undefined;

  readonly lines: LineRenderer = {
    // If Earpiece's own files are gone, for example after an upgrade, the other notifications of the same message must still be
    // delivered.
    render: async (line, how) => {
      const events = await this.begin().catch((error: unknown) => {
        if (isGone(error)) return { kind: 'failed', reason: GONE } as const;
        throw error;
      });
      return 'kind' in events ? events : events.lines.render(line, how);
    },
    // Code that waits for a rendered text also waits until the template engine is loaded.
    busy: () => (this.#ready === undefined ? this.#events !== undefined : this.#ready.lines.busy?.() === true),
  };

  readonly emitter: Emitter = { emit: async (event) => (await this.begin()).bus.emit(event) };

  begin(): Promise<Events> {
    this.#events ??= this.load().then(
      (events) => (this.#ready = events),
      (error: unknown) => {
        this.#events = undefined;
        throw error;
      },
    );
    return this.#events;
  }

  async close(): Promise<void> {
    const events = await this.#events?.catch(() => undefined);
    await events?.close();
  }
}

/** Opens the user's inbox; throws as `openEarpiece` does. */
export async function openInbox(options: InboxOptions = {}): Promise<UserInbox> {
  const { cwd = process.cwd(), env = process.env, flags } = options;
  return openInboxWith(loadConfig({ cwd, env, ...(flags ? { flags } : {}) }), options);
}

/** Opens the user's inbox with a configuration that the caller has already loaded, and whose problems the caller has reported. */
export async function openInboxWith(config: Config, options: InboxOptions): Promise<UserInbox> {
  return new UserInbox(await partsOf(config, options));
}

/** The parts from which a user's inbox is made. */
export type Parts = {
  readonly config: Config;
  readonly deps: InboxDeps;
  /** Returns the folder of a project's files; undefined for an unknown project. */
  readonly rootOf: (project: string) => string | undefined;
  readonly events: (inbox: Inbox) => Promise<Events>;
};

export async function partsOf(given: Config, options: InboxOptions): Promise<Parts> {
  const { cwd = process.cwd(), env = process.env, flags, policy, onProblem } = options;
  const db = options.db ?? given.db;
  // A store in memory is private, so the name of its project is not written to the disk. An open store belongs to its caller.
  const remember = db !== 'memory:' && typeof db === 'string';
  const at = { cwd, env, ...(flags ? { flags } : {}) };
  const store =
    typeof db === 'string'
      ? await openStore(db, {
          ...(options.clock ? { clock: options.clock } : {}),
          ...(onProblem ? { report: onProblem } : {}),
          ...(options.thread ? { thread: true } : {}),
        })
      : db;
  // The database is opened before the project's name is claimed, so that an unusable folder is reported only once.
  const config = remember ? withClaimedName(given, at, (line) => onProblem?.(line)) : given;
  const files = policySource({
    ...at,
    remember,
    remembered: config.project,
    onProblem: (problems) => problems.forEach((problem) => onProblem?.(formatProblem(problem))),
  });
  const policies = policy ? { ...files, policy: (project: string) => ({ ...files.policy(project), ...policy }) } : files;
  const { speaker } =
    options.inbox !== undefined && 'speaker' in options.inbox ? options.inbox : { speaker: insideAgent({ env: process.env }) };
  const deps = {
    companions: [executionsPass],
    timeZone: () => config.timeZone,
    ...options.inbox,
    speaker,
    store,
    policies,
  };
  let told = false;
  return {
    config,
    deps,
    rootOf: files.rootOf,
    events: async (inbox) => {
      const loaded = await import('./events.ts').catch((error: unknown) => {
        if (isGone(error) && !told) onProblem?.(GONE);
        told = true;
        throw error;
      });
      const { eventsOf, projectSubscribers, templatesOf } = loaded;
      const subscribers = projectSubscribers({ env, rootOf: files.rootOf, onProblem });
      return eventsOf(inbox, { ...templatesOf(store, onProblem), subscribers, onTrouble: onProblem });
    },
  };
}

/** Claims the project's name for this root. If another root was faster, the returned configuration has another name. */
function withClaimedName(config: Config, at: { cwd: string; env: Env; flags?: Flags }, report: (line: string) => void): Config {
  rememberProject(config, at, (problems) => problems.forEach((problem) => report(formatProblem(problem))));
  const { project, wanted } = readConfig(at).config;
  if (project === config.project) return config;
  const { wanted: _wanted, ...rest } = config;
  return { ...rest, project, ...(wanted === undefined ? {} : { wanted }) };
}
