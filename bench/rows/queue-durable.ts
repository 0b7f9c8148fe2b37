import { queueVersusInsert } from '../log/queue.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-durable',
  what: 'queue, one durable transaction each, id uniqueness and open index on, against the raw driver inserting the same rows into the same tables and indexes',
  bar: [{ figure: 'ratio', is: '>=', value: 0.75 }],
  run: (options) => queueVersusInsert(options, { callers: 1, thread: false, against: 'the same rows' }),
};
