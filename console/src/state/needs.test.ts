import { expect, test } from 'vitest';
import type { AgentSummary } from '../types.ts';
import { keepingPlaces, needOf, placesOf } from './needs.ts';

const NOW = 1_000_000;
const AGENT = {
  active: true,
  paused: false,
  held: null,
  asksSince: null,
  failedAt: null,
  oldestOpenAt: null,
  open: { info: 1, warning: 0, error: 0, critical: 0 },
  doing: { kind: 'nothing', what: null, since: null, conversation: null },
} as unknown as AgentSummary;
const agent = (log: string, more: object = {}): AgentSummary => ({ ...AGENT, ...more, log });
const held = (kind: string, since: number, action: string | null = null): object => ({ held: { kind, since, action } });

test('agents that need a person come first, by need and then by time; then agents that wait, work, are idle, or are inactive', () => {
  const agents = [
    agent('a/away', { active: false, ...held('disk.full', 0) }),
    agent('a/idle'),
    agent('a/waits-long', { oldestOpenAt: NOW - 300_000 }),
    agent('a/waits', { oldestOpenAt: NOW - 90_000 }),
    agent('a/waits-error', { oldestOpenAt: NOW - 70_000, open: { info: 0, warning: 0, error: 1, critical: 0 } }),
    agent('a/works', { doing: { kind: 'tool', what: 'run', since: NOW, conversation: null } }),
    agent('a/failed', { failedAt: NOW }),
    agent('a/spent', held('budget.exceeded', NOW)),
    agent('a/paused', { ...held('user.pause', NOW - 5, 'pause'), paused: true }),
    agent('a/held', held('disk.full', NOW - 10)),
    agent('z/asks', { asksSince: NOW }),
    agent('a/also-idle'),
  ];
  expect(placesOf(agents, NOW).map(({ group, log }) => `${group} ${log}`)).toEqual([
    'needs z/asks',
    'needs a/held',
    'needs a/paused',
    'needs a/spent',
    'needs a/failed',
    'waiting a/waits-error',
    'waiting a/waits-long',
    'waiting a/waits',
    'working a/works',
    'idle a/also-idle',
    'idle a/idle',
    'away a/away',
  ]);
});

test('a notification that waits for less than a minute, or for an inactive agent, does not call for a person', () => {
  expect(needOf(agent('a/b', { oldestOpenAt: NOW - 59_000 }), NOW)).toBeNull();
  expect(needOf(agent('a/b', { oldestOpenAt: 0, active: false }), NOW)).toBeNull();
});

test('a row keeps its place until the person leaves the list', () => {
  const had = placesOf([agent('a/one'), agent('a/two'), agent('a/gone')], NOW);
  const wanted = placesOf([agent('a/new'), agent('a/one'), agent('a/two', held('disk.full', NOW))], NOW);
  expect(keepingPlaces(had, wanted).map(({ group, log }) => `${group} ${log}`)).toEqual([
    'idle a/one',
    'idle a/two',
    'idle a/new',
  ]);
  expect(wanted.map(({ log }) => log)).toEqual(['a/two', 'a/new', 'a/one']);
});
