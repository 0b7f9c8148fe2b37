import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
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

describe('a text that is too late for its result', () => {
  proves('gateway:late-text');
  const said: string[] = [];
  const lateRide = (text: string, leaseMs = 30_000): Ride => ({
    kind: 'ride',
    text,
    leaseMs,
    delivery: { confirm: () => said.push(`${text} confirmed`), release: (reason) => said.push(`${text} ${reason}`) },
  });
  let answer: (value: Ride) => void;
  const slow = (): Promise<Ride> => new Promise((resolve) => (answer = resolve));
  /** Makes a rider whose first two texts are late: `0` is released, and `A` is kept. */
  const begun = async (next: () => Ride | Promise<Ride>, late = lateRide('A')): Promise<GuardedRider> => {
    let slowly = 2;
    const { rider } = guarded({
      after: () => (slowly > 0 ? (slowly--, slow()) : next()),
      silent: () => true,
      callTool: () => {
        said.push('called');
        return { result: { content: [] }, ...noDelivery };
      },
    });
    for (const each of [lateRide('0'), late]) {
      const passed = rider.after(connection, result);
      await vi.advanceTimersByTimeAsync(250);
      expect(await passed).toEqual({ kind: 'none' });
      answer(each);
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(said.splice(said.indexOf('0 late'), 1)).toEqual(['0 late']);
    return rider;
  };
  const textOf = (value: Ride): string => (value.kind === 'none' ? '' : value.text);

  beforeEach(() => {
    said.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount(), 'timers left behind').toBe(0);
    vi.useRealTimers();
  });

  test('is added once to the next result of its connection, and settled with that result', async () => {
    const rider = await begun(() => ({ kind: 'none' }));
    expect(rider.silent(connection)).toBe(false);
    expect(rider.silent({ ...connection, key: 'other' })).toBe(true);
    expect(textOf(await rider.after({ ...connection, key: 'other' }, result))).toBe('');
    const next = await rider.after(connection, result);
    expect(textOf(next)).toBe('A');
    expect(said).toEqual([]);
    if (next.kind === 'ride') next.delivery.confirm();
    expect(said).toEqual(['A confirmed']);
    expect(textOf(await rider.after(connection, result))).toBe('');
    expect(rider.silent(connection)).toBe(true);
  });

  test('is released, and the next result gets a new text, if the text before was in time', async () => {
    const texts = [() => lateRide('B'), slow, () => lateRide('D')];
    const rider = await begun(() => texts.shift()?.() ?? ride);
    expect(textOf(await rider.after(connection, result))).toBe('A');
    expect(textOf(await rider.after(connection, result))).toBe('B');
    const passed = rider.after(connection, result);
    await vi.advanceTimersByTimeAsync(250);
    expect(await passed).toEqual({ kind: 'none' });
    answer(lateRide('C'));
    await vi.advanceTimersByTimeAsync(0);
    expect(said).toEqual(['C late']);
    expect(textOf(await rider.after(connection, result))).toBe('D');
  });

  test('comes before a newer text, so that no older state follows a newer one', async () => {
    const texts = [lateRide('B')];
    const rider = await begun(() => texts.shift() ?? { kind: 'none' });
    expect(textOf(await rider.after(connection, result))).toBe('A');
    expect(textOf(await rider.after(connection, result))).toBe('B');
  });

  test('is not sent if its notifications are no longer due, and the result gets a new text', async () => {
    let due = true;
    const late = { ...lateRide('A'), stands: async () => due } as Ride;
    const rider = await begun(() => lateRide('B'), late);
    due = false;
    expect(textOf(await rider.after(connection, result))).toBe('B');
    expect(textOf(await rider.after(connection, result))).toBe('B');
  });

  test.each(['takes longer than 250 ms', 'fails'])('waits for a later result while its check %s', async (how) => {
    let works = true;
    let done: ((stands: boolean) => void) | undefined;
    const stands = (): Promise<boolean> => {
      if (works) return Promise.resolve(true);
      return how === 'fails' ? Promise.reject(new Error('no store')) : new Promise((resolve) => (done = resolve));
    };
    const rider = await begun(() => lateRide('B'), { ...lateRide('A'), stands } as Ride);
    works = false;
    const second = rider.after(connection, result);
    await vi.advanceTimersByTimeAsync(250);
    expect(await second).toEqual({ kind: 'none' });
    works = true;
    done?.(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(said).toEqual([]);
    expect(textOf(await rider.after(connection, result))).toBe('A');
  });

  test('is added to the next result if the text for that result is late too, so that a slow machine delivers', async () => {
    const rider = await begun(slow);
    expect(textOf(await rider.after(connection, result))).toBe('A');
    const second = rider.after(connection, result);
    await vi.advanceTimersByTimeAsync(250);
    expect(await second).toEqual({ kind: 'none' });
    answer(lateRide('B'));
    await vi.advanceTimersByTimeAsync(0);
    expect(textOf(await rider.after(connection, result))).toBe('B');
  });

  test('is released after half of its lease, so that another carrier can deliver its notifications', async () => {
    const rider = await begun(() => ({ kind: 'none' }), lateRide('A', 10_000));
    await vi.advanceTimersByTimeAsync(4_700);
    expect(said).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(said).toEqual(['A late']);
    expect(textOf(await rider.after(connection, result))).toBe('');
  });

  test('is released at once if half of its lease has passed, or if it has no lease', async () => {
    await begun(() => ({ kind: 'none' }), lateRide('A', 400));
    const { leaseMs: _, ...without } = lateRide('B') as Extract<Ride, { kind: 'ride' }>;
    await begun(() => ({ kind: 'none' }), without);
    expect(said).toEqual(['A late', 'B late']);
  });

  test('is released before a tool of Earpiece runs, so that a pull finds its notifications', async () => {
    const rider = await begun(() => ({ kind: 'none' }));
    await rider.callTool(connection, { tool: 'get_notifications', args: {}, requestId: '2' });
    expect(said).toEqual(['A late', 'called']);
  });

  test.each(['before', 'after'])('is released if its connection is closed %s it arrives', async (when) => {
    const { rider } = guarded({ after: slow });
    for (const text of ['0', 'A']) {
      const passed = rider.after(connection, result);
      await vi.advanceTimersByTimeAsync(250);
      await passed;
      if (when === 'before' && text === 'A') rider.closed(connection);
      answer(lateRide(text));
      await vi.advanceTimersByTimeAsync(0);
    }
    if (when === 'after') rider.closed(connection);
    expect(said).toEqual(['0 late', when === 'before' ? 'A late' : 'A client_died']);
  });
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

  test.each(['before', 'after'])('has left %s the answer of the store, so no older state may leave later', async (when) => {
    const left: string[] = [];
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    const { rider } = guarded({
      before: () => promise,
      held: () => ({ kind: 'refuse', text, delivery: noDelivery }),
      callTool: () => ({ result: { content: [] }, ...noDelivery }),
    });
    const sent = await rider.before(connection, { tool: 'read' } as Call);
    if (sent.kind !== 'refuse') throw new Error('the call passed');
    if (when === 'before') sent.delivery?.departure?.leave();
    const departure = { isOvertaken: false, leave: () => left.push(when) };
    resolve({ kind: 'refuse', text, delivery: { ...noDelivery, departure } });
    await rider.callTool(connection, { tool: 'get_notifications', args: {}, requestId: '2' });
    if (when === 'after') sent.delivery?.departure?.leave();
    expect(left).toEqual([when]);
  });
});

describe('the end of `before` after a refusal from memory', () => {
  proves('gate:early');
  const text = 'stop';
  const recorded: Verdict = { kind: 'refuse', text, delivery: noDelivery };

  test.each<[string, 'recorded' | 'unrecorded', () => Promise<Verdict>]>([
    ['the same refusal', 'recorded', async () => recorded],
    ['another refusal', 'unrecorded', async () => ({ ...recorded, text: 'wait' })],
    ['a pass', 'unrecorded', async () => ({ kind: 'pass' })],
    ['an error', 'unrecorded', () => Promise.reject(new Error('the disk is full'))],
  ])('is reported once: %s is %s', async (_, how, decide) => {
    const said: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { rider } = guarded({
      before: () => promise.then(decide),
      held: () => ({ kind: 'refuse', text, delivery: noDelivery, ended: async (each) => void said.push(each) }),
      callTool: () => ({ result: { content: [] }, ...noDelivery }),
    });
    expect(await rider.before(connection, { tool: 'read' } as Call)).toMatchObject({ kind: 'refuse', text });
    expect(said).toEqual([]);
    resolve();
    await rider.callTool(connection, { tool: 'get_notifications', args: {}, requestId: '2' });
    expect(said).toEqual([how]);
  });

  test('is reported as unrecorded if the rider fails at once, and as recorded if the client never got the refusal', async () => {
    const said: string[] = [];
    const { promise, resolve: pass } = Promise.withResolvers<Verdict>();
    const verdicts = [Promise.reject(new Error('the disk is full')), promise];
    const { rider } = guarded({
      before: () => verdicts.shift()!,
      held: () => ({ kind: 'refuse', text, delivery: noDelivery, ended: async (each) => void said.push(each) }),
      callTool: () => ({ result: { content: [] }, ...noDelivery }),
    });
    expect(await rider.before(connection, { tool: 'read' } as Call)).toMatchObject({ kind: 'refuse' });
    expect(said).toEqual(['unrecorded']);
    const dropped = await rider.before(connection, { tool: 'read' } as Call);
    if (dropped.kind === 'refuse') dropped.delivery?.release('late');
    pass({ kind: 'pass' });
    await rider.callTool(connection, { tool: 'get_notifications', args: {}, requestId: '2' });
    expect(said).toEqual(['unrecorded', 'recorded']);
  });
});

describe('a rider that is busy although its store answers', () => {
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
      'notifications cannot be reached (after: no answer within 250 ms); until the store answers, tool calls pass without notifications, except while a known gate is up',
    ]);
  });
});
