/**
 * Measures how long a hook has run. The agent counts the time from the start of the process, even while the process is suspended.
 */
import { readFileSync } from 'node:fs';
import { systemProcesses } from '../inbox/index.ts';

/** The length of a tick, the unit of start times in `/proc`, in milliseconds. */
const TICK_MS = 10;
/** When Node began in this process, by the wall clock, in epoch ms. */
const BEGAN_AT = Date.now() - performance.now();

/**
 * Returns the time since this process started, in milliseconds, by the clock that shows the longest time. The wall clock includes
 * the time while the machine slept. The kernel's clock includes the time before Node began.
 */
export const ageMs = (): number => Math.max(performance.now(), Date.now() - BEGAN_AT, kernelAgeMs());

/**
 * Returns the age of this process by the kernel's clock, in milliseconds. Returns 0 on systems without `/proc`, where start times
 * are not in ticks.
 */
function kernelAgeMs(): number {
  const started = Number(systemProcesses.get(process.pid)?.startedAt) * TICK_MS;
  return started > 0 ? uptimeMs() - started : 0;
}

function uptimeMs(): number {
  try {
    return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1_000;
  } catch {
    return 0;
  }
}
