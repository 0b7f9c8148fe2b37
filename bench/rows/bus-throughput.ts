import { event, flood, Stage } from '../bus/stage.ts';
import { perSecond, versus } from '../rounds.ts';
import type { Row } from '../row.ts';

const COPIES = 1_000;

export const row: Row = {
  name: 'bus-throughput',
  what: 'events a second through the bus and nine subscribers into a log in memory, which is read and pruned. One subscriber matches each event. The other side copies the same events by JSON',
  bar: [{ figure: 'ratio', is: '>=', value: 0.25 }],
  async run({ quick }) {
    const count = quick ? 40_000 : 400_000;
    let copied = 0;
    return versus({
      async ours() {
        const stage = new Stage();
        const start = performance.now();
        await flood(stage, count);
        const rate = (count / (performance.now() - start)) * 1_000;
        await stage.close();
        return rate;
      },
      theirs: async () => COPIES * (await perSecond(quick ? 50 : 400, () => (copied += copies(COPIES)))),
      unit: '/s',
      rounds: quick ? 2 : 7,
    });
  },
};

/** Makes this many copies, and returns a value from them, so that the compiler cannot leave out the work. */
function copies(times: number): number {
  let sum = 0;
  for (let n = 0; n < times; n++) sum += (JSON.parse(JSON.stringify(event(n))) as { type: string }).type.length;
  return sum;
}
