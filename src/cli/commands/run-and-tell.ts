import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatAddress } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Emitted, Event, EventInput } from '../../core/event.ts';
import { LEVELS, type Level } from '../../core/notification.ts';
import { loadConfig } from '../../config/index.ts';
import { type Answer, choice, type CommandLine } from '../command-line.ts';
import { countOption, durationOption, SERVER_OPTION, withInbox, type GlobalOptions } from '../context.ts';
import { wasHeard, whatBecame } from '../emitted.ts';
import { quote } from '../../hosts/setup/ours.ts';
import { receiverOf } from '../reader.ts';
import { complain } from '../terminal.ts';
import { addPackages } from '../../input/add-package.ts';

type Options = GlobalOptions & {
  to?: string;
  server?: string;
  lines: string;
  levelOnFailure: Level;
  timeout?: string;
  name?: string;
  matcher?: string;
};

export function runAndTell(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Runs a command with unchanged input, output and exit code (124 after --timeout). ' +
        'The agent is then notified of the result, with important lines of the output. If the notification fails, stderr shows a command that notifies the agent later.',
    )
    .option(
      '--to <address>',
      'the agent to notify (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise the agent of this shell, otherwise all active agents of this project)',
    )
    .option('--name <label>', 'a name that notifications show instead of the command line')
    .option('--lines <n>', 'number of output lines for the agent: lines about a failure, and the last lines; 0 for none', '20')
    .addOption(choice('--level-on-failure <level>', LEVELS, 'the level of a failure', { fallback: 'error' }))
    .option('--matcher <names>', 'names of more problem matchers in earpiece.toml, separated by commas')
    .option('--timeout <duration>', 'end the command after this time (default: no limit)')
    .option(...SERVER_OPTION)
    .onMistake('put the options of the command after --: earpiece run-and-tell -- <command>')
    .example(
      `earpiece run-and-tell -- npm test
earpiece run-and-tell --to coder --name "the build" --timeout 20m -- make -j8
earpiece run-and-tell --level-on-failure critical -- ./smoke-test.sh staging`,
    )
    .action(async (words: string[], options: Options) => {
      if (options.name?.trim() === '')
        throw new EarpieceError('bad_argument', '--name must not be empty; leave the option out to show the command itself');
      const lines = countOption('--lines', options.lines, { min: 0, max: 200 });
      const timeoutMs = options.timeout === undefined ? undefined : durationOption('--timeout', options.timeout);
      if (timeoutMs === 0)
        throw new EarpieceError(
          'bad_argument',
          `--timeout must be above 0, got ${options.timeout}; leave the option out for no time limit`,
        );
      // An error in the configuration or the address is reported before the command runs. The store is opened only after the
      // command has ended.
      const current = loadConfig({ cwd: process.cwd(), env: process.env });
      const to = await receiverOf(current, options.to);
      const source = await import('../../sources/processes/index.ts');
      const { matchersOf } = await import('../matchers.ts');
      const { matchers } = matchersOf(current, options.matcher);
      const [program = '', ...args] = words;
      const ran = await source.runAndReport({
        command: program,
        args,
        subject: formatAddress(to),
        name: options.name,
        lines,
        levelOnFailure: options.levelOnFailure,
        timeoutMs,
        forwardSignals: true,
        withoutTerminal: () =>
          complain(
            `the command runs without a terminal, so its colours and progress may differ. For a terminal, run: ${addPackages(['@lydell/node-pty'])}`,
          ),
        emitter: { emit: (event) => emitTo(options, event) },
        matchers,
      });
      const { outcome, telling } = ran;
      if (outcome.kind === 'not_started') complain(`${program}: ${outcome.reason}`);
      if (telling.kind === 'untold') complain(await untold(ran.event, telling.error, options.server));
      else if (options.json) process.stderr.write(`${JSON.stringify(telling.emitted)}\n`);
      else if (!wasHeard(telling.emitted)) complain(whatBecame(telling.emitted).join('; '));
      answer(ran.exitCode);
    });
}

/** Emits the event to the database, or to a running server if `--server` names one. */
async function emitTo(options: Options, event: EventInput): Promise<Emitted> {
  if (options.server === undefined) return withInbox(options, async (ear) => ear.callersEvents.emit(event));
  const { emit, remotely } = await import('../remote.ts');
  // An agent name without a project belongs to the project of the token, which only the server knows.
  return remotely(options.server, async (remote) => {
    const subject = formatAddress(await receiverOf(remote.config, options.to));
    for await (const emitted of emit(remote, [{ ...(event as Event), subject }])) return emitted;
    throw new EarpieceError('upstream', `${options.server} did not report the result of the event`);
  });
}

async function untold(event: Event, error: unknown, server: string | undefined): Promise<string> {
  const why = error instanceof Error ? error.message : String(error);
  try {
    const { cloudEventOf } = await import('../../sources/webhooks/cloud-event.ts');
    const file = join(mkdtempSync(join(tmpdir(), 'earpiece-')), 'event.json');
    writeFileSync(file, JSON.stringify(cloudEventOf(event)), { mode: 0o600 });
    return `${event.subject} was not notified of the result: ${why}; to send the notification later: earpiece emit ${server === undefined ? '' : `--server ${quote(server)} `}${file}`;
  } catch {
    return `${event.subject} was not notified of the result: ${why}; send the result with earpiece send`;
  }
}
