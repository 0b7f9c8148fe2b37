import { formatAddress, type LogKey } from '../../core/address.ts';
import { isExpired } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Item } from '../../core/items.ts';
import { isReminder, stateKeyOf } from '../../core/notification.ts';
import { callersWords } from '../../inbox/index.ts';
import type { UserInbox } from '../../user-inbox.ts';
import { REMINDER_LEVELS, type ReminderLevel } from '../../sources/timers/levels.ts';
import type { When } from '../../sources/timers/index.ts';
import { type Answer, choice, type CommandLine } from '../command-line.ts';
import {
  addressFrom,
  durationOption,
  logsIn,
  scopeFrom,
  readInbox,
  withInbox,
  withOptionTo,
  type GlobalOptions,
} from '../context.ts';
import { wasHeard, whatBecame } from '../emitted.ts';
import { EXIT } from '../exit.ts';
import { turnsUnseen } from '../moments.ts';
import { table } from '../table.ts';
import { complain, nameOf, plain, print, printJson } from '../terminal.ts';

type Options = GlobalOptions & {
  to?: string;
  key?: string;
  level?: ReminderLevel;
  ttl?: string;
  list?: boolean;
  cancel?: string;
};

export function remind(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Reminds an agent at a time, or after a number of its turns. The reminder is stored like any notification and delivered at the first contact point after its time. ' +
        'No process has to run until then. Examples of times, in the time zone of the configuration: "in 10m", "at 15:30", "tomorrow at 9", "May 1 at 10:00", "after 3 turns".',
    )
    .option(
      '--to <address>',
      'the agent to remind (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise all active agents of this project); with --list or --cancel: only reminders for this agent',
    )
    .option('--key <key>', 'a name: a newer reminder with the same key replaces the older reminder')
    .addOption(choice('--level <level>', REMINDER_LEVELS, 'the level (default: info)'))
    .option(
      '--ttl <duration>',
      'time from the due time until the reminder expires (default: 24h); for "after n turns", time from now (default: 7d)',
    )
    .option('--list', 'list the waiting reminders')
    .option('--cancel <id>', 'cancel a reminder, by its id or key')
    .onMistake('put a text that begins with "-" after --')
    .example(
      `earpiece remind "in 10m" "look at the build"
earpiece remind --to coder "tomorrow at 9" "the freeze begins at noon"
earpiece remind --key standup "after 3 turns" "say where you are"
earpiece remind --list
earpiece remind --cancel standup`,
    )
    .action(async (when: string | undefined, words: string[], options: Options) => {
      if (options.list || options.cancel !== undefined) {
        checkAlone(options, when);
        return readInbox(options, async (ear) => {
          if (options.cancel === undefined) await list(ear, options);
          else await cancel(ear, options, options.cancel, answer);
        });
      }
      if (when === undefined || words.length === 0)
        throw new EarpieceError(
          'bad_argument',
          `remind needs ${when === undefined ? 'a time and a text' : `a text after the time ${JSON.stringify(when.slice(0, 80))}`}: earpiece remind "in 10m" "look at the build" (or --list, --cancel <id>)`,
        );
      if (options.key?.trim() === '')
        throw new EarpieceError('bad_argument', `--key ${JSON.stringify(options.key)} is blank; leave the option out`);
      const ttlMs = options.ttl === undefined ? undefined : durationOption('--ttl', options.ttl);
      if (ttlMs === 0)
        throw new EarpieceError(
          'bad_argument',
          'with --ttl "0" the reminder expires before the agent can read it; write e.g. 10m',
        );
      await withInbox(options, async (ear) => {
        const { parseWhen, reminderEvent, shortId } = await import('../../sources/timers/index.ts');
        const now = Date.now();
        const due = await parseWhen(when, { now, timeZone: ear.config.timeZone });
        const address = addressFrom(ear, options.to);
        const to = formatAddress(address);
        const { level, key } = options;
        const id = shortId();
        const emitted = await ear.emitter
          .emit(
            callersWords(
              reminderEvent(
                { subject: to, message: words.join(' '), when: due, key, ttlMs, ...(level ? { level } : {}) },
                { id, now },
              ),
              ear.speaker,
            ),
          )
          .catch(withOptionTo);
        if (!wasHeard(emitted)) {
          complain(whatBecame(emitted).join('; '));
          return answer(EXIT.nobody.code);
        }
        const unseen = await turnsUnseen(ear, address, due);
        if (unseen !== undefined) complain(unseen);
        if (options.json) printJson({ id, to, ...('at' in due ? { at: new Date(due.at).toISOString() } : due), ...emitted });
        else print(`${id}  reminds ${nameOf(to)} ${await shown(due, ear.config.timeZone)}`);
      });
    });
}

function checkAlone(options: Options, when: string | undefined): void {
  if (options.list && options.cancel !== undefined)
    throw new EarpieceError('bad_argument', 'give either --list or --cancel <id>, got both');
  if (when !== undefined)
    throw new EarpieceError(
      'bad_argument',
      `${options.list ? '--list' : '--cancel'} works without a time and a text, got ${JSON.stringify(when.slice(0, 80))}; leave out either the option, or the time and the text`,
    );
}

