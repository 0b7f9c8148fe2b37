import { queueOnEngine } from '../log/engine.ts';
import { start } from '../scale/engines.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-nats',
  what: 'four processes with two clients each queue into one NATS JetStream server, against the raw driver that writes one message to a new subject at a time',
  bar: [{ figure: 'ratio', is: '>=', value: 0.5 }],
  async run({ quick, folder }) {
    const started = await start('nats', folder);
    try {
      return await queueOnEngine(started.url, quick);
    } finally {
      await started.remove();
    }
  },
};
