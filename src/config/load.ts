import { dirname, join } from 'node:path';
import { defined } from '../core/defined.ts';
import { readLimited } from '../input/index.ts';
import type { MatcherForm } from '../core/matcher-form.ts';
import type { Policy } from '../core/policy.ts';
import { checkConfigText, MAX_BYTES, type Entry } from './check.ts';
import { gatewayOf, type GatewayConfig } from './gateway.ts';
import {
  merge,
  saidByEnv,
  saidByFile,
  saidByFlags,
  valueOf,
  winnersBelow,
  type Flags,
  type Layer,
  type Layers,
  type Said,
} from './layers.ts';
import {
  expandDb,
  expandPath,
  projectPlace,
  refusedLink,
  stateFolder,
  userConfigFile,
  type Env,
  type Surroundings,
} from './places.ts';
import { policyOf } from './policy.ts';
import { configError, type Problem } from './problems.ts';
import { foreignNames, nobodyToAsk } from './foreign.ts';
import { holderOf, ownName, readEntries, shortName, type Holder } from './registry.ts';
import { rootOf } from './repository.ts';
import { SETTINGS } from './schema.ts';
import { sift, type Untrusted } from './trust.ts';
import type { WebhookEntry } from './webhooks.ts';

/** The configuration for a working folder. */
export type Config = {
  readonly project: string;
  /** The root of the repository or worktree; outside a repository, the working folder. */
  readonly projectRoot: string;
  /** The root of the repository, which all of its worktrees share; outside a repository, the working folder. */
  readonly root: string;
  /** The name that the project would have if no other root had this name, and the root that has the name. */
  readonly wanted?: { readonly name: string } & Holder;
  readonly policy: Policy;
  /** The database: an absolute path, `memory:`, or the URL of another engine. */
  readonly db: string;
  /** The folder to which records are written before they are pruned: an absolute path. */
  readonly archive?: string;
  /** The address that commands use by default, as receiver or sender: an address, or the name of an agent. */
  readonly address?: string;
  readonly timeZone: string;
  readonly gateway: GatewayConfig;
  /** The host and the port on which `earpiece serve` listens. */
  readonly server: { readonly host: string; readonly port: number };
  /** The settings of the agent of `earpiece chat` and `earpiece run`. */
  readonly agent: {
    readonly model?: string;
    readonly system?: string;
    readonly maxCycles: number;
    /** Variables with keys and tokens that the agent's commands and MCP servers may get. */
    readonly passEnv: readonly string[];
    /**
     * The maximum number of characters of an MCP tool's result. The middle of a longer result is cut, and a file gets the whole
     * result.
     */
    readonly maxResultChars: number;
    /** Whether the agent has the tools for tasks. Undefined means that the agent has these tools if its project has tasks. */
    readonly tasks: boolean | undefined;
    readonly budget: { readonly tokens?: number; readonly contextTokens?: number; readonly timeoutMs?: number };
  };
  /**
   * The sources of an agent of `earpiece chat` and `earpiece run`. If `enable` is undefined, the source is on only in a
   * repository.
   */
  readonly sources: {
    readonly files: { readonly enable: boolean | undefined; readonly globs: readonly string[]; readonly debounceMs: number };
    readonly git: { readonly enable: boolean | undefined; readonly fetchEveryMs: number | null };
  };
  /** Whether an agent gets an offer to follow the pull request of a branch that it has pushed. */
  readonly follow: { readonly offer: boolean };
  readonly tools: Readonly<Record<string, ToolConfig>>;
  /** The senders of webhooks, by name; `to` is a whole address. */
  readonly webhooks: Readonly<Record<string, WebhookEntry>>;
  /** The problem matchers of the configuration files, by name. Untrusted matchers are not included. */
  readonly matchers: Readonly<Record<string, MatcherForm>>;
  /** The existing configuration files, in order of falling priority. Includes files that cannot be read. */
  readonly files: readonly { readonly scope: 'project' | 'user'; readonly file: string }[];
  /** Parts of a project's file that are ignored until `earpiece trust`. */
  readonly untrusted: readonly Untrusted[];
  /** The values of each layer, for `explain`. */
  readonly layers: Layers;
  /** The untrusted values that were ignored, for `explain`. */
  readonly held: readonly Said[];
};

