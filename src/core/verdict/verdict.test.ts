import { describe, expect, it, test } from 'vitest';
import { because, type EndCause, type FilterCause } from '../cause.ts';
import type { Item } from '../items.ts';
import { makeNotification, type NotificationInput, type NotificationId } from '../notification.ts';
import type { Decision } from '../plan.ts';
import { cureCommand, sayVerdict } from './words.ts';
import { curesOf } from './cures.ts';
import type { KnownConversation, VerdictFacts } from './facts.ts';
import { VERDICT_KINDS } from './kinds.ts';
import { verdictOf } from './verdict.ts';
import { proves } from '../../../e2e/verifies.ts';
import { defined } from '../defined.ts';

const MIN = 60_000;
const NOW = 1_000 * MIN;

type Given = Omit<Partial<VerdictFacts>, 'item'> & { readonly n?: Partial<NotificationInput>; readonly item?: Partial<Item> };

const notification = (input: Partial<NotificationInput> = {}): Item['notification'] =>
  makeNotification(
    { id: 'n1', kind: 'ci.failed', message: 'main is red', ...input },
    { id: 'x', now: NOW - MIN, ttlMs: { info: null, warning: null, error: null, critical: null } },
  );

const item = (more: Partial<Item> = {}, input: Partial<NotificationInput> = {}): Item => {
  const n = notification(input);
  return {
    id: n.id,
    audience: 'main' as never,
    notification: n,
    seq: 1,
    at: NOW - MIN,
    state: 'open',
    offers: 0,
    gate: false,
    read: false,
    observed: false,
    count: 1,
    lastAt: NOW - MIN,
    differs: [],
    history: [1],
    ...more,
  };
};

const there = (more: Partial<KnownConversation> = {}): KnownConversation => ({
  conversation: 'main',
  host: 'codex',
  purpose: null,
  lastContactAt: NOW,
  absence: null,
  wrappedOnly: false,
  ...more,
});

const decides = (decision: object): VerdictFacts['decisions'] => [
  { conversation: 'main', decision: { id: 'n1', ...decision } as Decision },
];
const TAKE = decides({ kind: 'take', step: 'budget', reason: 'due and within the budget' });
const mute = { kind: 'mute', pattern: 'ci.*', until: NOW + MIN, by: 'mira' } as const satisfies FilterCause;
/** The record of a closing by the plan. */
const ended = (by: string, cause: EndCause): VerdictFacts['closed'] => ({ at: NOW, by, ...because(cause) });
const pause = item(
  { id: 'p1' as NotificationId, gate: true, state: 'closed', outcome: 'delivered', at: NOW - 2 * MIN },
  { id: 'p1', kind: 'user.pause', action: 'pause', origin: { person: 'mira' } },
);
const critical = item({ id: 'c1' as NotificationId, gate: true }, { id: 'c1', level: 'critical', message: 'disk full' });

function told({ n, item: more, ...facts }: Given): { kind: string; says: string; cures: readonly string[] } {
  const verdict = verdictOf({
    log: 'shop/coder',
    item: item(more, n),
    now: NOW,
    conversations: [there()],
    decisions: [],
    filter: undefined,
    gates: [],
    refusals: 0,
    rodeOn: null,
    readBy: null,
    closed: null,
    ...facts,
  });
  const says = sayVerdict(verdict, {
    now: NOW,
    clock: (at) => `t${(at - NOW) / MIN}`,
    span: (ms) => (ms < MIN ? `${ms} ms` : `${ms / MIN} min`),
  });
  return {
    kind: verdict.kind,
    says,
    cures: curesOf(verdict, { log: 'shop/coder', id: 'n1' as NotificationId }).map((cure) =>
      cure.kind === 'mark_read' ? 'mark read' : cureCommand(cure),
    ),
  };
}

const closed = (outcome: Item['outcome'], more: Partial<Item> = {}): Partial<Item> => ({
  state: 'closed',
  ...defined({ outcome }),
  closedAt: NOW,
  ...more,
});

