/** The composition root of the library: configuration, the default store and an inbox. */
import {
  createBus,
  formatSubscriberProblem,
  shippedFolder,
  storedTemplates,
  subscriberFolders,
  subscriberToggles,
  subscriberTrust,
  templateEngine,
  type Bus,
  type SubscriberSource,
  type SubscriberToggles,
  type TemplateEngine,
} from './bus/index.ts';
import {
  formatProblem,
  loadConfig,
  policySource,
  readConfig,
  rememberProject,
  userSubscribersFolder,
  type Config,
  type Env,
  type Flags,
} from './config/index.ts';
import type { Policy } from './core/policy.ts';
import type { Clock, Store } from './core/ports.ts';
import { insideAgent, Inbox, type Companion, type InboxDeps, type Pruned } from './inbox/index.ts';
import { openStore } from './stores/index.ts';

/** Loaded when a conversation is over, which a command that only sends never sees. */
const executionsPass: Companion = async (store, succession) =>
  (await import('./tasks/index.ts')).executionsPass(store, succession);

export type OpenOptions = {
  /** A file, `memory:`, or an open store. Default: what the configuration says, else one file for the user. */
  readonly db?: string | Store;
  /** Where `earpiece.toml` and the project are looked for. Default: the working folder. */
  readonly cwd?: string;
  readonly env?: Env;
  /** As on the command line: they win over files and environment. */
  readonly flags?: Flags;
  /** Instead of what the files say. */
  readonly policy?: Partial<Policy>;
  readonly clock?: Clock;
  /** The database gets a thread of its own; see `openStore`. For a process that lives long. Default: no. */
  readonly thread?: boolean;
  readonly inbox?: Partial<Omit<InboxDeps, 'store' | 'policies'>>;
  /** Instead of the shipped ones and the files of user and project. */
  readonly subscribers?: SubscriberSource;
  /** Told once about each state of a configuration file that was broken after the start. Default: silence. */
  readonly onProblem?: (line: string) => void;
};

/**
 * An open inbox that knows its project and configuration, with the bus that turns events into its notifications. Close it,
 * or declare it with `await using`.
 */
export class Earpiece extends Inbox {
  readonly config: Config;
  /** Where sources emit. */
  readonly bus: Bus;
  /** Which subscribers are switched off. */
  readonly toggles: SubscriberToggles;
  readonly templates: TemplateEngine;

  constructor(deps: InboxDeps, config: Config, subscribers: SubscriberSource, onTrouble: (line: string) => void = () => {}) {
    const engine = templateEngine({ onTrouble });
    const templates = storedTemplates(deps.store, engine);
    super({ companions: [executionsPass], ...deps, lines: templates });
    this.config = config;
    this.templates = engine;
    this.toggles = subscriberToggles(this);
    this.bus = createBus({
      inbox: this,
      subscribers,
      disabled: (project) => this.toggles.disabled(project),
      keep: (template) => templates.keep(template),
      evaluate: (expression, context) => engine.evaluate(expression, context),
      templates: engine,
      onTrouble,
    });
  }

  get project(): string {
    return this.config.project;
  }

  /** With the tasks that are over, in each project after its own time. */
  override async prune(olderMs?: number): Promise<Pruned & { readonly tasks: number }> {
    const { Tasks } = await import('./tasks/index.ts');
    const all = new Tasks(this);
    const now = await this.pruneTime();
    const total = { tasks: 0, records: 0 };
    for (const project of await this.projects()) {
      const keptMs = olderMs ?? this.policies.policy(project).taskRetentionMs;
      const { tasks, records } = await all.prune(project, now - keptMs);
      total.tasks += tasks;
      total.records += records;
    }
    const { records, items } = await super.prune(olderMs);
    return { records: records + total.records, items, tasks: total.tasks };
  }

  /** Writes what the bus still holds back. */
  override async close(): Promise<void> {
    await this.bus.close();
    await this.templates.close();
    await super.close();
  }
}

/**
 * Opens the user's log. In a process that an agent's command started, what it queues is the agent's: see docs/agent-permissions.md.
 * Throws `bad_config` with every problem of the configuration, and what the store throws
 * (`store_refused`, `store_corrupt`, `store_unavailable`).
 */
export async function openEarpiece(options: OpenOptions = {}): Promise<Earpiece> {
  const { cwd = process.cwd(), env = process.env, flags } = options;
  const at = { cwd, env, ...(flags ? { flags } : {}) };
  const config = loadConfig(at);
  return openWith(config, { ...options, cwd, env });
}

/** The same for a configuration that was read already; whoever read it has told its problems. */
export async function openWith(given: Config, options: OpenOptions): Promise<Earpiece> {
  const { cwd = process.cwd(), env = process.env, flags, policy, onProblem } = options;
  const db = options.db ?? given.db;
  // A log in memory is nobody else's: then nothing is left on the disk.
  const remember = db !== 'memory:' && typeof db === 'string';
  const at = { cwd, env, ...(flags ? { flags } : {}) };
  const config = remember ? withClaimedName(given, at, (line) => onProblem?.(line)) : given;
  const store =
    typeof db === 'string'
      ? await openStore(db, {
          ...(options.clock ? { clock: options.clock } : {}),
          ...(onProblem ? { report: onProblem } : {}),
          ...(options.thread ? { thread: true } : {}),
        })
      : db;
  const files = policySource({
    ...at,
    remember,
    remembered: config.project,
    onProblem: (problems) => problems.forEach((problem) => onProblem?.(formatProblem(problem))),
  });
  const policies = policy ? { ...files, policy: (project: string) => ({ ...files.policy(project), ...policy }) } : files;
  const subscribers =
    options.subscribers ??
    subscriberFolders({
      shipped: shippedFolder(),
      user: userSubscribersFolder({ env }),
      projectRoot: files.rootOf,
      projectTrust: subscriberTrust({ env }),
      onProblem: (problems) => problems.forEach((problem) => onProblem?.(formatSubscriberProblem(problem))),
    });
  const speaker = options.inbox?.speaker ?? insideAgent({ env: process.env });
  const deps = { timeZone: () => config.timeZone, ...options.inbox, speaker, store, policies };
  return new Earpiece(deps, config, subscribers, onProblem);
}

/** The name is this root's from now on; where another root was faster, it is another name. */
function withClaimedName(config: Config, at: { cwd: string; env: Env; flags?: Flags }, report: (line: string) => void): Config {
  rememberProject(config, at, (problems) => problems.forEach((problem) => report(formatProblem(problem))));
  const { project, wanted } = readConfig(at).config;
  if (project === config.project) return config;
  const { wanted: _wanted, ...rest } = config;
  return { ...rest, project, ...(wanted === undefined ? {} : { wanted }) };
}
