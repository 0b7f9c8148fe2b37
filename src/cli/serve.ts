/** `earpiece serve`: opens the database, and starts the server with the configured settings. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { configWriter } from '../config/change.ts';
import { readConfig, watchConfig } from '../config/index.ts';
import { EarpieceError } from '../core/errors.ts';
import { createServer, isLoopbackHost, openTelemetry } from '../server/index.ts';
import { loadWhy } from '../inbox/index.ts';
import type { LoadedInbox } from '../loaded-inbox.ts';
import { loadAheadSoon } from './ahead.ts';
import { countOption, withLoadedInbox, type GlobalOptions } from './context.ts';
import { EXIT } from './exit.ts';
import { shellInfo } from './shell.ts';
import { complain, paint, print, printJson } from './terminal.ts';
import { OwnClock } from './wrong-clocks.ts';
import { VERSION } from './version.ts';
import { webhookReceivers } from './webhooks.ts';

export type ServeOptions = GlobalOptions & {
  host?: string;
  port?: string;
  allowHost?: string[];
  console: boolean;
  open?: boolean;
  verbose?: boolean;
};

/** The folder of the built console. The relative path is the same from the built file and from this source file. */
const CONSOLE = join(import.meta.dirname, '../../dist/console');
const SWEEP_EVERY_MS = 60_000;

/** Runs the server until the user or the system stops it; resolves with the exit code. */
export async function runServer(options: ServeOptions): Promise<number> {
  for (const host of [options.host, ...(options.allowHost ?? [])])
    if (host !== undefined && !/^[A-Za-z0-9_.:-]+$/.test(host))
      throw new EarpieceError(
        'bad_argument',
        `${host === options.host ? '--host' : '--allow-host'} ${JSON.stringify(host.slice(0, 80))} is not a host name or IP address; write e.g. 127.0.0.1`,
      );
  const given = options.port === undefined ? undefined : countOption('--port', options.port, { min: 0, max: 65_535 });
  const stopped = asked();
  const files = { cwd: process.cwd(), env: process.env, ...flagsOf(options) };
  const work = async (ear: LoadedInbox): Promise<number> => {
    const watched = watchConfig(files);
    const receivers = webhookReceivers(
      () => {
        // This call also reports the errors of a changed file.
        ear.policies.policy(ear.project);
        return watched.current();
      },
      { env: process.env, tell: complain },
    );
    // This call reports configured webhooks that cannot receive.
    receivers();
    const server = createServer({
      inbox: ear,
      project: ear.project,
      version: VERSION,
      shell: () => shellInfo(ear.config, process.env),
      config: () => readConfig(files).config,
      configWriter: configWriter(files),
      emitter: ear.bus,
      bus: ear.bus,
      toggles: ear.toggles,
      webhooks: receivers,
      telemetry: await openTelemetry(),
      allowedHosts: options.allowHost ?? [],
      report: complain,
      ...(options.verbose ? { log: complain } : {}),
      ...(options.console ? { consoleFolder: CONSOLE } : {}),
    });
    const host = options.host ?? ear.config.server.host;
    const { url } = await server.listen({ host, port: given ?? ear.config.server.port });
    const login = await server.loginUrl().catch(async (error: unknown) => {
      // Without a login code the command fails, so the server must not keep listening.
      await server.stop();
      throw error;
    });
    if (options.json) printJson({ url, login, pid: process.pid, db: ear.store.name });
    else {
      print(paint('bold', options.console ? login : url));
      if (options.console)
        print(
          paint(
            'dim',
            `This URL logs in one browser, once, within ten minutes. For another browser: ${anotherLogin(ear, login.replace(/\/#.*$/u, ''))}`,
          ),
        );
      print(paint('dim', `${ear.store.name} · programs need a token: earpiece token create · Ctrl+C stops the server`));
      if (!isLoopbackHost(host))
        print(
          paint('dim', 'The server uses plain HTTP: if others share the network, put a proxy with TLS in front of the server.'),
        );
    }
    if (options.open) openBrowser(login);
    loadAheadSoon(ear, { more: loadWhy });

    const clock = new OwnClock();
    const sweep = (): Promise<void> =>
      ear.sweep().then(
        () => clock.check(ear, complain).catch(() => {}),
        (error: unknown) => complain(`housekeeping failed: ${error instanceof Error ? error.message : String(error)}`),
      );
    let sweeping = sweep();
    const timer = setInterval(() => (sweeping = sweep()), SWEEP_EVERY_MS);
    await stopped;
    clearInterval(timer);
    await server.stop();
    await sweeping;
    return EXIT.ok.code;
  };
  return withLoadedInbox(options, work, { thread: true });
}

/** Returns the command that prints another login URL of this server, in any shell of this machine. */
function anotherLogin({ config }: LoadedInbox, url: string): string {
  const { host, port } = config.server;
  const usual = `http://${/^(0\.0\.0\.0|::)$/u.test(host) ? '127.0.0.1' : host}:${port}`;
  return `${shellInfo(config, process.env).earpiece} token login${url === usual ? '' : ` --url ${url}`}`;
}

const flagsOf = (options: GlobalOptions): { flags?: { db: string } } =>
  options.db === undefined ? {} : { flags: { db: options.db } };

/**
 * Resolves when the user or the system asks the process to end. A second SIGINT or SIGTERM ends the process at once. SIGHUP never
 * ends the process at once, because a closing terminal causes more than one SIGHUP: from the kernel and from the shell. Without a
 * terminal, SIGHUP is only reported. The signal may arrive despite `nohup`, because Node does not keep the signal ignored. SIGHUP
 * may also ask for a reload of the configuration, which is not needed.
 */
function asked(): Promise<void> {
  const onTerminal = isatty(1) || isatty(2);
  return new Promise((resolve) => {
    let before = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (before) process.exit(EXIT.stopped.code);
        before = true;
        resolve();
      });
    process.on('SIGHUP', () => {
      if (onTerminal) resolve();
      else complain('the server got SIGHUP, but continues because it has no terminal; to stop the server, send SIGTERM');
    });
  });
}

/** Opens the URL in the browser of the desktop. If no browser starts, tells the user to open the printed URL. */
function openBrowser(url: string): void {
  const [command = 'xdg-open', ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => complain('no browser could be started; open the printed URL yourself'))
    .unref();
}
