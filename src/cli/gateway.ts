/**
 * `earpiece gateway`: connects the wrapped servers, the front for the client, and the rider, which adds notifications to tool
 * results.
 */
import { formatProblem, readConfig, untrustedTold, type Config } from '../config/index.ts';
import type { McpServers } from '../config/mcp-servers.ts';
import { parseAddress } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { ViewName } from '../core/records.ts';
import { openInboxWith, type UserInbox } from '../user-inbox.ts';
import { identify, worktreeOf, type Identity } from '../inbox/index.ts';
import { inboxRider, ownTools, type InboxRider } from '../gateway/riding/inbox-rider.ts';
import type { OwnTool } from '../gateway/riding/rider.ts';
import type { Toolbox } from '../gateway/riding/toolbox.ts';
import { retryingRider } from '../gateway/riding/retrying-rider.ts';
import type { Spawned } from '../mcp/spawned.ts';
import { hasTasks } from '../tasks/settings.ts';
import { offersTaskTools } from '../tasks/tool-list.ts';
import { startGateway, type Front, type ProfileKind, type Upstream } from '../gateway/index.ts';
import { keepFollowing, keepHouse } from './housekeeping.ts';
import { loadAheadSoon } from './ahead.ts';
import { countOption, type GlobalOptions } from './context.ts';
import { EXIT } from './exit.ts';
import type { InstallHost } from './install-hosts.ts';
import { mayCarryFor } from './may-read.ts';
import { isInCommand, ownSessions } from './own-sessions.ts';
import { purposeOf } from './purpose.ts';
import { checkName, serverName } from './server-name.ts';
import { complain } from './terminal.ts';
import { upstreamOf, withAbsent } from './upstream.ts';
import { OwnClock } from './wrong-clocks.ts';

export type GatewayOptions = GlobalOptions & {
  name?: string;
  url?: string;
  servers?: string;
  print?: InstallHost;
  all?: boolean;
  http?: boolean;
  host?: string;
  port?: string;
  tokenEnv?: string;
  as?: string;
  purpose?: string;
  view?: ViewName;
  profile?: ProfileKind;
};

/** The server of `earpiece mcp`, which has built-in tools and wraps no servers. */
export type OwnServer = {
  readonly tools: readonly OwnTool[];
  boxes(place: { readonly inbox: UserInbox; readonly project: string; readonly given: string | undefined }): readonly Toolbox[];
};

/** Parts that the caller has already created. `running` is the process of the wrapped server. */
type Given = { readonly own?: OwnServer; readonly running?: Spawned | undefined };

/**
 * Runs the gateway until its client over stdio disconnects, a signal arrives, or the wrapped server fails without an answer.
 * Resolves with the exit code.
 */
export async function serve(words: readonly string[], options: GatewayOptions, given: Given = {}): Promise<number> {
  try {
    return await serveWith(words, options, given);
  } catch (error) {
    await given.running?.end();
    throw error;
  }
}

