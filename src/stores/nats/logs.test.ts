import { expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { bodyText } from './body.ts';
import { Logs } from './logs.ts';
import type { Message } from './ranges.ts';
import type { Server } from './server.ts';
import type { Tables } from './tables.ts';
import { isPassing } from './trouble.ts';

const LOG = 'shop/coder' as LogKey;
const draft = (content: string): { text: string } => ({ text: JSON.stringify({ type: 'chat_request', content }) });

it('an append whose second record is not visible yet is read by the next try, and not reported as damage', async () => {
  const visible: Message[] = [
    { seq: 1, subject: 'earpiece.x.log.=.=.a', text: bodyText({ tx: 'other', at: 5 }, [draft('one'), draft('two')]) },
  ];
  const rest = { seq: 2, subject: 'earpiece.x.log.=.=.c.1.1', text: bodyText({ tx: '', at: 5 }, [draft('two')]) };
  const server = {
    root: 'earpiece.x',
    logs: 'X',
    last: () => Promise.resolve(visible.at(-1)),
    ranges: {
      range: (_stream: string, _subject: string, after: number) => Promise.resolve(visible.filter(({ seq }) => seq > after)),
    },
    // The leader knows the other process's message before it shows the message to readers.
    publish: () => Promise.reject(Object.assign(new Error('wrong last sequence'), { code: 10_071 })),
  } as unknown as Server;
  const tables = { get: () => Promise.resolve({ seq: 0, value: undefined }) } as unknown as Tables;
  const logs = new Logs(server, tables, new Set());
  const failed: unknown = await logs.fresh(LOG).catch((error: unknown) => error);
  expect(isPassing(failed)).toBe(true);
  visible.push(rest);
  const { log } = await logs.fresh(LOG);
  expect(log.records.map(({ body }) => (body as unknown as { content: string }).content)).toEqual(['one', 'two']);
});

it('a log with running work stays in memory beyond the limit, so other work on the log waits', async () => {
  const logs = new Logs({} as Server, {} as Tables, new Set());
  const first = Promise.withResolvers<void>();
  const order: string[] = [];
  const running = logs.exclusive(LOG, async () => {
    await first.promise;
    order.push('first');
  });
  for (let n = 0; n <= 2_000; n++) await logs.exclusive(`shop/a${n}` as LogKey, async () => {});
  const second = logs.exclusive(LOG, async () => void order.push('second'));
  setImmediate(first.resolve);
  await Promise.all([running, second]);
  expect(order).toEqual(['first', 'second']);
});
