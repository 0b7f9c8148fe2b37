import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { EarpieceError } from '../core/errors.ts';
import { memoryStore } from '../entries/store.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { openEarpiece, type Conversation, type Earpiece } from './index.ts';

let ear: Earpiece;
let coder: Conversation;
let now: number;

beforeEach(async () => {
  now = 1_000_000;
  ear = await openEarpiece({
    db: 'memory:',
    cwd: '/',
    env: { HOME: '/nowhere', EARPIECE_PROJECT: 'shop' },
    clock: { now: () => now },
  });
  coder = ear.conversation('coder');
});
afterEach(async () => {
  await ear.close();
});

/** Returns the error with which a call throws or rejects. */
async function thrown(call: () => unknown): Promise<EarpieceError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof EarpieceError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const loop: Record<string, unknown> = {};
loop['self'] = { loop };

describe('misuse that the compiler does not detect', () => {
  proves('library:misuse');
  type Call = (ear: Earpiece, coder: Conversation) => unknown;
  /** Passes any value, as JavaScript can. */
  const any = (value: unknown): never => value as never;
  const rows: readonly (readonly [string, Call, string])[] = [
    [
      'a misspelt key of a notification',
      (e) => e.queue('coder', any({ message: 'x', levle: 'error' })),
      'queue: "levle" is not a known key; did you mean "level"?',
    ],
    [
      'a misspelt level',
      (e) => e.queue('coder', any({ message: 'x', level: 'eror' })),
      'queue: level must be one of info, warning, error, critical, got "eror"; did you mean "error"?',
    ],
    [
      'a notification without a message',
      (e) => e.queue('coder', any({ level: 'error' })),
      'queue: message is missing; pass a text',
    ],
    [
      'a text instead of a notification',
      (e) => e.queue('coder', any('build failed')),
      'queue: the notification must be an object with id, kind, level, message,',
    ],
    ['a misspelt moment', (e) => e.queue('coder', any({ message: 'x', deliver: 'turn_strat' })), 'did you mean "turn_start"?'],
    [
      'a misspelt key of a moment',
      (e) => e.queue('coder', any({ message: 'x', deliver: { inMS: 5 } })),
      'queue: "deliver.inMS" is not a known key; did you mean "inMs"?',
    ],
    [
      'data that contains itself',
      (e) => e.queue('coder', { message: 'x', data: any(loop) }),
      'queue: data.self.loop contains itself; pass only values that JSON can hold',
    ],
    [
      'data with a function',
      (e) => e.queue('coder', { message: 'x', data: any({ a: [() => 1] }) }),
      'queue: data.a.0 is a function; pass only values that JSON can hold',
    ],
    [
      'data with a bigint',
      (e) => e.queue('coder', { message: 'x', data: any({ n: 1n }) }),
      'queue: data.n is the bigint 1n; pass only values that JSON can hold',
    ],
    [
      'data with a map',
      (e) => e.queue('coder', { message: 'x', data: any({ m: new Map() }) }),
      'queue: data.m is a Map; pass only values that JSON can hold',
    ],
    [
      'data with NaN',
      (e) => e.queue('coder', { message: 'x', data: { n: Number.NaN } }),
      'queue: data.n is NaN; pass only values that JSON can hold',
    ],
    [
      'a name that is not a text',
      (e) => e.queue(any(undefined), { message: 'x' }),
      'queue: the name of the agent must be a text, got undefined',
    ],
    [
      'a misspelt option of opening',
      () => openEarpiece(any({ dbb: 'memory:' })),
      'openEarpiece: "dbb" is not a known key; did you mean "db"?',
    ],
    [
      'a misspelt setting',
      () => openEarpiece({ db: 'memory:', policy: any({ maxItem: 3 }) }),
      'openEarpiece: "policy.maxItem" is not a known key; did you mean "maxItems"?',
    ],
    [
      'an empty name of a database',
      () => openEarpiece({ db: '' }),
      'openEarpiece: db must be a text that is not blank or an open store, got ""',
    ],
    [
      'a number as the database',
      () => openEarpiece({ db: any(5) }),
      'db must be a text that is not blank or an open store, got 5',
    ],
    ['an object that is not a store', () => openEarpiece({ db: any({}) }), 'or an open store, got an object'],
    [
      'a store without two of its methods',
      () => openEarpiece({ db: any(Object.assign(memoryStore(), { forget: undefined, verify: undefined })) }),
      'or an open store, got an object without forget(), verify()',
    ],
    ['a database that is true', () => openEarpiece({ db: any(true) }), 'or an open store, got true'],
    ['a clock without now()', () => openEarpiece({ db: 'memory:', clock: any(5) }), 'clock must be an object with now(), got 5'],
    [
      'subscribers that are a number',
      () => openEarpiece({ db: 'memory:', subscribers: any(5) }),
      'subscribers must be the result of subscriberFolders(), got 5',
    ],
    [
      'a listener that is not a function',
      () => openEarpiece({ db: 'memory:', onProblem: any('yes') }),
      'onProblem must be a function, got "yes"',
    ],
    [
      'a moment in the past',
      (e) => e.queue('coder', { message: 'x', deliver: { inMs: -1 } }),
      'deliver.inMs must be a number that is 0 or more, got -1',
    ],
    [
      'a negative maximum of characters',
      (_, c) => c.offer({ maxChars: -1 }),
      'offer: maxChars must be a number that is 0 or more, got -1',
    ],
    [
      'a tool result without an id',
      (_, c) => c.toolResult({ id: '', content: 'x' }),
      'toolResult: id must be a text that is not blank, got ""',
    ],
    [
      'a refusal of a blank tool',
      (_, c) => c.refuse(''),
      'refuse: the name of the tool must be a text that is not blank, got ""',
    ],
    [
      'a tool result without content',
      (_, c) => c.toolResult(any({ id: 'call_1' })),
      'toolResult: content is missing; pass a text',
    ],
    [
      'a tool result whose content is an object',
      (_, c) => c.toolResult(any({ id: 'call_1', content: { ok: true } })),
      'toolResult: content must be a text, got an object',
    ],
    [
      'a misspelt key of a tool result',
      (_, c) => c.toolResult(any({ id: 'call_1', content: '', is_error: true })),
      'toolResult: "is_error" is not a known key; did you mean "isError"?',
    ],
    [
      'a user message that is not a text',
      (_, c) => c.userMessage(any({ text: 'x' })),
      'userMessage: text must be a text, got an object',
    ],
    ['an unknown contact point', (_, c) => c.offer(any({ at: 'toolresult' })), 'did you mean "tool_result"?'],
    [
      'an unknown contact point of a loop',
      (e) => e.conversation('coder', any({ points: ['tool_results'] })),
      'did you mean "tool_result"?',
    ],
    ['an unknown view', (e) => e.conversation('coder', any({ view: 'makdown' })), 'did you mean "markdown"?'],
    [
      'a refusal without the name of a tool',
      (_, c) => c.refuse(any({ on: 'deploy' })),
      'refuse: the name of the tool must be a text, got an object',
    ],
    ['an unknown receipt', (e) => e.receipt('x', any({ until: 'deliverd' })), 'did you mean "delivered"?'],
    [
      'a signal that is not an AbortSignal',
      (e) => e.receipt('x', any({ until: 'read', signal: 'now' })),
      'receipt: signal must be an AbortSignal, got "now"',
    ],
    [
      'a misspelt record type',
      (e) => e.watch(any({ types: ['system_notification_queud'] })),
      'watch: types: "system_notification_queud" is not a record type; did you mean "system_notification_queued"?',
    ],
    [
      'a record type that is like no other',
      (e) => e.watch(any({ types: ['x'] })),
      'watch: types: "x" is not a record type; the record types are system_notification_queued, system_notification_folded, carrier_offered',
    ],
    ['a list of no record types', (e) => e.watch({ types: [] }), 'watch: types: the list is empty; name a record type'],
    [
      'a record type outside a list',
      (e) => e.watch(any({ types: 'turn_start' })),
      'watch: types must be a list, each a text, got "turn_start"',
    ],
    ['record types that are null', (e) => e.watch(any({ types: null })), 'watch: types must be a list, each a text, got null'],
    ['a number as a record type', (e) => e.watch(any({ types: [1] })), 'watch: types.0 must be a text, got 1'],
    [
      'a negative position',
      (e) => e.watch({ after: -3 }),
      'watch: after must be a whole number that is 0 or more, such as the seq of a record, got -3',
    ],
    ['a position that no record has', (e) => e.watch({ after: Infinity }), 'watch: after must be a whole number'],
    ['half a position', (e) => e.watch({ after: 1.5 }), 'watch: after must be a whole number'],
    [
      'an event without a source',
      (e) => e.events.emit(any({ type: 'build.failed', subject: 'coder' })),
      'emit: source is missing; pass a text',
    ],
    [
      'a misspelt severity',
      (e) => e.events.emit(any({ type: 'a.b', source: 'ci', subject: 'coder', severity: 'warn' })),
      'emit: severity must be one of debug, info, warning, error, critical, got "warn"',
    ],
    [
      'a withdrawal without an id or a key',
      (e) => e.withdraw('coder', any({}), { by: 'me', reason: 'x' }),
      'withdraw: pass either an id or a key, got neither',
    ],
    [
      'a withdrawal with an id and a key',
      (e) => e.withdraw('coder', any({ id: 'n1', key: 'ci' }), { by: 'me', reason: 'x' }),
      'withdraw: pass either an id or a key, got both',
    ],
    [
      'a list of the waiting notifications of a whole project',
      (e) => e.waiting('*'),
      'waiting: shop/* is a whole project; name one agent of the project',
    ],
    [
      'a task with a misspelt priority',
      (e) => e.tasks.create(any({ title: 'x', priority: 'hihg' }), { by: { kind: 'person', name: 'anna' } }),
      'did you mean "high"?',
    ],
  ];

  it.each(rows)('%s is refused', async (_, call, message) => {
    const error = await thrown(() => call(ear, coder));
    expect(error.code).toBe('bad_argument');
    expect(error.message).toContain(message);
  });

  const WAYS = 'write whole milliseconds from 100 to 30000 (100ms to 30s)';
  it.each<readonly [Record<string, unknown>, string]>([
    [{ leaseMs: 'x' }, `leaseMs is "x"; ${WAYS}`],
    [{ leaseMs: -5 }, `leaseMs is -5; ${WAYS}`],
    [{ leaseMs: 60_000 }, `leaseMs is 60000; ${WAYS}`],
    [{ leaseMs: undefined }, 'leaseMs is undefined; leave the key out'],
    [{ minLevel: 'xx' }, 'minLevel is "xx"; write one of info, warning, error, critical'],
    [{ enable: 'no' }, 'enable is "no"; write true or false'],
    [{ kinds: { ci: false } }, 'kinds.ci is false; write {names: {failed: false}}'],
    [{ kinds: { ci: { names: { failed: 'no' } } } }, 'kinds.ci.names.failed is "no"; write true or false'],
    [{ maxItems: -1 }, 'maxItems is -1; write a whole number from 1 to 1000'],
    [{ maxTokens: 'x' }, 'maxTokens is "x"; write a whole number from 50 to 1000000'],
    [{ ttlMs: { info: 5 } }, 'ttlMs.info is 5; write whole milliseconds from 1000 to'],
    [{ ttlMs: { info: null } }, 'ttlMs.warning is undefined; write whole milliseconds'],
    [{ view: 'nope' }, 'view is "nope"; write one of'],
    [{ wakeQuiet: { from: 0, to: 1_440 } }, 'wakeQuiet.to is 1440; write whole minutes since midnight'],
    [{ withheld: { maxBytes: 1_024, keep: 1 } }, 'withheld.keep is not a known key'],
    [{ coalesceMs: { ci: -1 } }, 'coalesceMs.ci is -1; write whole milliseconds'],
    [{ redact: ['('] }, 'redact has "(" as element 1'],
  ])('the setting %j is refused', async (policy, message) => {
    const error = await thrown(() => openEarpiece({ db: 'memory:', policy }));
    expect(error.code).toBe('bad_argument');
    expect(error.message).toContain(`openEarpiece: policy.${message}`);
  });

  it('each default passes as a setting', async () => {
    await using open = await openEarpiece({ db: 'memory:', policy: DEFAULT_POLICY });
    expect(open.project).not.toBe('');
  });

  it('an unknown reason to release is refused, and the lease continues', async () => {
    await ear.queue('coder', { message: 'x' });
    const offer = await coder.offer();
    const error = await thrown(() => offer?.release('canceled' as never));
    expect(error.message).toContain('did you mean "cancelled"?');
    expect(await offer?.confirm()).toBe('confirmed');
  });

  it('a refused notification is not queued', async () => {
    await thrown(() => ear.queue('coder', { message: 'x', data: loop as never }));
    expect(await ear.waiting('coder')).toEqual([]);
  });

  it('data that JSON can hold passes: a date, a key without a value, the same object twice', async () => {
    const same = { a: 1 };
    await ear.queue('coder', { message: 'x', data: { when: new Date(0), none: undefined, one: same, two: same } as never });
    expect((await ear.waiting('coder'))[0]?.notification.data).toEqual({
      when: '1970-01-01T00:00:00.000Z',
      one: same,
      two: same,
    });
  });
});

