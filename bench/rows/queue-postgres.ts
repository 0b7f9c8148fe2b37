import { queueOnEngine } from '../log/engine.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-postgres',
  what: 'four processes with two clients each queue into PostgreSQL with synchronous commits. The raw driver writes the same rows into the same tables and indexes',
  bar: [{ figure: 'ratio', is: '>=', value: 0.5 }],
  run: (options) => queueOnEngine('postgres', options),
};
