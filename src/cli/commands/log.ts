import type { Command } from 'commander';
import { formatKind } from '../../core/notification.ts';
import { isType, notificationOf, type Stored } from '../../core/records.ts';
import type { LogKey } from '../../core/address.ts';
import type { Earpiece } from '../../earpiece.ts';
import { agentFrom, countOption, untilStopped, withEarpiece, type GlobalOptions } from '../context.ts';
import { clock, columns, level, paint, plain, print, printJson, table } from '../terminal.ts';

export function log(program: Command): void {
  program
    .command('log [address]')
    .description('the newest records of an agent, or of the whole project')
    .option('--limit <n>', 'how many', '50')
    .option('--all', 'of every project')
    .option('--follow', 'and those to come')
    .action(async (address: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { limit: string; all?: boolean; follow?: boolean }>();
      await withEarpiece(options, async (ear) => {
        const scope = scopeOf(ear, address, options.all ?? false);
        const records = await ear.store.read({ ...scope, newestFirst: true, limit: countOption('--limit', options.limit) });
        show(records.toReversed(), options.json ?? false, Boolean(scope.log));
        if (records.length === 0 && !options.json) print(paint('dim', 'the log is empty'));
        if (options.follow) await follow(ear, scope, records[0]?.seq ?? 0, options.json ?? false);
      });
    });
}

export function watch(program: Command): void {
  program
    .command('watch [address]')
    .description('records as they are written, by any process, until Ctrl+C')
    .option('--all', 'of every project')
    .action(async (address: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { all?: boolean }>();
      await withEarpiece(options, async (ear) =>
        follow(ear, scopeOf(ear, address, options.all ?? false), await ear.store.head(), options.json ?? false),
      );
    });
}

type Scope = { readonly log?: LogKey; readonly project?: string; readonly conversation?: never };

function scopeOf(ear: Earpiece, address: string | undefined, all: boolean): Scope {
  if (all) return {};
  if (address === undefined) return { project: ear.project };
  if (address.endsWith('/*')) return { project: address.slice(0, -2) };
  const { log: key, conversation } = agentFrom(ear, address);
  return { log: key, ...(conversation === undefined ? {} : { conversation: conversation as never }) };
}

async function follow(ear: Earpiece, scope: Scope, after: number, json: boolean): Promise<void> {
  const signal = untilStopped();
  for await (const record of ear.watch({ ...scope, after, signal })) show([record], json, Boolean(scope.log));
}

function show(records: readonly Stored[], json: boolean, oneLog: boolean): void {
  if (json) {
    for (const { seq, log: key, at, body } of records) printJson({ seq, log: key, at: new Date(at).toISOString(), ...body });
    return;
  }
  if (records.length === 0) return;
  print(
    table(
      records.map(({ seq, log: key, at, body }) => [
        paint('dim', String(seq).padStart(5)),
        paint('dim', clock(at)),
        ...(oneLog ? [] : [plain(key)]),
        plain(body.conversation ?? ''),
        what(body.type),
        plain(detail({ seq, log: key, at, body }), Math.max(30, columns() - 60)),
      ]),
    ),
  );
}

const WORDS: Readonly<Record<string, string>> = {
  system_notification_queued: 'queued',
  system_notification_folded: 'counted',
  carrier_offered: 'offered',
  carrier_confirmed: 'delivered',
  carrier_released: 'released',
  notification_closed: 'closed',
  notification_read: 'read',
  notification_observed: 'observed',
  gate_refused: 'refused',
};
const what = (type: string): string => WORDS[type] ?? type;

function detail({ body }: Stored): string {
  if (isType(body, 'system_notification_queued')) {
    const n = notificationOf(body);
    return `${level(n.level)} ${formatKind(n.kind)} ${n.id}: ${n.message}`;
  }
  if (isType(body, 'system_notification_folded')) return `${body.id} into ${body.into}`;
  if (isType(body, 'carrier_offered'))
    return `${body.ids.join(', ')} on ${body.on ?? body.at_point}${body.view.repeated ? ', repeated' : ''} (${body.carrier})`;
  if (isType(body, 'carrier_confirmed')) return `${body.carrier}${body.late ? ', late' : ''}`;
  if (isType(body, 'carrier_released')) return `${body.carrier}: ${body.reason}`;
  if (isType(body, 'notification_closed')) return `${body.outcome} ${body.ids.join(', ')}: ${body.reason}`;
  if (isType(body, 'notification_read')) return `${body.ids.join(', ')} by ${body.by}`;
  if (isType(body, 'notification_observed')) return `${body.ids.join(', ')}: ${body.evidence}`;
  if (isType(body, 'gate_refused')) return `${body.on}, because of ${body.ids.join(', ')}`;
  if (isType(body, 'fan_out')) return `${body.id} to ${body.targets.length} agents`;
  const { type: _type, conversation: _conversation, ...rest } = body as Record<string, unknown>;
  return JSON.stringify(rest);
}
