import { cpuUs } from '../costs.ts';
import { stdioClient } from '../gateway/client.ts';
import { gateway, where } from '../gateway/ours.ts';
import { filesystem } from '../gateway/target.ts';
import { median, versus } from '../rounds.ts';
import type { Row } from '../row.ts';
import { CLI } from '../whole.ts';

export const row: Row = {
  name: 'start',
  what: 'from the start of the process to the answer of tools/list: the official filesystem server behind the gateway, built, and by itself. CPU time is that of the gateway, and of the server by itself',
  bar: [{ figure: 'more', is: '<=', value: 120 }],
  async run({ quick, folder }) {
    const target = filesystem(folder);
    const [node = '', , ...args] = gateway(target);
    const took = { ours: [] as number[], theirs: [] as number[] };
    const cpu = { ours: [] as number[], theirs: [] as number[] };
    const side = (name: 'ours' | 'theirs', command: readonly string[]) => async (): Promise<number> => {
      const start = performance.now();
      const client = await stdioClient(command, target, where(folder));
      const ms = performance.now() - start;
      cpu[name].push(cpuUs([client.pid]) ?? Number.NaN);
      took[name].push(ms);
      await client.close();
      return ms;
    };
    const measured = await versus({
      ours: side('ours', [node, CLI, ...args]),
      theirs: side('theirs', target.server),
      unit: 'ms',
      rounds: quick ? 3 : 31,
    });
    // The first start compiles the code and is not counted. Later starts use the compile cache, as they do for a user.
    const of = (all: readonly number[]): number => median(all.slice(1));
    return {
      ...measured,
      figures: {
        ...measured.figures,
        more: { value: of(took.ours) - of(took.theirs), unit: 'ms' },
        'CPU, ours': { value: of(cpu.ours), unit: 'us' },
        'CPU, theirs': { value: of(cpu.theirs), unit: 'us' },
      },
      note: `${(of(took.ours) - of(took.theirs)).toFixed(0)} ms more than the server by itself`,
    };
  },
};
