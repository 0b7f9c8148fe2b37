import { startRedis } from '../peers/redis.ts';
import { receiving } from '../receive/rows.ts';
import type { Row } from '../row.ts';
import { start } from '../scale/engines.ts';

export const row: Row = {
  name: 'receive-nats',
  what: 'from the call of queue in one process to the offered and confirmed notification in another, on JetStream, against a job of BullMQ on Redis',
  bar: [{ figure: 'ratio', is: '<=', value: 2 }],
  peers: ['bullmq'],
  async run({ quick, folder }) {
    const nats = await start('nats', folder);
    const redis = await startRedis(folder);
    try {
      const theirs = { name: 'bullmq', url: `redis://127.0.0.1:${redis.port}` } as const;
      return await receiving(`${nats.url}/receive`, { theirs, quick });
    } finally {
      await redis.remove();
      await nats.remove();
    }
  },
};
