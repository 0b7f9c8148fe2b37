/**
 * `earpiece bridge <host>`: answers a coding agent's plugin, which starts this process. The process ends when the plugin closes
 * the pipe, or at SIGTERM or SIGHUP. A problem never stops the agent: the process prints one line on stderr, which the plugin
 * shows.
 */
import { formatProblem, readConfig } from '../config/index.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import { openInboxWith } from '../user-inbox.ts';
import { Bridge, lines, type FromBridge, type FromPlugin } from '../hosts/bridge/index.ts';
import { logOfHost, type Host } from '../hosts/index.ts';
import { identify, systemProcesses } from '../inbox/index.ts';
import { keepFollowing, keepHouse } from './housekeeping.ts';
import { loadAheadSoon } from './ahead.ts';
import type { GlobalOptions } from './context.ts';
import { EXIT } from './exit.ts';
import { mayCarryFor } from './may-read.ts';
import { ownSessions } from './own-sessions.ts';
import { complain } from './terminal.ts';

export type BridgeOptions = GlobalOptions & { readonly as?: string };

/** Serves the plugin until the plugin disconnects or a signal arrives. Resolves with the exit code. */
export async function bridge(host: Host, options: BridgeOptions): Promise<number> {
  if (process.stdin.isTTY)
    throw new EarpieceError(
      'bad_argument',
      'earpiece bridge needs a plugin on stdin and stdout, but stdin is a terminal; to install the plugin: earpiece install',
    );
  const at = { cwd: process.cwd(), env: process.env, flags: defined({ db: options.db }) };
  // An invalid configuration must not stop notifications, so its valid parts still apply.
  const { config, problems } = readConfig(at);
  for (const problem of problems) complain(formatProblem(problem));
  const given = options.as ?? (config.address?.endsWith('/*') ? undefined : config.address);
  // An invalid address is reported once at the start, instead of at each call of the plugin.
  logOfHost({ project: config.project, given }, host);
  if (given !== undefined) mayCarryFor(given, config.project);
  const parent = process.ppid;
  const ear = await openInboxWith(config, { ...at, onProblem: complain, thread: true });
  loadAheadSoon(ear);
  const { host: found } = await identify({ project: config.project, env: {} }, ear.store);
  const { machine } = systemProcesses;
  const owner = { machine, pid: parent, startedAt: systemProcesses.get(parent)?.startedAt ?? 'unknown' };
  const inside = ear.speaker;
  const own = inside === undefined ? {} : { mayAct: ownSessions(inside, owner).mayAct };
  const running = new Bridge({
    place: { inbox: ear, project: config.project, given, ...own },
    host,
    process: owner,
    nested: found?.agent === host.agent && found.nested,
    send: (line: FromBridge) => void process.stdout.write(`${JSON.stringify(line)}\n`),
    complain,
  });
  // The plugin starts this process when a session begins, so the project's followers must be checked from now on.
  await keepFollowing(ear, process.cwd());
  const endHousekeeping = keepHouse(() => ear, { folder: process.cwd(), complain });
  const hear = lines(
    (line) => running.receive(line as unknown as FromPlugin),
    (line) =>
      complain(
        `bridge: ${JSON.stringify(line.slice(0, 80))} is not a JSON object; only the plugin of ${host.title} may write to this process`,
      ),
  );
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
  await untilEnd(hear);
  endHousekeeping();
  await running.close();
  await ear.close();
  return EXIT.ok.code;
}

/** Resolves when the plugin has closed the pipe or its host has exited. Also resolves at SIGTERM and SIGHUP. */
function untilEnd(hear: (chunk: string) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.stdin.setEncoding('utf8');
  process.stdin
    .on('data', hear)
    .on('end', resolve)
    .on('close', resolve)
    .on('error', () => resolve());
  process.stdout.on('error', () => resolve());
  // Ctrl+C in the terminal is for the agent, so this process ignores it.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  return promise;
}
