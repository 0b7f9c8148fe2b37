import { queueVersusInsert } from '../log/queue.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-thread',
  what: 'queue through the thread of the store, one caller, against one prepared insert of the same bytes by the raw driver in this thread',
  bar: [{ figure: 'ratio', is: '>=', value: 0.3 }],
  run: (options) => queueVersusInsert(options, { callers: 1, thread: true }),
};
