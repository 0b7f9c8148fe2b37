import { flood, Stage } from '../bus/stage.ts';
import { collectGarbage } from '../rounds.ts';
import type { Row } from '../row.ts';

function liveBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

export const row: Row = {
  name: 'bus-memory',
  what: 'bytes of the heap in use after 10,000,000 events through the bus, against those after the first 1,000,000',
  bar: [{ figure: 'ratio', is: '<=', value: 1.2 }],
  async run({ quick }) {
    const million = quick ? 20_000 : 1_000_000;
    const stage = new Stage();
    await flood(stage, million);
    const before = liveBytes();
    for (let n = 1; n < 10; n++) await flood(stage, million);
    const after = liveBytes();
    await stage.close();
    return {
      ours: { value: after, unit: 'bytes' },
      theirs: { value: before, unit: 'bytes' },
      figures: { ratio: { value: after / before, unit: '' } },
    };
  },
};
