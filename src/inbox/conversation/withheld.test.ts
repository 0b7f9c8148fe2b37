import { afterEach, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox } from '../index.ts';

const policy = { ...DEFAULT_POLICY, withheld: { maxBytes: 1_024, keepMs: 1_000 } };
const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => policy } });
afterEach(() => inbox.close());

it('a withheld result that is too long is cut between two characters, and says how much was cut', async () => {
  const coder = inbox.conversation('shop/coder#main', { pulls: true });
  const bodies = ['a'.repeat(1_024), `ab${'€'.repeat(400)}`, `abc${'😀'.repeat(400)}`];
  for (const body of bodies) await coder.withhold('read', body);
  const { withheld } = await coder.pull({ mark: false });
  expect(withheld.map(({ result }) => result)).toEqual([
    bodies[0],
    `ab${'€'.repeat(340)}… (the last 180 of 1202 bytes were cut)`,
    `abc${'😀'.repeat(255)}… (the last 580 of 1603 bytes were cut)`,
  ]);
});
