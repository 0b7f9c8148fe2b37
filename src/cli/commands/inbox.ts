import type { Command } from 'commander';
import { formatAddress } from '../../core/address.ts';
import { formatKind, type Level } from '../../core/notification.ts';
import type { Item } from '../../core/items.ts';
import type { LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Earpiece } from '../../earpiece.ts';
import { receiptOf, type Pulled, type PulledNotification } from '../../inbox/index.ts';
import type { CommandLine } from '../command-line.ts';
import { addressFrom, logsIn, scopeFrom, scopeIn, SERVER_OPTION, withEarpiece, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import type { Answer } from '../program.ts';
import { conversationOf, readerOf, type Reader } from '../reader.ts';
import { table } from '../table.ts';
import { ago, complain, handOver, level, paint, plain, plainLines, print, printJson, unwritten } from '../terminal.ts';

type Options = GlobalOptions & { all?: boolean; read?: boolean; peek?: boolean; server?: string };

export function inbox(program: CommandLine, answer: Answer): void {
  program
    .command('inbox [address]')
    .summary('what waits for the agents; in an agent, read it')
    .description(
      'In a shell that an agent runs (EARPIECE_ADDRESS is set, or its program is an ancestor of this one) it reads what is for this conversation, newest first, ' +
        'as the tool get_notifications does: what is shown is read and is not delivered again, and the gate falls. ' +
        'For a person it lists what waits in this project and what agents were only told in sum; that changes nothing.',
    )
    .option('--peek', 'only list, in an agent too')
    .option('--read', "read in the agent's place: its conversation counts as told")
    .option('--all', 'list every project')
    .option(...SERVER_OPTION)
    .example(
      `earpiece inbox                  # as an agent: read mine; as a person: list
earpiece inbox claude-code
earpiece inbox --peek --json
earpiece inbox --read shop/coder#main`,
    )
    .action(async (address: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      if (options.read && (options.peek || options.all))
        throw new EarpieceError('bad_argument', `give either --read or ${options.peek ? '--peek' : '--all'}`);
      if (options.server !== undefined) {
        if (options.read)
          throw new EarpieceError(
            'bad_argument',
            '--read marks for an agent where it runs; with --server what waits is only listed',
          );
        const there = await import('../remote.ts');
        return there.remotely(options.server, async (remote) => {
          const scope = scopeIn(remote.config, address, options.all ?? false);
          tell(await there.open(remote, scope), whereOf(remote.config, address, options), Date.now(), options);
        });
      }
      await withEarpiece(options, async (ear) => {
        const reader = await readerFor(ear, address, options);
        return reader === undefined ? list(ear, address, options) : read(ear, reader, options, answer);
      });
    });
}

async function readerFor(ear: Earpiece, address: string | undefined, options: Options): Promise<Reader | undefined> {
  if (options.read && address !== undefined) return conversationOf(ear, formatAddress(addressFrom(ear, address)));
  if (options.peek || options.all || address !== undefined) return undefined;
  const reader = await readerOf(ear, { project: ear.project, env: process.env, address: ear.config.address });
  if (options.read && reader === undefined)
    throw new EarpieceError(
      'bad_argument',
      `this shell is no agent's, so --read needs to know whose: earpiece inbox --read ${ear.project}/<agent>`,
    );
  return reader;
}

async function read(ear: Earpiece, { log, conversation, host }: Reader, options: Options, answer: Answer): Promise<void> {
  const mine = ear.conversation(
    { log, conversation },
    { carrier: 'earpiece inbox', ...(host === undefined ? {} : { host: host.agent, process: host.process }) },
  );
  const pulled = await mine.pull({ mark: true });
  const text = options.json ? asLines(log, conversation, pulled) : asPage(pulled, ear.store.now());
  // Delivered once it is written; a reader that went away gets it again.
  const lost = await handOver(text);
  if (lost === undefined) {
    await pulled.offer?.confirm();
    return;
  }
  await pulled.offer?.release('write_error');
  if (lost.code === 'EPIPE') return;
  complain(`${unwritten(lost)}; nothing counts as read`);
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
    const from = n.from === undefined ? '' : ` · from ${plain(n.from, 100)}`;
    return [
      `${level(n.level as Level)} ${paint('bold', titleOf(n))}${from}${times} · ${ago(Date.parse(n.created_at), now)} ${paint('dim', `(${n.id})`)}`,
      plainLines(n.message),
      ...(n.instruction === null ? [] : [`  ${paint('bold', 'instruction:')}`, plainLines(n.instruction, '    ')]),
    ].join('\n');
  });
  for (const { tool, at, result } of withheld)
    parts.push(`${paint('bold', `withheld result of ${plain(tool)}`)} · ${ago(Date.parse(at), now)}\n${plainLines(result)}`);
  if (more > 0) parts.push(`${more} more wait: run earpiece inbox again`);
  return parts.join('\n\n');
}

const titleOf = ({ type, action }: PulledNotification): string => plain(action === null ? type : `${type}: ${action}`);

async function list(ear: Earpiece, address: string | undefined, options: Options): Promise<void> {
  const scope = scopeFrom(ear, address, options.all ?? false);
  const only = scope.conversation === undefined ? {} : { conversation: scope.conversation };
  const found: { log: LogKey; item: Item }[] = [];
  for (const log of await logsIn(ear, scope)) {
    const open = await ear.store.items(log, { kind: 'open', ...only });
    const told = (await ear.store.items(log, { kind: 'unread', ...only })).filter(
      (item) => item.outcome === 'summarized' || item.gate,
    );
    for (const item of [...open, ...told]) found.push({ log, item });
  }
  found.sort((a, b) => b.item.seq - a.item.seq);
  tell(found, whereOf(ear, address, options), ear.store.now(), options);
}

function tell(found: readonly { log: LogKey; item: Item }[], where: string, now: number, options: Options): void {
  if (options.json) return found.forEach(({ log, item }) => printJson(shown(log, item)));
  if (found.length === 0) return print(paint('dim', `nothing waits${where}`));
  print(
    table(
      found.map(({ log, item }) => [
        level(item.notification.level),
        plain(item.id),
        plain(item.audience === '' ? log : `${log}#${item.audience}`),
        stateOf(item),
        ago(item.at, now),
        formatKind(item.notification.kind),
        plain(messageOf(item), 400),
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
    ),
  );
}

const whereOf = (ear: { readonly project: string }, address: string | undefined, options: Options): string =>
  options.all ? '' : address === undefined ? ` in ${ear.project}` : ` for ${plain(address)}`;

function messageOf({ notification: { action, message }, count }: Item): string {
  return `${action === undefined ? '' : `${action}: `}${message}${count > 1 ? ` (${count} times)` : ''}`;
}

/** In words that a person knows; the receipt itself is in the JSON. */
function stateOf(item: Item): string {
  const receipt = receiptOf(item);
  const state = receipt === 'queued' ? 'waits' : item.state === 'open' ? 'waits, was offered' : receipt;
  return item.gate ? `${state} (gate)` : state;
}

const shown = (log: LogKey, item: Item): object => ({
  log,
  ...(item.audience === '' ? {} : { conversation: item.audience }),
  id: item.id,
  kind: formatKind(item.notification.kind),
  level: item.notification.level,
  message: item.notification.message,
  action: item.notification.action ?? null,
  instruction: item.notification.instruction ?? null,
  created_at: new Date(item.at).toISOString(),
  ...(item.count > 1 ? { count: item.count } : {}),
  ...(item.notification.origin?.person === undefined ? {} : { from: item.notification.origin.person }),
  receipt: receiptOf(item),
  gate: item.gate,
});