/** The configuration of a tool, apart from its filters. */
export type ToolConfig = {
  readonly source?: string;
  readonly stateful?: boolean;
  readonly onTurnEnd?: 'inquire' | 'await' | 'abort';
};

export type LoadOptions = {
  readonly cwd: string;
  readonly env: Env;
  readonly flags?: Flags;
  /** Replaces `$HOME`. */
  readonly home?: string | undefined;
  /** True if the files of projects are ignored. */
  readonly withoutProject?: true;
};

/** Reads the configuration. Throws `bad_config` with all problems in the message and the data of the error. */
export function loadConfig(options: LoadOptions): Config {
  const { config, problems } = readConfig(options);
  if (problems.length > 0) throw configError(problems);
  return config;
}

/**
 * Reads the configuration, and uses every valid value even if other values are invalid. A file that is not TOML counts as empty,
 * apart from `redact`.
 */
export function readConfig(options: LoadOptions): { readonly config: Config; readonly problems: readonly Problem[] } {
  const { cwd, env, flags = {} } = options;
  const at: Surroundings = { env, home: options.home };
  const problems: Problem[] = [];
  const place = projectPlace(cwd);
  const files: { scope: 'project' | 'user'; file: string }[] = [];
  let entriesOfProject: readonly Entry[] = [];
  let projectFile: string | undefined;

  const userFile = userConfigFile(at);
  const root = rootOf(place.root);
  for (const candidate of options.withoutProject ? [] : place.candidates) {
    const refused = candidate === userFile ? undefined : refusedLink(candidate, [place.root, root]);
    if (refused !== undefined) problems.push({ file: candidate, message: refused });
    const checked = refused === undefined ? entriesIn(candidate, problems) : [];
    if (checked === undefined) continue;
    entriesOfProject = checked;
    projectFile = candidate;
    files.push({ scope: 'project', file: candidate });
    break;
  }
  // The user's configuration folder may itself be a repository. In that case, the user's file must not be read twice.
  const entriesOfUser = userFile === projectFile ? undefined : entriesIn(userFile, problems);
  if (entriesOfUser !== undefined) files.push({ scope: 'user', file: userFile });

  const names = readEntries(at);
  const sifted =
    projectFile === undefined || projectFile === userFile
      ? { trusted: entriesOfProject, held: [], untrusted: [] }
      : sift(entriesOfProject, projectFile, at, foreignNames({ names, root, mayTake: nobodyToAsk(env) }));
  const byFlags = saidByFlags(flags);
  const byEnv = saidByEnv(env);
  const layers = merge([
    byFlags.layer,
    byEnv.layer,
    ...(projectFile === undefined ? [] : [saidByFile(sifted.trusted, projectFile, 'project')]),
    ...(entriesOfUser === undefined ? [] : [saidByFile(entriesOfUser, userFile, 'user')]),
  ] satisfies Layer[]);
  // The agent reads the names of broken servers. So names from a cloned repository are used only if the user has trusted a server
  // of that repository.
  const trustsServers = sifted.trusted.some(({ setting }) => setting === SETTINGS.server);
  const wrongServers = problems.filter(({ file }) => file === userFile || (file === projectFile && trustsServers));
  const address = valueOf(layers, SETTINGS.address);
  const project = valueOf(layers, SETTINGS.project) ?? ownName(names, root);
  const wanted = (sifted.held.find(({ key }) => key === 'project')?.value as string | undefined) ?? shortName(root);
  const holder = layers.has('project') || project === wanted ? undefined : holderOf(names, wanted, root);
  const config: Config = {
    project,
    projectRoot: place.root,
    root,
    ...(holder === undefined ? {} : { wanted: { name: wanted, ...holder } }),
    policy: policyOf(layers),
    db: dbOf(layers, cwd, at),
    ...defined({ address, archive: archiveOf(layers, cwd, at) }),
    // `timeZone` is a getter, because reading the system's time zone takes 20 ms, and most commands do not need the time zone.
    get timeZone() {
      return valueOf(layers, SETTINGS.timeZone) ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    gateway: gatewayOf(layers, at, wrongServers),
    server: { host: valueOf(layers, SETTINGS.serverHost), port: valueOf(layers, SETTINGS.serverPort) },
    agent: agentOf(layers),
    sources: sourcesOf(layers),
    follow: { offer: valueOf(layers, SETTINGS.followOffer) },
    tools: toolsOf(layers),
    webhooks: webhooksOf(layers, project),
    matchers: Object.fromEntries(
      winnersBelow(layers, 'matchers').map(({ path, said }) => [path[1] ?? '', said.value as MatcherForm]),
    ),
    files,
    untrusted: sifted.untrusted,
    layers,
    held: projectFile === undefined ? [] : saidByFile(sifted.held, projectFile, 'project'),
  };
  return { config, problems: [...byFlags.problems, ...byEnv.problems, ...problems] };
}

/** Collects the webhooks by name. `to` becomes a whole address. */
function webhooksOf(layers: Layers, project: string): Readonly<Record<string, WebhookEntry>> {
  const found = Object.create(null) as Record<string, WebhookEntry>;
  for (const { path, said } of winnersBelow(layers, 'webhooks')) {
    const entry = said.value as WebhookEntry;
    found[path[1] ?? ''] = { ...entry, to: entry.to.includes('/') ? entry.to : `${project}/${entry.to}` };
  }
  return found;
}

/** Reads the entries of a file; returns undefined if the file does not exist. */
function entriesIn(file: string, problems: Problem[]): readonly Entry[] | undefined {
  let text: string;
  try {
    text = readLimited(file, MAX_BYTES).toString('utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    problems.push({
      file,
      message: `cannot be read (${code ?? String(cause)}); make the path a readable file, or remove the path`,
    });
    return [];
  }
  const checked = checkConfigText(text, file);
  problems.push(...checked.problems);
  return checked.entries;
}

