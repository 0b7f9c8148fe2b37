import { perSecondOf, versus } from '../rounds.ts';
import type { Measured, RunOptions } from '../row.ts';
import { pipe, stdioClient } from './client.ts';
import { env, gateway } from './ours.ts';

/** Tool calls through the gateway beside the same through the pipe; both stand ready all the time, one of them works. */
export async function stdioVersusPipe({ quick, folder }: RunOptions, inFlight: number): Promise<Measured> {
  const ours = await stdioClient(gateway('--as', 'bench/agent#main'), { cwd: folder, env: env(folder) });
  const theirs = await stdioClient(pipe);
  const forMs = quick ? 100 : 700;
  try {
    return await versus({
      ours: () => perSecondOf(forMs, (times) => ours.calls(times, inFlight)),
      theirs: () => perSecondOf(forMs, (times) => theirs.calls(times, inFlight)),
      unit: '/s',
      rounds: quick ? 3 : 15,
    });
  } finally {
    await Promise.all([ours.close(), theirs.close()]);
  }
}
