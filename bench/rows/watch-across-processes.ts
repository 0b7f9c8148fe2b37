import { fork } from 'node:child_process';
import path from 'node:path';
import { toLog } from '../../src/inbox/index.ts';
import { AGENT, openInbox } from '../log/ours.ts';
import { percentile } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'watch-across-processes',
  what: 'from the call of queue in one process, its durable write included, to the watcher of another that has the record',
  bar: [
    { figure: 'p50', is: '<=', value: 5 },
    { figure: 'p99', is: '<=', value: 50 },
  ],
  async run({ quick, folder }) {
    const times = quick ? 100 : 1000;
    const inbox = await openInbox(folder);
    const queuer = fork(path.join(import.meta.dirname, '../log/queuer.ts'), [folder, String(times)]);
    const stop = new AbortController();
    queuer.once('exit', (code) => code !== 0 && stop.abort(new Error(`the queuing process ended with ${code}`)));
    const took: number[] = [];
    for await (const { body } of inbox.watch({ log: toLog(AGENT), after: 0, signal: stop.signal })) {
      // Both processes have the same monotonic clock.
      const now = process.hrtime.bigint();
      took.push(Number(now - BigInt((body as unknown as { data: { since: string } }).data.since)) / 1e6);
      if (took.length === times) stop.abort();
    }
    if (took.length < times) throw stop.signal.reason;
    await inbox.close();
    return {
      figures: {
        p50: { value: percentile(took, 50), unit: 'ms' },
        p99: { value: percentile(took, 99), unit: 'ms' },
        max: { value: percentile(took, 100), unit: 'ms' },
      },
    };
  },
};
