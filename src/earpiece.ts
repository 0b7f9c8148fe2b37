/** The composition root of the library: configuration, the default store and an inbox. */
import { formatProblem, loadConfig, policySource, type Config, type Env, type Flags } from './config/index.ts';
import type { Policy } from './core/policy.ts';
import type { Clock, Store } from './core/ports.ts';
import { Inbox, type InboxDeps } from './inbox/index.ts';
import { openStore } from './stores/index.ts';

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
  readonly inbox?: Partial<Omit<InboxDeps, 'store' | 'policies'>>;
  /** Told once about each state of a configuration file that was broken after the start. Default: silence. */
  readonly onProblem?: (line: string) => void;
};

/** An open inbox that knows its project and configuration. Close it, or declare it with `await using`. */
export class Earpiece extends Inbox {
  readonly config: Config;

  constructor(deps: InboxDeps, config: Config) {
    super(deps);
    this.config = config;
  }

  get project(): string {
    return this.config.project;
  }
}

/**
 * Opens the user's log. Throws `bad_config` with every problem of the configuration, and what the store throws
 * (`store_refused`, `store_corrupt`, `store_unavailable`).
 */
export async function openEarpiece(options: OpenOptions = {}): Promise<Earpiece> {
  const { cwd = process.cwd(), env = process.env, flags } = options;
  const at = { cwd, env, ...(flags ? { flags } : {}) };
  const config = loadConfig(at);
  const db = options.db ?? config.db;
  const store = typeof db === 'string' ? await openStore(db, options.clock ? { clock: options.clock } : {}) : db;
  const files = policySource({
    ...at,
    // A log in memory is nobody else's: then nothing is left on the disk.
    remember: db !== 'memory:' && typeof db === 'string',
    onProblem: (problems) => problems.forEach((problem) => options.onProblem?.(formatProblem(problem))),
  });
  const { policy } = options;
  const policies = policy ? { policy: (project: string) => ({ ...files.policy(project), ...policy }) } : files;
  return new Earpiece({ timeZone: config.timeZone, ...options.inbox, store, policies }, config);
}
