import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/json.ts';
import type { Subscribed } from '../../core/notification.ts';
import { MAX_DIFFERS } from '../../core/item.ts';
import { unlistedOf } from '../../core/unlisted.ts';
import type { Grouped, Line } from '../../core/plan.ts';
import { contextOf } from './context.ts';

const T = Date.UTC(2026, 0, 1, 10, 0, 0);
const subscribed = (more: Partial<Subscribed> = {}): Subscribed => ({
  id: 'tool_failure',
  event: { type: 'tool.call.failure', source: 'agent', severity: 'error', time: T },
  group: 10,
  ...more,
});
const grouped = (details: Grouped['details'], more: Partial<Grouped> = {}): Grouped => ({
  subscribed: subscribed(),
  level: 'error',
  count: details.length,
  firstAt: T,
  lastAt: T + 5_000,
  details,
  ...more,
});
const line = (group: readonly Grouped[]): Pick<Line, 'subscriber' | 'group' | 'kind' | 'level' | 'lastAt'> => ({
  subscriber: subscribed(),
  group,
  kind: { source: 'tool', name: 'call.failure' },
  level: 'error',
  lastAt: T + 5_000,
});
type Context = {
  readonly events: readonly { readonly payload: Record<string, Json>; readonly message: string; readonly count: number }[];
  readonly count: number;
};
const made = (group: readonly Grouped[]): Context => contextOf(line(group)) as unknown as Context;

test('one event has the field names of an earlier design', () => {
  const payload = { tool_name: 'grep', retry_count: 0, missing: null };
  expect(contextOf(line([grouped([{ message: 'grep failed', data: payload }])]), { timeZone: 'Europe/Berlin' })).toEqual({
    notification: { subscriber_id: 'tool_failure', kind: 'tool.call.failure', level: 'error' },
    events: [
      {
        type: 'tool.call.failure',
        source: 'agent',
        severity: 'error',
        timestamp: '2026-01-01T10:00:00.000Z',
        payload,
        data: payload,
        message: 'grep failed',
        count: 1,
      },
    ],
    event: expect.objectContaining({ payload, message: 'grep failed' }),
    count: 1,
    timestamp: '2026-01-01T10:00:05.000Z',
    time_zone: 'Europe/Berlin',
  });
});

test('each different detail is an event, and the counts add up', () => {
  const { events, count } = made([
    grouped([{ message: 'a' }, { message: 'b' }, { message: 'c' }], { count: 7 }),
    grouped([{ message: 'd' }], { count: 4 }),
    grouped([{ message: 'e' }, { message: 'f' }], { count: 1 }),
  ]);
  expect(events.map(({ message, count }) => [message, count])).toEqual([
    ['a', 5],
    ['b', 1],
    ['c', 1],
    ['d', 4],
    ['e', 1],
    ['f', 1],
  ]);
  expect(count).toBe(12);
});

test('a template sees the events that a storm lists, and the count of all', () => {
  const rest = grouped([{ message: 'more tool.call.failure events, not listed here' }], {
    subscribed: subscribed({ rest: true }),
    count: 90,
  });
  const { events, count } = made([grouped([{ message: 'a' }]), rest]);
  expect(events.map(({ message }) => message)).toEqual(['a']);
  expect(count).toBe(91);
  expect(unlistedOf(line([grouped([{ message: 'a' }]), rest]))).toMatchObject({ count: 90, keys: [] });
  expect(contextOf(line([rest]))).not.toHaveProperty('event');
});

test('events beyond the kept details are unlisted, and do not count as repetitions of the first event', () => {
  const details = Array.from({ length: MAX_DIFFERS + 1 }, (_, at) => ({ message: `m${at}` }));
  const full = grouped(details, { count: 300 });
  expect(made([full]).events[0]?.count).toBe(1);
  expect(unlistedOf(line([full]))?.count).toBe(300 - details.length);
  const roomy = grouped(details.slice(1), { count: 300 });
  expect(made([roomy]).events[0]?.count).toBe(300 - MAX_DIFFERS + 1);
  expect(unlistedOf(line([roomy]))).toBeUndefined();
});

test('data that is not an object becomes payload.value', () => {
  expect(made([grouped([{ message: 'a', data: [1, 2] }])]).events[0]?.payload).toEqual({ value: [1, 2] });
  expect(made([grouped([{ message: 'a' }])]).events[0]?.payload).toEqual({});
});

describe('data beyond the limits', () => {
  test('long texts of a payload are cut, never through a character; control characters stay', () => {
    const data = { short: 'a\u0007\n', long: 'x'.repeat(501), pair: `${'x'.repeat(498)}😀😀`, list: ['y'.repeat(600)] };
    const [event] = made([grouped([{ message: 'a', data }])]).events;
    expect(event?.payload).toEqual({
      short: 'a\u0007\n',
      long: `${'x'.repeat(499)}…`,
      pair: `${'x'.repeat(498)}…`,
      list: [`${'y'.repeat(499)}…`],
    });
  });

  test('a payload with very many values is cut', () => {
    const data = { list: Array.from({ length: 100_000 }, (_, at) => at), last: 1 };
    const [event] = made([grouped([{ message: 'a', data }])]).events;
    const list = event?.payload['list'] as readonly Json[];
    expect(list.length).toBeLessThan(10_000);
    expect(list.at(-1)).toBe('…');
  });

  test('a deeply nested payload is cut', () => {
    let deep: Json = 'end';
    for (let at = 0; at < 10_000; at++) deep = [deep];
    expect(JSON.stringify(made([grouped([{ message: 'a', data: { deep } }])])).length).toBeLessThan(2_000);
  });

  test('the first of very many events are listed, and all are counted', () => {
    const details = Array.from({ length: 50 }, (_, at) => ({ message: `m${at}`, data: { text: 'x'.repeat(400), at } }));
    const group = Array.from({ length: 100 }, () => grouped(details, { count: 60 }));
    const { events, count } = made(group);
    expect(events).toHaveLength(200);
    expect(count).toBe(6_000);
    const listed = events.reduce((sum, event) => sum + event.count, 0);
    expect(unlistedOf(line(group))?.count).toBe(6_000 - listed);
    expect(JSON.stringify(events).length).toBeLessThan(400_000);
  });

  test('a line of the largest payloads reads only the values that it can show', () => {
    let reads = 0;
    const rows = new Proxy(
      Array.from({ length: 8_000 }, (_, at) => [at]),
      {
        get: (all, key, self): unknown => {
          reads += 1;
          return Reflect.get(all, key, self);
        },
      },
    );
    const group = Array.from({ length: 100 }, () => grouped([{ message: 'x'.repeat(1_000_000), data: { rows } }]));
    contextOf(line(group));
    expect(reads).toBeGreaterThan(1_000);
    expect(reads).toBeLessThan(100_000);
  });
});