function dbOf(layers: Layers, cwd: string, at: Surroundings): string {
  const said = layers.get('db')?.[0];
  if (said === undefined) return join(stateFolder(at), 'earpiece.db');
  return expandDb(said.value as string, said.source.kind === 'file' ? dirname(said.source.file) : cwd, at);
}

function archiveOf(layers: Layers, cwd: string, at: Surroundings): string | undefined {
  const said = layers.get('archive')?.[0];
  if (said === undefined) return undefined;
  return expandPath(said.value as string, said.source.kind === 'file' ? dirname(said.source.file) : cwd, at);
}

function agentOf(layers: Layers): Config['agent'] {
  const model = valueOf(layers, SETTINGS.agentModel);
  const system = valueOf(layers, SETTINGS.agentSystem);
  const tokens = valueOf(layers, SETTINGS.agentTokens);
  const contextTokens = valueOf(layers, SETTINGS.agentContext);
  const timeoutMs = valueOf(layers, SETTINGS.agentTimeout);
  return {
    ...defined({ model, system }),
    maxCycles: valueOf(layers, SETTINGS.agentMaxCycles),
    passEnv: valueOf(layers, SETTINGS.agentPassEnv),
    maxResultChars: valueOf(layers, SETTINGS.agentMaxResult),
    tasks: valueOf(layers, SETTINGS.agentTasks),
    budget: {
      ...defined({ tokens, contextTokens, timeoutMs }),
    },
  };
}

function sourcesOf(layers: Layers): Config['sources'] {
  const said = (setting: typeof SETTINGS.sourceFiles): boolean | undefined =>
    layers.has(setting.pattern.join('.')) ? valueOf(layers, setting) : undefined;
  return {
    files: {
      enable: said(SETTINGS.sourceFiles),
      globs: valueOf(layers, SETTINGS.sourceFilesGlobs),
      debounceMs: valueOf(layers, SETTINGS.sourceFilesDebounce),
    },
    git: { enable: said(SETTINGS.sourceGit), fetchEveryMs: valueOf(layers, SETTINGS.sourceGitFetchEvery) },
  };
}

function toolsOf(layers: Layers): Readonly<Record<string, ToolConfig>> {
  const tools = Object.create(null) as Record<
    string,
    { source?: string; stateful?: boolean; onTurnEnd?: ToolConfig['onTurnEnd'] }
  >;
  for (const { path, said } of winnersBelow(layers, 'conversation', 'tools')) {
    const tool = (tools[path[2] ?? ''] ??= {});
    if (path[3] === 'source') tool.source = said.value as string;
    else if (path[3] === 'stateful') tool.stateful = said.value as boolean;
    else if (path.at(-1) === 'on_turn_end') tool.onTurnEnd = said.value as NonNullable<ToolConfig['onTurnEnd']>;
  }
  return tools as Readonly<Record<string, ToolConfig>>;
}
