/**
 * Defines all settings in one table: how each value is read, its default, and its environment variable. Checking, layering,
 * `explain` and the test of `docs/config.md` use this table.
 */
import { nameFrom } from '../core/address.ts';
import { LEVELS, parseKind, type Level } from '../core/notification.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { VIEW_NAMES } from '../core/records.ts';
import { matcher } from './matchers.ts';
import { askedFor, profile, server, type ProfileEntry, type ServerEntry } from './servers.ts';
import {
  address,
  boolean,
  database,
  duration,
  durationOrNever,
  formatDuration,
  hours,
  integer,
  oneOf,
  patterns,
  text,
  texts,
  timeZone,
  withoutPassword,
  type Value,
} from './values.ts';
import { webhook, type WebhookEntry } from './webhooks.ts';

export type Setting<T = unknown, F extends T | undefined = T | undefined> = {
  /** The parts of the key. The part `*` matches any name that `nameProblem` accepts. */
  readonly pattern: readonly string[];
  readonly value: Value<T>;
  readonly fallback: F;
  readonly env?: string;
  /** True for a protective list: no file can remove entries that another file or the program has set. */
  readonly addsUp?: true;
  /** Maps the path of another spelling of a setting to the canonical path. */
  readonly meaning?: (path: readonly string[]) => readonly string[];
  /** Describes the effect of the value in the file of a cloned repository. Returns undefined if the value needs no trust. */
  readonly needsTrust?: (value: T) => string | undefined;
};

// oxlint-disable-next-line typescript/no-explicit-any -- `Setting` is invariant in T, and the table holds settings of every T
export type AnySetting = Setting<any, any>;

type Extra<T> = Pick<Setting<T>, 'addsUp' | 'meaning' | 'needsTrust'>;

function one<T, const F extends T | undefined>(key: string, value: Value<T>, fallback: F, extra: Extra<T> = {}): Setting<T, F> {
  const env = ENV_NAMES[key] ?? `EARPIECE_${key.replaceAll('.', '_').toUpperCase()}`;
  return { pattern: key.split('.'), value, fallback, env, ...extra };
}

/** Defines a setting whose path contains names chosen by the user. */
function many<T, const F extends T | undefined>(key: string, value: Value<T>, fallback: F, extra: Extra<T> = {}): Setting<T, F> {
  return { pattern: key.split('.'), value, fallback, ...extra };
}

/** Shorter names of variables. The regular name is made from the key: `EARPIECE_BUDGET_MAX_ITEMS` for `budget.max_items`. */
const ENV_NAMES: Readonly<Record<string, string>> = { 'conversation.notifications.enable': 'EARPIECE_ENABLE' };

const policy = DEFAULT_POLICY;
const MOMENT = { min: '0s', max: '1h', example: '2s' };
const LONG = { min: '1s', max: '3650d', example: '3d' };

const sourceOfKind = (kind: string): string => parseKind(kind).source;

