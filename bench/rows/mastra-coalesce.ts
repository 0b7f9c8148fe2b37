import path from 'node:path';
import { toLog } from '../../src/inbox/index.ts';
import { AGENT, data, message, NO_LIMIT, openInbox } from '../log/ours.ts';
import { mastraNotification, openMastra } from '../peers/mastra.ts';
import { perSecond, versus } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'mastra-coalesce',
  what: 'queue onto one of 10,000 open notifications that has the same key, against createNotification with a coalesceKey and as many pending rows',
  bar: [{ figure: 'ratio', is: '>=', value: 10 }],
  peers: ['mastra'],
  async run({ quick, folder }) {
    const inbox = await openInbox(folder, { policy: NO_LIMIT });
    const mastra = await openMastra(path.join(folder, 'mastra.db'));
    const open = quick ? 500 : 10_000;
    const keyOf = (i: number): string => `file:/src/part-${i % open}.ts`;
    const queue = (i: number) => inbox.queue(AGENT, { kind: 'file.changed', message: message(i), data: data(i), key: keyOf(i) });
    const create = (i: number) =>
      mastra.storage.createNotification({ ...mastraNotification(message(i), data(i)), coalesceKey: keyOf(i) });
    for (let i = 0; i < open; i++) await queue(i);
    await mastra.fill(
      Array.from({ length: open }, (_, i) => ({ ...mastraNotification(message(i), data(i)), coalesceKey: keyOf(i) })),
    );
    const forMs = quick ? 50 : 400;
    // The step is large, so that consecutive keys are not neighbours in the index. The step shares no factor with the number of
    // keys, so each key is used.
    let next = 0;
    const step = (): number => (next += 4441);
    const measured = await versus({
      ours: () =>
        perSecond(forMs, async () => {
          const { kind } = await queue(step());
          if (kind !== 'folded') throw new Error(`a queue onto an open key was ${kind}`);
        }),
      theirs: () =>
        perSecond(forMs, async () => {
          const { coalescedCount = 1 } = await create(step());
          if (coalescedCount < 2) throw new Error('Mastra did not coalesce');
        }),
      unit: '/s',
      rounds: quick ? 3 : 9,
    });
    const left = await inbox.store.countOpen(toLog(AGENT));
    if (left !== open) throw new Error(`${open} keys are open, but ${left} notifications`);
    await inbox.close();
    mastra.close();
    return measured;
  },
};
