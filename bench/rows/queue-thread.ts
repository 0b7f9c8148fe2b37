import { queueVersusInsert } from '../log/queue.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-thread',
  what: 'queue through the thread of the store, one caller. The raw driver inserts the same rows into the same tables and indexes in this thread',
  bar: [{ figure: 'ratio', is: '>=', value: 0.5 }],
  run: (options) => queueVersusInsert(options, { callers: 1, thread: true, against: 'the same rows' }),
};
