/** How long a hook has run. Its agent counts from the start of the process, and goes on counting while the process is stopped. */
import { readFileSync } from 'node:fs';

/** The unit of process times in `/proc`, in milliseconds. */
const TICK_MS = 10;
/** The field of `/proc/self/stat` behind the program's name that holds the start of the process. */
const STARTED = 19;
/** When this process began to run Node, by the wall clock. */
const BEGAN_AT = Date.now() - performance.now();

/**
 * The time since this process started. The wall clock also counts while the machine sleeps. The kernel also counts the time before
 * Node began.
 */
export const ageMs = (): number => Math.max(performance.now(), Date.now() - BEGAN_AT, kernelAgeMs());

function kernelAgeMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const started = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[STARTED]);
    const up = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1_000;
    return started > 0 && Number.isFinite(up) ? up - started * TICK_MS : 0;
  } catch {
    // Other systems have no such files.
    return 0;
  }
}
