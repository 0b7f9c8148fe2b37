import { expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { newLog } from '../memory-log.ts';
import { type Listing, verify } from './lists.ts';

it('a check reports its progress in records', async () => {
  const views = new Map(
    [3, 2].map((count, n) => {
      const log = newLog(`shop/a${n}` as LogKey);
      for (let seq = 1; seq <= count; seq++)
        log.records.push({ seq, log: log.key, at: seq, body: { type: 'chat_request', content: 'hi' } });
      return [log.key, { log }];
    }),
  );
  const view = async (log: LogKey): Promise<unknown> => views.get(log);
  const of = {
    server: { logs: 'X', info: async () => ({ state: { messages: 5 } }) },
    tables: { scan: async () => [...views.keys()].map((log) => ({ value: { log } })) },
    logs: { has: () => true, fresh: view, reread: view },
  } as unknown as Listing;
  const seen: [number, number][] = [];
  expect(await verify(of, (done, all) => void seen.push([done, all]))).toEqual([]);
  expect(seen).toEqual([
    [0, 5],
    [3, 5],
    [5, 5],
  ]);
});