export const SETTINGS = {
  project: one(
    'project',
    text('a name without "/", "#" and "*", at most 128 characters', (name) => nameFrom(name) === name),
    undefined,
  ),
  address: one('address', address(), undefined),
  db: one('db', database(), undefined, { needsTrust: (db) => `db (stores queued notifications in ${withoutPassword(db)})` }),
  archive: one('archive', text('the path of a folder, such as "~/earpiece-archive"'), undefined, {
    needsTrust: (folder) => `archive (writes the notifications of all projects to ${folder})`,
  }),
  timeZone: one('time_zone', timeZone(), undefined),

  view: one('view', oneOf(VIEW_NAMES), policy.view, {
    // These views show no frame, no mark and no text of the messages, so a refusal would hide a person's words.
    needsTrust: (view) =>
      view === 'signal_en' || view === 'signal_ja'
        ? `view = ${view} (removes the mark from frames, and a person's words from refusals)`
        : undefined,
  }),
  interrupt: one('interrupt', oneOf(['before', 'after']), policy.interrupt, {
    needsTrust: (value) =>
      value === 'after' ? 'interrupt (lets tool calls run while an interrupt is unread or a pause is active)' : undefined,
  }),
  minLevel: one('min_level', oneOf(LEVELS), policy.minLevel),
  maxDefer: one('max_defer', duration({ min: '1s', max: '30d' }), policy.maxDeferMs),
  maxOpen: one('max_open', integer({ min: 1, max: 1_000_000 }), policy.maxOpen),
  retention: one('retention', duration({ min: '1h', max: '3650d', example: '30d' }), policy.retentionMs),
  redact: one('redact', patterns(), policy.redact, { addsUp: true }),

  maxItems: one('budget.max_items', integer({ min: 1, max: 1_000 }), policy.maxItems),
  maxTokens: one('budget.max_tokens', integer({ min: 50, max: 1_000_000 }), policy.maxTokens),
  maxItemChars: one('budget.max_item_chars', integer({ min: 80, max: 1_048_576 }), policy.maxItemChars, {
    needsTrust: (chars) => `budget.max_item_chars (cuts each text after ${chars} characters)`,
  }),

  ttl: levels((level) =>
    one(`ttl.${level}`, durationOrNever(LONG), policy.ttlMs[level], {
      // Even a long time may be shorter than the user's own setting.
      needsTrust: (ms) =>
        ms === null ? undefined : `ttl.${level} (lets waiting notifications expire after ${formatDuration(ms)})`,
    }),
  ),
  wake: levels((level) =>
    one(`wake.${level}`, oneOf(['never', 'ask', 'auto']), policy.wake[level], {
      needsTrust: (how) => `wake.${level} = ${how} (decides whether these notifications wake an idle agent)`,
    }),
  ),
  wakeQuiet: one('wake.quiet', hours(), undefined, {
    needsTrust: () => 'wake.quiet (decides when an idle agent must not be woken)',
  }),
  wakeMaxPerHour: one('wake.max_per_hour', integer({ min: 1, max: 1_000 }), policy.wakeMaxPerHour, {
    needsTrust: (times) => `wake.max_per_hour = ${times} (decides how often an idle agent is woken)`,
  }),

  coalesce: one('coalesce.window', duration(MOMENT), policy.coalesceMs['*'] ?? 0),
  coalesceSource: many('coalesce.sources.*', duration(MOMENT), undefined),
  maxLevel: many('max_level.*', oneOf(LEVELS), undefined, {
    needsTrust: (level) => `lowers higher levels to ${level}`,
  }),

  withheldBytes: one('withheld.max_bytes', integer({ min: 1_024, max: 67_108_864 }), policy.withheld.maxBytes),
  withheldKeep: one('withheld.keep', duration({ min: '1m', max: '24h', example: '12h' }), policy.withheld.keepMs),
  lease: one('lease.lasts', duration({ min: '100ms', max: '30s', example: '10s' }), policy.leaseMs),
  core: one(
    'core.kinds',
    texts('a list of kinds such as ["deploy.failed", "deploy.*"]', (kind) => {
      try {
        sourceOfKind(kind.endsWith('.*') ? `${kind.slice(0, -1)}x` : kind);
        return undefined;
      } catch {
        return 'it is not "source.name" or "source.*"';
      }
    }),
    policy.core,
    { addsUp: true },
  ),

  enable: one('conversation.notifications.enable', boolean(), policy.enable),
  kind: many('conversation.notifications.kinds.*', boolean(), true),
  kindSource: many('conversation.notifications.kinds.*.enable', boolean(), true),
  kindNested: many('conversation.notifications.kinds.*.*', boolean(), true, {
    meaning: ([conversation = '', notifications = '', kinds = '', source = '', name = '']) => [
      conversation,
      notifications,
      kinds,
      `${source}.${name}`,
    ],
  }),

  toolSource: many('conversation.tools.*.source', text('the origin of the tool, such as "builtin"'), undefined),
  toolStateful: many('conversation.tools.*.stateful', boolean(), undefined),
  toolSpawnStateful: many('conversation.tools.*.spawn.stateful', boolean(), undefined, { meaning: ofTool('stateful') }),
  toolTurnEnd: many('conversation.tools.*.spawn.lifecycle.on_turn_end', oneOf(['inquire', 'await', 'abort']), undefined),
  toolNotification: many('conversation.tools.*.notifications.*', boolean(), true),
  toolContent: many('conversation.tools.*.notifications.content', boolean(), false),
  toolSuccess: many('conversation.tools.*.spawn.notifications.on_success', boolean(), true, {
    meaning: ofTool('notifications', 'stopped'),
  }),
  toolFailure: many('conversation.tools.*.spawn.notifications.on_failure', boolean(), true, {
    meaning: ofTool('notifications', 'failed'),
  }),
  toolWaiting: many('conversation.tools.*.spawn.notifications.on_waiting', boolean(), true, {
    meaning: ofTool('notifications', 'waiting'),
  }),
  toolOnContent: many('conversation.tools.*.spawn.notifications.on_content', boolean(), false, {
    meaning: ofTool('notifications', 'content'),
  }),

  agentModel: one(
    'agent.model',
    text('a model such as "anthropic:claude-sonnet-5", "openai:gpt-5" or "ollama:qwen3"', (name) => /^[\w-]+:.+$/.test(name)),
    undefined,
    { needsTrust: (model) => `agent.model (sends the conversation to ${model})` },
  ),
  agentSystem: one('agent.system', text('the system prompt of every conversation'), undefined, {
    needsTrust: (words) =>
      `agent.system (sets the system prompt: ${JSON.stringify(words.length > 200 ? `${words.slice(0, 200)}…` : words)})`,
  }),
  agentMaxCycles: one('agent.max_cycles', integer({ min: 1, max: 10_000 }), 100),
  agentPassEnv: one(
    'agent.pass_env',
    texts('a list of variable names such as ["OPENAI_API_KEY"]', (name) =>
      /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? undefined : 'it is not the name of a variable',
    ),
    [],
    { needsTrust: (names) => `agent.pass_env (gives ${names.join(', ')} to commands and MCP servers)` },
  ),
  agentMaxResult: one('agent.max_result_chars', integer({ min: 1_000, max: 10_000_000 }), 40_000),
  agentTasks: one('agent.tasks', boolean(), undefined),
  agentTokens: one('agent.budget.tokens', integer({ min: 100, max: 1_000_000_000 }), undefined),
  agentContext: one('agent.budget.context', integer({ min: 100, max: 1_000_000_000 }), undefined),
  agentTimeout: one('agent.budget.timeout', duration({ min: '1s', max: '30d', example: '20m' }), undefined),

  taskRetention: one('tasks.retention', duration({ min: '1h', max: '3650d', example: '30d' }), policy.taskRetentionMs),

  sourceFiles: one('sources.files.enable', boolean(), true),
  sourceFilesGlobs: one(
    'sources.files.globs',
    texts('a list of globs relative to the project\'s folder, such as ["src/**", "*.{json,toml}", "!**/*.snap"]', (glob) =>
      /^!?\s*$|^!?\/|(^!?|\/)\.\.(\/|$)/.test(glob) ? "it is blank, or leads out of the project's folder" : undefined,
    ),
    [],
  ),
  sourceFilesDebounce: one('sources.files.debounce', duration({ min: '10ms', max: '1m', example: '100ms' }), 100),
  sourceGit: one('sources.git.enable', boolean(), true),
  sourceGitFetchEvery: one('sources.git.fetch_every', durationOrNever({ min: '10s', max: '30d', example: '10m' }), null, {
    needsTrust: (every) => (every === null ? undefined : "sources.git.fetch_every (fetches from the repository's remote)"),
  }),

  followOffer: one('follow.offer', boolean(), true, {
    needsTrust: (offers) => (offers ? 'follow.offer (asks GitHub after a push)' : undefined),
  }),

  separator: one(
    'gateway.separator',
    text('one to four letters, digits, "_" or "-"', (s) => /^[A-Za-z0-9_-]{1,4}$/.test(s)),
    '__',
    { needsTrust: (separator) => `gateway.separator (excludes each server with ${separator} in its prefix)` },
  ),
  gatewayTasks: one('gateway.tasks', boolean(), undefined),
  httpHost: one(
    'gateway.http.host',
    text('a host name or IP address', (host) => /^[A-Za-z0-9_.:-]+$/.test(host)),
    '127.0.0.1',
    {
      needsTrust: (host) => (isLoopback(host) ? undefined : `gateway.http.host (listens on ${host})`),
    },
  ),
  httpPort: one('gateway.http.port', integer({ min: 0, max: 65_535 }), 4748),
  httpTokenEnv: one(
    'gateway.http.token_env',
    text('the name of the environment variable that holds the token, not the token', (name) => /^[A-Za-z_]\w*$/.test(name), true),
    undefined,
    { needsTrust: (name) => `gateway.http.token_env (reads the token from ${name})` },
  ),
  server: many('gateway.servers.*', server(), undefined, {
    needsTrust: (entry: ServerEntry) =>
      entry.target.kind === 'stdio' ? `runs ${askedFor(entry)}` : `connects to ${askedFor(entry)}`,
  }),
  profile: many('gateway.profiles.*', profile(), undefined, {
    needsTrust: ({ maxResultChars, maxErrorChars }: ProfileEntry) =>
      maxResultChars === undefined && maxErrorChars === undefined
        ? undefined
        : 'sets the length above which a result carries no notification',
  }),

  serverHost: one(
    'server.host',
    text('a host name or IP address', (host) => /^[A-Za-z0-9_.:-]+$/.test(host)),
    '127.0.0.1',
    {
      needsTrust: (host) => (isLoopback(host) ? undefined : `server.host (listens on ${host})`),
    },
  ),
  serverPort: one('server.port', integer({ min: 0, max: 65_535 }), 4747),

  webhook: many('webhooks.*', webhook(), undefined, {
    needsTrust: (entry: WebhookEntry) => `accepts webhooks for ${entry.to}`,
  }),

  matcher: many('matchers.*', matcher(), undefined, {
    needsTrust: () => 'decides which output lines are reported to agents as errors',
  }),
} as const;