async function serveWith(words: readonly string[], options: GatewayOptions, { own, running }: Given): Promise<number> {
  // A broken configuration must not remove the agent's tools, so its valid parts still apply, and the errors are reported.
  const at = placeOf(options);
  const { config, problems } = readConfig(at);
  const told = new Set([...problems, ...config.gateway.problems].map((problem) => formatProblem(problem)));
  for (const line of told) complain(line);

  const upstreams = own === undefined ? await upstreamsFrom(words, options, config, running) : [];
  const front = frontFrom(options, config);
  for (const each of config.untrusted) complain(untrustedTold(each));
  const address = addressOf(options, config);
  if (address !== undefined) mayCarryFor(address, config.project);
  const purpose = purposeOf(options);
  const name = upstreams.map((upstream) => upstream.name).join(',');
  let inbox: UserInbox | undefined;
  let tools = ownTools({ tasks: false });
  let isKnown = false;
  const known = Promise.withResolvers<void>();
  const anyTask = Promise.withResolvers<boolean>();
  const clock = new OwnClock();
  const checkClock = (): Promise<void> =>
    (inbox === undefined ? Promise.resolve() : clock.check(inbox, complain)).catch(() => {});
  const open = async (): Promise<InboxRider> => {
    // The inbox reads the same files again, so problems that were already reported are skipped.
    const opened = await openInboxWith(config, { ...at, onProblem: (line) => told.delete(line) || complain(line), thread: true });
    inbox = opened;
    loadAheadSoon(opened, { view: options.view });
    void opened.witnesses.note().then(checkClock, () => {});
    // If the process that checks followed things cannot be started, the housekeeping tries again and reports the failure.
    void keepFollowing(opened, process.cwd()).catch(() => {});
    anyTask.resolve(hasTasks(opened.store, projectOf(address, config)).catch(() => false));
    // The conversation's record names its model's tools, so the list of tools must be known first.
    await known.promise;
    return inboxRider({
      inbox: opened,
      emitter: opened.emitter,
      identify: async (connection) => {
        if (connection.session !== undefined) mayCarryFor(connection.session, config.project);
        const identity = await identify(
          {
            project: config.project,
            // `config` already contains the address of the environment.
            env: { ...process.env, EARPIECE_ADDRESS: undefined },
            given: connection.session ?? address,
            client: connection.client?.name,
            session: connection.caller?.session,
            namesSession: connection.profile.namesSession,
            lookAtAncestors: front.kind === 'stdio',
            ...(opened.speaker === undefined ? {} : { mayShow: isInCommand }),
          },
          opened.store,
        );
        await mayRideFor(identity, opened);
        return identity;
      },
      carrier: own === undefined ? `gateway:${front.kind} ${name}` : 'mcp',
      ...(front.kind === 'stdio' ? { folder: worktreeOf(process.cwd()) } : { shared: true }),
      ...defined({ view: options.view }),
      purpose,
      tools: () => tools,
      ...(own === undefined ? {} : { boxes: own.boxes({ inbox: opened, project: config.project, given: address }) }),
      complain,
    });
  };
  const rider = retryingRider(
    open,
    () => tools,
    () => (isKnown ? undefined : known.promise),
  );
  const gateway = await startGateway({
    front,
    upstreams,
    rider,
    report: complain,
    // With `--servers`, each tool's name has its server as a prefix, so the names stay the same if a server is added to the file.
    isPrefixed: options.servers !== undefined,
    separator: config.gateway.separator,
    profiles: config.gateway.profiles,
    ...defined({ profile: options.profile }),
  });
  // The database is asked last, because the database opens while the servers start. The gateway decides once whether it has the
  // tools for tasks, before the client lists the tools. A changed list would invalidate the agent's prompt cache.
  const asked = offersTaskTools({
    purpose,
    always: config.gateway.tasks,
    any: async () => {
      rider.open().catch(() => anyTask.resolve(false));
      return (await soon(anyTask.promise, ASK_WITHIN_MS)) ?? false;
    },
  });
  void asked.then((tasks) => {
    tools = [...ownTools({ tasks }), ...(own?.tools ?? [])];
    isKnown = true;
    known.resolve();
  });
  if (gateway.url !== undefined) complain(`listening on ${gateway.url}`);
  const endHousekeeping = keepHouse(() => inbox, { folder: process.cwd(), complain, swept: () => void checkClock() });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void gateway.close({ now: true }));
  const { reason, detail } = await gateway.closed;
  endHousekeeping();
  await rider.end();
  await inbox?.close();
  if (reason !== 'upstream_failed') return EXIT.ok.code;
  complain(`the MCP server never answered (${detail}); check that this server works without the gateway`);
  return EXIT.failed.code;
}

/** Returns a reason why a gateway with this command line would not start here; undefined if no reason is known. */
export async function hindrance(words: readonly string[], options: GatewayOptions): Promise<string | undefined> {
  const { config } = readConfig(placeOf(options));
  try {
    await upstreamsFrom(words, options, config);
    addressOf(options, config);
    return undefined;
  } catch (error) {
    if (error instanceof EarpieceError) return error.message;
    throw error;
  }
}

const placeOf = ({ db }: GatewayOptions): Parameters<typeof readConfig>[0] => ({
  cwd: process.cwd(),
  env: process.env,
  flags: defined({ db }),
});

/**
 * The maximum time that the database may delay a client's tools. If the database does not answer in this time, the session has no
 * tools for tasks. A store opens within about 50 ms, and on a busy machine within a second. Clients give a server at least 10 s
 * to start.
 */
const ASK_WITHIN_MS = 3_000;

