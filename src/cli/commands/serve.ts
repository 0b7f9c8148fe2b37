import type { Answer, CommandLine } from '../command-line.ts';
import type { ServeOptions } from '../serve.ts';

export function serve(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Serves the web console and the HTTP API for all agents of this database, until Ctrl+C. The command prints a URL that logs in one browser, once. ' +
        'Programs need a token: earpiece token create.',
    )
    .option(
      '--host <host>',
      'the host name or IP address to listen on; without a token, only loopback is allowed (default: server.host, 127.0.0.1)',
    )
    .option('--port <port>', 'the port; 0 chooses a free port (default: server.port, 4747)')
    .option('--allow-host <names...>', 'other host names to accept, for a server behind a proxy')
    .option('--no-console', 'serve only the API')
    .option('--open', 'open the console in a browser')
    .option('--verbose', 'log each request on stderr')
    .example(`earpiece serve
earpiece serve --port 0 --json
earpiece token create --kind admin --name laptop
earpiece serve --host 0.0.0.0`)
    .action(async (options: ServeOptions) => {
      // The HTTP parts are loaded only when the command runs, so that other commands start faster.
      const { runServer } = await import('../serve.ts');
      answer(await runServer(options));
    });
}
