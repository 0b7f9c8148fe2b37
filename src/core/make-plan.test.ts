import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConversationId } from './address.ts';
import { NOW, openItems, policies } from './arbitraries.ts';
import { ANYONE, type Item } from './items.ts';
import { isUnsaid, NO_FACTS, plan, type Facts } from './make-plan.ts';
import {
  isInterrupt,
  levelRank,
  makeNotification,
  parseKind,
  type NotificationId,
  type NotificationInput,
  type Subscribed,
} from './notification.ts';
import { lineName, type Decision, type Plan, type Said } from './plan.ts';
import { DEFAULT_POLICY, type Policy } from './policy.ts';
import { CONTACT_POINTS, type ContactPoint } from './records.ts';
import { estimateTokens } from './tokens.ts';
import { render } from './views/index.ts';
import { proves } from '../../e2e/verifies.ts';
import { defined } from './defined.ts';

const points = fc.constantFrom(...CONTACT_POINTS);
const facts: fc.Arbitrary<Facts> = fc.record({
  known: fc.dictionary(fc.constantFrom('handle:a', 'file:/x'), fc.constantFrom(0, NOW)),
  points: fc.subarray([...CONTACT_POINTS]),
  turnsSince: fc.dictionary(fc.constantFrom('n0', 'n1', 'n2'), fc.nat(3)),
  mutes: fc.constant([]),
});

