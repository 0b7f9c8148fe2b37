import { perSecondOf, versus } from '../rounds.ts';
import type { Measured, RunOptions } from '../row.ts';
import type { Client } from './client.ts';
import { bare, filesystem, type Target } from './target.ts';

type OneSide = { readonly client: Client; readonly perSecond: (forMs: number) => Promise<number> };

export const side = (client: Client, inFlight: number): OneSide => ({
  client,
  perSecond: (forMs) => perSecondOf(forMs, (times) => client.calls(times, inFlight)),
});

/**
 * Measures both sides with a real server, and then with a server that does nothing, which shows the gateway's own cost. The bar
 * applies only to the ratio with the real server.
 */
export async function withBare(
  options: RunOptions,
  sides: (target: Target) => Promise<{ ours: OneSide; theirs: OneSide }>,
): Promise<Measured> {
  const measured = await measure(options, await sides(filesystem(options.folder)));
  const { figures } = await measure(options, await sides(bare));
  const ratio = figures['ratio'] ?? { value: Number.NaN, unit: '' };
  return {
    ...measured,
    figures: { ...measured.figures, 'ratio with a bare server': ratio },
    note: `${ratio.value.toFixed(2)} with a server that does nothing`,
  };
}

async function measure({ quick }: RunOptions, { ours, theirs }: { ours: OneSide; theirs: OneSide }): Promise<Measured> {
  const forMs = quick ? 100 : 600;
  try {
    // The just-in-time compilers of all processes need a few thousand calls to finish.
    if (!quick) for (const one of [ours, theirs]) await one.perSecond(2000);
    return await versus({
      ours: () => ours.perSecond(forMs),
      theirs: () => theirs.perSecond(forMs),
      unit: '/s',
      rounds: quick ? 3 : 15,
      pids: { ours: [ours.client.pid], theirs: [theirs.client.pid] },
    });
  } finally {
    await Promise.all([ours.client.close(), theirs.client.close()]);
  }
}
