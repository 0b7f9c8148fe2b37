import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { proves } from '../../../e2e/verifies.ts';
import { WriterHold } from './writer.ts';

const PLACE = { log: 'shop/coder' as LogKey, id: 'main' as ConversationId };

/** The settings that all machines share. */
const settings = new Map<string, Json>();
let names = 0;

/** `frozen`: the process writes nothing. `answer`: awaited after each write, before the process gets its answer. */
type Faults = { frozen: boolean; answer?: () => Promise<unknown> };
type Machine = Faults & { readonly hold: WriterHold };

/**
 * Makes a process on a separate machine, which no other process can check. `dead`: the machines that are known to be dead here.
 */
function machine(name: string, { dead = [] }: { readonly dead?: readonly string[] } = {}): Machine {
  const made: Faults = { frozen: false };
  const store = {
    setting: (key: string) => Promise.resolve(settings.get(key)),
    setSetting: (key: string, value: Json | undefined) => Promise.resolve(set(key, value)),
    swapSetting: async (key: string, from: Json | undefined, to: Json | undefined) => {
      if (made.frozen) throw new Error('it is frozen');
      if (JSON.stringify(settings.get(key)) !== JSON.stringify(from)) return false;
      set(key, to);
      await made.answer?.();
      return true;
    },
  };
  const owner = { machine: name, pid: 7, startedAt: '1' };
  const isAlive = (other: Owner): boolean | undefined => (dead.includes(other.machine) ? false : undefined);
  const context = { store: store as unknown as Store, owner, isAlive };
  return Object.assign(made, { hold: new WriterHold(context, `i${names++}`) });
}

const set = (key: string, value: Json | undefined): void =>
  void (value === undefined ? settings.delete(key) : settings.set(key, value));

beforeEach(() => {
  settings.clear();
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

/** Runs the work, and returns its time in seconds, and its error if it failed. */
async function timed(work: Promise<unknown>): Promise<{ s: number; why?: string }> {
  const began = performance.now();
  let ended: { s: number; why?: string } | undefined;
  const s = (): number => Math.round((performance.now() - began) / 1_000);
  work.then(
    () => (ended = { s: s() }),
    (error: unknown) => (ended = { s: s(), why: String(error) }),
  );
  for (let i = 0; ended === undefined && i < 600; i++) await vi.advanceTimersByTimeAsync(100);
  return ended ?? { s: -1, why: 'it hangs' };
}

test('a writer on another machine keeps its conversation, even if it writes nothing for an hour', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  await a.hold.take(PLACE);
  await vi.advanceTimersByTimeAsync(3_600_000);
  const { s, why } = await timed(b.hold.take(PLACE));
  expect(why).toContain('process 7 already writes to shop/coder#main on a; end that process, or use another conversation');
  expect(s).toBeLessThanOrEqual(5);
  await a.hold.mustHold(PLACE);
});

test('another machine takes over from a silent process after 20 s, and from an ended process at once', async () => {
  proves('agent:one-writer');
  const [a, b, c] = [machine('a'), machine('b'), machine('c')];
  await a.hold.take(PLACE);
  a.frozen = true;
  const { s, why } = await timed(b.hold.take(PLACE));
  expect({ s: Math.round(s / 5) * 5, why }).toEqual({ s: 20, why: undefined });
  await b.hold.release(PLACE);
  expect(await timed(c.hold.take(PLACE))).toEqual({ s: 0 });
  expect([...settings.keys()].filter((key) => key.startsWith('beat'))).toHaveLength(1);
});

test('a process that paused writes nothing into a conversation that another machine has taken over', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  const other = { ...PLACE, id: 'other' as ConversationId };
  await a.hold.take(PLACE);
  await a.hold.take(other);
  a.frozen = true;
  await timed(b.hold.take(PLACE));
  a.frozen = false;
  for (const place of [PLACE, other]) await expect(a.hold.mustHold(place)).rejects.toThrow('end that process, or use');
  // No machine has taken the other conversation, so the process may hold that conversation again.
  expect((await timed(a.hold.take(PLACE))).why).toContain('already writes to shop/coder#main on b');
  expect(await timed(a.hold.take(other))).toEqual({ s: 0 });
  await a.hold.mustHold(other);
  await b.hold.mustHold(PLACE);
});

test('a process that the store did not answer for some seconds keeps its conversation', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  await a.hold.take(PLACE);
  a.frozen = true;
  const taking = timed(b.hold.take(PLACE));
  await vi.advanceTimersByTimeAsync(12_000);
  await expect(a.hold.mustHold(PLACE)).rejects.toThrow('it is frozen');
  a.frozen = false;
  await a.hold.mustHold(PLACE);
  expect((await taking).why).toContain('already writes to shop/coder#main on a');
});

test('a process whose count was confirmed late asks the store before it writes', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  await a.hold.take(PLACE);
  a.answer = () => new Promise((resolve) => setTimeout(resolve, 15_000));
  await vi.advanceTimersByTimeAsync(5_000);
  a.frozen = true;
  expect(await timed(b.hold.take(PLACE))).not.toHaveProperty('why');
  a.frozen = false;
  await expect(a.hold.mustHold(PLACE)).rejects.toThrow('already writes to shop/coder#main on b');
});

test('a process whose count was stored without a confirmation keeps its conversation', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  await a.hold.take(PLACE);
  a.answer = () => Promise.reject(new Error('the answer is lost'));
  await vi.advanceTimersByTimeAsync(5_000);
  delete a.answer;
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await timed(b.hold.take(PLACE))).why).toContain('already writes to shop/coder#main on a');
  await a.hold.mustHold(PLACE);
});

test('a process that paused holds a conversation that it takes afterwards', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  const later = { ...PLACE, id: 'later' as ConversationId };
  await a.hold.take(PLACE);
  a.frozen = true;
  await timed(b.hold.take(PLACE));
  a.frozen = false;
  await a.hold.take(later);
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await timed(b.hold.take(later))).why).toContain('already writes to shop/coder#later on a');
  await a.hold.mustHold(later);
});

test('a process keeps a conversation while it releases another conversation', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  const other = { ...PLACE, id: 'other' as ConversationId };
  await a.hold.take(PLACE);
  await a.hold.take(other);
  await a.hold.release(other);
  expect((await timed(b.hold.take(PLACE))).why).toContain('already writes to shop/coder#main on a');
});

test('another machine takes over from a process that lives, but has closed its inbox', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b')];
  await a.hold.take(PLACE);
  a.hold.close();
  expect(await timed(b.hold.take(PLACE))).not.toHaveProperty('why');
});

test('a process that is known to be dead is replaced at once, and leaves no count', async () => {
  proves('agent:one-writer');
  const [a, b] = [machine('a'), machine('b', { dead: ['a'] })];
  await a.hold.take(PLACE);
  a.frozen = true;
  expect(await timed(b.hold.take(PLACE))).toEqual({ s: 0 });
  expect([...settings.keys()].filter((key) => key.startsWith('beat'))).toHaveLength(1);
});
