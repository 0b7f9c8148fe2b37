/** Runs producers in this process, for a `StoreUnderTest` without its own `producers`. */
import type { LogKey } from '../../core/address.ts';
import type { Store } from '../../core/ports.ts';
import { queued } from './drafts.ts';
import type { Producing } from './under-test.ts';

export async function produceHere(store: Store, log: LogKey, count: number): Promise<Producing> {
  let stopped = false;
  const produce = async (name: string): Promise<string[]> => {
    const acknowledged: string[] = [];
    for (let i = 0; !stopped; i++) {
      if ((await store.append(log, [queued(`${name}-${i}`)])).kind === 'appended') acknowledged.push(`${name}-${i}`);
      await new Promise(setImmediate);
    }
    return acknowledged;
  };
  const running = Promise.all(Array.from({ length: count }, (_, i) => produce(`p${i}`)));
  // `stop` reports the failure of a producer. Without this handler, a failure before `stop` would be an unhandled rejection.
  running.catch(() => {});
  return {
    stop: async () => {
      stopped = true;
      return (await running).flat();
    },
  };
}
