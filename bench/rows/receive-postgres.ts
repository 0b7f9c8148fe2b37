import { receiving } from '../receive/rows.ts';
import type { Row } from '../row.ts';
import { start } from '../scale/engines.ts';

export const row: Row = {
  name: 'receive-postgres',
  what: 'from the call of queue in one process to the confirmed notification in another, on PostgreSQL, against graphile-worker and pg-boss in the same server',
  bar: [
    { figure: 'ratio', is: '<=', value: 1 },
    { figure: 'against pg-boss', is: '<=', value: 1 },
  ],
  peers: ['graphile-worker', 'pg-boss'],
  async run({ quick, folder }) {
    const { url, remove } = await start('postgres', folder);
    try {
      return await receiving(url, { theirs: { name: 'graphile-worker', url }, beside: [{ name: 'pg-boss', url }], quick });
    } finally {
      await remove();
    }
  },
};
