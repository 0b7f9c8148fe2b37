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

it.each([MAX_DEPTH + 1, 20_000, 1_000_000])('a notification and an event refuse data that nests %i deep', (depth) => {
  const refused = 'data nests more than 64 deep; write it to a file and send the path';
  expect(() => makeNotification({ message: 'x', data: nested(depth) }, made)).toThrow(refused);
  const event = { type: 'a', source: 's', subject: 'shop/coder' };
  expect(() => makeEvent({ ...event, data: { deep: nested(depth) } }, made)).toThrow(`event ${refused}`);
  expect(() => makeEvent({ ...event, data: nested(depth) as never }, made)).toThrow(`event ${refused}`);
});
