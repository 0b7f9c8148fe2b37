/**
 * Makes a store that keeps a journal of calls in a list, and repeats these calls when it is opened again. `keeps` can break the
 * store on purpose: this function drops or changes calls before they reach the journal.
 */
import type { Clock, Store } from '../../src/core/ports.ts';
import { memoryStore } from '../../src/stores/memory.ts';

export type Call = { readonly at: number; readonly name: string; readonly args: readonly unknown[] };
export type JournalStore = Store & { readonly journal: Call[] };

const CHANGES = ['append', 'touch', 'bind', 'withhold', 'withheld', 'prune', 'forget', 'erase', 'setSetting', 'swapSetting'];
const isAborted = (args: readonly unknown[]): boolean =>
  args.some((arg) => arg instanceof Object && 'signal' in arg && arg.signal instanceof AbortSignal && arg.signal.aborted);

export async function openJournal({
  journal = [],
  clock,
  keeps = (call) => call,
}: {
  readonly journal?: Call[];
  readonly clock: Clock;
  readonly keeps?: (call: Call) => Call | undefined;
}): Promise<JournalStore> {
  let then: number | undefined;
  const inner = memoryStore({ clock: { now: () => then ?? clock.now() } });
  const run = (name: string, args: readonly unknown[]): Promise<unknown> =>
    Reflect.apply(Reflect.get(inner, name) as (...given: unknown[]) => Promise<unknown>, inner, args);
  if (journal[0] === undefined) journal.push({ at: 0, name: 'secret', args: [await inner.secret()] });
  const [first, ...calls] = [...journal];
  for (const { at, name, args } of calls) {
    then = at;
    await run(name, structuredClone(args)).catch(() => undefined);
  }
  then = undefined;
  const record = (name: string, args: readonly unknown[]): void => {
    const call = keeps({ at: clock.now(), name, args: args.filter((arg) => !(arg instanceof Object && 'signal' in arg)) });
    // The store refuses an append that cannot be written as JSON, so the journal omits that append.
    if (call !== undefined && (name !== 'append' || isStorable(call.args))) journal.push(structuredClone(call));
  };
  return new Proxy(inner, {
    get(target, name) {
      if (name === 'journal') return journal;
      if (name === 'secret') {
        const kept = keeps({ at: 0, name, args: first?.args ?? [] });
        return async () => (kept === undefined ? inner.secret() : kept.args[0]);
      }
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const isChange = CHANGES.includes(String(name));
      return (...args: unknown[]) => {
        if (isChange && !isAborted(args)) record(String(name), args);
        return Reflect.apply(value as () => unknown, target, args) as unknown;
      };
    },
  }) as JournalStore;
}

function isStorable(args: readonly unknown[]): boolean {
  try {
    return JSON.stringify(args) !== undefined;
  } catch {
    return false;
  }
}
