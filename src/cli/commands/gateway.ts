import { basename } from 'node:path';
import type { Command } from 'commander';
import { policySource, readConfig, readMcpServers, formatProblem, type Config, type ServerConfig } from '../../config/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import { VIEW_NAMES, type ViewName } from '../../core/records.ts';
import { identify, Inbox } from '../../inbox/index.ts';
import { inboxRider } from '../../gateway/inbox-rider.ts';
import { retryingRider } from '../../gateway/retrying-rider.ts';
import { startGateway, type Front, type ProfileKind, type Upstream } from '../../gateway/index.ts';
import { openStore } from '../../stores/index.ts';
import { choice, type CommandLine } from '../command-line.ts';
import { countOption, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import type { Answer } from '../program.ts';
import { INSTALL_HOSTS, installText, type InstallHost } from '../install.ts';
import { complain, print, printJson } from '../terminal.ts';

type Options = GlobalOptions & {
  name?: string;
  url?: string;
  servers?: string;
  print?: InstallHost;
  http?: boolean;
  host?: string;
  port?: string;
  tokenEnv?: string;
  as?: string;
  view?: ViewName;
  profile?: ProfileKind;
};

const PROFILES = ['blocks', 'extend', 'strip'] as const satisfies readonly ProfileKind[];

export function gateway(program: CommandLine, answer: Answer): void {
  program
    .command('gateway [command...]')
    .summary('stand between an MCP client and its servers')
    .description(
      'Stands between an MCP client and its servers; notifications ride on the results of their tools. ' +
        'With a command behind -- it wraps that one server, with --url one over HTTP, else it fronts all servers of the configuration.',
    )
    .option('--name <name>', 'what the wrapped server is called')
    .option('--url <url>', 'wrap this streamable HTTP server')
    .option('--servers <file>', 'front all servers of this mcpServers JSON file')
    .addOption(choice('--print <client>', INSTALL_HOSTS, 'only print what installs this in a client, and what undoes it'))
    .option('--http', 'serve streamable HTTP instead of stdio')
    .option('--host <host>', 'with --http: where to listen (default: 127.0.0.1)')
    .option('--port <port>', 'with --http: 0 takes a free one (default: 4748)')
    .option('--token-env <variable>', 'with --http: the environment variable that holds the bearer token that clients must send')
    .option('--as <address>', 'whose conversation this is: agent, project/agent or project/agent#conversation')
    .addOption(choice('--view <view>', VIEW_NAMES, 'what the model reads (default: what the configuration says)'))
    .addOption(choice('--profile <profile>', PROFILES, 'how notifications ride (default: by the client)'))
    .onMistake("what belongs to the server's command stands behind --: earpiece gateway -- <command>")
    .example(
      `earpiece gateway --print claude -- npx -y @modelcontextprotocol/server-filesystem .
earpiece gateway -- npx -y @modelcontextprotocol/server-filesystem .
earpiece gateway --url https://example.com/mcp --name search
earpiece gateway --servers ~/.cursor/mcp.json --http --port 0`,
    )
    .action(async (words: string[], _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      if (options.print !== undefined) {
        const text = installText(options.print, { words, ...options });
        if (options.json) printJson(text);
        else print(`${text.how}\n\n${text.what}\n\nTo undo it:\n\n${text.undo}`);
        return;
      }
      answer(await serve(words, options));
    });
}

async function serve(words: readonly string[], options: Options): Promise<number> {
  // A broken configuration must not take the agent's tools away: what is right in it counts, the rest is told.
  const at = {
    cwd: process.cwd(),
    env: process.env,
    flags: {
      ...(options.db === undefined ? {} : { db: options.db }),
      ...(options.host === undefined ? {} : { 'gateway.http.host': options.host }),
    },
  };
  const { config, problems } = readConfig(at);
  for (const problem of [...problems, ...config.gateway.problems]) complain(formatProblem(problem));

  const upstreams = upstreamsFrom(words, options, config);
  const front = frontFrom(options, config);
  const policies = policySource({ ...at, onProblem: (found) => found.forEach((problem) => complain(formatProblem(problem))) });
  const name = upstreams.map((upstream) => upstream.name).join(',');
  let inbox: Inbox | undefined;
  const rider = retryingRider(async () => {
    const opened = new Inbox({ store: await openStore(config.db), policies, timeZone: config.timeZone });
    inbox = opened;
    return inboxRider({
      inbox: opened,
      identify: (connection) =>
        identify(
          {
            project: config.project,
            env: process.env,
            given: connection.session ?? options.as ?? config.address,
            client: connection.client?.name,
            lookAtAncestors: front.kind === 'stdio',
          },
          opened.store,
        ),
      carrier: `gateway:${front.kind} ${name}`,
      ...(options.view === undefined ? {} : { view: options.view }),
      complain,
    });
  });
  const running = await startGateway({
    front,
    upstreams,
    rider,
    report: complain,
    ...(options.profile === undefined ? {} : { profile: options.profile }),
  });
  if ('url' in running && typeof running.url === 'string') complain(`listening on ${running.url}`);
  const sweeping = setInterval(() => {
    inbox
      ?.sweep()
      .catch((error: unknown) => complain(`housekeeping failed: ${error instanceof Error ? error.message : String(error)}`));
  }, 60_000);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void running.close({ now: true }));
  const { reason, detail } = await running.closed;
  clearInterval(sweeping);
  await rider.end();
  await inbox?.close();
  if (reason !== 'upstream_failed') return EXIT.ok.code;
  complain(detail);
  return EXIT.failed.code;
}

