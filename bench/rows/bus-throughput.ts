import { flood, Stage } from '../bus/stage.ts';
import { median } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'bus-throughput',
  what: 'events a second through the bus, the nine subscribers of the first design, every event heard by one of them, checked, folded and queued in a log in memory that an agent reads and retention prunes',
  bar: [{ figure: 'events', is: '>=', value: 100_000 }],
  async run({ quick }) {
    const count = quick ? 40_000 : 400_000;
    const rates: number[] = [];
    for (let round = 0; round < (quick ? 2 : 7); round++) {
      const stage = new Stage();
      const start = performance.now();
      await flood(stage, count);
      rates.push((count / (performance.now() - start)) * 1_000);
      await stage.close();
    }
    const events = { value: median(rates), unit: '/s' as const };
    return { ours: events, figures: { events } };
  },
};
