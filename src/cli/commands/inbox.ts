import { once } from 'node:events';
import { formatAddress } from '../../core/address.ts';
import { formatKind, type Level } from '../../core/notification.ts';
import type { Item } from '../../core/items.ts';
import { holdsGate } from '../../core/clocks.ts';
import type { LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { UserInbox } from '../../user-inbox.ts';
import { begin, receiptOf, worktreeOf, type Pulled, type PulledNotification } from '../../inbox/index.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { addressFrom, logsIn, scopeFrom, scopeIn, SERVER_OPTION, withNamedDatabase, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { mayRead } from '../may-read.ts';
import { waitingIn } from '../pages.ts';
import { conversationOf, readerOf, type Reader } from '../reader.ts';
import { addressName, agentNamed, barred, conversationName, oneLine } from '../foreign.ts';
import { table } from '../table.ts';
import { mutedOf, withoutSuperseded, wordsOf, type Waiting } from '../waiting.ts';
import { ago, complain, handOver, level, nameOf, paint, plain, print, unwritten } from '../terminal.ts';

type Options = GlobalOptions & { all?: boolean; read?: boolean; peek?: boolean; server?: string };

export function inbox(command: CommandLine, answer: Answer): void {
  command
    .description(
      "In a shell of an agent, the command reads the notifications of the agent's conversation, newest first, like the tool get_notifications. " +
        'A shell belongs to an agent if EARPIECE_ADDRESS names the agent, or if the agent started the shell. Shown notifications count as read and are not delivered again. If an interrupt stopped the tool calls of the agent, the calls run again, unless a pause holds. ' +
        'For a person, the command lists open notifications of this project, notifications delivered only as a summary, and active pauses. Listing changes nothing.',
    )
    .option('--peek', 'only list, even in a shell of an agent')
    .option('--read', 'read for the agent: the shown notifications count as delivered to the conversation')
    .option('--all', 'list the notifications of every project')
    .option(...SERVER_OPTION)
    .example(
      `earpiece inbox                  # as an agent: read mine; as a person: list
earpiece inbox claude-code
earpiece inbox --peek --json
earpiece inbox --read shop/coder#main`,
    )
    .action(async (address: string | undefined, options: Options) => {
      if (options.read && (options.peek || options.all))
        throw new EarpieceError('bad_argument', `give either --read or ${options.peek ? '--peek' : '--all'}, got both`);
      if (options.server !== undefined) {
        if (options.read)
          throw new EarpieceError(
            'bad_argument',
            "--read and --server were given together, but a server only lists notifications; leave out --read, or run the command on the agent's machine",
          );
        const there = await import('../remote.ts');
        return there.remotely(options.server, async (remote) => {
          const scope = scopeIn(remote.config, address, options.all ?? false);
          await tell(there.open(remote, scope), whereOf(remote.config, address, options), Date.now(), options);
        });
      }
      await withNamedDatabase(options, async (ear) => {
        const reader = await readerFor(ear, address, options);
        if (reader !== undefined) mayRead(reader);
        return reader === undefined ? list(ear, address, options) : read(ear, reader, options, answer);
      });
    });
}

async function readerFor(ear: UserInbox, address: string | undefined, options: Options): Promise<Reader | undefined> {
  if (options.read && address !== undefined) return conversationOf(ear, formatAddress(addressFrom(ear, address)));
  if (options.peek || options.all || address !== undefined) return undefined;
  const reader = await readerOf(ear, { project: ear.project, env: process.env, address: ear.config.address });
  if (options.read && reader === undefined)
    throw new EarpieceError(
      'bad_argument',
      `this shell does not belong to an agent, so --read needs an agent's name: earpiece inbox --read ${ear.project}/<agent>`,
    );
  return reader;
}

async function read(ear: UserInbox, { log, conversation, host }: Reader, options: Options, answer: Answer): Promise<void> {
  const mine = ear.conversation(
    { log, conversation },
    { carrier: 'earpiece inbox', ...(host === undefined ? {} : { host: host.agent, process: host.process }) },
  );
  // This command may be the first contact with the agent's session, so the command begins the conversation.
  if (host !== undefined) await begin(mine, { nested: host.nested, folder: worktreeOf(process.cwd()) });
  const pulled = await mine.pull({ mark: true });
  const text = options.json ? asLines(log, conversation, pulled) : asPage(pulled, ear.store.now());
  // The notifications count as delivered when stdout has accepted the text. If stdout fails, the notifications stay unread.
  const lost = await handOver(text);
  if (lost === undefined) {
    await pulled.offer?.confirm();
    return;
  }
  await pulled.offer?.release('write_error');
  if (lost.code === 'EPIPE') return;
  complain(`${unwritten(lost)}; the notifications stay unread`);
  answer(EXIT.failed.code);
}

function asLines(log: LogKey, conversation: string, { notifications, withheld, more }: Pulled): string {
  return [
    ...notifications.map((n) => ({ log, conversation, ...n, receipt: 'read' })),
    ...withheld.map((result) => ({ log, conversation, type: 'withheld_result', ...result })),
    ...(more > 0 ? [{ log, conversation, type: 'more', count: more }] : []),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

function asPage({ notifications, withheld, more }: Pulled, now: number): string {
  if (notifications.length === 0 && withheld.length === 0) return paint('dim', 'no unread notifications');
  const parts = notifications.map((n) => {
    const times = n.count === undefined ? '' : ` · ${n.count} times`;
    const sender =
      n.from === undefined ? (n.agent === undefined ? undefined : agentNamed(n.agent)) : `person ${nameOf(n.from, 60)}`;
    const from = sender === undefined ? '' : ` · from ${sender}`;
    return [
      `${level(n.level as Level)} ${paint('bold', titleOf(n))}${from}${times} · ${ago(Date.parse(n.created_at), now)} ${paint('dim', `(${nameOf(n.id)})`)}`,
      barred(n.message),
      ...(n.data === undefined ? [] : [barred(JSON.stringify(n.data), 'data')]),
      ...(n.instruction === null ? [] : [barred(n.instruction, 'instruction')]),
    ].join('\n');
  });
  for (const { tool, at, result } of withheld)
    parts.push(`${paint('bold', `withheld result of ${nameOf(tool)}`)} · ${ago(Date.parse(at), now)}\n${barred(result)}`);
  if (more > 0) parts.push(`${more} more notifications wait: run earpiece inbox again`);
  return parts.join('\n\n');
}

const titleOf = ({ type, action }: PulledNotification): string => plain(action === null ? type : `${type}: ${action}`);

/** The maximum number of rows of a table. `--json` lists all notifications. */
const MOST_ROWS = 200;

async function list(ear: UserInbox, address: string | undefined, options: Options): Promise<void> {
  const scope = scopeFrom(ear, address, options.all ?? false);
  const only = defined({ conversation: scope.conversation });
  const found = withoutSuperseded(ear, waitingIn(ear.store, await logsIn(ear, scope), only));
  await tell(found, whereOf(ear, address, options), ear.store.now(), options, {
    words: (rows) => wordsOf(ear, rows),
    muted: mutedOf(ear),
  });
}

/** Data that is available only with access to the database. `words` returns the rendered texts of the rows of one page. */
type Known = {
  readonly words: (rows: readonly Waiting[]) => Promise<ReadonlyMap<string, string>>;
  readonly muted: (row: Waiting) => Promise<boolean>;
};
const UNKNOWN: Known = { words: () => Promise.resolve(new Map()), muted: () => Promise.resolve(false) };

async function tell(
  found: AsyncIterable<Waiting>,
  where: string,
  now: number,
  options: Options,
  { words, muted }: Known = UNKNOWN,
): Promise<void> {
  const rest = found[Symbol.asyncIterator]();
  const rows: Waiting[] = [];
  let step = await rest.next();
  for (; step.done !== true && rows.length < MOST_ROWS; step = await rest.next()) rows.push(step.value);
  // Only one page of rows is rendered. A longer JSON list has no rendered texts, because all its rows must have the same form.
  const said = options.json && step.done !== true ? new Map<string, string>() : await words(rows);
  if (options.json) {
    const line = async (row: Waiting): Promise<string> =>
      `${JSON.stringify({ ...shown(row.log, row.item, said.get(row.item.id), now), ...((await muted(row)) ? { muted: true } : {}) })}\n`;
    for (const row of rows) await written(await line(row));
    for (; step.done !== true; step = await rest.next()) await written(await line(step.value));
    return;
  }
  if (rows.length === 0) return print(paint('dim', `nothing waits${where}`));
  const silent = await Promise.all(rows.map(muted));
  print(
    table(
      rows.map(({ log, item }, i) => [
        level(item.notification.level),
        nameOf(item.id),
        item.audience === '' ? addressName(log) : `${addressName(log)}#${conversationName(item.audience)}`,
        `${stateOf(item, now)}${silent[i] ? ', muted' : ''}`,
        ago(item.at, now),
        formatKind(item.notification.kind),
        oneLine({ ...item.notification, count: item.count }, said.get(item.id) ?? item.notification.message),
      ]),
      [
        { head: 'level' },
        { head: 'id' },
        { head: 'for' },
        { head: 'state' },
        { head: 'queued', spare: 1 },
        { head: 'kind', spare: 0 },
        { head: 'message' },
      ],
      { readable: 40 },
    ),
  );
  if (step.done !== true)
    print(paint('dim', `these are the newest ${MOST_ROWS} notifications; to list all: earpiece inbox --json`));
}

/** Writes a part of the list. Waits for a slow reader, because the whole list may not fit in memory. */
async function written(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

const whereOf = (ear: { readonly project: string }, address: string | undefined, options: Options): string =>
  options.all ? '' : address === undefined ? ` in ${nameOf(ear.project)}` : ` for ${nameOf(address)}`;

/** Describes the state of an item in everyday words. The JSON output contains the receipt. */
function stateOf(item: Item, now: number): string {
  const receipt = receiptOf(item);
  const state = receipt === 'queued' ? 'waits' : item.state === 'open' ? 'waiting, was offered' : receipt;
  return holdsGate(item, now) ? `${state} (gate)` : state;
}

const shown = (log: LogKey, item: Item, words: string | undefined, now: number): object => ({
  log,
  ...(item.audience === '' ? {} : { conversation: item.audience }),
  id: item.id,
  kind: formatKind(item.notification.kind),
  level: item.notification.level,
  message: item.notification.message,
  ...defined({ text: words }),
  action: item.notification.action ?? null,
  instruction: item.notification.instruction ?? null,
  created_at: new Date(item.at).toISOString(),
  ...defined({ data: item.notification.data }),
  ...(item.count > 1 ? { count: item.count } : {}),
  ...(item.notification.origin?.person === undefined ? {} : { from: item.notification.origin.person }),
  receipt: receiptOf(item),
  gate: holdsGate(item, now),
});
