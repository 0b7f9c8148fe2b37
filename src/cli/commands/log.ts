import { reasonIn } from '../../core/cause.ts';
import { formatKind } from '../../core/notification.ts';
import { inPrintedForm, isType, notificationOf, type Draft, type Stored } from '../../core/records.ts';
import { byWhom } from '../../core/verdict/words.ts';
import type { UserInbox } from '../../user-inbox.ts';
import type { CommandLine } from '../command-line.ts';
import {
  countOption,
  scopeFrom,
  scopeIn,
  SERVER_OPTION,
  untilStopped,
  readInbox,
  withNamedDatabase,
  type GlobalOptions,
  type Scope,
} from '../context.ts';
import { addressName, BAR, conversationName, oneLine, sentence } from '../foreign.ts';
import { table, type Column } from '../table.ts';
import { clock, level, nameOf, paint, plain, print, printJson } from '../terminal.ts';

export function log(command: CommandLine): void {
  command
    .description('Lists the newest records of a conversation, of an agent, or of all agents in this project, oldest first.')
    .option('--limit <n>', 'maximum number of records', '50')
    .option('--follow', 'also show each new record, until Ctrl+C')
    .option('--all', 'show the records of every project')
    .option(...SERVER_OPTION)
    .example(`earpiece log claude-code --limit 20
earpiece log --follow --json | jq -c 'select(.type == "carrier_confirmed")'`)
    .action(
      async (
        address: string | undefined,
        options: GlobalOptions & { limit: string; all?: boolean; follow?: boolean; server?: string },
      ) => {
        const limit = countOption('--limit', options.limit);
        if (options.server !== undefined) {
          const there = await import('../remote.ts');
          return there.remotely(options.server, async (remote) => {
            const scope = scopeIn(remote.config, address, options.all ?? false);
            const { records, head } = await there.newest(remote, scope, limit);
            const view = new LogView(scope, options.json ?? false);
            view.show(records);
            if (records.length === 0 && !options.json && !options.follow) print(paint('dim', 'the log is empty'));
            if (options.follow) for await (const record of there.follow(remote, { ...scope, after: head })) view.show([record]);
          });
        }
        const opened = options.follow ? withNamedDatabase : readInbox;
        await opened(options, async (ear) => {
          const scope = scopeFrom(ear, address, options.all ?? false);
          const head = await ear.store.head();
          const records = (await ear.store.read({ ...scope, newestFirst: true, limit })).toReversed();
          const view = new LogView(scope, options.json ?? false);
          view.show(records);
          if (records.length === 0 && !options.json && !options.follow) print(paint('dim', 'the log is empty'));
          if (options.follow) await follow(ear, scope, Math.max(head, records.at(-1)?.seq ?? 0), view);
        });
      },
    );
}

export function watch(command: CommandLine): void {
  command
    .description('Shows each new record of any process, until Ctrl+C.')
    .option('--all', 'show the records of every project')
    .option(...SERVER_OPTION)
    .example(`earpiece watch
earpiece watch --all --json`)
    .action(async (address: string | undefined, options: GlobalOptions & { all?: boolean; server?: string }) => {
      if (options.server !== undefined) {
        const there = await import('../remote.ts');
        return there.remotely(options.server, async (remote) => {
          const scope = scopeIn(remote.config, address, options.all ?? false);
          const { head } = await there.newest(remote, scope, 1);
          const view = new LogView(scope, options.json ?? false);
          for await (const record of there.follow(remote, { ...scope, after: head })) view.show([record]);
        });
      }
      await withNamedDatabase(options, async (ear) => {
        const scope = scopeFrom(ear, address, options.all ?? false);
        await follow(ear, scope, await ear.store.head(), new LogView(scope, options.json ?? false));
      });
    });
}

async function follow(ear: UserInbox, scope: Scope, after: number, view: LogView): Promise<void> {
  for await (const record of ear.watch({ ...scope, after, signal: untilStopped() })) view.show([record]);
}

/**
 * Prints records as lines, or as JSON. For lines, the view remembers the notifications of each carrier, because later records
 * name only the carrier.
 */
class LogView {
  readonly #json: boolean;
  readonly #oneLog: boolean;
  readonly #layout: readonly Column[];
  /** The column widths so far, so that columns stay aligned when records are printed one by one. */
  readonly #widths: number[] = [];
  readonly #carriers = new Map<string, readonly string[]>();

  constructor(scope: Scope, json: boolean) {
    this.#json = json;
    this.#oneLog = scope.log !== undefined;
    this.#layout = [{ right: true, spare: 0 }, {}, {}, { spare: 1 }, {}, {}, {}];
  }