function upstreamsFrom(words: readonly string[], options: Options, config: Config): readonly Upstream[] {
  const given = [words.length > 0, options.url !== undefined, options.servers !== undefined].filter(Boolean).length;
  if (given > 1) throw new EarpieceError('bad_argument', 'give one of: a command behind --, --url, --servers');
  const [program, ...args] = words;
  if (program !== undefined) return [{ kind: 'stdio', name: options.name ?? serverName(words), command: program, args }];
  if (options.url !== undefined) return [{ kind: 'http', name: options.name ?? serverName([options.url]), url: options.url }];

  const servers = options.servers === undefined ? config.gateway.servers : serversOf(options.servers);
  const upstreams = Object.values(servers).map((server) => upstreamOf(server));
  if (upstreams.length > 0) return upstreams;
  const untrusted = config.untrusted.map(({ file }) => file);
  throw new EarpieceError(
    'bad_argument',
    untrusted.length > 0
      ? `the servers in ${untrusted[0]} are not trusted to be started; look at them and say: earpiece trust`
      : 'no server to stand before: write its command behind --, or [gateway.servers.<name>] in earpiece.toml, or --servers <mcpServers.json>',
  );
}

function serversOf(file: string): Readonly<Record<string, ServerConfig>> {
  const { servers, problems } = readMcpServers(file, { env: process.env });
  if (problems.length > 0) throw new EarpieceError('bad_config', problems.map((problem) => formatProblem(problem)).join('\n'));
  return servers;
}

function upstreamOf({ prefix, target }: ServerConfig): Upstream {
  if (target.kind === 'http') return { kind: 'http', name: prefix, url: target.url, headers: target.headers };
  const { command, args, env, cwd } = target;
  return {
    kind: 'stdio',
    name: prefix,
    command,
    args,
    env: { ...process.env, ...env } as Record<string, string>,
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function frontFrom(options: Options, config: Config): Front {
  if (!options.http) return { kind: 'stdio' };
  const { http } = config.gateway;
  const tokenEnv = options.tokenEnv ?? http.tokenEnv;
  const token = tokenEnv === undefined ? undefined : process.env[tokenEnv];
  if (tokenEnv !== undefined && !token)
    throw new EarpieceError('bad_argument', `the environment variable ${tokenEnv} is to hold the bearer token, but it is empty`);
  return {
    kind: 'http',
    host: options.host ?? http.host,
    port: options.port === undefined ? http.port : countOption('--port', options.port, { min: 0, max: 65_535 }),
    ...(token === undefined ? {} : { token }),
  } as unknown as Front;
}

/**
 * What a server is called where nobody says: `npx -y @modelcontextprotocol/server-filesystem /tmp` and
 * `node …/server-filesystem/dist/index.js` are both `filesystem`.
 */
export function serverName(words: readonly string[]): string {
  const plainWords = words.filter((word) => !word.startsWith('-')).slice(0, 3);
  const segments = plainWords.flatMap((word) => word.split(/[/\\]/).filter((segment) => !segment.startsWith('@')));
  const named = segments.findLast(
    (segment) => /(^|[-_.])(mcp|server)([-_.]|$)/i.test(segment) && !/^(server|mcp)(\.[cm]?[jt]s)?$/i.test(segment),
  );
  const name = (named ?? basename(plainWords.at(-1) ?? 'server'))
    .replace(/@[\w.^~-]+$/, '')
    .replace(/\.[cm]?[jt]s$/, '')
    .replace(/^(mcp-server-|server-|mcp-)/, '')
    .replace(/(-mcp-server|-mcp|-server)$/, '')
    .replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return name === '' ? 'server' : name.slice(0, 64);
}
