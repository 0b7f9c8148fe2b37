import { expect, it } from 'vitest';
import { addressOf } from './address.ts';
import { explain, isPassing } from './trouble.ts';

it('a read is retried if the server forgets the consumer, or sends nothing more before the read has ended', () => {
  expect(isPassing(Object.assign(new Error('consumer not found'), { name: 'ConsumerNotFoundError', code: 10_014 }))).toBe(true);
  expect(isPassing(Object.assign(new Error('heartbeats missed'), { name: 'JetStreamError' }))).toBe(true);
  expect(isPassing(Object.assign(new Error('wrong last sequence'), { code: 10_071 }))).toBe(false);
});

it('a call is retried if the leader must first copy messages, or if not all servers of the cluster are ready', () => {
  expect(isPassing(Object.assign(new Error('expected stream sequence does not match'), { code: 10_063 }))).toBe(true);
  const few = Object.assign(new Error('no suitable peers for placement'), { code: 10_005 });
  expect(isPassing(few)).toBe(true);
  expect(explain(few, addressOf('nats://localhost/ear?replicas=3'), 5_000)).toMatchObject({
    code: 'store_refused',
    message: expect.stringContaining('start more servers, or lower the parameter replicas'),
  });
});

it('a port above 65535 is refused, and an error does not show digits of a password as a port', () => {
  expect(() => addressOf('nats://ear:secret@a:99999/ear')).toThrow(/^port 99999 in the URL .*: must be 1–65535$/u);
  expect(() => addressOf('nats://ear:12345/6@a/ear')).toThrow(/cannot be read/u);
});

it('a full disk is reported as such, also if the answer of the server has no code', () => {
  const full = new Error('write /srv/jetstream/msgs/1.blk: no space left on device');
  expect(explain(full, addressOf('nats://localhost/ear'), 5_000)).toMatchObject({ code: 'store_full', retryable: true });
});
