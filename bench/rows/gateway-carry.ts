import { stdioClient } from '../gateway/client.ts';
import { gateway, where } from '../gateway/ours.ts';
import { filesystem } from '../gateway/target.ts';
import { AGENT, message, openInbox } from '../log/ours.ts';
import { median, percentile } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'gateway-carry',
  what: 'stdio to stdio: a call whose answer carries one notification that another process has queued, against the call right after it, which carries nothing',
  bar: [{ figure: 'more', is: '<=', value: 5 }],
  async run({ quick, folder }) {
    const target = filesystem(folder);
    const client = await stdioClient(gateway(target), target, where(folder));
    const inbox = await openInbox(folder, { file: 'gateway.db' });
    const took = { ours: [] as number[], theirs: [] as number[] };
    const timed = async (side: 'ours' | 'theirs'): Promise<string> => {
      const start = performance.now();
      const answer = await client.call();
      took[side].push(performance.now() - start);
      return answer;
    };
    try {
      await client.calls(quick ? 10 : 1_000, 1);
      for (let n = 0; n < (quick ? 10 : 300); n++) {
        await inbox.queue(AGENT, { message: message(n) });
        if (!(await timed('ours')).includes(`out/tests-${n}.xml`)) throw new Error(`call ${n} did not carry its notification`);
        if ((await timed('theirs')).includes('out/tests-')) throw new Error(`the call after call ${n} carried one, too`);
      }
    } finally {
      await Promise.all([client.close(), inbox.close()]);
    }
    const [ours, theirs] = [median(took.ours), median(took.theirs)];
    return {
      ours: { value: ours, unit: 'ms' },
      theirs: { value: theirs, unit: 'ms' },
      figures: {
        more: { value: ours - theirs, unit: 'ms' },
        'p99, ours': { value: percentile(took.ours, 99), unit: 'ms' },
        'p99, theirs': { value: percentile(took.theirs, 99), unit: 'ms' },
      },
    };
  },
};
