import { queueOnEngine } from '../log/engine.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-nats',
  what: 'four processes with two clients each queue into one NATS JetStream server, against the raw driver that writes the same message to a new subject',
  bar: [{ figure: 'ratio', is: '>=', value: 0.5 }],
  run: (options) => queueOnEngine('nats', options),
};
