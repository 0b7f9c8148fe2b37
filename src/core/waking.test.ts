import { describe, expect, it } from 'vitest';
import type { LogKey } from './address.ts';
import { fresh, ANYONE } from './item.ts';
import type { Item } from './items.ts';
import { makeNotification, type NotificationInput } from './notification.ts';
import { DEFAULT_POLICY } from './policy.ts';
import { waking, type WakingFacts } from './waking.ts';

const NOON = 12 * 60;
const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const facts: WakingFacts = {
  log: 'shop/coder' as LogKey,
  policy: { ...DEFAULT_POLICY, wake: { ...DEFAULT_POLICY.wake, info: 'auto' } },
  now: NOW,
  paused: false,
  spent: () => false,
};

let made = 0;
const item = (input: Partial<NotificationInput> = {}): Item =>
  fresh(makeNotification({ message: 'hello', ...input }, { id: `n_${++made}`, now: NOW, ttlMs: DEFAULT_POLICY.ttlMs }), ANYONE, {
    seq: made,
    at: NOW,
  });
const info = item();
const critical = item({ level: 'critical' });
const said = item({ kind: 'user.message', origin: { person: 'ann', depth: 0 } });

describe('waking', () => {
  it("holds notifications until the end of the quiet hours, except interrupts and a person's messages", () => {
    const policy = { ...facts.policy, wakeQuiet: { from: 22 * 60, to: 7 * 60 } };
    const at = (minuteOfDay: number) => waking([info, critical, said], { ...facts, policy, minuteOfDay });
    expect(at(NOON)).toMatchObject({ wakes: [info, critical, said] });
    expect(at(23 * 60)).toMatchObject({ wakes: [critical, said], nextAt: NOW + 8 * 60 * MINUTE });
    expect(at(6 * 60 + 59)).toMatchObject({ wakes: [critical, said], nextAt: NOW + MINUTE });
    expect(at(22 * 60).wakes).toEqual([critical, said]);
    expect(at(7 * 60).wakes).toEqual([info, critical, said]);
    expect(waking([info], { ...facts, policy }).wakes).toEqual([info]);
  });

  it('wakes an agent at most as often per hour as the budget allows, and more often only for a person', () => {
    const policy = { ...facts.policy, wakeMaxPerHour: 2 };
    const after = (...minutes: readonly number[]) =>
      waking([info, critical, said], { ...facts, policy, wokenAt: minutes.map((each) => NOW - each * MINUTE) });
    expect(after(10).wakes).toEqual([info, critical, said]);
    expect(after(10, 59)).toMatchObject({ wakes: [said], nextAt: NOW + MINUTE });
    expect(after(10, 61).wakes).toEqual([info, critical, said]);
  });
});