  show(records: readonly Stored[]): void {
    if (this.#json) {
      for (const record of records) printJson(inPrintedForm(record));
      return;
    }
    if (records.length === 0) return;
    const rows = records.map((record) => [
      paint('dim', String(record.seq)),
      paint('dim', clock(record.at)),
      this.#oneLog ? '' : addressName(record.log),
      conversationName(record.body.conversation ?? ''),
      whatOf(record),
      ...this.#said(record),
    ]);
    print(table(rows, this.#layout, { atLeast: this.#widths, readable: 40 }));
  }

  /** Returns the ids and the text of a record, both safe to print. */
  #said({ body, at }: Stored): [ids: string, detail: string] {
    if (isType(body, 'system_notification_queued')) {
      const n = notificationOf(body);
      return [nameOf(n.id), `${level(n.level)} ${oneLine(n, n.message, [formatKind(n.kind)])}`];
    }
    const [ids, detail, text = ''] = this.#words(body, at);
    const [first = '', ...others] = ids;
    const more = others.length === 0 ? '' : `and ${others.map((id) => nameOf(id)).join(', ')}${detail === '' ? '' : '; '}`;
    const shown = sentence(`${more}${detail}`, 400);
    return [nameOf(first), text === '' ? shown : `${shown} ${BAR} ${plain(text, 400)}`.trimStart()];
  }

  /** Returns the ids of a record, Earpiece's words about the record, and foreign text. A bar precedes the foreign text. */
  #words(body: Draft, at: number): [ids: readonly string[], detail: string, text?: string] {
    if (isType(body, 'system_notification_folded')) return [[body.id], `into ${nameOf(body.into)}`];
    if (isType(body, 'carrier_offered')) {
      const ids = [...body.ids, ...(body.summarizes ?? []), ...(body.shows ?? [])];
      if (this.#carriers.size > 10_000) this.#carriers.clear();
      this.#carriers.set(body.carrier, ids);
      return [ids, `on ${nameOf(body.on ?? body.at_point)}${body.view.repeated || body.shows ? ', repeated' : ''}`];
    }
    if (isType(body, 'carrier_confirmed')) return [this.#taken(body.carrier), body.late ? 'late' : ''];
    if (isType(body, 'carrier_released')) return [this.#taken(body.carrier), body.reason];
    if (isType(body, 'notification_closed')) return [body.ids, '', reasonIn(body)];
    if (isType(body, 'notification_read')) return [body.ids, `by ${nameOf(byWhom(body.by))}`];
    if (isType(body, 'notification_observed')) return [body.ids, body.evidence];
    if (isType(body, 'gate_refused')) {
      const times = body.times === undefined ? '' : `, ${body.times} times`;
      return [
        body.ids,
        body.made
          ? `result of ${nameOf(body.on)}: the call was made, and the agent got the interrupt afterwards${times}`
          : `call of ${nameOf(body.on)}${times}`,
      ];
    }
    if (isType(body, 'gate_lifted')) return [body.ids, `by ${nameOf(byWhom(body.by))}`, reasonIn(body)];
    if (isType(body, 'conversation_forked')) return [body.ids, `of ${nameOf(body.from)}`];
    if (isType(body, 'fan_out')) {
      const more = body.upTo === undefined ? '' : ' and further agents';
      return [[body.id], `to ${body.targets.map((target) => nameOf(target.log)).join(', ')}${more}`];
    }
    if (isType(body, 'fan_out_part')) return [[body.id], `to all agents up to ${nameOf(body.upTo)}`];
    if (isType(body, 'fan_out_done')) return [[body.id], ''];
    if (isType(body, 'chat_request')) return [riding(body), '', body.content];
    if (isType(body, 'chat_response')) return [[], '', body.message ?? body.reasoning ?? JSON.stringify(body.data ?? null)];
    if (isType(body, 'tool_call_request')) return [[], nameOf(body.name), JSON.stringify(body.arguments)];
    if (isType(body, 'tool_call_response')) return [riding(body), body.is_error ? 'failed' : '', body.content];
    if (body.type === 'notifications_muted' || body.type === 'notifications_unmuted') {
      const { pattern, until, by } = body as { pattern?: unknown; until?: unknown; by?: unknown };
      return [
        [],
        `${nameOf(String(pattern))}${typeof until === 'number' ? ` until ${clock(until, at)}` : ''} by ${nameOf(String(by))}`,
      ];
    }
    const { type: _type, conversation: _conversation, ...rest } = body as Record<string, unknown>;
    return [[], '', Object.keys(rest).length === 0 ? '' : JSON.stringify(rest)];
  }

  #taken = (carrier: string): readonly string[] => this.#carriers.get(carrier) ?? [carrier];
}

const WORDS: Readonly<Record<string, string>> = {
  system_notification_queued: 'queued',
  system_notification_folded: 'counted',
  carrier_offered: 'offered',
  carrier_confirmed: 'delivered',
  carrier_released: 'released',
  notification_read: 'read',
  notification_observed: 'observed',
  notifications_muted: 'muted',
  notifications_unmuted: 'unmuted',
  gate_refused: 'refused',
  gate_lifted: 'gate lowered',
  conversation_forked: 'forked',
  fan_out: 'sent to all',
  fan_out_part: 'sent',
  fan_out_done: 'sent',
};

const whatOf = ({ body }: Stored): string =>
  isType(body, 'gate_refused') && body.made
    ? 'withheld'
    : isType(body, 'notification_closed')
      ? body.outcome
      : (WORDS[body.type] ?? plain(body.type, 40));

const riding = ({ notifications = [] }: { notifications?: readonly { readonly id: string }[] }): readonly string[] =>
  notifications.map((n) => n.id);
