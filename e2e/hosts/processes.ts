import fs from 'node:fs';

export interface Running {
  readonly pid: number;
  readonly command: string;
}

/**
 * Lists the living processes of a run: every process with the run's unique HOME, including shells in separate process groups. The
 * function reads /proc. Outside of Linux, the list is empty, so a run ends only the process group of its client.
 */
export function processesOf(home: string): readonly Running[] {
  if (!fs.existsSync('/proc')) return [];
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        if (!fs.readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)) return [];
        const command = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        // A zombie has no command line.
        return command ? [{ pid: Number(name), command }] : [];
      } catch {
        return []; // The process has already ended, or belongs to another user.
      }
    });
}

/** Sends the signal to the process, or with a negative pid to its process group. */
export function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

const running = new Set<() => void>();
const endAll = (): void => {
  for (const stop of running) stop();
};

/** Runs `stop` (synchronous) if this process ends during `work`. */
export async function guarded<T>(stop: () => void, work: () => Promise<T>): Promise<T> {
  if (!running.size) watchForEnd();
  running.add(stop);
  try {
    return await work();
  } finally {
    running.delete(stop);
    if (!running.size) unwatch();
  }
}

function watchForEnd(): void {
  process.on('exit', endAll).on('SIGINT', onSignal).on('SIGTERM', onSignal);
}

function unwatch(): void {
  process.off('exit', endAll).off('SIGINT', onSignal).off('SIGTERM', onSignal);
}

function onSignal(signal: NodeJS.Signals): void {
  endAll();
  unwatch();
  process.kill(process.pid, signal);
}
