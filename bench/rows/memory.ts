import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stdioClient } from '../gateway/client.ts';
import { gateway, where } from '../gateway/ours.ts';
import { filesystem } from '../gateway/target.ts';
import { versus } from '../rounds.ts';
import type { Row } from '../row.ts';
import { CLI } from '../whole.ts';

const CALLS = 50;

export const row: Row = {
  name: 'memory',
  what: `resident memory of a gateway, built, before the official filesystem server, after ${CALLS} calls, against a Node that has nothing to do`,
  bar: [{ figure: 'ratio', is: '<=', value: 1.9 }],
  async run({ quick, folder }) {
    const target = filesystem(folder);
    const [node = '', , ...args] = gateway(target);
    const measured = await versus({
      async ours() {
        const client = await stdioClient([node, CLI, ...args], target, where(folder));
        await client.calls(CALLS, 1);
        await sleep(500);
        const bytes = residentBytes(client.pid);
        await client.close();
        return bytes;
      },
      async theirs() {
        const idle = spawn(node, ['-e', 'process.stdin.resume(); process.stdout.write("."); setInterval(() => {}, 1e6)']);
        await once(idle.stdout, 'data');
        await sleep(500);
        const bytes = residentBytes(idle.pid ?? 0);
        idle.kill();
        await once(idle, 'close');
        return bytes;
      },
      unit: 'bytes',
      rounds: quick ? 2 : 5,
    });
    return measured;
  },
};

function residentBytes(pid: number): number {
  return 1_024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
}
