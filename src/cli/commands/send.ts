import { text as readAll } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { formatAddress, type LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import {
  ACTIONS,
  LEVELS,
  MOMENTS,
  type Action,
  type Deliver,
  type Level,
  type NotificationInput,
} from '../../core/notification.ts';
import type { Earpiece } from '../../earpiece.ts';
import { receiptOf, RECEIPTS } from '../../inbox/index.ts';
import { addressFrom, durationOption, withEarpiece, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

type Options = GlobalOptions & {
  to?: string;
  kind: string;
  level: Level;
  id?: string;
  key?: string;
  supersede?: boolean;
  data?: string;
  action?: Action;
  instruction?: string;
  deliver?: string;
  ttl?: string;
  purpose?: string;
  as?: string;
  wait?: (typeof RECEIPTS)[number];
  timeout: string;
};

export function send(program: Command, answer: (code: number) => void): void {
  program
    .command('send [message...]')
    .description('queue a notification; without a message, or with "-", its text is read from stdin')
    .option(
      '--to <address>',
      'project/agent, agent, project/agent#conversation or project/* (default: everyone active in this project)',
    )
    .option('--kind <source.name>', 'what it is about', 'user.message')
    .addOption(new Option('--level <level>', 'how urgent; critical interrupts').choices([...LEVELS]).default('info'))
    .option('--id <id>', 'your own id: sending it again changes nothing')
    .option('--key <key>', 'notifications of one key are counted together')
    .option('--supersede', 'with --key: the newest replaces the older ones')
    .option('--data <json>', 'structured data beside the message')
    .addOption(new Option('--action <action>', 'an interrupt that asks for something').choices([...ACTIONS]))
    .option('--instruction <text>', 'what the agent is asked to do')
    .option('--deliver <moment>', `when it may ride: ${MOMENTS.join(', ')}, or in:<duration>`)
    .option('--ttl <duration>', 'when it is of no use any more (default: by level)')
    .option('--purpose <purpose>', 'only for conversations of this purpose')
    .option('--as <person>', 'it is a person who says this')
    .addOption(new Option('--wait <receipt>', 'wait until it got this far').choices([...RECEIPTS]))
    .option('--timeout <duration>', 'for --wait', '30s')
    .action(async (words: string[], _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const message = words.length === 0 || (words.length === 1 && words[0] === '-') ? await fromStdin() : words.join(' ');
      await withEarpiece(options, async (ear) => {
        const to = addressFrom(ear, options.to);
        const queued = await ear.queue(to, inputFrom(options, message));
        const waited = options.wait && (await wait(ear, queued, options.wait, durationOption('--timeout', options.timeout)));
        if (options.json) printJson({ ...queued, ...(waited ? { receipt: waited.receipt } : {}) });
        else
          print(
            `${queued.id}  ${queued.kind} for ${queued.to.map((t) => plain(t)).join(', ') || formatAddress(to)}${waited ? paint('dim', `, ${waited.receipt}`) : ''}`,
          );
        if (waited) answer(waited.code);
      });
    });
}

async function fromStdin(): Promise<string> {
  if (process.stdin.isTTY)
    throw new EarpieceError('bad_argument', 'there is no message; write it behind the command, or pipe it in');
  return (await readAll(process.stdin)).trimEnd();
}

function inputFrom(options: Options, message: string): NotificationInput {
  return {
    message,
    kind: options.kind,
    level: options.level,
    ...(options.id === undefined ? {} : { id: options.id }),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.supersede === undefined ? {} : { supersede: options.supersede }),
    ...(options.data === undefined ? {} : { data: parseData(options.data) }),
    ...(options.action === undefined ? {} : { action: options.action }),
    ...(options.instruction === undefined ? {} : { instruction: options.instruction }),
    ...(options.deliver === undefined ? {} : { deliver: parseDeliver(options.deliver) }),
    ...(options.ttl === undefined ? {} : { ttlMs: durationOption('--ttl', options.ttl) }),
    ...(options.purpose === undefined ? {} : { purpose: options.purpose }),
    ...(options.as === undefined ? {} : { origin: { person: options.as } }),
  };
}

function parseData(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new EarpieceError(
      'bad_argument',
      `--data ${JSON.stringify(text.slice(0, 80))} is not JSON: ${(cause as Error).message}`,
    );
  }
}

function parseDeliver(text: string): Deliver {
  if (text.startsWith('in:')) return { at: Date.now() + durationOption('--deliver', text.slice(3)) };
  return text as Deliver;
}

/** Waits until every copy of the notification got as far as `wanted`, or ended otherwise. */
async function wait(
  ear: Earpiece,
  queued: { id: string; kind: string; to: readonly string[]; into?: string },
  wanted: (typeof RECEIPTS)[number],
  timeoutMs: number,
): Promise<{ receipt: string; code: number }> {
  const id = (queued.into ?? queued.id) as never;
  const logs = [...new Set(queued.to.map((to) => to.split('#')[0] as LogKey))];
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await ear.store.head();
    const items = (await Promise.all(logs.map((log) => ear.store.items(log, { kind: 'ids', ids: [id] })))).flat();
    const receipts = items.map((item) => receiptOf(item));
    const reached = (receipt: string): boolean => RECEIPTS.indexOf(receipt as never) >= RECEIPTS.indexOf(wanted);
    if (receipts.length > 0 && receipts.every(reached)) return { receipt: wanted, code: EXIT.ok.code };
    const ended = items.find(
      (item) =>
        item.state === 'closed' && !reached(receiptOf(item)) && item.outcome !== 'delivered' && item.outcome !== 'summarized',
    );
    if (ended) return { receipt: receiptOf(ended), code: EXIT.ended.code };
    const left = deadline - performance.now();
    if (left <= 0) return { receipt: receipts[0] ?? 'queued', code: EXIT.waited.code };
    await ear.store.changed(seen, { withinMs: Math.min(left, 1_000) });
  }
}
