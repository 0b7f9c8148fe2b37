import { expect, it } from 'vitest';
import { makeEvent } from './event.ts';
import { isTooDeep, MAX_DEPTH, type Json } from './json.ts';
import { makeNotification } from './notification.ts';
import { DEFAULT_POLICY } from './policy.ts';

const nested = (depth: number): Json => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as Json;
const made = { id: 'n1', now: 0, ttlMs: DEFAULT_POLICY.ttlMs };

it('a value may nest 64 deep and no deeper, in lists and in objects', () => {
  expect(isTooDeep(nested(MAX_DEPTH))).toBe(false);
  expect(isTooDeep(nested(MAX_DEPTH + 1))).toBe(true);
  expect(isTooDeep({ a: 1, b: nested(MAX_DEPTH - 1) })).toBe(false);
  expect(isTooDeep({ a: 1, b: nested(MAX_DEPTH) })).toBe(true);
});

it('a value that contains itself is too deep', () => {
  const circle: unknown[] = [];
  circle.push({ circle });
  expect(isTooDeep(circle)).toBe(true);
});

it.each([
  { of: 'a bigint', data: { a: 1n } as Readonly<Record<string, unknown>>, why: /bigint/iu },
  {
    of: 'an object whose toJSON throws',
    data: {
      a: {
        toJSON() {
          throw new Error('no JSON today');
        },
      },
    },
    why: /no JSON today$/u,
  },
])('a notification and an event refuse data with $of, and say why', ({ data, why }) => {
  const refused = (code: string): unknown =>
    expect.objectContaining({ code, message: expect.stringMatching(/data "object": must be JSON: /u) as string });
  expect(() => makeNotification({ message: 'x', data: data as Json }, made)).toThrow(why);
  expect(() => makeNotification({ message: 'x', data: data as Json }, made)).toThrow(refused('bad_notification'));
  const event = { type: 'a', source: 's', subject: 'shop/coder', data: data as Readonly<Record<string, Json>> };
  expect(() => makeEvent(event, made)).toThrow(why);
  expect(() => makeEvent(event, made)).toThrow(refused('bad_event'));
  expect(() => makeEvent({ ...event, data: {}, severity: 1n as unknown as 'info' }, made)).toThrow(
    'event severity 1: must be one of',
  );
});

it.each([MAX_DEPTH + 1, 20_000, 1_000_000])('a notification and an event refuse data that nests %i deep', (depth) => {
  const refused = 'data nests more than 64 levels deep; write the data to a file and send the path';
  expect(() => makeNotification({ message: 'x', data: nested(depth) }, made)).toThrow(refused);
  const event = { type: 'a', source: 's', subject: 'shop/coder' };
  expect(() => makeEvent({ ...event, data: { deep: nested(depth) } }, made)).toThrow(`event ${refused}`);
  expect(() => makeEvent({ ...event, data: nested(depth) as never }, made)).toThrow(`event ${refused}`);
});