/** Returns the result of the work; undefined if the work fails or takes longer than `withinMs`. */
async function soon<T>(work: Promise<T>, withinMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, withinMs, undefined)));
  return Promise.race([work.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}

/**
 * Throws `not_trusted` if a command of an agent would carry notifications to a session of another command. Does not check a given
 * address, which `mayCarryFor` has checked, and `#main`, because no host has this session.
 */
async function mayRideFor({ log, conversation, by, host }: Identity, { speaker, store }: UserInbox): Promise<void> {
  if (speaker === undefined || by === 'given' || by === 'client name' || by === 'default') return;
  const [known] = await store.presence({ log, conversation });
  ownSessions(speaker, host?.process).mayAct(`${log}#${conversation}`, known);
}

const projectOf = (address: string | undefined, { project }: Config): string =>
  address?.includes('/') ? parseAddress(address).project : project;

/**
 * Returns the address in `--as`, otherwise the address in the configuration. Returns undefined if the configuration names a whole
 * project, because the project is only a default receiver.
 */
function addressOf(options: GatewayOptions, config: Config): string | undefined {
  if (options.as === undefined) return config.address?.endsWith('/*') ? undefined : config.address;
  const address = parseAddress(options.as.includes('/') ? options.as : `${config.project}/${options.as}`);
  if (address.kind !== 'project') return options.as;
  throw new EarpieceError(
    'bad_address',
    `--as ${JSON.stringify(options.as)} is a whole project; name one agent: ${address.project}/<agent>`,
  );
}

async function upstreamsFrom(
  words: readonly string[],
  options: GatewayOptions,
  config: Config,
  running?: Spawned,
): Promise<readonly Upstream[]> {
  const given = [words.length > 0, options.url !== undefined, options.servers !== undefined].filter(Boolean).length;
  if (given > 1) throw new EarpieceError('bad_argument', 'give only one of --url, --servers, or a command after `--`');
  if (options.name !== undefined) checkName(options.name);
  if (options.url !== undefined && !/^https?:$/.test(URL.parse(options.url)?.protocol ?? ''))
    throw new EarpieceError(
      'bad_argument',
      `--url ${JSON.stringify(options.url.slice(0, 80))} is not the URL of an MCP server; write e.g. https://example.com/mcp`,
    );
  const [program, ...args] = words;
  if (program?.trim() === '')
    throw new EarpieceError(
      'bad_argument',
      `the command after -- is ${JSON.stringify(program)}; write the program of an MCP server, e.g. earpiece gateway -- npx -y some-server`,
    );
  if (program !== undefined) {
    const name = options.name ?? serverName(words);
    return [{ kind: 'stdio', name, command: program, args, ...defined({ running }) }];
  }
  if (options.url !== undefined) return [{ kind: 'http', name: options.name ?? serverName([options.url]), url: options.url }];

  const { servers, leftOut } = options.servers === undefined ? config.gateway : await serversOf(options.servers);
  const upstreams = Object.values(servers).map((server) => upstreamOf(server));
  if (upstreams.length > 0) return withAbsent(upstreams, leftOut);
  if (options.servers !== undefined)
    throw new EarpieceError(
      'bad_argument',
      `${options.servers} has no servers; add a server to its "mcpServers", or write a command after --`,
    );
  const untrusted = config.untrusted.map(({ file }) => file);
  throw new EarpieceError(
    'bad_argument',
    untrusted.length > 0
      ? `the servers in ${untrusted[0]} are not trusted and cannot be started; read the file, then run: earpiece trust`
      : 'there is no server to wrap; write the command of a server after --, add [gateway.servers.<name>] to earpiece.toml, or give --servers <mcpServers.json>',
  );
}

/**
 * Reads the servers of a file. Reports invalid servers and leaves them out. Throws `bad_config` if no server is left, or if the
 * file has other errors.
 */
async function serversOf(file: string): Promise<McpServers> {
  const { readMcpServers } = await import('../config/mcp-servers.ts');
  const read = readMcpServers(file, { env: process.env });
  const { servers, leftOut, problems } = read;
  if (problems.length === 0) return read;
  const lines = problems.map((problem) => formatProblem(problem));
  if (Object.keys(servers).length === 0 || problems.length > Object.keys(leftOut).length)
    throw new EarpieceError('bad_config', lines.join('\n'));
  for (const line of lines) complain(line);
  return read;
}

function frontFrom(options: GatewayOptions, config: Config): Front {
  const { host, port, tokenEnv: tokenFrom } = options;
  if (!options.http) {
    const idle = Object.entries({ host, port, 'token-env': tokenFrom }).find(([, value]) => value !== undefined);
    if (idle === undefined) return { kind: 'stdio' };
    throw new EarpieceError(
      'bad_argument',
      `--${idle[0]} ${idle[1]} works only with --http; add --http, or leave the option out`,
    );
  }
  if (host !== undefined && !/^[A-Za-z0-9_.:-]+$/.test(host))
    throw new EarpieceError(
      'bad_argument',
      `--host ${JSON.stringify(host.slice(0, 80))} is not a host name or IP address; write e.g. 127.0.0.1`,
    );
  const { http } = config.gateway;
  const tokenEnv = tokenFrom ?? http.tokenEnv;
  const token = tokenEnv === undefined ? undefined : process.env[tokenEnv];
  if (tokenEnv !== undefined && !token)
    throw new EarpieceError(
      'bad_argument',
      `the environment variable ${tokenEnv} is ${token === undefined ? 'not set' : 'empty'}; set ${tokenEnv} to the bearer token`,
    );
  return {
    kind: 'http',
    host: host ?? http.host,
    port: port === undefined ? http.port : countOption('--port', port, { min: 0, max: 65_535 }),
    ...defined({ token }),
  };
}
