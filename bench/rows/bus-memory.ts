import { flood, Stage } from '../bus/stage.ts';
import { collectGarbage, median } from '../rounds.ts';
import type { Row } from '../row.ts';

/** How often the heap is measured per million events, because the amount of read records not yet removed varies by half. */
const LOOKS = 10;

export const row: Row = {
  name: 'bus-memory',
  what: 'bytes of the heap in use during the last of 10,000,000 events through the bus, against those during the first million',
  bar: [{ figure: 'ratio', is: '<=', value: 1.2 }],
  async run({ quick }) {
    const million = quick ? 20_000 : 1_000_000;
    const stage = new Stage();
    const bytesDuring = async (): Promise<number> => {
      const seen: number[] = [];
      for (let look = 0; look < LOOKS; look++) {
        await flood(stage, million / LOOKS);
        collectGarbage();
        seen.push(process.memoryUsage().heapUsed);
      }
      return median(seen);
    };
    const before = await bytesDuring();
    await flood(stage, 8 * million);
    const after = await bytesDuring();
    await stage.close();
    return {
      ours: { value: after, unit: 'bytes' },
      theirs: { value: before, unit: 'bytes' },
      figures: { ratio: { value: after / before, unit: '' } },
    };
  },
};
