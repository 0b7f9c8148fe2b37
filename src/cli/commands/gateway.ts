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
      'Runs between an MCP client and its servers; notifications ride on the results of their tools. ' +
        'With a command behind -- it wraps that one server, with --url one over HTTP, else it fronts all servers of the configuration.',
    )
    .option('--name <name>', 'what the wrapped server is called')
    .option('--url <url>', 'wrap this streamable HTTP server')
    .option('--servers <file>', 'front all servers of this mcpServers JSON file')
    .addOption(choice('--print <client>', INSTALL_HOSTS, 'only print what installs this in a client, and what undoes it'))
    .option('--all', 'with --print: one line for all servers that the client has')
    .option('--http', 'serve streamable HTTP instead of stdio')
    .option('--host <host>', 'with --http: where to listen (default: 127.0.0.1)')
    .option('--port <port>', 'with --http: 0 takes a free one (default: 4748)')
    .option('--token-env <variable>', 'with --http: the environment variable that holds the bearer token that clients must send')
    .option('--as <address>', 'whose conversation this is: agent, project/agent or project/agent#conversation')
    .option('--purpose <purpose>', 'what its conversations are for: task (work) or chat (default: EARPIECE_PURPOSE)')
    .addOption(choice('--view <view>', VIEW_NAMES, 'what the model reads (default: what the configuration says)'))
    .addOption(choice('--profile <profile>', PROFILES, 'how notifications ride (default: by the client)'))
    .onMistake("what belongs to the server's command stands behind --: earpiece gateway -- <command>")
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
          : installText(options.print, { words, ...given, ...(db === undefined ? {} : { db }) });
        if (options.json) printJson(text);
        else print(`${text.how}\n\n${text.what}\n\nTo undo it:\n\n${text.undo}`);
        for (const warning of text.warnings ?? []) complain(warning);
        if (options.all) return;
        const { hindrance } = await import('../gateway.ts');
        const why = await hindrance(words, options);
        if (why !== undefined) complain(`in this folder it would not start yet: ${why}`);
        return;
      }
      // Servers and transports are loaded only where they are needed: every other command starts faster.
      const { serve } = await import('../gateway.ts');
      answer(await serve(words, options, { running: takeEarly() }));
    });
}

/** A client starts what is printed over stdio. */
function refuseHttp({ http, host, port, tokenEnv }: GatewayOptions): void {
  const [given] = Object.entries({ http, host, port, 'token-env': tokenEnv }).filter(([, value]) => value !== undefined);
  if (given === undefined) return;
  const [name, value] = given;
  throw new EarpieceError(
    'bad_argument',
    `--${name}${value === true ? '' : ` ${value}`} is for a gateway over HTTP, and --print writes a line that starts one over stdio; leave it out`,
  );
}
