/**
 * Creates, lists and revokes tokens of the HTTP API, and logs browsers in. The command writes directly to the store, so a running
 * server sees a change at once.
 */
import { splitLog } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { TokenInfo } from '../../wire/api.ts';
import { TOKEN_KINDS, type TokenKind } from '../../wire/words.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { UserInbox } from '../../user-inbox.ts';
import type { Tokens } from '../../server/tokens.ts';
import { choice, type CommandLine } from '../command-line.ts';
import {
  agentFrom,
  durationOption,
  onlyAPerson,
  readInbox,
  withInbox,
  withNamedDatabase,
  type GlobalOptions,
} from '../context.ts';
import { table } from '../table.ts';
import { ago, nameOf, paint, plain, print, printJson } from '../terminal.ts';

type CreateOptions = GlobalOptions & { kind: TokenKind; name: string; project?: string; agent?: string; expires?: string };

export function token(group: CommandLine): void {
  group.description('Creates, lists and revokes tokens of the HTTP API, and logs browsers in.');
  group
    .command('create')
    .summary('create a token, which is shown only once')
    .description(
      'Creates a token and shows it once. An admin token may do everything. A project token may do everything in one project, except use settings, tokens and metrics. An agent token reads the data of one agent or one conversation, and queues notifications in its project up to level error. ' +
        'A send token queues notifications and events in one project up to level error, and reads nothing.',
    )
    .addOption(choice('--kind <kind>', TOKEN_KINDS, 'the permissions', { mandatory: true }))
    .addOption({ flags: '--name <name>', description: 'a name that helps you recognize the token', mandatory: true })
    .option('--project <project>', 'the project (default: this project)')
    .option('--agent <address>', 'with --kind agent: agent, project/agent or project/agent#conversation')
    .option('--expires <duration>', 'the time until the token expires (default: never)')
    .example(`earpiece token create --kind send --name ci --expires 90d
earpiece token create --kind agent --name worker --agent coder#main
EARPIECE_TOKEN=ep_... earpiece agents --server http://127.0.0.1:4747`)
    .action(async (options: CreateOptions) => {
      const expiresInMs = options.expires === undefined ? undefined : durationOption('--expires', options.expires);
      if (expiresInMs !== undefined && expiresInMs < 1_000)
        throw new EarpieceError(
          'bad_argument',
          `--expires ${JSON.stringify(options.expires)} is less than 1s, so the token would expire before its first use; write e.g. 90d`,
        );
      onlyAPerson('to create a token');
      const { kind, name } = options;
      if (kind !== 'agent' && options.agent !== undefined)
        throw new EarpieceError('bad_argument', `--agent works only with --kind agent, got --kind ${kind}; leave --agent out`);
      await withInbox(options, async (ear) => {
        const made = await (
          await tokensOf(ear)
        ).create({
          kind,
          name,
          ...(kind === 'admin'
            ? options.project === undefined
              ? {}
              : { project: options.project }
            : { project: options.project ?? ear.project }),
          ...agentOf(options, ear),
          ...defined({ expiresInMs }),
        });
        if (options.json) return printJson(made);
        // Only the token is printed on stdout, for scripts. The explanation is printed on stderr.
        print(made.token);
        process.stderr.write(`${paint('dim', `${made.id}, for ${scopeText(made)}; the token is not shown again`)}\n`);
      });
    });
  group
    .command('list')
    .summary('list tokens and logged-in browsers')
    .description('Lists tokens and logged-in browsers, without their secrets.')
    .action(async (options: GlobalOptions) => {
      onlyAPerson('to list tokens');
      await readInbox(options, async (ear) => {
        const all = await (await tokensOf(ear)).list();
        if (options.json) return all.forEach((each) => printJson(each));
        if (all.length === 0)
          return print(paint('dim', 'there is no token; to create a token: earpiece token create --kind admin --name <name>'));
        const now = ear.store.now();
        print(
          table(
            all.map((each) => [
              each.id,
              each.session ? 'browser' : each.kind,
              nameOf(each.name, 40),
              nameOf(scopeText(each)),
              each.lastUsedAt === null ? 'never' : ago(each.lastUsedAt, now),
              each.expiresAt === null ? 'when revoked' : new Date(each.expiresAt).toISOString().slice(0, 10),
            ]),
            [{ head: 'id' }, { head: 'kind' }, { head: 'name', spare: 1 }, { head: 'for' }, { head: 'used' }, { head: 'ends' }],
          ),
        );
      });
    });
  group
    .command('revoke <id>')
    .summary('revoke a token at once')
    .description('Revokes a token at once, in running servers too, and logs out the browsers that used it.')
    .example('earpiece token revoke 4k2m9x01ab7q')
    .action(async (id: string, options: GlobalOptions) => {
      onlyAPerson('to revoke a token');
      await readInbox(options, async (ear) => {
        if (!(await (await tokensOf(ear)).revoke(id)))
          throw new EarpieceError(
            'not_found',
            `there is no token ${JSON.stringify(id.slice(0, 80))}; earpiece token list shows all tokens`,
          );
        if (options.json) return printJson({ id, revoked: true });
        print(`${nameOf(id)} is revoked`);
      });
    });
  group
    .command('login')
    .summary('print a URL that logs in one browser')
    .description('Prints a URL that logs in one browser as admin, once, within ten minutes.')
    .option('--url <url>', 'the URL of the server (default: server.host and server.port)')
    .action(async (options: GlobalOptions & { url?: string }) => {
      onlyAPerson('to log a browser in');
      if (options.url !== undefined && !/^https?:$/.test(URL.parse(options.url)?.protocol ?? ''))
        throw new EarpieceError(
          'bad_argument',
          `--url ${JSON.stringify(options.url.slice(0, 80))} is not the URL of a server; write e.g. http://127.0.0.1:4747`,
        );
      await withNamedDatabase(options, async (ear) => {
        const { loginUrl, makeCode } = await import('../../server/sessions.ts');
        const { host, port } = ear.config.server;
        const base = (options.url ?? `http://${/^(0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host}:${port}`).replace(
          /\/+$/u,
          '',
        );
        const login = loginUrl(base, await makeCode(ear));
        if (options.json) return printJson({ login });
        print(login);
        if (options.url === undefined)
          process.stderr.write(
            `${paint('dim', `this URL is for a server at ${plain(base)} (server.host, server.port); if earpiece serve prints another URL, add --url <url>`)}\n`,
          );
      });
    });
}

