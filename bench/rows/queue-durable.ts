import { queueVersusInsert } from '../log/queue.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-durable',
  what: 'queue, one durable transaction each, id uniqueness and open index on, against one prepared insert of the same bytes by the raw driver',
  bar: [{ figure: 'ratio', is: '>=', value: 0.6 }],
  run: (options) => queueVersusInsert(options, { callers: 1, thread: false }),
};
