import { toLog } from '../../src/inbox/index.ts';
import { AGENT, openInbox } from '../log/ours.ts';
import { race } from '../log/race.ts';
import { percentile } from '../rounds.ts';
import type { Row } from '../row.ts';

const PROCESSES = 4;

export const row: Row = {
  name: 'append-four-processes',
  what: 'how long each of four processes waits when they queue 20,000 notifications into one file without pause, against inserts of the raw driver',
  bar: [
    { figure: 'lost or double', is: '=', value: 0 },
    { figure: 'p99.9', is: '<=', value: 100 },
    { figure: 'max', is: '<=', value: 1000 },
  ],
  async run({ quick, folder }) {
    const each = quick ? 250 : 5000;
    const inbox = await openInbox(folder);
    const { took: ours } = await race('writer.ts', writers('queue', folder, each));
    const records = await inbox.store.read({ log: toLog(AGENT), limit: PROCESSES * each + 1 });
    const runs = records.map(({ body }) => (body as unknown as { data: { run: number } }).data.run);
    const wrong = PROCESSES * each - new Set(runs).size + (records.length - new Set(runs).size);
    const problems = await inbox.store.verify();
    if (problems.length > 0) throw new Error(`the database is damaged afterwards: ${problems[0]}`);
    await inbox.close();
    const { took: theirs } = await race('writer.ts', writers('insert', folder, each));
    return {
      figures: {
        'lost or double': { value: wrong, unit: 'records' },
        p50: { value: percentile(ours, 50), unit: 'ms' },
        'p99.9': { value: percentile(ours, 99.9), unit: 'ms' },
        max: { value: percentile(ours, 100), unit: 'ms' },
        'their p99.9': { value: percentile(theirs, 99.9), unit: 'ms' },
        'their max': { value: percentile(theirs, 100), unit: 'ms' },
      },
      theirs: { value: percentile(theirs, 99.9), unit: 'ms' },
    };
  },
};

const writers = (how: 'queue' | 'insert', folder: string, each: number): string[][] =>
  Array.from({ length: PROCESSES }, (_, n) => [how, folder, String(n), String(each)]);