describe('the plan for any open items', () => {
  it('decides about each item exactly once, with a reason: no item is lost, and no item is delivered twice', () => {
    proves('plan:decides-all');
    fc.assert(
      fc.property(openItems(), points, policies, facts, (open, point, policy, known) => {
        const made = plan(open, point, policy, known, NOW);
        expect(made.decisions.map((d) => d.id).toSorted()).toEqual(open.map((item) => item.id).toSorted());
        expect(made.decisions.every((d) => d.reason !== '')).toBe(true);
        const taken = made.lines.flatMap((line) => line.ids);
        expect(new Set(taken).size).toBe(taken.length);
        expect(taken.toSorted()).toEqual(idsOf(made.decisions, 'take'));
        expect([...(made.rest?.ids ?? [])].toSorted()).toEqual(idsOf(made.decisions, 'summarize'));
      }),
    );
  });

  it('names in the cause of each decision the limit, the turns, the newer state or the known fact', () => {
    fc.assert(
      fc.property(openItems(), points, policies, facts, (open, point, policy, known) => {
        const byId = new Map(open.map((item) => [item.id, item]));
        for (const decision of plan(open, point, policy, known, NOW).decisions) {
          if (decision.kind === 'take') continue;
          const { cause } = decision;
          const item = byId.get(decision.id) as Item;
          const { deliver, about, key } = item.notification;
          if (cause.kind === 'max_items') expect(cause.limit).toBe(policy.maxItems);
          if (cause.kind === 'max_tokens') expect(cause.limit).toBe(policy.maxTokens);
          if (cause.kind === 'turns')
            expect([deliver, known.turnsSince[item.id] ?? 0]).toEqual([{ afterTurns: cause.of }, cause.begun]);
          if (cause.kind === 'moment') expect(cause.moment).toBe(deliver ?? 'next');
          if (cause.kind === 'known') expect([cause.about, cause.since]).toEqual([about, known.known[about ?? '']]);
          if (cause.kind === 'superseded') {
            expect(byId.get(cause.by)?.seq).toBeGreaterThan(item.seq);
            expect([cause.key, byId.get(cause.by)?.notification.key]).toEqual([key, key]);
          }
        }
      }),
    );
  });

  it('orders items from critical to info, and within a level from the oldest', () => {
    proves('plan:order');
    fc.assert(
      fc.property(openItems(), points, policies, facts, (open, point, policy, known) => {
        const { lines } = plan(open, point, policy, known, NOW);
        for (let i = 1; i < lines.length; i++) {
          const [a, b] = [lines[i - 1], lines[i]];
          if (!a || !b) continue;
          expect(levelRank(a.level)).toBeGreaterThanOrEqual(levelRank(b.level));
          if (a.level === b.level) expect(a.firstAt).toBeLessThanOrEqual(b.firstAt);
        }
      }),
    );
  });

  it('never summarizes an error or above to fit a budget: items without room stay open', () => {
    proves('plan:budget');
    fc.assert(
      fc.property(openItems(), points, policies, facts, (open, point, policy, known) => {
        const made = plan(open, point, policy, known, NOW);
        const byId = new Map(open.map((item) => [item.id, item]));
        for (const id of made.rest?.ids ?? [])
          expect(levelRank(byId.get(id)?.notification.level ?? 'critical')).toBeLessThan(levelRank('error'));
        expect(made.lines.length).toBeLessThanOrEqual(policy.maxItems);
        if (idsOf(made.decisions, 'keep').some((id) => made.decisions.some((d) => d.id === id && d.step === 'budget')))
          expect(made.lines.length).toBeGreaterThan(0);
      }),
    );
  });

  it('applies the budget to the text of templates, unless the plan has only one line', () => {
    proves('plan:rendered');
    fc.assert(
      fc.property(openItems(), points, policies, fc.nat(400), (open, point, policy, words) => {
        const text = 'a word '.repeat(words);
        const templated = open.map((item, at): Item => {
          if (at % 2 === 1) return item;
          const event = { type: 'x', source: 'x', severity: 'info' as const, time: 0 };
          return { ...item, notification: { ...item.notification, subscriber: { id: 's', event, group: 5, template: 'h' } } };
        });
        const said = new Map<string, Said>();
        const planned = (): Plan => plan(templated, point, policy, { ...NO_FACTS, said }, NOW);
        let made = planned();
        for (let left = made.lines.filter(isUnsaid); left.length > 0; left = made.lines.filter(isUnsaid)) {
          for (const line of left) said.set(lineName(line), { kind: 'text', text: text.slice(0, 500 * line.ids.length) });
          made = planned();
        }
        expect(made.decisions.map((d) => d.id).toSorted()).toEqual(open.map((item) => item.id).toSorted());
        const tokens = made.lines.reduce(
          (sum, line) => sum + estimateTokens(line.rendered?.slice(0, policy.maxItemChars) ?? ''),
          0,
        );
        if (made.lines.length > 1) expect(tokens).toBeLessThanOrEqual(policy.maxTokens);
        for (const line of made.lines)
          if (line.rendered !== undefined && line.ids.length > 1)
            expect(line.rendered.length).toBeLessThanOrEqual(policy.maxItemChars);
      }),
    );
  });

  it('shows every distinct message of the taken notifications at error or above', () => {
    fc.assert(
      fc.property(openItems(), points, policies, (open, point, policy) => {
        const made = plan(open, point, policy, NO_FACTS, NOW);
        const byId = new Map(open.map((item) => [item.id, item]));
        for (const line of made.lines) {
          if (line.sent !== undefined || levelRank(line.level) < levelRank('error')) continue;
          for (const id of line.ids) expect(line.messages).toContain(byId.get(id)?.notification.message);
        }
      }),
    );
  });

  it('is a pure function: the same input gives the same plan and the same view', () => {
    proves('plan:pure');
    fc.assert(
      fc.property(openItems(), points, policies, facts, (open, point, policy, known) => {
        const [a, b] = [plan(open, point, policy, known, NOW), plan(structuredClone(open), point, policy, known, NOW)];
        expect(b).toEqual(a);
        const input = {
          lines: a.lines,
          rest: a.rest,
          mark: 'k7f3',
          tellMark: false,
          pulls: 'get_notifications',
          maxItemChars: 500,
          timeZone: 'UTC',
        };
        expect(render('default', input).text).toBe(render('default', { ...input, lines: b.lines }).text);
      }),
    );
  });

  it('repeats a sent text byte for byte, even if other items have arrived', () => {
    proves('view:stable');
    fc.assert(
      fc.property(openItems(), policies, (open, policy) => {
        const made = plan(open, 'tool_result', policy, NO_FACTS, NOW);
        for (const line of made.lines) {
          const { text, group = [] } = open.find((item) => item.id === line.ids[0]) ?? {};
          expect(line.sent).toBe(group.length > 1 ? undefined : text);
          expect(line.left).toBe(group.length > 1 ? true : undefined);
        }
      }),
    );
  });

  it('renders each remaining notification of a grouped line as a separate line, and summarizes none', () => {
    proves('lease:withdrawn');
    fc.assert(
      fc.property(openItems(), policies, fc.boolean(), (open, policy, isSaid) => {
        const event = { type: 'x', source: 'x', severity: 'info' as const, time: 0 };
        const subscriber = { id: 's', event, group: 5, template: 'h' };
        const templated = open.map((item): Item => ({ ...item, notification: { ...item.notification, subscriber } }));
        const left = open.filter(({ group = [] }) => group.length > 1);
        const said = new Map<string, Said>(
          isSaid ? left.map((item) => [lineName({ ids: [item.id] }), { kind: 'text', text: 'said anew' }]) : [],
        );
        const made = plan(templated, 'tool_result', policy, { ...NO_FACTS, said }, NOW);
        for (const { id } of left) {
          const line = made.lines.find(({ ids }) => ids.includes(id));
          expect(made.rest?.ids ?? []).not.toContain(id);
          if (line === undefined) continue;
          expect(line.ids).toEqual([id]);
          expect([line.rendered, isUnsaid(line)]).toEqual(isSaid ? ['said anew', false] : [undefined, true]);
        }
      }),
    );
  });
});

