import { describe, expect, it } from 'vitest';
import { sayCause, type FilterCause } from './cause.ts';
import { filterOf, type Mute } from './filter.ts';
import { makeNotification, type NotificationInput } from './notification.ts';
import { DEFAULT_POLICY, type Policy } from './policy.ts';
import { proves } from '../../e2e/verifies.ts';

const because = (kind: string, names: Readonly<Record<string, boolean>>): string | undefined => {
  const cause = filterOf(
    makeNotification(
      { kind, message: 'x', origin: { tool: 'agent' } },
      { id: 'n', now: 0, ttlMs: { info: null, warning: null, error: null, critical: null } },
    ),
    { ...DEFAULT_POLICY, tools: { agent: names } },
  );
  return cause && sayCause(cause);
};

it('the filters of the tool `agent` also apply to the notifications of a sub-agent', () => {
  expect(because('tool.stopped', { stopped: false })).toBe('conversation.tools.agent.notifications.stopped = false');
  expect(because('subagent.complete', { stopped: false })).toBe('conversation.tools.agent.notifications.stopped = false');
  expect(because('subagent.failed', { failed: false })).toBe('conversation.tools.agent.notifications.failed = false');
  expect(because('subagent.complete', { failed: false })).toBeUndefined();
});

const SILENT: readonly (readonly [string, Partial<Policy>, readonly Mute[]])[] = [
  ['a mute of everything', {}, [{ pattern: '*', until: null, by: 'mallory' }]],
  ['a mute of the kind', {}, [{ pattern: 'user.message', until: null, by: 'mallory' }]],
  ['enable = false', { enable: false }, []],
  ['min_level = "critical"', { minLevel: 'critical' }, []],
  ['a setting that turns the kind off', { flat: { 'user.message': false } }, []],
  ['a setting that turns the source off', { kinds: { user: { enable: false, names: {} } } }, []],
];

describe.each(SILENT)('%s', (_, policy, mutes) => {
  const reason = (input: Omit<NotificationInput, 'message'>): FilterCause | undefined =>
    filterOf(
      makeNotification(
        { kind: 'user.message', message: 'hold on', ...input },
        { id: 'n', now: 0, ttlMs: { info: null, warning: null, error: null, critical: null } },
      ),
      { ...DEFAULT_POLICY, core: [], ...policy },
      mutes,
    );

  it.each(['pause', 'cancel', 'resume'] as const)('does not filter a %s', (action) => {
    proves('gate:unfiltered');
    expect(reason({ action })).toBeUndefined();
  });

  it("does not filter a person's critical notification, but filters a person's info notification", () => {
    proves('gate:unfiltered');
    expect(reason({ level: 'critical', origin: { person: 'Ann' } })).toBeUndefined();
    expect(reason({ level: 'info', origin: { person: 'Ann' } })).toBeDefined();
  });
});