describe('names', () => {
  it("a bare name is an agent of this folder's project", async () => {
    const { id, to } = await ear.queue('coder', { message: 'x', key: 'k' });
    expect(to).toEqual(['shop/coder']);
    expect(coder.address).toBe('shop/coder#main');
    expect(await ear.waiting('coder')).toHaveLength(1);
    expect((await ear.why(id, { of: 'coder' }))?.log).toBe('shop/coder');
    expect(await ear.receipt(id, { of: 'coder' })).toMatchObject({ receipt: 'queued' });
    expect(await ear.withdraw('coder', { key: 'k' }, { by: 'me', reason: 'over' })).toMatchObject([{ result: 'withdrawn' }]);
    const { event } = await ear.events.emit({ type: 'build.failed', source: 'ci', subject: 'coder' });
    expect(event.subject).toBe('shop/coder');
  });

  it('a full address may name another project, and #… names one conversation', async () => {
    expect((await ear.queue('farm/coder', { message: 'x' })).to).toEqual(['farm/coder']);
    expect(ear.conversation('coder#c1').address).toBe('shop/coder#c1');
  });
});

describe('a loop', () => {
  it('finds each notification in exactly one message', async () => {
    await ear.queue('coder', { message: 'The build failed', level: 'error', kind: 'ci.failed' });
    const first = await coder.toolResult({ id: 'call_1', content: 'written' });
    expect(first.text).toMatch(/^written\n\n\[ep \w{4}\][^]+The build failed/u);
    expect(first.ids).toHaveLength(1);
    expect(await coder.toolResult({ id: 'call_2', content: 'read' })).toMatchObject({ text: 'read', view: undefined, ids: [] });
    await ear.queue('coder', { message: 'Deploys are frozen', deliver: 'turn_start' });
    expect((await coder.toolResult({ id: 'call_3', content: 'read' })).text).toBe('read');
    expect((await coder.userMessage('Go on')).text).toContain('Deploys are frozen');
  });

  it('notifications for the next request arrive with the next tool result of the same turn', async () => {
    proves('plan:moment');
    await coder.userMessage('build it');
    await ear.queue('coder', { message: 'for the next request', deliver: 'next_cycle' });
    await ear.queue('coder', { message: 'for the next turn', deliver: 'turn_start' });
    expect(await coder.refuse('build')).toBeUndefined();
    const { text } = await coder.toolResult({ id: 'c1', content: 'built' });
    await coder.batchEnded();
    expect(text).toContain('for the next request');
    expect(text).not.toContain('for the next turn');
    expect((await coder.userMessage('go on')).text).toContain('for the next turn');
  });

  it('a newer state replaces an interrupt when the newer state is due, and not if it ends before', async () => {
    proves('plan:supersede', 'gate:superseded');
    const state = { key: 'prod', supersede: true } as const;
    const later = {
      ...state,
      id: 'later',
      message: 'prod was up',
      deliver: { at: now + 60_000 },
      ttlMs: 1,
    } as const;
    await ear.queue('coder', { ...state, message: 'PROD DOWN', level: 'critical' });
    await ear.queue('coder', later);
    await (await coder.offer({ at: 'tool_result', maxChars: 1 }))?.confirm();
    now += 60_001;
    expect((await coder.refuse('deploy'))?.text).toContain('PROD DOWN');
    await ear.queue('coder', {
      ...later,
      id: 'test',
      key: 'test',
      message: 'test failed',
      ttlMs: 60_000,
      deliver: 'next',
    });
    await ear.queue('coder', {
      ...later,
      id: 'fixed',
      key: 'test',
      message: 'test passed',
      ttlMs: 60_000,
      deliver: { at: now + 1 },
    });
    now += 1;
    const text = (await coder.offer({ at: 'tool_result' }))?.text;
    expect(text).toContain('test passed');
    expect(text).not.toContain('test failed');
  });

  it('an offer is leased until it is settled', async () => {
    const { id } = await ear.queue('coder', { message: 'x' });
    const first = await coder.offer();
    expect(await coder.offer()).toBeUndefined();
    await first?.release();
    const second = await coder.offer({ at: 'turn_start' });
    expect(second).toMatchObject({ ids: [id], repeated: true });
    expect(await second?.confirm()).toBe('confirmed');
    expect(await coder.offer()).toBeUndefined();
  });

  it('an offer is settled once: repeating the call returns the same result, and the opposite call throws', async () => {
    await ear.queue('coder', { message: 'x' });
    const late = await coder.offer();
    now += 60_000;
    const taken = await coder.offer();
    await taken?.confirm();
    expect([await late?.confirm(), await late?.confirm()]).toEqual(['late', 'late']);
    expect(await taken?.confirm()).toBe('confirmed');
    expect((await thrown(() => taken?.release())).message).toBe(
      'release: this offer was already confirmed; settle each offer once',
    );
    await ear.queue('coder', { message: 'y' });
    const left = await coder.notifications();
    await left.release();
    await left.release();
    expect((await thrown(() => left.confirm())).code).toBe('bad_argument');
  });

  it('after close, each call fails with an error that says so', async () => {
    await ear.close();
    const event = { type: 'build.failed', source: 'ci', subject: 'coder' };
    const calls: readonly (() => unknown)[] = [
      () => ear.queue('coder', { message: 'x' }),
      () => ear.waiting('coder'),
      () => ear.events.emit(event),
      () => ear.tasks.list(),
      () => coder.toolResult({ id: 'call_1', content: 'x' }),
      () => coder.preview(),
    ];
    for (const call of calls)
      expect(await thrown(call)).toMatchObject({
        code: 'store_unavailable',
        message: 'this Earpiece is closed: call openEarpiece() again',
        retryable: false,
      });
  });

  it('pulled notifications count as read when the answer is sent', async () => {
    const { id } = await ear.queue('coder', { message: 'x' });
    const pulled = await coder.notifications();
    expect(pulled.notifications.map(({ message }) => message)).toEqual(['x']);
    await pulled.release();
    expect(await ear.receipt(id)).toMatchObject({ receipt: 'offered' });
    await (await coder.notifications()).confirm();
    expect(await ear.receipt(id)).toMatchObject({ receipt: 'read' });
  });

  it('at its end, unread notifications go to the next conversation of the agent', async () => {
    const one = ear.conversation('coder#one');
    await one.toolResult({ id: 'call_1', content: 'x' });
    await ear.queue('coder#one', { message: 'left over' });
    await one.end();
    expect((await ear.conversation('coder#two').userMessage('Go on')).text).toContain('left over');
  });
});