type Given = NotificationInput & { readonly id: string; readonly agoMs?: number; readonly folded?: number };
type Case = {
  readonly name: string;
  readonly given: readonly Given[];
  readonly at?: ContactPoint;
  readonly policy?: Partial<Policy>;
  readonly facts?: Partial<Facts>;
  /** id → `take`, `keep:step`, `summarize` or `close:outcome`. */
  readonly expected: Readonly<Record<string, string>>;
  readonly lines?: readonly (readonly string[])[];
};

const CASES: readonly Case[] = [
  { name: 'takes a notification that is due', given: [{ id: 'a', message: 'x' }], expected: { a: 'take' } },
  {
    name: 'filter: the master switch closes a notification as filtered',
    given: [{ id: 'a', message: 'x' }],
    policy: { enable: false },
    expected: { a: 'close:filtered' },
  },
  {
    name: 'filter: the master switch does not filter a critical notification of a core kind',
    given: [{ id: 'a', message: 'stop', level: 'critical', kind: 'user.message' }],
    policy: { enable: false },
    expected: { a: 'take' },
  },
  {
    name: 'filter: a critical notification of any other kind can be filtered',
    given: [{ id: 'a', message: 'x', level: 'critical', kind: 'ci.down' }],
    policy: { kinds: { ci: { enable: false, names: {} } } },
    expected: { a: 'close:filtered' },
  },
  {
    name: 'filter: a source that is turned off is filtered',
    given: [{ id: 'a', kind: 'mcp.disconnected', message: 'x' }],
    policy: { kinds: { mcp: { enable: false, names: {} } } },
    expected: { a: 'close:filtered' },
  },
  {
    name: 'filter: a name that is turned off is filtered, and another name of the source is taken',
    given: [
      { id: 'a', kind: 'mcp.reconnected', message: 'x' },
      { id: 'b', kind: 'mcp.disconnected', message: 'y' },
    ],
    policy: { kinds: { mcp: { names: { reconnected: false, disconnected: true } } } },
    expected: { a: 'close:filtered', b: 'take' },
  },
  {
    name: 'filter: a setting of "source.name" wins over the setting of the source',
    given: [{ id: 'a', kind: 'mcp.up', message: 'x' }],
    policy: { kinds: { mcp: { enable: false, names: {} } }, flat: { 'mcp.up': true } },
    expected: { a: 'take' },
  },
  {
    name: 'filter: a notification with the name `enable` can be filtered',
    given: [{ id: 'a', kind: 'mcp.enable', message: 'x' }],
    policy: { flat: { 'mcp.enable': false } },
    expected: { a: 'close:filtered' },
  },
  {
    name: 'filter: a source with the name `__proto__` is an ordinary source',
    given: [{ id: 'a', kind: '__proto__.x', message: 'x' }],
    expected: { a: 'take' },
  },
  {
    name: 'filter: a name that is turned off for one tool is filtered for that tool',
    given: [{ id: 'a', kind: 'tool.waiting', message: 'x', origin: { tool: 'cargo' } }],
    policy: { tools: { cargo: { waiting: false } } },
    expected: { a: 'close:filtered' },
  },
  {
    name: 'filter: a notification below the minimum level is filtered',
    given: [
      { id: 'a', message: 'x' },
      { id: 'b', message: 'y', level: 'warning' },
    ],
    policy: { minLevel: 'warning' },
    expected: { a: 'close:filtered', b: 'take' },
  },
  {
    name: 'filter: a muted notification is filtered',
    given: [{ id: 'a', kind: 'ci.ok', message: 'x' }],
    facts: { mutes: [{ pattern: 'ci', until: NOW + 1, by: 'me' }] },
    expected: { a: 'close:filtered' },
  },
  {
    name: 'filter: a mute that has ended filters nothing',
    given: [{ id: 'a', kind: 'ci.ok', message: 'x' }],
    facts: { mutes: [{ pattern: 'ci', until: NOW, by: 'me' }] },
    expected: { a: 'take' },
  },
  {
    name: 'relevance: an expired notification is closed',
    given: [{ id: 'a', message: 'x', expiresAt: NOW }],
    expected: { a: 'close:expired' },
  },
  {
    name: 'relevance: a notification about a fact that the agent knows is closed',
    given: [{ id: 'a', message: 'x', about: 'handle:b' }],
    facts: { known: { 'handle:b': NOW } },
    expected: { a: 'close:known' },
  },
  {
    name: 'relevance: a notification is taken if the agent knows only an older state',
    given: [{ id: 'a', message: 'x', about: 'file:/x', agoMs: 10 }],
    facts: { known: { 'file:/x': NOW - 11 } },
    expected: { a: 'take' },
  },
  {
    name: 'supersede: the newest notification of a key closes the older ones',
    given: [
      { id: 'a', message: 'down', key: 'k', supersede: true },
      { id: 'b', message: 'up', key: 'k', supersede: true },
      { id: 'c', message: 'other', key: 'k2', supersede: true },
    ],
    expected: { a: 'close:superseded', b: 'take', c: 'take' },
  },
  {
    name: 'supersede: an agent replaces its own states, and no state of another sender',
    given: [
      { id: 'ci', message: 'CI failed', key: 'b', supersede: true },
      { id: 'x1', message: 'CI passed', key: 'b', supersede: true, origin: { agent: 'shop/x' } },
      { id: 'y', message: 'CI runs', key: 'b', supersede: true, origin: { agent: 'shop/y' } },
      { id: 'x2', message: 'CI is fine', key: 'b', supersede: true, origin: { agent: 'shop/x' } },
    ],
    expected: { ci: 'take', x1: 'close:superseded', y: 'take', x2: 'take' },
  },
  {
    name: 'supersede: a newer state replaces no older state before the newer state is due',
    given: [
      { id: 'a', message: 'down', level: 'critical', key: 'k', supersede: true },
      { id: 'b', message: 'up', key: 'k', supersede: true, deliver: { at: NOW + 1 } },
      { id: 'c', message: 'runs', key: 'k2', supersede: true },
      { id: 'd', message: 'ended', key: 'k2', supersede: true, deliver: 'turn_start' },
      { id: 'e', message: 'red', key: 'k3', supersede: true },
      { id: 'f', message: 'green', key: 'k3', supersede: true },
      { id: 'g', message: 'gone', key: 'k3', supersede: true, deliver: { afterTurns: 1 } },
    ],
    facts: { points: ['tool_result', 'turn_start'] },
    expected: {
      a: 'take',
      b: 'keep:moment',
      c: 'take',
      d: 'keep:moment',
      e: 'close:superseded',
      f: 'take',
      g: 'keep:moment',
    },
  },
  {
    name: 'supersede: a newer state replaces a scheduled state at once',
    given: [
      { id: 'a', message: 'at ten', key: 'k', supersede: true, deliver: { at: NOW - 1 } },
      { id: 'b', message: 'at eleven', key: 'k', supersede: true, deliver: { at: NOW + 1 } },
      { id: 'c', message: 'in a turn', key: 'k2', supersede: true, deliver: { afterTurns: 1 } },
      { id: 'd', message: 'at noon', key: 'k2', supersede: true, deliver: { at: NOW + 2 } },
      { id: 'e', message: 'later', key: 'k3', supersede: true, deliver: { at: NOW + 2 } },
      { id: 'f', message: 'now', key: 'k3', supersede: true },
    ],
    facts: { turnsSince: { c: 1 } },
    expected: {
      a: 'close:superseded',
      b: 'keep:moment',
      c: 'close:superseded',
      d: 'keep:moment',
      e: 'close:superseded',
      f: 'take',
    },
  },
  {
    name: 'supersede: in a pull, a newer state waits for no contact point, tool or turn',
    given: [
      { id: 'a', message: 'down', key: 'k', supersede: true },
      { id: 'b', message: 'up', key: 'k', supersede: true, deliver: 'turn_start' },
    ],
    facts: { onDemand: true, points: ['tool_result', 'turn_start'] },
    expected: { a: 'close:superseded', b: 'take' },
  },
  {
    name: 'supersede: a notification without supersede is not replaced',
    given: [
      { id: 'a', message: 'down', key: 'k' },
      { id: 'b', message: 'up', key: 'k', supersede: true },
    ],
    expected: { a: 'take', b: 'take' },
  },
  {
    name: 'supersede: nobody else replaces the notification of a person or of an agent',
    given: [
      { id: 'a', message: 'wait', key: 'k', supersede: true, origin: { person: 'Ann' } },
      { id: 'b', message: 'go', key: 'k', supersede: true, origin: { agent: 'shop/tester' } },
      { id: 'c', message: 'go now', key: 'k', supersede: true },
      { id: 'd', message: 'stop', key: 'k', supersede: true, origin: { person: 'Bob' } },
      { id: 'e', message: 'wait a day', key: 'k', supersede: true, origin: { person: 'Ann' } },
    ],
    expected: { a: 'close:superseded', b: 'take', c: 'take', d: 'take', e: 'take' },
  },
  {
    name: 'moment: `turn_start` is not due at a tool result',
    given: [{ id: 'a', message: 'x', deliver: 'turn_start' }],
    facts: { points: ['tool_result', 'turn_start'] },
    expected: { a: 'keep:moment' },
  },
  {
    name: 'moment: `turn_start` is due at the start of a turn',
    given: [{ id: 'a', message: 'x', deliver: 'turn_start' }],
    at: 'turn_start',
    expected: { a: 'take' },
  },
  {
    name: 'moment: `turn_start` is due at once in a host without that contact point',
    given: [{ id: 'a', message: 'x', deliver: 'turn_start' }],
    facts: { points: ['tool_result'] },
    expected: { a: 'take' },
  },
  {
    name: 'moment: a notification is due after it has waited for `max_defer`',
    given: [{ id: 'a', message: 'x', deliver: 'turn_end', agoMs: DEFAULT_POLICY.maxDeferMs }],
    facts: { points: ['tool_result', 'turn_end'] },
    expected: { a: 'take' },
  },
  {
    name: 'moment: `after_tool` is not due at a user message',
    given: [{ id: 'a', message: 'x', deliver: 'after_tool' }],
    at: 'turn_start',
    facts: { points: ['tool_result', 'turn_start'] },
    expected: { a: 'keep:moment' },
  },
  {
    name: 'moment: `next_cycle` is due before a request to the model',
    given: [{ id: 'a', message: 'x', deliver: 'next_cycle' }],
    at: 'cycle_start',
    expected: { a: 'take' },
  },
  {
    name: 'moment: `next_cycle` is due at a tool result if that is the last message before the next request',
    given: [{ id: 'a', message: 'x', deliver: 'next_cycle' }],
    facts: { points: ['turn_start', 'tool_result'] },
    expected: { a: 'take' },
  },
  {
    name: 'moment: `next_cycle` is not due at a tool result if the host reports the end of the batch',
    given: [{ id: 'a', message: 'x', deliver: 'next_cycle' }],
    facts: { points: ['turn_start', 'tool_result', 'tool_batch_end'] },
    expected: { a: 'keep:moment' },
  },
  {
    name: 'moment: `next_cycle` is due for an idle agent, because the carrier begins a cycle',
    given: [{ id: 'a', message: 'x', deliver: 'next_cycle' }],
    at: 'idle',
    facts: { points: ['tool_batch_end', 'turn_end', 'idle'] },
    expected: { a: 'take' },
  },
  {
    name: 'moment: a notification for the result of a tool is due with that result',
    given: [{ id: 'a', message: 'x', deliver: { afterTool: 'deploy' } }],
    at: 'tool_batch_end',
    facts: { points: ['tool_batch_end'], tools: ['read', 'deploy'] },
    expected: { a: 'take' },
  },
  {
    name: 'moment: a notification for the result of a tool is not due with the result of another tool',
    given: [{ id: 'a', message: 'x', deliver: { afterTool: 'deploy' } }],
    at: 'tool_batch_end',
    facts: { points: ['tool_batch_end'], tools: ['read'] },
    expected: { a: 'keep:moment' },
  },
  {
    name: 'moment: a notification for the result of a tool that is never called is due after `max_defer`',
    given: [{ id: 'a', message: 'x', deliver: { afterTool: 'deploy' }, agoMs: DEFAULT_POLICY.maxDeferMs }],
    at: 'tool_batch_end',
    facts: { points: ['tool_batch_end'], tools: ['read'] },
    expected: { a: 'take' },
  },
  {
    name: 'moment: `cycle_end` is not due before a request',
    given: [{ id: 'a', message: 'x', deliver: 'cycle_end' }],
    at: 'cycle_start',
    facts: { points: ['cycle_start', 'tool_batch_end'] },
    expected: { a: 'keep:moment' },
  },
  {
    name: 'moment: a notification is not due before its time, however long it has waited',
    given: [{ id: 'a', message: 'x', deliver: { at: NOW + 1 }, agoMs: 86_400_000, expiresAt: null }],
    expected: { a: 'keep:moment' },
  },
  {
    name: 'moment: a notification is due at its time',
    given: [{ id: 'a', message: 'x', deliver: { at: NOW } }],
    expected: { a: 'take' },
  },
  {
    name: 'moment: a notification for two turns later is not due after one turn',
    given: [{ id: 'a', message: 'x', deliver: { afterTurns: 2 } }],
    facts: { points: ['turn_start'], turnsSince: { a: 1 } },
    expected: { a: 'keep:moment' },
  },
  {
    name: 'moment: a notification for two turns later is due after two turns',
    given: [{ id: 'a', message: 'x', deliver: { afterTurns: 2 } }],
    facts: { points: ['turn_start'], turnsSince: { a: 2 } },
    expected: { a: 'take' },
  },
  {
    name: 'moment: a critical notification is due at once',
    given: [{ id: 'a', message: 'x', level: 'critical', kind: 'user.stop', deliver: 'turn_end' }],
    facts: { points: ['tool_result', 'turn_end'] },
    expected: { a: 'take' },
  },
  {
    name: 'coalesce: notifications with one key are one line',
    given: [
      { id: 'a', message: 'x changed', key: 'x', agoMs: 900_000 },
      { id: 'b', message: 'x changed', key: 'x' },
      { id: 'c', message: 'y changed', key: 'y' },
    ],
    expected: { a: 'take', b: 'take', c: 'take' },
    lines: [['a', 'b'], ['c']],
  },
  {
    name: 'coalesce: notifications of one kind are one line within the window, and separate lines beyond it',
    given: [
      { id: 'a', message: 'x', kind: 'f.c', agoMs: 10_000 },
      { id: 'b', message: 'y', kind: 'f.c', agoMs: 9_000 },
      { id: 'c', message: 'z', kind: 'f.c', agoMs: 1_000 },
    ],
    expected: { a: 'take', b: 'take', c: 'take' },
    lines: [['a', 'b'], ['c']],
  },
  {
    name: 'coalesce: warnings of one source and one moment are one line',
    given: [
      { id: 'a', message: '80 % of the tokens', kind: 'budget.token', level: 'warning' },
      { id: 'b', message: '3 cycles left', kind: 'budget.cycle', level: 'warning' },
      { id: 'c', message: 'x', kind: 'other.cycle', level: 'warning' },
    ],
    expected: { a: 'take', b: 'take', c: 'take' },
    lines: [['a', 'b'], ['c']],
  },
  {
    name: 'coalesce: a line lists five different messages, and the other messages are summarized',
    given: ['1', '2', '3', '4', '5', '1', '6', '7'].map((job, i) => ({
      id: `j${i}`,
      message: `job ${job} failed`,
      kind: `ci.job${job}`,
      level: 'warning' as const,
    })),
    expected: {
      j0: 'take',
      j1: 'take',
      j2: 'take',
      j3: 'take',
      j4: 'take',
      j5: 'take',
      j6: 'summarize',
      j7: 'summarize',
    },
    lines: [['j0', 'j1', 'j2', 'j3', 'j4', 'j5']],
  },
  {
    name: "coalesce: a person's messages are separate lines",
    given: [
      { id: 'a', message: 'x', origin: { person: 'Ann' } },
      { id: 'b', message: 'y', origin: { person: 'Ann' } },
    ],
    expected: { a: 'take', b: 'take' },
    lines: [['a'], ['b']],
  },
  {
    name: 'budget: a notification with an action is never summarized, whatever its level',
    given: [
      { id: 'a', message: 'e1', level: 'error', kind: 'a.x' },
      { id: 'b', message: 'wait', level: 'info', action: 'pause', kind: 'b.x' },
      { id: 'c', message: 'i1', kind: 'c.x' },
    ],
    policy: { maxItems: 1 },
    expected: { a: 'take', b: 'keep:budget', c: 'summarize' },
  },
  {
    name: 'budget: without room, notifications below error are summarized, and errors stay open',
    given: [
      { id: 'a', message: 'e1', level: 'error', kind: 'a.x' },
      { id: 'b', message: 'e2', level: 'error', kind: 'b.x' },
      { id: 'c', message: 'i1', kind: 'c.x' },
    ],
    policy: { maxItems: 1 },
    expected: { a: 'take', b: 'keep:budget', c: 'summarize' },
  },
  {
    name: 'budget: one notification is always taken, even if it is too long',
    given: [{ id: 'a', message: 'long '.repeat(2_000), level: 'error' }],
    policy: { maxTokens: 50 },
    expected: { a: 'take' },
  },
];

