import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import { VIEW_NAMES } from '../../core/records.ts';
import type { ProfileKind } from '../../gateway/index.ts';
import { type Answer, choice, type CommandLine } from '../command-line.ts';
import type { GatewayOptions } from '../gateway.ts';
import { takeEarly } from '../early.ts';
import { INSTALL_HOSTS } from '../install-hosts.ts';
import { purposeOf } from '../purpose.ts';
import { complain, print, printJson } from '../terminal.ts';

const PROFILES = ['blocks', 'extend', 'strip'] as const satisfies readonly ProfileKind[];

export function gateway(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Runs between an MCP client and its servers, so that tool results carry notifications to the agent. ' +
        'The gateway wraps the server whose command follows --, the server at --url, the servers of --servers, or otherwise all servers of the configuration.',
    )
    .option('--name <name>', 'the name of the wrapped server')
    .option('--url <url>', 'wrap this streamable HTTP server')
    .option('--servers <file>', 'wrap all servers of this mcpServers JSON file')
    .addOption(choice('--print <client>', INSTALL_HOSTS, 'only print the lines that install and remove this gateway in a client'))
    .option('--all', 'with --print: one line for all servers of the client')
    .option('--http', 'serve streamable HTTP instead of stdio')
    .option('--host <host>', 'with --http: the host name or IP address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'with --http: the port; 0 chooses a free port (default: 4748)')
    .option('--token-env <variable>', 'with --http: the environment variable with the bearer token that clients must send')
    .option('--as <address>', 'the conversation of the client: agent, project/agent or project/agent#conversation')
    .option('--purpose <purpose>', "the purpose of the client's conversations: task (work) or chat (default: EARPIECE_PURPOSE)")
    .addOption(
      choice(
        '--view <view>',
        VIEW_NAMES,
        'the format of the notifications for the model; toon is a compact table (default: view of the configuration)',
      ),
    )
    .addOption(
      choice(
        '--profile <profile>',
        PROFILES,
        'how the gateway adds notifications to tool results (default: depends on the client)',
      ),
    )
    .onMistake("put the options of the server's command after --: earpiece gateway -- <command>")
    .example(
      `earpiece gateway --print claude -- npx -y @playwright/mcp
earpiece gateway -- npx -y @modelcontextprotocol/server-filesystem .
earpiece gateway --url https://example.com/mcp --name search
earpiece gateway --servers ~/.cursor/mcp.json --http --port 0`,
    )
    .action(async (words: string[], options: GatewayOptions) => {
      if (options.print !== undefined) {
        refuseHttp(options);
        purposeOf(options);
        const [{ installText }, { namedDatabase }] = await Promise.all([import('../install.ts'), import('../setup/here.ts')]);
        const { db: _, ...given } = options;
        const db = namedDatabase(options);
        const text = options.all
          ? (await import('../setup/print-all.ts')).textForAll(options.print, options)
          : installText(options.print, { words, ...given, ...defined({ db }) });
        if (options.json) printJson(text);
        else print(`${text.how}\n\n${text.what}\n\nTo undo this change:\n\n${text.undo}`);
        for (const warning of text.warnings ?? []) complain(warning);
        if (options.all) return;
        const { hindrance } = await import('../gateway.ts');
        const why = await hindrance(words, options);
        if (why !== undefined) complain(`the gateway cannot start in this folder yet: ${why}`);
        return;
      }
      // Servers and transports are loaded only when the command runs, so that other commands start faster.
      const { serve } = await import('../gateway.ts');
      answer(await serve(words, options, { running: takeEarly() }));
    });
}

/** Throws if an option is for a gateway over HTTP, because the printed line starts a gateway over stdio. */
function refuseHttp({ http, host, port, tokenEnv }: GatewayOptions): void {
  const [given] = Object.entries({ http, host, port, 'token-env': tokenEnv }).filter(([, value]) => value !== undefined);
  if (given === undefined) return;
  const [name, value] = given;
  throw new EarpieceError(
    'bad_argument',
    `--${name}${value === true ? '' : ` ${value}`} works only for a gateway over HTTP, but --print writes a line for a gateway over stdio; leave the option out`,
  );
}
