import { expect, it } from 'vitest';
import { EVENT_TYPES, type KnownType } from '../../bus/event-types.ts';
import { Budget } from './budget.ts';
import { changes } from './config.ts';
import { Loops } from './loops.ts';
import { RateLimits } from './rate-limits.ts';
import type { Seen } from './seen.ts';
import { queried, resumed, sessionEnded, turnBegan, turnEnded } from './sessions.ts';
import { ToolCalls } from './tool-calls.ts';

/** Optional fields that the agent does not emit. Other programs emit these fields. */
const OF_OTHERS: Readonly<Record<string, readonly string[]>> = { 'tool.call.success': ['result_summary?'] };

const EVENTS = [...ofLimits(), ...ofCalls(), ...ofBudgets(), ...ofConversations()].map((event) => [event.type, event] as const);

it.each(EVENTS)('%s has the severity and the payload of the catalogue', (type, { severity, data }) => {
  const known = EVENT_TYPES[type as KnownType];
  const given = Object.keys(data as object);
  const missing = known.payload.filter(
    (field) => !field.split('|').some((name) => given.includes(name.replace('?', ''))) && !OF_OTHERS[type]?.includes(field),
  );
  expect({ severity, missing }).toEqual({ severity: known.severity, missing: [] });
});

function ofLimits(): readonly Seen[] {
  const limits = new RateLimits({ provider: 'openai' });
  const headers = { 'ratelimit-limit': '10', 'ratelimit-remaining': '1', 'ratelimit-reset': '20' };
  return [...limits.heard(headers, 0), limits.refused({ afterMs: 20 })];
}

function ofCalls(): readonly Seen[] {
  const calls = new ToolCalls();
  const loops = new Loops();
  const call = { id: 'c1', name: 'read', args: { path: 'a' } };
  return [
    calls.pending(call),
    ...calls.ended(call, { kind: 'success', resultLength: 3 }, 1),
    ...calls.ended(call, { kind: 'failed', failure: { type: 'timeout', message: '' } }, 1),
    ...calls.ended(call, { kind: 'failed', failure: { type: 'Error', message: 'no' } }, 1),
    calls.batch({ id: 'b1', ends: [], durationMs: 1 }),
    ...[1, 2, 3].flatMap((now) => loops.batch([call], now)),
  ];
}

function ofBudgets(): readonly Seen[] {
  const budget = new Budget({ tokens: 10, contextTokens: 10, timeoutMs: 10, iterations: 2, warnAt: { iterations: 1 } });
  const use = (): void => budget.answered({ inputTokens: 8, outputTokens: 1 });
  budget.begin(0);
  use();
  const warned = budget.reached(9);
  use();
  return [...warned, ...budget.reached(9), budget.outOfIterations()];
}

function ofConversations(): readonly Seen[] {
  const session = 'shop/coder#main';
  return [
    ...resumed([{ type: 'chat_request', content: 'Why?' }], session),
    queried('Why?', session, 'person'),
    turnBegan(1, session),
    turnEnded({ turn: 1, reason: 'failed', cycles: 1, toolCalls: 0, tokens: 9, error: 'no' }, session),
    sessionEnded(session, 1),
    ...changes({ model: 'a', tools: ['old'] }, { model: 'b', tools: ['new'] }, session),
  ];
}