describe('the plan, case by case', () => {
  proves(
    'plan:filter-source',
    'plan:filter-name',
    'plan:filter-tool',
    'plan:master-switch',
    'plan:relevance',
    'plan:supersede',
    'plan:moment',
    'plan:coalesce',
    'plan:critical',
  );
  it.each(CASES)('$name', ({ given, at = 'tool_result', policy, facts: known, expected, lines }) => {
    const open = given.map((input, i) => itemOf(input, i)).toSorted((a, b) => a.at - b.at);
    const made = plan(open, at, { ...DEFAULT_POLICY, ...policy }, { ...NO_FACTS, ...known }, NOW);
    expect(Object.fromEntries(made.decisions.map((d) => [d.id, wordOf(d)]))).toEqual(expected);
    if (lines) expect(made.lines.map((line) => line.ids)).toEqual(lines);
  });
});

it('items for one conversation and items for any conversation do not share a line', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id, i) => itemOf({ id, message: id, kind: 'ci.failed', key: 'k' }, i)) as [
    Item,
    Item,
    Item,
  ];
  const one = { ...b, audience: 'main' as ConversationId };
  expect(plan([a, one, c], 'tool_result', DEFAULT_POLICY, NO_FACTS, NOW).lines.map(({ ids }) => ids)).toEqual([
    ['a', 'c'],
    ['b'],
  ]);
});