/** All settings in one list, in the order of the table. */
export const ALL_SETTINGS: readonly AnySetting[] = Object.values(SETTINGS).flatMap((entry): AnySetting[] =>
  'pattern' in entry ? [entry] : Object.values(entry),
);

export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

/** Describes the problem of a name at a `*`. Returns undefined if the name is valid. */
export function nameProblem(pattern: readonly string[], name: string, asTable: boolean): string | undefined {
  const place = pattern.join('.');
  switch (place) {
    case 'conversation.notifications.kinds.*':
      if (asTable)
        return PART.test(name) ? undefined : 'is not a valid source: letters, digits, "_" and "-", at most 64 characters';
      if (isKind(name)) return undefined;
      return PART.test(name)
        ? `is a source and not "source.name"; for the whole source, write [conversation.notifications.kinds.${name}] enable = false`
        : 'is not "source.name", e.g. "tool.failed"';
    case 'conversation.notifications.kinds.*.*':
    case 'conversation.tools.*.notifications.*':
      if (/^on_(success|failure|waiting|content)$/.test(name) && place.startsWith('conversation.tools'))
        return 'belongs in the table spawn.notifications of its tool; here, write stopped, failed, waiting or content';
      return isKind(`x.${name}`)
        ? undefined
        : 'is not a valid name of a notification: letters, digits, "_" and "-", at most 64 characters';
    case 'conversation.tools.*':
      return name.trim() !== '' && name.length <= 128
        ? undefined
        : 'is not a valid name of a tool: at most 128 characters, and not blank';
    case 'coalesce.sources.*':
      return PART.test(name)
        ? undefined
        : 'is not a valid source: letters, digits, "_" and "-", at most 64 characters; for all other sources, set coalesce.window';
    case 'max_level.*':
      return name === '*' || PART.test(name)
        ? undefined
        : 'is not a valid source: letters, digits, "_" and "-", at most 64 characters, or "*" for all other sources';
    case 'gateway.servers.*':
      return PART.test(name) ? undefined : 'is not a valid server name: letters, digits, "_" and "-", at most 64 characters';
    case 'matchers.*':
      return PART.test(name)
        ? undefined
        : 'is not a valid name of a matcher: letters, digits, "_" and "-", at most 64 characters';
    case 'webhooks.*':
      return PART.test(name) ? undefined : 'is not a valid webhook name: letters, digits, "_" and "-", at most 64 characters';
    default:
      return name.trim() !== '' ? undefined : 'is an empty name; write at least one character';
  }
}

const PART = /^[A-Za-z0-9_-]{1,64}$/;

function isKind(text: string): boolean {
  try {
    parseKind(text);
    return true;
  } catch {
    return false;
  }
}

function levels<T>(make: (level: Level) => T): Readonly<Record<Level, T>> {
  return { info: make('info'), warning: make('warning'), error: make('error'), critical: make('critical') };
}

/** Maps a path to `conversation.tools.<tool>` followed by these parts. */
function ofTool(...rest: readonly string[]): (path: readonly string[]) => readonly string[] {
  return (path) => [...path.slice(0, 3), ...rest];
}