describe('the gate of a loop that does not report its model requests', () => {
  proves('library:gate');
  const stop = (): Promise<unknown> => ear.queue('coder', { message: 'Stop deploying', level: 'critical' });
  /** Returns whether each of eight calls ran. `between` runs after each call. */
  const eight = async (between: () => unknown): Promise<readonly boolean[]> => {
    const ran: boolean[] = [];
    for (let call = 0; call < 8; call++) {
      ran.push((await coder.refuse('deploy')) === undefined);
      await between();
    }
    return ran;
  };
  const ONE_REFUSED = [false, ...Array.from({ length: 7 }, () => true)];

  it('the gate goes down with the next user message', async () => {
    await stop();
    expect((await coder.refuse('deploy'))?.text).toContain('Stop deploying');
    expect((await coder.userMessage('Why?')).text).toBe('Why?');
    expect(await coder.refuse('deploy')).toBeUndefined();
  });

  it('the gate goes down at the end of a batch, after one of eight calls was refused', async () => {
    await stop();
    expect(await eight(() => coder.batchEnded())).toEqual(ONE_REFUSED);
  });

  it('the gate goes down 1 s after a refusal, so that one of eight calls is refused', async () => {
    await stop();
    expect(await eight(() => (now += 1_000))).toEqual(ONE_REFUSED);
  });

  it('the gate stays up within a batch, whose calls are all refused with one text', async () => {
    await stop();
    const refused = [await coder.refuse('write'), await coder.refuse('deploy'), await coder.refuse('write')];
    expect(new Set(refused.map((each) => each?.text)).size).toBe(1);
    expect(refused.map((each) => each?.repeated)).toEqual([false, true, true]);
    now += 999;
    expect(await coder.refuse('write')).toBeDefined();
  });

  it('the end of a batch does not mark an interrupt as read if no call was refused', async () => {
    await stop();
    await coder.batchEnded();
    expect(await coder.refuse('deploy')).toBeDefined();
  });

  it('the gate stays up for a pause, which only a person lifts', async () => {
    await ear.queue('coder', { message: 'Wait for my review', action: 'pause', origin: { person: 'anna' } });
    expect(await eight(() => coder.batchEnded())).toEqual(Array.from({ length: 8 }, () => false));
    expect(await ear.resume('coder', { person: 'anna' })).toHaveLength(1);
    expect(await coder.refuse('deploy')).toBeUndefined();
  });
});

