/**
 * `earpiece follow -- <command>`: runs a program as usual, and notifies an agent of the program's errors. Withdraws the
 * notifications of fixed errors.
 */
import { randomUUID } from 'node:crypto';
import { formatAddress } from '../core/address.ts';
import { makeEvent } from '../core/event.ts';
import { checksum } from '../core/checksum.ts';
import { clean } from '../handles/text.ts';
import { loadConfig } from '../config/index.ts';
import { addRun, following, followOutput, keepState, removeRun, stateOf, type Followed } from '../sources/follow/index.ts';
import {
  catchSignals,
  commandLine,
  eventOf,
  excerpt,
  EXCERPT_FROM,
  exitCodeOf,
  isFailure,
  LastLines,
  lostItsReader,
  run,
  type Outcome,
} from '../sources/processes/index.ts';
import { openInbox, type UserInbox } from '../user-inbox.ts';
import type { FollowOptions } from './commands/follow.ts';
import { matchersOf } from './matchers.ts';
import { receiverOf } from './reader.ts';
import { complain } from './terminal.ts';
import { addPackages } from '../input/add-package.ts';

/** Runs and follows the command; resolves with its exit code. */
export async function followCommand(words: readonly string[], options: FollowOptions): Promise<number> {
  const [command = '', ...args] = words;
  const label = clean(options.name ?? commandLine(command, args)).slice(0, 200);
  // An error in the configuration or the address is reported before the command runs.
  const config = loadConfig({ cwd: process.cwd(), env: process.env });
  const to = formatAddress(await receiverOf(config, options.to));
  const matchers = matchersOf(config, options.matcher);
  const ear = await openInbox({ ...(options.db === undefined ? {} : { flags: { db: options.db } }), thread: true });
  const { store, project, emitter } = ear;
  const followed = await begun(ear, label, to);
  const untold: Error[] = [];
  const last = new LastLines(EXCERPT_FROM);
  const output = followOutput({ store, project, emitter, now: () => Date.now(), matchers }, followed, {
    trouble: (error) => untold.push(error),
    // The report of the exit does not repeat the lines of reported problems.
    told: () => last.forget(),
  });
  const lasts = { stdout: last.stream(), stderr: last.stream() };
  const signals = catchSignals();
  let interrupted = false;
  const startedAt = performance.now();
  const outcome = await run({
    command,
    args,
    cwd: process.cwd(),
    env: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    wrote: (stream, chunk) => {
      output[stream](chunk);
      lasts[stream](chunk);
    },
    keyPressed: (keys) => void (interrupted ||= keys.includes(CTRL_C)),
    started: (signal) =>
      signals.to((name) => {
        interrupted = true;
        signal(name);
      }),
    withoutTerminal: () =>
      complain(`the command runs without a terminal; for a terminal, run: ${addPackages(['@lydell/node-pty'])}`),
  });
  signals.ended();
  if (outcome.kind === 'not_started') complain(`${command}: ${outcome.reason}`);
  const stopped = interrupted || wasStopped(outcome);
  // If the reader of the output has closed, the program may have ended before its output could show that an error is fixed. So
  // the problems stay open.
  const left = await output.ended(stopped || !(isFailure(outcome) || lostItsReader(outcome)));
  if (left !== undefined && !stopped && outcome.kind !== 'not_started') {
    const lines = last.read();
    const event = makeEvent(
      eventOf({
        command,
        args,
        cwd: process.cwd(),
        name: options.name,
        subject: to,
        outcome,
        durationMs: performance.now() - startedAt,
        lastLines: excerpt(lines, SHOWN, isFailure(outcome)),
        problems: left.fresh,
        reported: left.reported,
        levelOnFailure: 'error',
      }),
      { id: randomUUID(), now: Date.now() },
    );
    await ear.callersEvents.emit(event).catch((error: Error) => untold.push(error));
  }
  await over(ear, followed).catch((error: Error) => untold.push(error));
  signals.release();
  await ear.close();
  const [trouble] = untold;
  if (trouble !== undefined) complain(`at least one report to ${to} failed: ${trouble.message}`);
  return exitCodeOf(outcome);
}

const SHOWN = 20;
/** The byte of Ctrl+C. A program that ends after this key counts as stopped by a person, whatever its exit code is. */
const CTRL_C = 0x03;

async function begun(ear: UserInbox, command: string, to: string): Promise<Followed> {
  const folder = process.cwd();
  const run = {
    // The next run of the same program gets the same id, and withdraws the notifications that a killed run has left.
    uid: `c_${checksum([folder, command, to].join('\0'))}`,
    what: { kind: 'command', command, folder },
    to,
    process: ear.owner,
  } as const;
  return addRun(ear.store, ear.project, run, ear.isAlive);
}

/** Stops following a program. Notifications about the program's open problems stay for its next run. */
async function over(ear: UserInbox, run: Followed): Promise<void> {
  const { store, project } = ear;
  await removeRun(store, project, run);
  // A run on another machine may have continued the follower.
  if ((await following(store, project)).some(({ uid }) => uid === run.uid)) return;
  const { told, untold } = await stateOf(store, run.uid);
  if (untold === undefined && Object.keys(told).length === 0) await keepState(store, run.uid, undefined);
}

/** Whether SIGINT, SIGTERM or SIGHUP ended the program, judged also by its exit code. */
function wasStopped(outcome: Outcome): boolean {
  if (outcome.kind === 'killed') return ['SIGINT', 'SIGTERM', 'SIGHUP'].includes(outcome.signal);
  return outcome.kind === 'exited' && [129, 130, 143].includes(outcome.code);
}
