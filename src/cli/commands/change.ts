/** Defines the commands that end, repeat or silence notifications: withdraw, requeue, mute. */
import { userInfo } from 'node:os';
import type { LogKey } from '../../core/address.ts';
import { asListed } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import { isForgotten } from '../../inbox/forgotten.ts';
import type { Mute } from '../../core/filter.ts';
import type { Item } from '../../core/items.ts';
import { isInterrupt, type NotificationId } from '../../core/notification.ts';
import { actorOf, type Queued, type Withdrawn } from '../../inbox/index.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import {
  durationOption,
  logsIn,
  logsWith,
  notInItsShell,
  onlyAPerson,
  scopeFrom,
  readInbox,
  speaker,
  withNamedDatabase,
  type GlobalOptions,
} from '../context.ts';
import { EXIT } from '../exit.ts';
import { quote } from '../../hosts/setup/ours.ts';
import { clock, nameOf, paint, print, printJson } from '../terminal.ts';

export function withdraw(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Withdraws a notification and prints the result: withdrawn (no agent has read it), maybe_seen (an agent may have read it) or ' +
        'too_late (already delivered; exit code 4). A notification that was counted into another notification is not withdrawn: the result is folded (exit code 4). If a delivered interrupt still stopped the tool calls of the agent, the result is gate_lowered: this interrupt no longer stops them.',
    )
    .option('--key <key>', 'withdraw every open notification with this key, instead of one id')
    .option('--to <address>', 'only for this agent (default: every agent for an id, the agents of this project for a key)')
    .option('--reason <text>', 'the reason, stored in the log', 'by hand')
    .example(`earpiece withdraw n_01m8055j3z0d6pek19x3
npm test && earpiece withdraw --key tests --reason "they pass again"`)
    .action(async (id: string | undefined, options: GlobalOptions & { key?: string; to?: string; reason: string }) => {
      const { key } = options;
      if ((id === undefined) === (key === undefined))
        throw new EarpieceError(
          'bad_argument',
          `withdraw needs either an id or --key <key>, got ${id === undefined ? 'neither' : 'both'}`,
        );
      if (key?.trim() === '')
        throw new EarpieceError('bad_argument', `--key ${JSON.stringify(key)} is blank; write the key of the notifications`);
      await readInbox(options, async (ear) => {
        const logsOf = (): Promise<readonly LogKey[]> =>
          id === undefined ? logsIn(ear, scopeFrom(ear, options.to, false)) : logsWith(ear, id, options.to);
        const what = id === undefined ? { key: key as string } : { id: id as NotificationId };
        const results: (Withdrawn & { log: LogKey; ended: string | undefined })[] = [];
        const takeBack = async (log: LogKey): Promise<void> => {
          const items = await ear.store.items(
            log,
            'id' in what ? { kind: 'ids', ids: [what.id] } : { kind: 'key', key: what.key },
          );
          if (speaker() === undefined && items.some(({ notification }) => isInterrupt(notification)))
            notInItsShell('to withdraw an interrupt');
          for (const result of await ear.withdraw(log, what, { by: actorOf(whoAmI(), ear.speaker), reason: options.reason }))
            results.push({
              log,
              ...result,
              ended: endOf(
                items.filter(({ id: of }) => of === result.id),
                ear.store.now(),
              ),
            });
        };
        const logs = await logsOf();
        // The project's log is changed first. Otherwise a conversation that begins during this change could still get a copy from
        // the project's log.
        const whole = logs.filter(isProject);
        for (const log of whole) await takeBack(log);
        for (const log of whole.length === 0 ? logs : await logsOf()) if (!isProject(log)) await takeBack(log);
        if (options.json) results.forEach(({ ended: _ended, ...result }) => printJson(result));
        else if (results.length === 0) print(paint('dim', `no open notification has the key ${nameOf(key ?? '')}`));
        else
          for (const { log, id: each, ended, ...result } of results.toSorted(
            (a, b) => Number(isProject(a.log)) - Number(isProject(b.log)),
          ))
            print(`${nameOf(each)}  ${said({ log, ...result }, ended)} (${nameOf(log)})`);
        if (results.some(({ result }) => result === 'too_late' || result === 'folded')) answer(EXIT.ended.code);
      });
    });
}

const isProject = (log: LogKey): boolean => log.endsWith('/*');
/**
 * The result for a notification in a project's log. Such a notification is for conversations that begin later. Existing
 * conversations have copies in their agents' logs.
 */
const NOT_LATER = 'withdrawn; conversations that begin later do not get this notification';

const WITHDRAWN: Readonly<Record<Withdrawn['result'], string>> = {
  withdrawn: 'withdrawn: no agent has read this notification',
  maybe_seen: 'withdrawn, but offered before: the agent may have seen this notification',
  gate_lowered: 'already delivered; this interrupt no longer holds the gate up',
  too_late: 'too late: this notification was already delivered',
  folded: 'not withdrawn: another notification counts this notification',
  unknown: 'is unknown',
};

function said({ result, into, log }: Omit<Withdrawn, 'id'> & { readonly log: LogKey }, ended: string | undefined): string {
  if (into !== undefined) return notWithdrawn(into);
  if (ended !== undefined && (result === 'withdrawn' || result === 'maybe_seen'))
    return `already ended (${ended}): ${result === 'withdrawn' ? 'no agent has read' : 'the agent may have seen'} this notification`;
  return isProject(log) && result === 'withdrawn' ? NOT_LATER : WITHDRAWN[result];
}

/** Returns how the notification ended before this command, if it ended for all audiences and was not withdrawn. */
function endOf(items: readonly Item[], now: number): string | undefined {
  const listed = items.map((item) => asListed(item, now));
  if (listed.some(({ state, outcome }) => state !== 'closed' || outcome === 'withdrawn')) return undefined;
  return listed[0]?.outcome;
}