it('texts for the model contain no command if only this program can open the store', async () => {
  await using small = await openEarpiece({ db: 'memory:', cwd: '/', env: { HOME: '/nowhere' }, policy: { maxItems: 1 } });
  for (const kind of ['ci.failed', 'git.moved']) await small.queue('coder', { message: 'x '.repeat(3_000), kind });
  const talk = small.conversation('coder');
  const { text } = await talk.toolResult({ id: 'c1', content: 'ok' });
  expect(text).toContain('1 more: 1 git (info)');
  await small.queue('coder', { message: 'wait', action: 'pause', origin: { person: 'ada' } });
  const refusal = await talk.refuse('deploy');
  expect(refusal?.text).toContain('Calls are made again only after a person lifts the pause.');
  expect(text + refusal?.text).not.toContain('earpiece ');
});

describe('receipt', () => {
  proves('library:receipt');
  it('is returned at once', async () => {
    const { id } = await ear.queue('coder', { message: 'x' });
    expect(await ear.receipt(id)).toEqual({ receipt: 'queued', reached: false, settled: false });
  });

  it('waits for the wanted receipt', async () => {
    const { id } = await ear.queue('coder', { message: 'x' });
    const waiting = ear.receipt(id, { until: 'delivered', withinMs: 20_000 });
    await coder.toolResult({ id: 'call_1', content: 'x' });
    expect(await waiting).toEqual({ receipt: 'delivered', reached: true, settled: true });
  });

  it('does not wait for a notification that has ended', async () => {
    const { id } = await ear.queue('coder', { message: 'x' });
    await ear.withdraw('coder', { id }, { by: 'me', reason: 'over' });
    expect(await ear.receipt(id, { until: 'read' })).toEqual({ receipt: 'withdrawn', reached: false, settled: true });
  });

  it('a summary ends a wait for delivery, but not a wait for reading', async () => {
    await using small = await openEarpiece({ db: 'memory:', cwd: '/', env: { HOME: '/nowhere' }, policy: { maxItems: 1 } });
    const queued = [];
    for (const source of ['a', 'b', 'c']) queued.push(await small.queue('coder', { message: source, kind: `${source}.x` }));
    await small.conversation('coder').toolResult({ id: 'call_1', content: 'x' });
    const states = await Promise.all(queued.map(({ id }) => small.receipt(id, { until: 'delivered' })));
    expect(states).toContainEqual({ receipt: 'summarized', reached: false, settled: true });
    const counted = queued[states.findIndex(({ receipt }) => receipt === 'summarized')]?.id ?? '';
    expect(await small.receipt(counted, { until: 'read', withinMs: 5 })).toMatchObject({ settled: false });
    await (await small.conversation('coder').notifications()).confirm();
    expect(await small.receipt(counted, { until: 'read' })).toMatchObject({ receipt: 'read', reached: true });
  });

  it('ends the wait after the time limit', async () => {
    const { id } = await ear.queue('coder', { message: 'x' });
    expect(await ear.receipt(id, { until: 'delivered', withinMs: 5 })).toEqual({
      receipt: 'queued',
      reached: false,
      settled: false,
    });
  });

  it('rejects with the reason of its signal', async () => {
    const { id } = await ear.queue('coder', { message: 'x' });
    const abort = new AbortController();
    const waiting = ear.receipt(id, { until: 'delivered', signal: abort.signal });
    abort.abort(new Error('the program ends'));
    await expect(waiting).rejects.toThrow('the program ends');
  });

  it('a merged notification has the receipt of the notification that counts it', async () => {
    await ear.queue('coder', { message: 'x', key: 'k' });
    const { id, kind } = await ear.queue('coder', { message: 'y', key: 'k' });
    expect(kind).toBe('folded');
    await coder.toolResult({ id: 'call_1', content: 'x' });
    expect(await ear.receipt(id, { until: 'delivered' })).toMatchObject({ receipt: 'delivered' });
  });

  it('an unknown id is refused with not_found', async () => {
    await expect(ear.receipt('nope')).rejects.toMatchObject({ code: 'not_found' });
  });
});

