import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';

/**
 * Starts a program of this folder once for each list of arguments. When all processes are ready, they begin together. Returns the
 * times in ms that they send.
 */
export async function race(program: string, processes: readonly (readonly string[])[]): Promise<number[]> {
  const running = processes.map((args) => fork(path.join(import.meta.dirname, program), args, { serialization: 'advanced' }));
  await Promise.all(running.map(nextMessage));
  const results = running.map(nextMessage);
  for (const each of running) each.send('go');
  return (await Promise.all(results)).flatMap((took) => [...(took as Float64Array)]);
}

const nextMessage = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a process of the bench ended with ${code}`)));
  });
