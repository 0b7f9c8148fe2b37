import { queueVersusInsert } from '../log/queue.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-thread',
  what: 'queue through the thread of the store, one caller, against the raw driver in this thread inserting the same rows into the same tables and indexes',
  bar: [{ figure: 'ratio', is: '>=', value: 0.5 }],
  run: (options) => queueVersusInsert(options, { callers: 1, thread: true, against: 'the same rows' }),
};
