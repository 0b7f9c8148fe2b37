/**
 * Ends a command together with this process: after SIGTERM, SIGHUP or the loss of the terminal. The command gets the signal. The
 * processes of the command that still run 3 s later get SIGKILL. SIGINT and SIGQUIT are only passed on.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** The time between the signal and SIGKILL. */
const GRACE_MS = 3_000;
/** How long `settled` waits for the processes to disappear after SIGKILL. */
const KILLED_MS = 1_000;
const LOOK_EVERY_MS = 20;

const PASSED_ON = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

type Ends = {
  readonly signal: (name: NodeJS.Signals) => void;
  /** Whether no process of the command runs. */
  readonly isGone: () => boolean;
  /** Closes the command's terminal. */
  readonly hangUp?: () => void;
};

export type Ending = {
  /**
   * Resolves when no process of the command runs, or 1 s after SIGKILL. Resolves at once if neither a signal nor the loss of the
   * terminal has ended the command.
   */
  readonly settled: () => Promise<void>;
  readonly release: () => void;
};

export function endWithCaller({ signal, isGone, hangUp }: Ends): Ending {
  let endsAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const caught = (name: NodeJS.Signals): void => {
    signal(name);
    if (name === 'SIGINT' || name === 'SIGQUIT') return;
    // A suspended process handles the signal only after it continues.
    signal('SIGCONT');
    if (name === 'SIGHUP') hangUp?.();
    endsAt ??= performance.now() + GRACE_MS;
    timer ??= setTimeout(signal, GRACE_MS, 'SIGKILL');
  };
  const lost = (): void => caught('SIGHUP');
  for (const name of PASSED_ON) process.on(name, caught);
  if (hangUp !== undefined) {
    process.stdin.on('end', lost).on('error', lost);
    process.stdout.on('error', lost);
  }
  return {
    settled: async () => {
      if (endsAt === undefined) return;
      while (!isGone() && performance.now() < endsAt + KILLED_MS) await sleep(LOOK_EVERY_MS);
    },
    release: () => {
      clearTimeout(timer);
      for (const name of PASSED_ON) process.off(name, caught);
      process.stdin.off('end', lost).off('error', lost);
      process.stdout.off('error', lost);
    },
  };
}