test('a notification that a person marked as read is not shown as read by the agent', () => {
  const marked = told({ item: closed('delivered', { read: true }), readBy: 'browser', markedRead: true }).says;
  expect(marked).toContain(
    'The notification was marked as read by a person in the console. Nothing proves that the agent has read the notification.',
  );
  const counted = told({ item: closed('summarized', { read: true }), readBy: 'browser of mira', markedRead: true }).says;
  expect(counted).toContain(
    'The notification was marked as read by mira in the console. Nothing proves that the agent has read the text.',
  );
  const read = told({ item: closed('delivered', { read: true }), readBy: 'get_notifications' }).says;
  expect(read).toContain('The agent has read the notification (get_notifications).');
});

const N7 = { kind: 'superseded', by: 'n7' as NotificationId, key: 'tests' } as const;

const TABLE: readonly (readonly [what: string, given: Given, kind: string, says: string, cures?: readonly string[]])[] = [
  [
    'the agent has never made contact',
    { conversations: [] },
    'never_carried',
    'Waiting: shop/coder has not made contact yet. The notification is delivered at the first contact.',
    ['earpiece doctor'],
  ],
  [
    'the agent has never made contact, and the notification is due later',
    { conversations: [], n: { deliver: { at: NOW + MIN } } },
    'never_carried',
    'Waiting: shop/coder has not made contact yet. After the first contact, the notification arrives from t1 on.',
    ['earpiece doctor'],
  ],
  [
    'the agent has never made contact, and the notification waits for turns',
    { conversations: [], n: { deliver: { afterTurns: 3 } } },
    'never_carried',
    'Waiting: shop/coder has not made contact yet. After the first contact, the notification arrives after 3 turns.',
    ['earpiece doctor'],
  ],
  [
    'the agent has never made contact, and the notification is already due',
    { conversations: [], n: { deliver: { at: NOW - MIN } } },
    'never_carried',
    'Waiting: shop/coder has not made contact yet. The notification is delivered at the first contact.',
    ['earpiece doctor'],
  ],
  [
    'the agent is silent',
    { conversations: [there({ absence: 'silent', lastContactAt: NOW - 31 * MIN })] },
    'away',
    'Waiting: shop/coder#main is away. No contact since t-31 (31 min ago).',
    [],
  ],
  [
    'another conversation has taken over the ended session',
    { conversations: [there({ absence: 'ended', lastContactAt: NOW - MIN, wrappedOnly: true, passedTo: 'next' })] },
    'away',
    'Waiting: shop/coder#main is away. No contact since t-1 (1 min ago); the session has ended. shop/coder#next has taken over: send the notification to that conversation.',
    ['earpiece withdraw n1'],
  ],
  [
    'the process has exited; of two conversations, the one with the newest contact counts',
    {
      conversations: [
        there({ conversation: 'old', absence: 'ended', lastContactAt: NOW - 9 * MIN }),
        there({ absence: 'process_gone', lastContactAt: NOW - MIN, wrappedOnly: true }),
      ],
    },
    'away',
    'Waiting: shop/coder#main is away. No contact since t-1 (1 min ago); the process of the session has exited. This agent gets notifications only when it calls a wrapped tool.',
    ['earpiece doctor'],
  ],
  [
    'the session has ended',
    { conversations: [there({ absence: 'ended', lastContactAt: NOW - MIN })] },
    'away',
    'Waiting: shop/coder#main is away. No contact since t-1 (1 min ago); the session has ended.',
  ],
  [
    'the decision of a plan changes nothing if no conversation is active',
    { conversations: [there({ absence: 'ended', lastContactAt: NOW - MIN })], decisions: TAKE },
    'away',
    'Waiting: shop/coder#main is away. No contact since t-1 (1 min ago); the session has ended.',
  ],
  [
    'no conversation has the purpose of the notification',
    { conversations: [there({ purpose: 'chat' })], n: { purpose: 'review' } },
    'other_purpose',
    'Waiting for a conversation of the purpose review: no active conversation of shop/coder has that purpose.',
    ['earpiece withdraw n1'],
  ],
  [
    'the agent is paused, although the plan would take the notification',
    { gates: [pause], decisions: TAKE },
    'paused',
    'Waiting: shop/coder is paused by mira since t-2 (2 min ago). The pause holds until a person resumes the agent.',
    ['earpiece resume shop/coder', 'earpiece why p1 shop/coder'],
  ],
  [
    "another conversation's pause holds nothing back",
    { gates: [{ ...pause, audience: 'b' as never }], decisions: TAKE },
    'due',
    'Waiting for the next message to shop/coder#main.',
  ],
  [
    'the terminal of the session is unknown, so nothing wakes the session',
    { conversations: [there({ terminalUnknown: true })], decisions: TAKE },
    'due',
    'Waiting for the next message to shop/coder#main. Earpiece does not know the terminal of this session, so the notification does not wake the session (see earpiece doctor).',
  ],
  [
    'a mute will filter the notification',
    { filter: mute, decisions: TAKE },
    'muted',
    'Muted: mira muted ci.* for shop/coder until t1. The notification will be filtered at the next message.',
    ["earpiece mute 'ci.*' shop/coder --off"],
  ],
  [
    'filtered by a mute that still exists',
    {
      item: closed('filtered'),
      closed: ended('filter', { kind: 'mute', pattern: 'ci.*', by: 'mira' }),
      filter: { ...mute, until: null },
    },
    'muted',
    'Filtered: mira muted ci.* for shop/coder until a person lifts the mute.',
    ["earpiece mute 'ci.*' shop/coder --off", 'earpiece requeue n1'],
  ],
  [
    'filtered by a mute that has ended',
    {
      item: closed('filtered'),
      closed: ended('filter', { kind: 'mute', pattern: '*', by: 'mira' }),
    },
    'muted',
    'Filtered: mira muted * for shop/coder. The mute has ended.',
    ['earpiece requeue n1'],
  ],
  [
    'a setting of a file will filter the notification',
    {
      filter: {
        kind: 'setting',
        key: 'conversation.notifications.kinds.ci.enable',
        value: false,
        file: '/s/earpiece.toml:3',
      },
    },
    'filtered',
    'Filtered: conversation.notifications.kinds.ci.enable = false, set in /s/earpiece.toml:3. The notification will be filtered at the next message.',
    ['earpiece config explain conversation.notifications.kinds.ci.enable'],
  ],
  [
    'filtered by a setting',
    {
      item: closed('filtered'),
      closed: ended('filter', { kind: 'setting', key: 'min_level', value: 'error' }),
    },
    'filtered',
    'Filtered: below min_level error.',
    ['earpiece config explain min_level', 'earpiece requeue n1'],
  ],
  [
    'filtered, by a record that has no cause',
    { item: closed('filtered'), closed: { at: NOW, by: 'filter', reason: 'ci.* is muted by mira' } },
    'filtered',
    'Filtered: ci.* is muted by mira.',
    ['earpiece requeue n1'],
  ],
  [
    'the next message has no room for the notification',
    { decisions: decides({ kind: 'keep', step: 'budget', ...because({ kind: 'max_items', limit: 10 }) }) },
    'budget',
    'Waiting: the next message has no room for the notification (beyond max_items 10). A later message carries the notification.',
    ['earpiece config explain budget.max_items'],
  ],
  [
    'the next message only counts the notification in a summary',
    { decisions: decides({ kind: 'summarize', step: 'budget', ...because({ kind: 'max_tokens', limit: 800 }) }) },
    'budget',
    'Waiting: the next message has no room for the text (beyond max_tokens 800) and only counts the notification in a summary.',
    ['earpiece config explain budget.max_tokens'],
  ],
  [
    'one line shows only some of the messages',
    { decisions: decides({ kind: 'summarize', step: 'coalesce', ...because({ kind: 'line_messages', limit: 4 }) }) },
    'budget',
    'Waiting: the next message has no room for the text (one line shows at most 4 different messages) and only counts the notification in a summary.',
    [],
  ],
  [
    'summarized',
    { item: closed('summarized') },
    'summarized',
    'Counted in a summary: the message at t0 had no room for the text. The agent has not read the text.',
  ],
  [
    'summarized and read',
    { item: closed('summarized', { read: true }), readBy: 'get_notifications' },
    'summarized',
    'Counted in a summary: the message at t0 had no room for the text. The agent has since read the text (get_notifications).',
  ],
  [
    'an interrupt withholds results of calls that were made',
    { n: { level: 'critical' }, item: closed('delivered', { gate: true }), withheld: 2 },
    'gate',
    'The gate of shop/coder is up because of this interrupt; so far 2 tool calls were made and their results are withheld. The interrupt was delivered at t0. The gate goes down when a later call or message proves that the agent has read it.',
  ],
  [
    'a pause refused a call and withholds a result',
    { n: { action: 'pause' }, item: closed('delivered', { gate: true }), refusals: 1, withheld: 1 },
    'gate',
    'The gate of shop/coder is up because of this pause; so far 1 tool call was refused, and 1 tool call was made and its result is withheld. The interrupt was delivered at t0. The gate goes down when a person resumes the agent.',
  ],
  [
    'a delivered interrupt keeps its gate up',
    { n: { level: 'critical' }, item: closed('delivered', { gate: true }), refusals: 3 },
    'gate',
    'The gate of shop/coder is up because of this interrupt; so far 3 tool calls were refused. The interrupt was delivered at t0. The gate goes down when a later call or message proves that the agent has read it.',
    ['mark read', 'earpiece withdraw n1'],
  ],
  [
    'an interrupt keeps its gate up before its delivery',
    { n: { level: 'critical' }, item: { gate: true }, decisions: TAKE, gates: [critical] },
    'gate',
    'The gate of shop/coder is up because of this interrupt; so far 0 tool calls were refused. The gate goes down when the agent has read the interrupt.',
  ],
  [
    'a delivered pause keeps its gate up',
    { n: { action: 'pause' }, item: closed('delivered', { gate: true }), refusals: 1 },
    'gate',
    'The gate of shop/coder is up because of this pause; so far 1 tool call was refused. The interrupt was delivered at t0. The gate goes down when a person resumes the agent.',
    ['earpiece resume shop/coder'],
  ],
  [
    'a delivered pause with an end keeps its gate up',
    { n: { action: 'pause', expiresAt: NOW + MIN }, item: closed('delivered', { gate: true }), refusals: 1 },
    'gate',
    'The gate of shop/coder is up because of this pause; so far 1 tool call was refused. The interrupt was delivered at t0. The gate goes down when a person resumes the agent, at the latest at t1.',
  ],
  [
    'an interrupt waits for an agent that is away',
    {
      n: { level: 'critical' },
      item: { gate: true },
      conversations: [there({ absence: 'silent', lastContactAt: NOW - 40 * MIN })],
    },
    'away',
    'Waiting: shop/coder#main is away. No contact since t-40 (40 min ago).',
  ],
  [
    'another interrupt keeps the gate up',
    { gates: [critical], decisions: TAKE },
    'behind_gate',
    'Waiting: the gate of shop/coder is up because of c1 (“disk full”). The notification is delivered after the agent has read that interrupt.',
    ['earpiece why c1 shop/coder', 'earpiece withdraw c1'],
  ],
  [
    'the moment of the notification has not come',
    {
      n: { deliver: 'turn_end' },
      decisions: decides({ kind: 'keep', step: 'moment', ...because({ kind: 'moment', moment: 'turn_end' }) }),
    },
    'moment',
    'Waiting: the notification arrives at the end of this turn.',
    ['earpiece withdraw n1'],
  ],
  [
    'the notification waits for turns',
    {
      n: { deliver: { afterTurns: 3 } },
      decisions: decides({ kind: 'keep', step: 'moment', ...because({ kind: 'turns', of: 3, begun: 1 }) }),
    },
    'moment',
    'Waiting: the notification arrives after 3 turns (begun so far: 1).',
  ],
  ['due', { decisions: TAKE }, 'due', 'Waiting for the next message to shop/coder#main.', []],
  [
    'due for a conversation that only wrapped tools reach, and that has called no such tool',
    { conversations: [there({ wrappedOnly: true, lastContactAt: NOW - 5 * MIN })], decisions: TAKE },
    'due',
    'Waiting for the next result of a wrapped tool of shop/coder#main. No wrapped tool was called since the notification was queued (1 min ago). Built-in tools carry no notifications.',
    ['earpiece doctor'],
  ],
  [
    'due after an offer without a confirmation',
    { item: { offers: 1 }, decisions: TAKE },
    'due',
    'Waiting for the next message to shop/coder#main. An earlier offer was not confirmed, so the notification will be marked as repeated.',
  ],
  [
    'offered',
    { item: { state: 'offered', until: NOW + MIN, offers: 1 }, rodeOn: { point: 'tool_result', name: 'read_file' } },
    'offered',
    "On the way: the notification was sent to shop/coder#main with the result of read_file, and waits for the client's confirmation, at most until t1.",
  ],
  [
    'delivered',
    { item: closed('delivered', { offers: 1 }), rodeOn: { point: 'tool_result', name: 'read_file' } },
    'delivered',
    'Delivered at t0 with the result of read_file, 1 min after the notification was queued. Nothing proves yet that the agent has read the notification.',
    [],
  ],
  [
    'delivered twice and read',
    {
      item: closed('delivered', { offers: 2, read: true }),
      readBy: 'get_notifications',
      rodeOn: { point: 'turn_start', name: null },
    },
    'delivered',
    'Delivered at t0 with a message to the agent, 1 min after the notification was queued. The notification was sent 2 times, and marked as repeated from the second time on. The agent has read the notification (get_notifications).',
  ],
  [
    'superseded',
    { item: closed('superseded'), closed: ended('supersede', N7) },
    'superseded',
    'Superseded: n7 is newer and replaced the notification.',
    ['earpiece why n7 shop/coder'],
  ],
  [
    'superseded, by a record that has no cause',
    { item: closed('superseded'), closed: { at: NOW, by: 'supersede', reason: 'n7 is newer with key tests' } },
    'superseded',
    'Superseded: n7 is newer with key tests.',
    [],
  ],
  [
    'a newer notification will supersede the notification',
    {
      decisions: decides({ kind: 'close', step: 'supersede', outcome: 'superseded', ...because(N7) }),
    },
    'superseded',
    'Superseded: n7 is newer and replaces the notification.',
  ],
  [
    'expired',
    { item: closed('expired'), n: { expiresAt: NOW - MIN } },
    'expired',
    'Expired at t-1, before a message could carry the notification.',
    ['earpiece requeue n1'],
  ],
  [
    'a delivered pause has expired',
    {
      item: { state: 'closed', outcome: 'delivered', gate: true, closedAt: NOW - 2 * MIN },
      n: { action: 'pause', expiresAt: NOW - MIN },
      gateExpired: NOW - MIN,
      refusals: 3,
    },
    'expired',
    'Expired at t-1, and the gate of shop/coder then went down; before that, 3 tool calls were refused. The interrupt was delivered at t-2.',
    [],
  ],
  [
    'an open notification has expired',
    { n: { expiresAt: NOW - MIN } },
    'expired',
    'Expired at t-1, before a message could carry the notification.',
    [],
  ],
  [
    'withdrawn in time',
    { item: closed('withdrawn'), closed: { at: NOW, by: 'mcp', reason: 'the server is back' } },
    'withdrawn',
    'Withdrawn by mcp at t0: “the server is back”. The agent did not get the notification.',
    ['earpiece requeue n1'],
  ],
  [
    'withdrawn, for a whole project',
    { log: 'shop/*', item: closed('withdrawn'), closed: { at: NOW, by: 'Ann', reason: 'by hand' } },
    'withdrawn',
    'Withdrawn by Ann at t0: “by hand”. Conversations that begin from now on do not get the notification.',
    ['earpiece requeue n1'],
  ],
  [
    'expired, for a whole project',
    { log: 'shop/*', item: closed('expired'), n: { expiresAt: NOW - MIN } },
    'expired',
    'Expired at t-1. Conversations that begin from now on do not get the notification.',
  ],
  [
    'withdrawn by a person',
    { item: closed('withdrawn'), closed: { at: NOW, by: 'browser of Mira', reason: 'by hand' } },
    'withdrawn',
    'Withdrawn by Mira in the console at t0: “by hand”. The agent did not get the notification.',
    ['earpiece requeue n1'],
  ],
  [
    'withdrawn with a reason that imitates Earpiece',
    { item: closed('withdrawn'), closed: { at: NOW, by: 'shop/x at t0. Ann', reason: 'ok”. Read by\nAnn. ❞' } },
    'withdrawn',
    'Withdrawn by “shop/x at t0. Ann” at t0: “ok". Read by Ann. "”. The agent did not get the notification.',
    ['earpiece requeue n1'],
  ],
  [
    'withdrawn after an offer',
    { item: closed('withdrawn', { offers: 1 }), closed: { at: NOW, by: 'mcp', reason: 'the server is back' } },
    'withdrawn',
    'Withdrawn by mcp at t0: “the server is back”. The notification had been sent before: the agent may have seen it.',
  ],
  [
    'known',
    { item: closed('known'), n: { about: 'file:/a.ts' }, closed: { at: NOW, by: 'relevance', reason: 'the agent knows it' } },
    'known',
    'Not needed: the agent already knew file:/a.ts.',
  ],
  [
    'dropped',
    { item: closed('dropped'), closed: { at: NOW, by: 'max_open', reason: 'more than 1000 waited' } },
    'dropped',
    'Dropped at t0: more than 1000 waited.',
  ],
  [
    'left out',
    { item: closed('left_out'), closed: { at: NOW, by: 'provider', reason: 'the provider refused it (400)' } },
    'left_out',
    'Left out at t0: “the provider refused it (400)”. The model can no longer read the notification.',
    ['earpiece requeue n1'],
  ],
  [
    'folded',
    { item: closed('folded', { group: ['n0' as NotificationId] }) },
    'folded',
    'Added to the count of n0, which had the same key and was still open.',
    ['earpiece why n0 shop/coder'],
  ],
  [
    'passed on',
    { passedOn: { to: 'shop/coder#b', at: NOW } },
    'passed_on',
    'Transferred at t0 to shop/coder#b, the conversation that took over when this conversation ended.',
  ],
];

describe('one verdict, in a sentence, with its cure', () => {
  test.for(TABLE)('%s', ([, given, kind, says, cures]) => {
    proves('delivery:verdict');
    expect(told(given)).toEqual({ kind, says, cures: cures ?? expect.anything() });
  });

  it('the table has a row for each kind of verdict', () => {
    expect([...new Set(TABLE.map(([, , kind]) => kind))].toSorted()).toEqual([...VERDICT_KINDS].toSorted());
  });
});

/** Returns the same facts with other words in every reason that has a cause. */
const reworded = ({ decisions = [], closed = null, ...given }: Given): Given => ({
  ...given,
  decisions: decisions.map((each) => ({ ...each, decision: { ...each.decision, reason: OTHER_WORDS } })),
  closed: closed?.cause === undefined ? closed : { ...closed, reason: OTHER_WORDS },
});
const OTHER_WORDS = 'n9 is newer with key max_tokens 77: ci is muted by nobody, waits for 5 turns (begun so far: 4)';

test.for(TABLE)('no verdict, sentence or cure depends on the words of a reason: %s', ([, given]) => {
  expect(told(reworded(given))).toEqual(told(given));
});