describe('the line of a subscriber', () => {
  const event = { type: 'build.done', source: 'ci', severity: 'warning' as const, time: 0 };
  const by = (n: number, template: string | undefined, more: Partial<Subscribed> = {}): Item => {
    const item = itemOf({ id: `n${n}`, message: `job ${n} ended`, kind: 'ci.done', level: 'warning' }, n);
    const subscriber = { id: 's', event, group: 100, ...defined({ template }), ...more };
    return { ...item, notification: { ...item.notification, subscriber } };
  };
  const words = (open: readonly Item[], said?: Said): readonly string[] => {
    const known = { ...NO_FACTS, said: new Map(said === undefined ? [] : [[open.map(({ id }) => id).join(' '), said]]) };
    const { decisions } = plan(open, 'tool_result', { ...DEFAULT_POLICY, maxTokens: 100_000 }, known, NOW);
    return open.map(({ id }) => decisions.flatMap((each) => (each.id === id ? wordOf(each) : [])).join());
  };
  const takes = (n: number): string[] => Array.from({ length: n }, () => 'take');

  it('without a template lists five different messages, and summarizes the other messages', () => {
    expect(words(Array.from({ length: 8 }, (_, n) => by(n, undefined)))).toEqual([
      ...takes(5),
      'summarize',
      'summarize',
      'summarize',
    ]);
  });

  it('without a template always says how many events of a storm are not listed', () => {
    const open = [...Array.from({ length: 6 }, (_, n) => by(n, undefined)), by(6, undefined, { rest: true })];
    expect(words(open)).toEqual([...takes(5), 'summarize', 'take']);
  });

  it('with a template delivers exactly the events that the template gets', () => {
    const rows = Array.from({ length: 8 }, (_, n) => by(n, 'h'));
    expect(words(rows)).toEqual(takes(8));
    expect(words(rows, { kind: 'text', text: 'some jobs ended' })).toEqual(takes(8));
    const differs = Array.from({ length: 49 }, (_, i) => ({ message: `step ${i}` }));
    const many = rows.slice(0, 6).map((item): Item => ({ ...item, differs, count: 50 }));
    expect(words(many)).toEqual([...takes(4), 'summarize', 'summarize']);
  });

  it('if its template failed, the line shows all messages that count as delivered', () => {
    const rows = Array.from({ length: 8 }, (_, n) => by(n, 'h'));
    const said = new Map<string, Said>([[rows.map(({ id }) => id).join(' '), { kind: 'failed' }]]);
    const [line] = plan(rows, 'tool_result', DEFAULT_POLICY, { ...NO_FACTS, said }, NOW).lines;
    const { text } = render('default', {
      lines: line ? [line] : [],
      mark: 'k7f3',
      tellMark: false,
      pulls: false,
      maxItemChars: 2_000,
      timeZone: 'UTC',
    });
    for (let n = 0; n < 8; n++) expect(text).toContain(`job ${n} ended`);
  });
});