it('events, tasks and mutes belong to the project of the folder', async () => {
  const by = { kind: 'person', name: 'anna' } as const;
  const { id } = await ear.tasks.create({ title: 'Mend the build', assignee: 'coder' }, { by });
  expect(await ear.tasks.get(id)).toMatchObject({ project: 'shop', assignee: 'coder' });
  expect((await ear.tasks.move(id, 'cancelled', { by })).status).toBe('cancelled');
  expect(ear.events.subscribers().subscribers.map((each) => each.id)).toContain('alert');
  expect(await ear.events.toggle('alert', { on: false, by: 'anna' })).toBe(true);
  await ear.mute('coder', 'ci.*', { by: 'anna', forMs: 60_000 });
  await ear.queue('coder', { message: 'x', kind: 'ci.failed' });
  expect((await coder.toolResult({ id: 'call_1', content: 'x' })).text).toBe('x');
  expect((await ear.active()).map(({ address }) => address)).toEqual(['shop/coder#main']);
});

it('a result or a message without content is only its notifications', async () => {
  await ear.queue('coder', { message: 'CI failed' });
  const result = await coder.toolResult({ id: 'call_1', content: '' });
  expect([result.text, result.text.includes('CI failed')]).toEqual([result.view, true]);
  await ear.queue('coder', { message: 'CI passed' });
  const message = await coder.userMessage('');
  expect([message.text, message.text.includes('CI passed')]).toEqual([message.view, true]);
});

it('a notification that waits for no turns is refused, and the error names the number', async () => {
  await expect(ear.queue('coder', { message: 'x', deliver: { afterTurns: 0 } })).rejects.toThrow(
    'deliver.afterTurns 0: must be a whole number of turns of at least 1',
  );
});
