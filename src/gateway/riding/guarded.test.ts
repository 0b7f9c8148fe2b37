import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GuardedRider } from './guarded.ts';
import { noDelivery, noRider, type Call, type Connection, type Result, type Ride, type Rider, type Verdict } from './rider.ts';

const connection: Connection = { key: 'k', profile: { kind: 'blocks', maxErrorChars: Infinity, maxResultChars: Infinity } };
const result = { server: 'files', tool: 'read' } as Result;
const ride: Ride = { kind: 'ride', text: 'N', delivery: noDelivery };

function guarded(rider: Partial<Rider>): { rider: GuardedRider; reports: string[] } {
  const reports: string[] = [];
  return { rider: new GuardedRider({ ...noRider, ...rider }, (line) => reports.push(line)), reports };
}

test('a process that was suspended for longer than 250 ms still reads the answer', async () => {
  const { rider, reports } = guarded({ after: () => new Promise((resolve) => setImmediate(resolve, ride)) });
  const asked = rider.after(connection, result);
  const until = performance.now() + 400;
  while (performance.now() < until);
  expect(await asked).toEqual(ride);
  expect(reports).toEqual([]);
});

test('a tool of Earpiece waits until a late offer is released, so that a pull finds its notifications', async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<Ride>();
  const release = (reason: string): void => void order.push(`released: ${reason}`);
  const { rider } = guarded({
    after: () => promise,
    callTool: async () => {
      order.push('called');
      return { result: { content: [] }, ...noDelivery };
    },
  });
  expect(await rider.after(connection, result)).toEqual({ kind: 'none' });
  const other = { ...connection, key: 'other' };
  const call = { tool: 'get_notifications', args: {}, requestId: '2' };
  await rider.callTool(other, call);
  expect(order).toEqual(['called']);
  const called = rider.callTool(connection, call);
  resolve({ ...ride, delivery: { ...noDelivery, release } });
  await called;
  expect(order).toEqual(['called', 'released: late', 'called']);
});

describe('a refusal from memory that is sent before the store answers', () => {
  const text = 'stop';
  const outcomes = ['confirm', 'client_died'] as const;
  const cases = outcomes.flatMap((outcome) => [[outcome, 'before'] as const, [outcome, 'after'] as const]);

  test.each(cases)('passes its outcome (%s, %s the answer of the store) to the delivery of the store', async (outcome, when) => {
    const said: string[] = [];
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    const { rider } = guarded({
      before: () => promise,
      held: () => ({ kind: 'refuse', text, delivery: noDelivery }),
      callTool: () => ({ result: { content: [] }, ...noDelivery }),
    });
    const sent = await rider.before(connection, { tool: 'read' } as Call);
    if (sent.kind !== 'refuse') throw new Error('the call passed');
    const end = (): void => (outcome === 'confirm' ? sent.delivery?.confirm() : sent.delivery?.release(outcome));
    if (when === 'before') end();
    resolve({
      kind: 'refuse',
      text,
      delivery: { confirm: () => said.push('confirm'), release: (reason) => said.push(reason) },
    });
    await rider.callTool(connection, { tool: 'get_notifications', args: {}, requestId: '2' });
    if (when === 'after') {
      expect(said).toEqual([]);
      end();
    }
    expect(said).toEqual([outcome]);
  });
});

describe('a rider that is busy with an open log', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount(), 'timers left behind').toBe(0);
    vi.useRealTimers();
  });

  test('has 250 ms in addition to its work', async () => {
    let working = true;
    let answer: (value: Ride) => void = () => {};
    const { rider, reports } = guarded({
      after: () => new Promise<Ride>((resolve) => (answer = resolve)),
      working: () => working,
    });
    const asked = rider.after(connection, result);
    await vi.advanceTimersByTimeAsync(3_000);
    working = false;
    await vi.advanceTimersByTimeAsync(249);
    answer(ride);
    expect(await asked).toEqual(ride);
    expect(reports).toEqual([]);
  });

  test('is not awaited forever', async () => {
    const { rider, reports } = guarded({ after: () => new Promise(() => {}), working: () => true });
    const asked = rider.after(connection, result);
    await vi.advanceTimersByTimeAsync(5_249);
    expect(reports).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toEqual({ kind: 'none' });
    expect(reports).toEqual([
      'notifications cannot be reached (after: no answer within 250 ms); calls pass without them until the store answers',
    ]);
  });
});