type Waiting = { readonly log: LogKey; readonly item: Item };

async function waiting(ear: UserInbox, { to }: Options): Promise<readonly Waiting[]> {
  const scope = scopeFrom(ear, to, false);
  const found: Waiting[] = [];
  for (const log of await logsIn(ear, scope)) {
    const { conversation } = scope;
    const open = await ear.store.items(log, { kind: 'open', ...defined({ conversation }) });
    const now = ear.store.now();
    for (const item of open) if (isReminder(item.notification) && !isExpired(item, now)) found.push({ log, item });
  }
  return found;
}

/** Whether one reminder replaces another: only the newest reminder of a key is delivered. */
function replaces(newer: Waiting, older: Waiting): boolean {
  const [a, b] = [newer.item, older.item];
  return (
    stateKeyOf(a.notification) !== undefined &&
    stateKeyOf(a.notification) === stateKeyOf(b.notification) &&
    newer.log === older.log &&
    a.audience === b.audience &&
    a.seq > b.seq
  );
}

async function list(ear: UserInbox, options: Options): Promise<void> {
  const { reminderId } = await import('../../sources/timers/index.ts');
  const all = await waiting(ear, options);
  const dueAt = ({ item }: Waiting): number => {
    const { deliver } = item.notification;
    return typeof deliver === 'object' && 'at' in deliver ? deliver.at : Number.POSITIVE_INFINITY;
  };
  const riding = all.filter((one) => !all.some((other) => replaces(other, one)));
  const sorted = riding.toSorted((a, b) => dueAt(a) - dueAt(b));
  const to = ({ log, item }: Waiting): string => (item.audience === '' ? log : `${log}#${item.audience}`);
  if (options.json) {
    for (const one of sorted) {
      const { id, message, deliver, expiresAt } = one.item.notification;
      printJson({ id: reminderId(id), notification: id, to: to(one), deliver, message, expiresAt });
    }
    return;
  }
  if (sorted.length === 0) return print('no reminder is waiting');
  const rows = sorted.map(async (one) => {
    const { id, message, deliver } = one.item.notification;
    const due = typeof deliver === 'object' && !('afterTool' in deliver) ? await shown(deliver, ear.config.timeZone) : 'now';
    return [nameOf(reminderId(id)), due, nameOf(to(one)), plain(message.replace(/^Reminder: /u, ''))];
  });
  print(table(await Promise.all(rows), [{ head: 'id' }, { head: 'due' }, { head: 'to', spare: 1 }, { head: 'text' }]));
}

async function cancel(ear: UserInbox, options: Options, word: string, answer: Answer): Promise<void> {
  const { isMeant, reminderId } = await import('../../sources/timers/index.ts');
  const all = await waiting(ear, options);
  const asked = all.filter(({ item }) => isMeant(word, item));
  // The newest reminder of a key is cancelled together with the reminders that it replaces. Otherwise an older reminder would be
  // delivered.
  const meant = asked.filter((one) => !asked.some((other) => replaces(other, one)));
  if (meant.length === 0)
    throw new EarpieceError(
      'not_found',
      `no waiting reminder of ${options.to ?? ear.project} has the id or key ${JSON.stringify(word.slice(0, 80))}; earpiece remind --list shows the waiting reminders`,
    );
  const seen = new Set<string>();
  for (const { log, item } of meant) {
    const { id } = item.notification;
    // A reminder for several conversations has one item in each, and all items are withdrawn together.
    if (seen.has(`${log} ${id}`)) continue;
    seen.add(`${log} ${id}`);
    const newer = all.filter((other) => replaces(other, { log, item })).toSorted((a, b) => b.item.seq - a.item.seq)[0];
    if (newer !== undefined) {
      const waits = reminderId(newer.item.id);
      if (options.json) printJson({ id: reminderId(id), log, result: 'superseded', by: waits });
      else
        print(
          `${nameOf(reminderId(id))}  was replaced for ${nameOf(log)} by ${nameOf(waits)}, which still waits; to cancel ${nameOf(waits)}: earpiece remind --cancel ${nameOf(waits)}`,
        );
      continue;
    }
    for (const older of all.filter((other) => replaces({ log, item }, other)))
      await ear.withdraw(log, { id: older.item.id }, { by: 'remind', reason: `cancelled with ${reminderId(id)}` });
    for (const { result } of await ear.withdraw(log, { id }, { by: 'remind', reason: 'cancelled' })) {
      if (options.json) printJson({ id: reminderId(id), log, result });
      else
        print(
          `${nameOf(reminderId(id))}  ${result === 'withdrawn' ? `cancelled for ${nameOf(log)}` : `for ${nameOf(log)}: ${result.replaceAll('_', ' ')}`}`,
        );
      if (result === 'too_late') answer(EXIT.ended.code);
    }
  }
}

async function shown(when: When, timeZone: string): Promise<string> {
  if ('afterTurns' in when) return `after ${when.afterTurns} ${when.afterTurns === 1 ? 'turn' : 'turns'}`;
  const { showTime } = await import('../../sources/timers/index.ts');
  return `${showTime(when.at, timeZone)} (${timeZone})`;
}
