import { queueVersusInsert } from '../log/queue.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-64',
  what: '64 callers of one process queue at once through the thread of the store, which commits them together. The raw driver inserts one row at a time, prepared',
  bar: [{ figure: 'ratio', is: '>=', value: 2 }],
  run: (options) => queueVersusInsert(options, { callers: 64, thread: true, against: 'one row' }),
};