/** Opens the list of tokens. The code for tokens is loaded only at this call, so that other commands start faster. */
async function tokensOf(ear: UserInbox): Promise<Tokens> {
  const { Tokens: Made } = await import('../../server/tokens.ts');
  return new Made(ear);
}

function agentOf(
  { kind, agent, project }: CreateOptions,
  ear: UserInbox,
): { project?: string; agent?: string; conversation?: string } {
  if (kind !== 'agent') return {};
  if (agent === undefined)
    throw new EarpieceError(
      'bad_argument',
      'a token of kind agent is for one agent, but no agent was named; add --agent <agent>',
    );
  const named = project === undefined || agent.includes('/') ? agent : `${project}/${agent}`;
  const { log, conversation } = agentFrom(ear, named);
  const of = splitLog(log);
  if (project !== undefined && project !== of.project)
    throw new EarpieceError(
      'bad_argument',
      `--agent ${JSON.stringify(agent.slice(0, 80))} is not in the project of --project ${JSON.stringify(project.slice(0, 80))}; leave --project out, or name an agent of that project`,
    );
  return { ...of, ...defined({ conversation }) };
}

function scopeText({ project, agent, conversation }: Pick<TokenInfo, 'project' | 'agent' | 'conversation'>): string {
  if (project === null) return 'everything';
  return agent === null ? project : `${project}/${agent}${conversation === null ? '' : `#${conversation}`}`;
}
