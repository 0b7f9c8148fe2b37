import { expect, it } from 'vitest';
import { isPassing } from './trouble.ts';

it('a server that forgets the consumer of a read, or stops in the middle of it, is asked again', () => {
  expect(isPassing(Object.assign(new Error('consumer not found'), { name: 'ConsumerNotFoundError', code: 10_014 }))).toBe(true);
  expect(isPassing(Object.assign(new Error('heartbeats missed'), { name: 'JetStreamError' }))).toBe(true);
  expect(isPassing(Object.assign(new Error('wrong last sequence'), { code: 10_071 }))).toBe(false);
});
