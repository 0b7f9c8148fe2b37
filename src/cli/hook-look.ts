/**
 * `earpiece hook <host> --look`: reports whether a notification may wake the idle agent now. If so, the command prints the
 * notifications on stderr and ends with code 2. If the wait is over, usually because the agent has exited, the command ends
 * with code 3. Otherwise, the command ends with code 0. The command prints the time of the next check on stdout, in epoch ms, if
 * there is such a time. If the log changes, the next check is earlier.
 */
import { EarpieceError } from '../core/errors.ts';
import { wake, type HookHost, type Woken } from '../hosts/index.ts';
import { insideAgent } from '../inbox/index.ts';
import { opened, readInput, type HookOptions } from './hook.ts';
import { OVER, WAKES } from './hook-wait.ts';
import { complain } from './terminal.ts';

/**
 * Checks once whether a notification may wake the idle agent, prints such notifications, and resolves with the exit code. After
 * an error the agent is not woken, and its next prompt carries the open notifications.
 */
export async function look(host: HookHost, options: HookOptions): Promise<number> {
  const call = host.parse(await readInput());
  if (call === undefined || call.caller.subagent !== undefined) return OVER;
  // A line on stderr would reach the model, so problems are not reported.
  const { place, caller } = await opened(host, call, options, () => {}, insideAgent({ env: process.env }));
  await using _ear = place.inbox;
  const woken = await wake(place, host, caller).catch((error: unknown): Woken => {
    if (!(error instanceof EarpieceError) || error.code !== 'not_trusted') throw error;
    complain(`hook ${host.name}: ${error.message}; the agent continues`);
    return { kind: 'over' };
  });
  switch (woken.kind) {
    case 'over':
      return OVER;
    case 'waits':
      if (woken.nextAt !== undefined) process.stdout.write(String(woken.nextAt));
      return 0;
    case 'wakes': {
      const { attended } = woken;
      const { answer } = attended;
      const text = answer.kind === 'nothing' ? '' : answer.text;
      const failed = await new Promise((resolve) => process.stderr.write(`${text}\n`, resolve));
      await (failed instanceof Error ? attended.release() : attended.confirm());
      return WAKES;
    }
    default:
      return woken satisfies never;
  }
}
