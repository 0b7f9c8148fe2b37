/** Measures one program that queues in a separate process and receives in this process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { percentile } from '../rounds.ts';
import { SIDES, type SideName } from './sides.ts';

const NOTHING_MS = 60_000;

export type Received = { readonly close: () => Promise<void>; readonly several: (count: number) => Promise<readonly number[]> };

/**
 * Starts the sender in a separate process, and the receiver in this process. `several` sends the given number of jobs, and
 * returns the milliseconds from the sending of each job to its receipt.
 */
export async function between(name: SideName, url: string): Promise<Received> {
  let on: (since: string) => void = () => undefined;
  const receiver = await SIDES[name].receiver(url, (since) => on(since));
  const sender = fork(path.join(import.meta.dirname, 'sender.ts'), [name, url]);
  await once(sender, 'message');
  const several = (count: number): Promise<readonly number[]> =>
    new Promise((resolve, reject) => {
      const took: number[] = [];
      const late = setTimeout(() => reject(new Error(`${name}: ${took.length} of ${count} arrived`)), NOTHING_MS);
      on = (since) => {
        if (took.push(Number(process.hrtime.bigint() - BigInt(since)) / 1e6) < count) return;
        clearTimeout(late);
        resolve(took);
      };
      sender.send(count);
    });
  return {
    several,
    close: async () => {
      const exited = once(sender, 'exit');
      sender.disconnect();
      await exited;
      await receiver.close();
    },
  };
}

/** Returns the median time of single jobs in ms. Each job is sent after the receipt of the job before. */
export async function oneByOne({ several }: Received, times: number): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < times; n++) took.push(...(await several(1)));
  return percentile(took, 50);
}

/** Returns how many jobs a second arrive while up to eight are being sent at the same time. */
export async function atOnce({ several }: Received, count: number): Promise<number> {
  const start = performance.now();
  await several(count);
  return (count / (performance.now() - start)) * 1_000;
}
