import { expect, it } from 'vitest';
import { filteredBecause } from './filter.ts';
import { makeNotification } from './notification.ts';
import { DEFAULT_POLICY } from './policy.ts';

const because = (kind: string, names: Readonly<Record<string, boolean>>): string | undefined =>
  filteredBecause(
    makeNotification(
      { kind, message: 'x', origin: { tool: 'agent' } },
      { id: 'n', now: 0, ttlMs: { info: null, warning: null, error: null, critical: null } },
    ),
    { ...DEFAULT_POLICY, tools: { agent: names } },
  );

it('what a tool is filtered by holds for an agent that is a tool', () => {
  expect(because('tool.stopped', { stopped: false })).toBe('conversation.tools.agent.notifications.stopped = false');
  expect(because('subagent.complete', { stopped: false })).toBe('conversation.tools.agent.notifications.stopped = false');
  expect(because('subagent.failed', { failed: false })).toBe('conversation.tools.agent.notifications.failed = false');
  expect(because('subagent.complete', { failed: false })).toBeUndefined();
});