it('an item with a time that no date can express does not block other items', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id, i) => itemOf({ id, message: id }, i)) as [Item, Item, Item, Item];
  const open = [
    { ...a, notification: { ...a.notification, deliver: { at: 1e300 } } },
    { ...b, notification: { ...b.notification, expiresAt: -1e300 } },
    { ...c, notification: { ...c.notification, about: 'x' } },
    d,
  ];
  const made = plan(open, 'tool_result', DEFAULT_POLICY, { ...NO_FACTS, known: { x: 1e300 } }, NOW);
  expect(Object.fromEntries(made.decisions.map((each) => [each.id, wordOf(each)]))).toEqual({
    a: 'keep:moment',
    b: 'close:expired',
    c: 'close:known',
    d: 'take',
  });
});

it.each([
  ['deliver', { deliver: { at: 1e300 } }],
  ['expiresAt', { expiresAt: -8.64e15 - 1 }],
  ['firstAt', { firstAt: 8.64e15 + 1 }],
])('a notification with a time in %s that no date can express is refused', (field, input) => {
  expect(() => itemOf({ id: 'a', message: 'x', ...input }, 0)).toThrow(expect.objectContaining({ data: { field } }));
  expect(itemOf({ id: 'a', message: 'x', ttlMs: 1e300 }, 0).notification.expiresAt).toBe(8.64e15);
});

const wordOf = (d: Decision): string =>
  d.kind === 'keep' ? `keep:${d.step}` : d.kind === 'close' ? `close:${d.outcome}` : d.kind;

const idsOf = (decisions: readonly Decision[], kind: Decision['kind']): NotificationId[] =>
  decisions
    .filter((d) => d.kind === kind)
    .map((d) => d.id)
    .toSorted();

function itemOf({ agoMs = 0, ...input }: Given, i: number): Item {
  const at = NOW - agoMs;
  const kind = input.kind === '__proto__.x' ? parseKind(input.kind) : input.kind;
  const notification = makeNotification(
    { ...input, ...defined({ kind }) },
    { id: input.id, now: NOW, ttlMs: DEFAULT_POLICY.ttlMs },
  );
  return {
    id: notification.id,
    audience: ANYONE,
    notification,
    seq: i + 1,
    at,
    state: 'open',
    offers: 0,
    gate: isInterrupt(notification),
    read: false,
    observed: false,
    count: 1,
    lastAt: at,
    differs: [],
    history: [i + 1],
  };
}