const notWithdrawn = (into: NotificationId): string =>
  `not withdrawn: counted into ${nameOf(into)}; to withdraw ${nameOf(into)} with its count: earpiece withdraw ${nameOf(quote(into))}`;

export function requeue(command: CommandLine): void {
  command
    .description('Queues a closed notification again, under a new id, even if the notification was filtered.')
    .option('--to <address>', 'only for this agent (default: every agent with this notification)')
    .example('earpiece requeue n_01m8055j3z0d6pek19x3')
    .action(async (id: string, options: GlobalOptions & { to?: string }) => {
      await readInbox(options, async (ear) => {
        const again: Queued[] = [];
        let refused: EarpieceError | undefined;
        for (const log of await logsWith(ear, id, options.to)) {
          try {
            again.push(await ear.requeue(log, id, whoAmI()));
          } catch (error) {
            // A notification for several agents has one copy for each agent. Copies that are still open will be delivered, so
            // only closed copies are queued again.
            if (!(error instanceof EarpieceError) || error.code !== 'bad_argument') throw error;
            refused = error;
          }
        }
        if (again.length === 0 && refused !== undefined) throw refused;
        for (const queued of again) {
          if (options.json) printJson({ ...queued, requeues: id });
          else {
            const to = queued.to.map((each) => nameOf(each)).join(', ');
            print(
              `${nameOf(queued.id)}  ${queued.kind === 'folded' ? `counted into ${nameOf(queued.into)}, which waits for ${to}` : `queued again for ${to}`}`,
            );
          }
        }
      });
    });
}

export function mute(command: CommandLine): void {
  command
    .description(
      'Silences the kinds that a pattern matches, for an agent or for every known agent of this project. The pattern is "*", a source, or source.name. ' +
        'Muted notifications close as filtered and can be queued again. A notification with an action, and a critical notification of a person, a core subscriber or a core kind, cannot be muted. ' +
        'Without a pattern, the command lists the mutes.',
    )
    .option('--for <duration>', 'the duration of the mute: 30m, 1h, or today (default: until --off)')
    .option('--off', 'lift the mute')
    .example(`earpiece mute file.changed claude-code --for 30m
earpiece mute file.changed --off
earpiece mute`)
    .action(
      async (
        pattern: string | undefined,
        address: string | undefined,
        options: GlobalOptions & { for?: string; off?: boolean },
      ) => {
        if (pattern === undefined && (options.off || options.for !== undefined))
          throw new EarpieceError(
            'bad_argument',
            `${options.off ? '--off' : '--for'} needs a pattern: "*", a source or source.name`,
          );
        if (options.off && options.for !== undefined)
          throw new EarpieceError('bad_argument', 'give either --for or --off, got both');
        if (pattern !== undefined) onlyAPerson('to mute');
        const forMs =
          options.for === undefined
            ? undefined
            : options.for === 'today'
              ? leftOfToday()
              : durationOption('--for', options.for, { or: 'today' });
        if (forMs === 0)
          throw new EarpieceError(
            'bad_argument',
            `with --for ${JSON.stringify(options.for)} the mute ends at once; write e.g. 10m, or leave --for out`,
          );
        const opened = pattern === undefined ? readInbox : withNamedDatabase;
        await opened(options, async (ear) => {
          const scope = scopeFrom(ear, address, false);
          const logs: LogKey[] = [];
          for (const log of await logsIn(ear, scope))
            if (!log.endsWith('/*') && (scope.log !== undefined || !(await isForgotten(ear.store, log)))) logs.push(log);
          if (logs.length === 0 && pattern !== undefined)
            throw new EarpieceError(
              'nobody_there',
              `no agent is known in project ${JSON.stringify(ear.project)} yet; name an agent: earpiece mute ${quote(pattern)} <agent>`,
            );
          let any = false;
          let lifted = false;
          for (const log of logs) {
            const before = options.off ? await ear.mutes(log) : [];
            const mutes =
              pattern === undefined
                ? await ear.mutes(log)
                : await ear.mute(log, pattern, {
                    by: whoAmI(),
                    ...defined({ forMs }),
                    ...(options.off ? { off: true } : {}),
                  });
            any ||= mutes.length > 0;
            const was = before.some((each) => each.pattern === pattern);
            lifted ||= was;
            if (options.json) printJson({ log, mutes, ...(options.off ? { lifted: was } : {}) });
            else if (options.off) {
              if (was) print(`${nameOf(pattern ?? '')}  lifted for ${nameOf(log)}`);
            } else for (const each of mutes) print(saying(log, each));
          }
          if (options.json) return;
          const where = address === undefined ? `in ${nameOf(ear.project)}` : `for ${nameOf(address)}`;
          if (options.off && !lifted) print(paint('dim', `${nameOf(pattern ?? '')} was not muted ${where}`));
          if (!options.off && !any) print(paint('dim', `nothing is muted ${where}`));
        });
      },
    );
}

/** Returns the time until midnight in milliseconds, in the time zone of this machine. */
const leftOfToday = (now = new Date()): number =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).getTime() - now.getTime();

const saying = (log: LogKey, { pattern, until, by }: Mute): string =>
  `${nameOf(pattern)}  muted for ${nameOf(log)}${until === null ? '' : ` until ${clock(until)}`} ${paint('dim', `(by ${nameOf(by)})`)}`;

/** Returns the name of the user whose account runs this process; `command line` if the account has no name. */
export function whoAmI(): string {
  try {
    return userInfo().username;
  } catch {
    return 'command line';
  }
}
