import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';

/** `took`: the time of each operation in ms. `cpuUs`: the processor time of the process while it ran these operations. */
export type Ran = { readonly took: Float64Array; readonly cpuUs: number };

/**
 * Starts a program of this folder once for each list of arguments. When all processes are ready, they begin together. Returns the
 * times of all operations in ms, and the processor time of all processes for one operation in microseconds.
 */
export async function race(
  program: string,
  processes: readonly (readonly string[])[],
): Promise<{ readonly took: number[]; readonly cpuUs: number }> {
  const running = processes.map((args) => fork(path.join(import.meta.dirname, program), args, { serialization: 'advanced' }));
  await Promise.all(running.map(nextMessage));
  const results = running.map(nextMessage);
  for (const each of running) each.send('go');
  const ran = (await Promise.all(results)) as Ran[];
  const took = ran.flatMap((each) => [...each.took]);
  return { took, cpuUs: ran.reduce((sum, each) => sum + each.cpuUs, 0) / took.length };
}

const nextMessage = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a process of the bench ended with ${code}`)));
  });
