import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { proves, verifies } from '../../e2e/verifies.ts';
import { defined } from '../core/defined.ts';
import type { EventInput } from '../core/event.ts';
import type { LineRenderer } from '../core/ports.ts';
import { DEFAULT_POLICY, type Policy } from '../core/policy.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { createBus, type Bus, type BusDeps } from './bus.ts';
import type { Subscriber, SubscriberSet } from './subscriber.ts';

const AGENT = 'shop/claude';
let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

type Fields = {
  readonly [room in 'events' | 'batching' | 'output']?: Partial<Subscriber[room]>;
} & Pick<Partial<Subscriber>, 'id' | 'withdraw' | 'condition'>;

function subscriber({ id = 'tool_failure', events, batching, output, ...rest }: Fields = {}): Subscriber {
  return {
    id,
    name: id,
    description: '',
    version: '1.0.0',
    events: { types: ['tool.call.failure'], severityFilter: 'info', ...events },
    batching: { windowMs: 2_000, maxSize: 10, dedupeWindowMs: 0, dedupeKey: ['type', 'payload.tool_name'], ...batching },
    output: { priority: 'normal', injectAt: 'immediate', core: false, supersede: false, ...output },
    from: { folder: 'program', file: 'test' },
    ...rest,
  };
}

/** Makes a bus on an in-memory store, with functions that read the lines of an agent at a contact point. */
function stage(
  subscribers: readonly Subscriber[],
  options: Partial<BusDeps> & { lines?: LineRenderer; policy?: Partial<Policy> } = {},
) {
  const clock = { now: Date.now() };
  const store = memoryStore({ clock: { now: () => clock.now } });
  const { lines, policy, ...deps } = options;
  const policies = { policy: () => ({ ...DEFAULT_POLICY, ...policy }) };
  const inbox = new Inbox({ store, policies, timeZone: 'UTC', ...(lines ? { lines } : {}) });
  let set: SubscriberSet = { subscribers, problems: [] };
  const bus = createBus({ inbox, subscribers: { of: () => set }, ...deps });
  closing.push(async () => {
    await bus.close();
    await inbox.close();
  });
  const conversation = inbox.conversation(`${AGENT}#a`);
  return {
    bus,
    inbox,
    clock,
    use: (next: readonly Subscriber[]) => (set = { subscribers: next, problems: [] }),
    /** Returns the lines that an agent reads at this contact point, without the frame. */
    read: async (at: 'tool_batch_end' | 'turn_start' | 'turn_end' = 'tool_batch_end'): Promise<string[]> => {
      const carried = await conversation.carry({ type: 'tool_call_response', id: 'c', content: 'ok', is_error: false }, { at });
      return carried.view?.items.map((item) => item.text) ?? [];
    },
    /** Returns the whole view, with its frame. */
    view: async (): Promise<string> => {
      const carried = await conversation.carry(
        { type: 'tool_call_response', id: 'c', content: 'ok', is_error: false },
        { at: 'tool_batch_end' },
      );
      return carried.view?.text ?? '';
    },
    open: () => inbox.open(AGENT),
    /** Makes a second bus on the same store, as in a new process. */
    another: (): Bus => {
      const other = createBus({ inbox, subscribers: { of: () => set }, ...deps });
      closing.unshift(() => other.close());
      return other;
    },
  };
}

const failure = (tool: string, message: string, more: Partial<EventInput> = {}): EventInput => ({
  type: 'tool.call.failure',
  source: 'agent',
  subject: AGENT,
  severity: 'error',
  message: `\`${tool}\` failed: ${message}`,
  data: { tool_name: tool, error_message: message },
  ...more,
});

const emitAll = (bus: Bus, events: readonly EventInput[]) => Promise.all(events.map((event) => bus.emit(event)));

describe('counting without loss', () => {
  proves('bus:counts');

  it('US1(a): one failure is in the next carrier', async () => {
    const { bus, read } = stage([subscriber()]);
    await bus.emit(failure('vault_search', 'timeout'));
    expect((await read()).join('\n')).toContain('`vault_search` failed: timeout');
  });

  verifies('bus:window', 'US1(b): several failures are one line with all details', async () => {
    const { bus, read, clock } = stage([subscriber()]);
    await bus.emit(failure('vault_search', 'timeout'));
    clock.now += 2_000;
    await bus.emit(failure('read', 'no such file'));
    clock.now += 2_000;
    await bus.emit(failure('write', 'disk full'));
    const lines = await read();
    expect(lines).toHaveLength(1);
    for (const detail of ['timeout', 'no such file', 'disk full']) expect(lines[0]).toContain(detail);
  });

  it('US1(c): three identical failures are counted, not dropped', async () => {
    const { bus, read } = stage([subscriber()]);
    await emitAll(
      bus,
      [1, 2, 3].map(() => failure('vault_search', 'timeout')),
    );
    expect(await read()).toEqual([expect.stringMatching(/`vault_search` failed.*3 times.*timeout|timeout 3 times/s)]);
  });

  it('different details of one key within the fold window are all kept', async () => {
    const { bus, read } = stage([subscriber()]);
    await emitAll(
      bus,
      ['timeout', 'refused', 'timeout', 'no route'].map((why) => failure('fetch', why)),
    );
    const [line] = await read();
    for (const detail of ['timeout', 'refused', 'no route']) expect(line).toContain(detail);
    expect(line).toContain('4 times');
  });

  it('equal events for another purpose, at another moment or from another sender are counted separately', async () => {
    const { bus, open, clock } = stage([subscriber()], { foldMs: 60_000 });
    const others: readonly Partial<EventInput>[] = [
      { purpose: 'review' },
      { origin: { person: 'Ann' } },
      { deliver: { at: clock.now + 60_000 } },
    ];
    const emitted = emitAll(
      bus,
      [{}, ...others, {}].map((more) => failure('fetch', 'timeout', more)),
    );
    await bus.flush();
    await emitted;
    const read = (await open()).map(({ count, notification: { purpose, origin, deliver } }) => ({
      count,
      ...defined({ purpose, person: origin?.person, at: typeof deliver === 'object' ? deliver : undefined }),
    }));
    expect(read).toEqual([
      { count: 2 },
      { count: 1, purpose: 'review' },
      { count: 1, person: 'Ann' },
      { count: 1, at: others[2]?.deliver },
    ]);
  });

  it('a carrier that is composed during the fold window includes the events that are held back', async () => {
    const { bus, read, inbox } = stage([subscriber()], { foldMs: 60_000 });
    const first = bus.emit(failure('fetch', 'timeout'));
    const second = bus.emit(failure('fetch', 'timeout'));
    await first;
    expect(inbox.unwritten).toBe(true);
    expect(inbox.conversation(`${AGENT}#a`).quiet()).toBe(false);
    expect((await read()).join()).toContain('2 times');
    expect((await second).heard).toEqual([expect.objectContaining({ kind: 'folded' })]);
  });

  it('FR-010, FR-015: notifications of one subscriber are grouped up to its max_size', async () => {
    const { bus, read } = stage([subscriber({ batching: { maxSize: 3 } })]);
    await emitAll(
      bus,
      ['a', 'b', 'c', 'd'].map((tool) => failure(tool, 'boom')),
    );
    const lines = await read();
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('`d`');
  });

  it('FR-021: equally urgent lines are sorted oldest first', async () => {
    const { bus, read, clock } = stage([subscriber({ batching: { windowMs: 0 } })]);
    for (const tool of ['first', 'second', 'third']) {
      await bus.emit(failure(tool, 'boom'));
      clock.now += 10;
    }
    await bus.emit(failure('later', 'but less', { severity: 'warning' }));
    expect((await read()).map((line) => /`(\w+)`/.exec(line)?.[1])).toEqual(['first', 'second', 'third', 'later']);
  });

  it('FR-020: the history keeps the delivered text', async () => {
    const { bus, read, inbox } = stage([subscriber()]);
    await bus.emit(failure('fetch', 'timeout'));
    const [told = ''] = await read();
    const records = await inbox.store.read({ types: ['tool_call_response'] });
    expect(JSON.stringify(records.map(({ body }) => body))).toContain(JSON.stringify(told).slice(1, -1));
  });

  it('without a window each event gets a separate line', async () => {
    const { bus, read } = stage([subscriber({ batching: { windowMs: 0, maxSize: 1 } })]);
    await emitAll(
      bus,
      ['a', 'b'].map((tool) => failure(tool, 'boom')),
    );
    expect(await read()).toHaveLength(2);
  });

  it('FR-019: a second emit of an event is skipped, and the count of the notification stays 1', async () => {
    const { bus, open } = stage([subscriber()]);
    const event = failure('fetch', 'timeout', { id: 'e1' });
    expect((await bus.emit(event)).heard).toEqual([expect.objectContaining({ kind: 'queued' })]);
    expect((await bus.emit(event)).heard).toEqual([expect.objectContaining({ kind: 'skipped' })]);
    expect((await open()).map((item) => item.count)).toEqual([1]);
  });
});

describe('within the dedupe window', () => {
  it('FR-011, FR-016: a repetition of a delivered event is queued with its count when the window ends', async () => {
    const { bus, read, clock } = stage([subscriber({ batching: { dedupeWindowMs: 5_000 } })], { foldMs: 0 });
    await bus.emit(failure('fetch', 'timeout'));
    expect(await read()).toHaveLength(1);
    for (let i = 0; i < 2; i++) {
      clock.now += 1_000;
      await bus.emit(failure('fetch', 'timeout'));
    }
    expect(await read()).toEqual([]);
    clock.now += 4_000;
    expect((await read()).join()).toContain('2 times');
  });

  it('calls with different ids that fail in the same way are repetitions', async () => {
    const { bus, read } = stage([subscriber({ batching: { dedupeWindowMs: 5_000 } })], { foldMs: 0 });
    const failed = (id: string) => failure('fetch', 'timeout', { data: { tool_name: 'fetch', call_id: id } });
    await bus.emit(failed('call_1'));
    expect(await read()).toHaveLength(1);
    await bus.emit(failed('call_2'));
    expect(await read()).toEqual([]);
  });

  it('a repetition is also recognized without a message', async () => {
    const { bus, read } = stage([subscriber({ batching: { dedupeWindowMs: 5_000 } })], { foldMs: 0 });
    const wordless = (id: string): EventInput => ({
      type: 'tool.call.failure',
      source: 'agent',
      subject: AGENT,
      data: { tool_name: 'fetch', call_id: id },
    });
    await bus.emit(wordless('call_1'));
    expect(await read()).toHaveLength(1);
    await bus.emit(wordless('call_2'));
    expect(await read()).toEqual([]);
  });

  it('an event without a message gets a text without the details that differ between calls', async () => {
    const { bus, open } = stage([subscriber()]);
    const data = { call_id: 'c1', tool_name: 'fetch', duration_ms: 3, error_type: 'timeout', retry_count: 0, more: { a: 1 } };
    await bus.emit({ type: 'tool.call.failure', source: 'agent', subject: AGENT, data });
    expect((await open())[0]?.notification.message).toBe('tool.call.failure (tool_name: fetch, error_type: timeout, 1 more)');
  });

  it('an event with other details is queued at once', async () => {
    const { bus, read, clock } = stage([subscriber({ batching: { dedupeWindowMs: 5_000 } })], { foldMs: 0 });
    await bus.emit(failure('fetch', 'timeout'));
    await read();
    clock.now += 1_000;
    await bus.emit(failure('fetch', 'refused'));
    expect((await read()).join()).toContain('refused');
  });

  it('an equal event for another purpose is queued at once', async () => {
    const { bus, open } = stage([subscriber({ batching: { dedupeWindowMs: 5_000 } })], { foldMs: 0 });
    for (const purpose of ['review', 'task', 'task']) await bus.emit(failure('fetch', 'timeout', { purpose }));
    expect((await open()).map(({ count, notification: { deliver } }) => [count, deliver])).toEqual([
      [1, 'now'],
      [2, 'now'],
    ]);
  });

  it('an event with other details is queued at once too while a repetition waits, and counts further repetitions', async () => {
    const { bus, read, open, clock } = stage([subscriber({ batching: { dedupeWindowMs: 5_000 } })], { foldMs: 0 });
    await bus.emit(failure('fetch', 'timeout'));
    await read();
    await bus.emit(failure('fetch', 'timeout'));
    await bus.emit(failure('fetch', 'refused'));
    await bus.emit(failure('fetch', 'timeout'));
    expect((await open()).map(({ count }) => count)).toEqual([1, 2]);
    const [line] = await read();
    for (const detail of ['refused', 'timeout']) expect(line).toContain(detail);
    clock.now += 5_000;
    expect(await read()).toHaveLength(1);
  });

  it('a repetition of an event that waits for its own moment waits for that moment too', async () => {
    const { bus, read, open, clock } = stage([subscriber({ batching: { dedupeWindowMs: 5_000 } })], { foldMs: 0 });
    const later = { at: clock.now + 60_000 };
    await bus.emit(failure('fetch', 'timeout', { deliver: later }));
    await bus.emit(failure('fetch', 'timeout', { deliver: later }));
    expect((await open()).map(({ count, notification }) => [count, notification.deliver])).toEqual([[2, later]]);
    clock.now += 5_000;
    expect(await read()).toEqual([]);
  });

  it('a critical event interrupts once, and its repetition does not', async () => {
    const loop = subscriber({
      id: 'loop',
      events: { types: ['agent.loop.detected'] },
      batching: { windowMs: 0, maxSize: 1, dedupeKey: ['type', 'payload.pattern'], dedupeWindowMs: 30_000 },
      output: { priority: 'critical' },
    });
    const { bus, open, clock } = stage([loop]);
    const event: EventInput = { type: 'agent.loop.detected', source: 'agent', subject: AGENT, data: { pattern: 'read' } };
    await bus.emit(event);
    clock.now += 1_000;
    await bus.emit(event);
    expect((await open()).map((item) => item.notification.level)).toEqual(['critical', 'error']);
  });
});

describe('within the dedupe window of an event that another process queued', () => {
  proves('bus:repeats');

  const once = { batching: { dedupeWindowMs: 5_000 } };

  it('a repetition from any process is queued with its count when the window ends', async () => {
    const { bus, another, read, clock } = stage([subscriber(once)], { foldMs: 0 });
    await bus.emit(failure('fetch', 'timeout'));
    expect(await read()).toHaveLength(1);
    for (let i = 0; i < 3; i++) {
      clock.now += 1_000;
      await another().emit(
        failure('fetch', 'timeout', { data: { tool_name: 'fetch', error_message: 'timeout', call_id: `c${i}` } }),
      );
    }
    expect(await read()).toEqual([]);
    clock.now += 2_000;
    expect((await read()).join()).toContain('3 times');
    await another().emit(failure('fetch', 'timeout'));
    expect(await read(), 'as in one process, the first event after the window is delivered at once').toHaveLength(1);
  });

  it('a process that started earlier recognizes the repetition too', async () => {
    const { bus, another, read, clock } = stage([subscriber(once)], { foldMs: 0 });
    await bus.emit(failure('fetch', 'refused'));
    await another().emit(failure('fetch', 'timeout'));
    await read();
    clock.now += 1_000;
    await bus.emit(failure('fetch', 'timeout'));
    expect(await read()).toEqual([]);
  });

  it('a repetition is recognized even if the first event is only offered, and waits for the end of the window', async () => {
    const { bus, another, inbox, read, clock } = stage([subscriber(once)], { foldMs: 0 });
    await bus.emit(failure('fetch', 'timeout'));
    const offer = await inbox.conversation(`${AGENT}#a`).offer({ at: 'tool_batch_end' });
    await another().emit(failure('fetch', 'timeout'));
    await offer?.confirm();
    expect(await read()).toEqual([]);
    clock.now += 5_000;
    expect(await read()).toHaveLength(1);
  });

  it('a critical event interrupts once', async () => {
    const { bus, another, open, read } = stage([subscriber({ ...once, output: { priority: 'critical' } })]);
    await bus.emit(failure('fetch', 'timeout'));
    await read();
    await another().emit(failure('fetch', 'timeout'));
    expect((await open()).map((item) => item.notification.level)).toEqual(['error']);
  });

  it('events with other details, keys, subjects or subscribers are queued at once', async () => {
    const { bus, another, read, open } = stage(
      [subscriber(once), subscriber({ id: 'second', events: { types: ['tool.call.timeout'] }, ...once })],
      { foldMs: 0 },
    );
    await bus.emit(failure('fetch', 'timeout'));
    await bus.emit(failure('fetch', 'timeout', { subject: `${AGENT}#b` }));
    await read();
    await another().emit(failure('fetch', 'refused'));
    await another().emit(failure('read', 'timeout'));
    await another().emit(failure('fetch', 'timeout', { type: 'tool.call.timeout', key: 'tool_failure:tool.call.failure:fetch' }));
    await another().emit(failure('fetch', 'timeout', { subject: `${AGENT}#c` }));
    expect((await open()).map((item) => item.notification.deliver)).toEqual(['now', 'now', 'now', 'now', 'now']);
  });

  it('a withdrawn event is queued again when it returns', async () => {
    const { bus, another, read } = stage([subscriber({ ...once, withdraw: { types: ['tool.call.success'] } })], { foldMs: 0 });
    const keyed = (type: string) => failure('fetch', 'timeout', { type, key: 'k' });
    await bus.emit(keyed('tool.call.failure'));
    await another().emit(keyed('tool.call.success'));
    await another().emit(keyed('tool.call.failure'));
    expect(await read()).toHaveLength(1);
    const other = another();
    await other.emit(keyed('tool.call.failure'));
    await other.emit(keyed('tool.call.success'));
    await other.emit(keyed('tool.call.failure'));
    expect(await read()).toHaveLength(1);
  });

  it('with supersede, a state that returns after another state is delivered at once, in one process and in several', async () => {
    const { bus, another, read } = stage([subscriber({ ...once, output: { supersede: true } })], { foldMs: 0 });
    const states = ['red', 'green', 'red'];
    for (const state of states) {
      await bus.emit(failure('build', state));
      expect((await read()).join()).toContain(state);
    }
    for (const state of ['green', 'red']) {
      await another().emit(failure('build', state));
      expect((await read()).join()).toContain(state);
    }
    await another().emit(failure('build', 'red'));
    expect(await read()).toEqual([]);
  });

  it('with supersede, a state that repeats before its delivery is delivered at once and only once, in one process and in several', async () => {
    const { bus, another, read, clock } = stage([subscriber({ ...once, output: { supersede: true } })], { foldMs: 0 });
    await bus.emit(failure('build', 'red'));
    clock.now += 1_000;
    await bus.emit(failure('build', 'red'));
    await another().emit(failure('build', 'red'));
    expect((await read()).join()).toContain('red');
    clock.now += 5_000;
    expect((await read()).join()).not.toContain('2 times');
  });

  it('a repetition with redacted details is recognized', async () => {
    const { bus, another, read } = stage([subscriber(once)], { foldMs: 0, policy: { redact: ['secret-\\w+'] } });
    await bus.emit(failure('fetch', 'refused for secret-abc'));
    expect((await read()).join()).toContain('refused for [redacted]');
    await another().emit(failure('fetch', 'refused for secret-abc'));
    expect(await read()).toEqual([]);
  });

  it('a process reads the log only for details that it has not queued itself, and reads all such details together', async () => {
    const { bus, inbox, another, read } = stage([subscriber(once)], { foldMs: 60_000 });
    const asked = vi.spyOn(inbox.store, 'items');
    const looks = (): number => asked.mock.calls.filter(([, query]) => query.kind === 'latest').length;
    for (let i = 0; i < 50; i++) void bus.emit(failure(`t${i % 5}`, 'timeout'));
    await bus.flush();
    expect(looks()).toBe(1);
    await read();
    const other = another();
    for (let i = 0; i < 50; i++) void other.emit(failure(`t${i % 5}`, 'timeout'));
    await other.flush();
    expect(looks()).toBe(2);
    expect(await read()).toEqual([]);
  });

  it('an unreadable log delays no event', async () => {
    const { inbox, another, read } = stage([subscriber(once)]);
    const items = inbox.store.items.bind(inbox.store);
    vi.spyOn(inbox.store, 'items').mockImplementation((log, query, wait) =>
      query.kind === 'latest' ? Promise.reject(new Error('busy')) : items(log, query, wait),
    );
    await another().emit(failure('fetch', 'timeout'));
    expect(await read()).toHaveLength(1);
  });
});

describe('filters and scopes', () => {
  it('FR-008: below the severity filter nothing is queued', async () => {
    const { bus, open } = stage([subscriber({ events: { severityFilter: 'error' } })]);
    expect((await bus.emit(failure('a', 'b', { severity: 'debug' }))).heard).toEqual([
      { subscriber: 'tool_failure', kind: 'skipped', because: 'severity debug is below error' },
    ]);
    expect(await open()).toEqual([]);
  });

  it('a subscriber gets only events of its sources, and of types that match its wildcards', async () => {
    const { bus, open } = stage([subscriber({ events: { types: ['tool.*'], sources: ['agent'] } })]);
    await bus.emit(failure('a', 'b', { source: 'elsewhere' }));
    expect(await open()).toEqual([]);
    await bus.emit(failure('a', 'b', { type: 'toolbox.broken' }));
    expect(await open()).toEqual([]);
    await bus.emit(failure('a', 'b', { type: 'tool.call.timeout' }));
    expect(await open()).toHaveLength(1);
  });

  verifies('bus:scoped', 'only the subject gets the notification', async () => {
    const { bus, inbox, read } = stage([subscriber()]);
    await bus.emit(failure('a', 'b', { subject: 'shop/codex' }));
    await bus.emit(failure('a', 'b', { subject: `${AGENT}#other` }));
    expect(await read()).toEqual([]);
    expect(await inbox.open('shop/codex')).toHaveLength(1);
  });

  it('two buses in one process with different inboxes share nothing', async () => {
    const one = stage([subscriber()]);
    const two = stage([subscriber()]);
    await one.bus.emit(failure('a', 'b'));
    expect(await two.read()).toEqual([]);
    expect(await one.read()).toHaveLength(1);
  });

  verifies(
    'bus:disabled',
    'US5(b): a disabled subscriber queues nothing from the next event on, but a core subscriber still queues',
    async () => {
      let disabled = new Set<string>();
      const rules = [subscriber(), subscriber({ id: 'core_one', output: { core: true } })];
      const { bus, open } = stage(rules, { disabled: async () => disabled });
      disabled = new Set(['tool_failure', 'core_one']);
      const { heard } = await bus.emit(failure('a', 'b'));
      expect(heard).toEqual([
        { subscriber: 'tool_failure', kind: 'skipped', because: 'the subscriber is disabled' },
        expect.objectContaining({ subscriber: 'core_one', kind: 'queued' }),
      ]);
      expect((await open()).map((item) => item.notification.subscriber?.id)).toEqual(['core_one']);
      disabled = new Set();
      await bus.emit(failure('a', 'b'));
      expect((await open()).map((item) => item.notification.subscriber?.id)).toContain('tool_failure');
    },
  );

  it('US6: a changed set of subscribers applies from the next event; queued notifications stay the same', async () => {
    const { bus, open, use } = stage([]);
    expect((await bus.emit(failure('a', 'b'))).heard).toEqual([]);
    use([subscriber()]);
    await bus.emit(failure('a', 'b'));
    use([]);
    await bus.emit(failure('a', 'b'));
    expect(await open()).toHaveLength(1);
  });

  it('a subscriber gets the events for which its condition is true; a condition with an error is reported once and passes no event', async () => {
    const troubles: string[] = [];
    const evaluate: NonNullable<BusDeps['evaluate']> = async (expression, context) => {
      const { payload } = context as { payload: { result_length: number } };
      return expression === 'broken'
        ? { kind: 'failed', reason: 'no such name' }
        : { kind: 'value', value: payload.result_length > 2_000 };
    };
    const rule = (id: string, expression: string) => subscriber({ id, events: { types: ['x'] }, condition: { expression } });
    const { bus, open } = stage([rule('large', 'payload.result_length > 2000'), rule('wrong', 'broken')], {
      evaluate,
      onTrouble: (line) => troubles.push(line),
    });
    const event = (length: number): EventInput => ({ type: 'x', source: 's', subject: AGENT, data: { result_length: length } });
    await bus.emit(event(10));
    expect(await open()).toEqual([]);
    await bus.emit(event(3_000));
    expect((await open()).map((item) => item.notification.subscriber?.id)).toEqual(['large']);
    expect(troubles).toEqual(['subscriber wrong: the condition failed: no such name']);
  });
});

it('a carrier that is composed while a condition is evaluated waits for the condition', async () => {
  const answer = Promise.withResolvers<{ kind: 'value'; value: boolean }>();
  const { bus, read } = stage([subscriber({ condition: { expression: 'x' } })], { evaluate: () => answer.promise });
  const emitted = bus.emit(failure('fetch', 'timeout'));
  const carried = read();
  answer.resolve({ kind: 'value', value: true });
  expect((await carried).join()).toContain('timeout');
  await emitted;
});

describe('the moment of delivery', () => {
  proves('bus:moments');

  it.each([
    ['immediate', 'turn_start', 1],
    ['turn_start', 'tool_batch_end', 1],
    ['after_tool', 'turn_start', 0],
    ['after_tool', 'tool_batch_end', 1],
    ['turn_end', 'turn_start', 0],
    ['turn_end', 'turn_end', 1],
  ] as const)('FR-018: with inject_at %s, the contact point %s gets %i lines', async (injectAt, at, lines) => {
    const { bus, read } = stage([subscriber({ output: { injectAt } })]);
    await bus.emit(failure('a', 'b'));
    expect(await read(at)).toHaveLength(lines);
  });

  it('FR-017: an event for a subscriber with priority critical interrupts', async () => {
    const { bus, inbox } = stage([subscriber({ output: { priority: 'critical' } })]);
    await bus.emit(failure('a', 'b'));
    expect(await inbox.conversation(`${AGENT}#a`).gate()).toHaveLength(1);
  });

  it('valid priorities and moments in a payload are used, and invalid values are ignored; events of agents and webhooks never interrupt', async () => {
    const { bus, open } = stage([subscriber({ batching: { windowMs: 0 } })]);
    const data = (priority: string, injectAt: string) => ({ tool_name: priority, priority, inject_at: injectAt });
    await bus.emit(failure('a', 'b', { data: data('critical', 'turn_end') }));
    await bus.emit(failure('a', 'b', { data: data('urgent', 'soon') }));
    await bus.emit(failure('a', 'b', { data: data('critical', 'immediate'), origin: { agent: 'x/y' }, subject: `${AGENT}#b` }));
    await bus.emit(failure('a', 'b', { data: data('critical', 'immediate'), source: 'webhook/ci', subject: `${AGENT}#c` }));
    const seen = (await open()).map(({ notification: n }) => [n.level, n.deliver]);
    expect(seen).toEqual([
      ['critical', 'cycle_end'],
      ['error', 'now'],
      ['error', 'now'],
      ['error', 'now'],
    ]);
  });

  it('US3(c): simultaneous warnings of one subscriber are one status', async () => {
    const budget = subscriber({
      id: 'budget_warning',
      events: { types: ['budget.token.warning', 'budget.iteration.warning'] },
      batching: { windowMs: 1_000, maxSize: 3, dedupeKey: ['type', 'payload.budget_type'] },
    });
    const { bus, read } = stage([budget]);
    const warn = (what: string, message: string): EventInput => ({
      type: `budget.${what}.warning`,
      source: 'agent',
      subject: AGENT,
      severity: 'warning',
      message,
      data: { budget_type: what },
    });
    await emitAll(bus, [warn('token', 'tokens at 80 %'), warn('iteration', 'iterations at 70 %')]);
    const lines = await read();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/tokens at 80 %.*iterations at 70 %/s);
  });

  it('an event at the end of a chain of more than 4 causes is skipped', async () => {
    const { bus } = stage([subscriber()]);
    const { heard } = await bus.emit(failure('a', 'b', { origin: { depth: 5 } }));
    expect(heard).toEqual([{ subscriber: '*', kind: 'skipped', because: 'the event ends a chain of more than 4 causes' }]);
  });
});

describe('withdrawals', () => {
  proves('bus:withdraws');

  const mcp = subscriber({
    id: 'mcp',
    events: { types: ['mcp.disconnected'] },
    batching: { dedupeKey: ['payload.server'] },
    withdraw: { types: ['mcp.reconnected'] },
  });
  const event = (what: string, server: string): EventInput => ({
    type: `mcp.${what}`,
    source: 'mcp',
    subject: AGENT,
    data: { server },
  });

  it('an event of a type in withdraw.types withdraws the open notifications of its key, and no others', async () => {
    const { bus, open } = stage([mcp]);
    await bus.emit(event('disconnected', 'files'));
    await bus.emit(event('disconnected', 'git'));
    const { heard } = await bus.emit(event('reconnected', 'files'));
    expect(heard).toEqual([{ subscriber: 'mcp', kind: 'withdrew', ids: [expect.any(String)] }]);
    expect((await open()).map((item) => item.notification.data)).toEqual([{ server: 'git' }]);
  });

  it('an event of a type in withdraw.types also withdraws a notification that a summary has counted', async () => {
    proves('plan:relevance');
    const { bus, inbox, view } = stage([mcp], { policy: { maxItems: 1 } });
    await inbox.queue(AGENT, { message: 'the disk is full', level: 'warning' });
    await bus.emit({ ...event('disconnected', 'files'), severity: 'info' });
    expect(await view()).toContain('1 more');
    const { heard } = await bus.emit(event('reconnected', 'files'));
    expect(heard).toEqual([{ subscriber: 'mcp', kind: 'withdrew', ids: [expect.any(String)] }]);
    expect((await inbox.conversation(`${AGENT}#a`).pull({ mark: true })).notifications).toEqual([]);
  });

  it('an event that both withdraws and notifies withdraws first', async () => {
    const { bus, open } = stage([
      { ...mcp, events: { ...mcp.events, types: ['mcp.disconnected', 'mcp.reconnected'] } },
      subscriber({ id: 'other', events: { types: ['mcp.reconnected'] }, batching: { dedupeKey: ['payload.server'] } }),
    ]);
    await bus.emit({ ...event('disconnected', 'files'), key: 'mcp:files' });
    await bus.emit({ ...event('reconnected', 'files'), key: 'mcp:files' });
    expect((await open()).map((item) => [item.notification.subscriber?.id, item.notification.kind.name])).toEqual([
      ['mcp', 'reconnected'],
      ['other', 'reconnected'],
    ]);
  });

  verifies(
    'bus:scoped',
    'an event for one conversation does not withdraw the notifications of another conversation',
    async () => {
      const { bus, inbox } = stage([mcp]);
      for (const conversation of ['a', 'b'])
        await bus.emit({ ...event('disconnected', 'files'), subject: `${AGENT}#${conversation}` });
      await bus.emit({ ...event('disconnected', 'files'), subject: AGENT });
      await bus.emit({ ...event('reconnected', 'files'), subject: `${AGENT}#a` });
      expect((await inbox.open(AGENT)).map((item) => item.audience)).toEqual(['b', '']);
      await bus.emit({ ...event('reconnected', 'files'), subject: AGENT });
      expect(await inbox.open(AGENT)).toEqual([]);
    },
  );

  it('a withdrawal also drops events of its key that are held back', async () => {
    const { bus, open } = stage([mcp], { foldMs: 60_000 });
    const first = bus.emit(event('disconnected', 'files'));
    const second = bus.emit(event('disconnected', 'files'));
    const back = bus.emit(event('reconnected', 'files'));
    await Promise.all([first, back]);
    expect((await second).heard).toEqual([expect.objectContaining({ kind: 'skipped' })]);
    await bus.flush();
    expect(await open()).toEqual([]);
  });
});

describe('storms', () => {
  proves('bus:storms');

  const files = subscriber({
    id: 'files',
    events: { types: ['file.changed'] },
    batching: { windowMs: 1_000, maxSize: 10, dedupeKey: ['payload.path'] },
  });
  const changed = (path: string): EventInput => ({
    type: 'file.changed',
    source: 'files',
    subject: AGENT,
    message: `${path} changed`,
    data: { path },
  });

  it('one line names as many of 5,000 different events as fit, and counts the others exactly', async () => {
    const { bus, read, open } = stage([files]);
    await emitAll(
      bus,
      Array.from({ length: 5_000 }, (_, i) => changed(`f${i}`)),
    );
    const items = await open();
    expect(items.reduce((sum, item) => sum + item.count, 0)).toBe(5_000);
    expect(items.length).toBeLessThanOrEqual(11);
    const lines = await read();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('5000 in all');
  });

  it('after the delivery, the next events are named', async () => {
    const { bus, read } = stage([files]);
    await emitAll(
      bus,
      Array.from({ length: 100 }, (_, i) => changed(`f${i}`)),
    );
    await read();
    await emitAll(bus, [changed('new-1'), changed('new-2')]);
    const [line] = await read();
    expect(line).toContain('new-1');
    expect(line).toContain('new-2');
    expect(line).not.toContain('more file.changed');
  });

  verifies('queue:many', async () => {
    const { bus, open } = stage([subscriber()], { foldMs: 3_600_000 });
    await emitAll(
      bus,
      Array.from({ length: 100 }, (_, i) => failure(`t${i}`, 'boom')),
    );
    expect(await open()).toHaveLength(100);
  });

  it('an event whose id another sender has used does not stop the other events of the storm', async () => {
    const { bus, inbox, read, open } = stage([files]);
    const events = Array.from({ length: 18 }, (_, i) => ({ ...changed(`f${i}`), id: `e${i}` }));
    await emitAll(bus, events.slice(0, 10));
    await read();
    const event = { type: 'file.changed', source: 'files', severity: 'info', time: 0 };
    const id = 'files/e12~files';
    await inbox.queue(AGENT, { id, message: 'held', origin: { agent: 'shop/other' } }, { id: 'files', event, group: 10 });
    const ended = await Promise.allSettled(events.slice(10).map((each) => bus.emit(each)));
    const others = (await open()).filter(({ notification }) => notification.origin?.agent === undefined);
    expect(others.map((item) => item.id)).toEqual([10, 11, 13, 14, 15, 16, 17].map((n) => `files/e${n}~files`));
    expect(ended.some(({ status }) => status === 'rejected')).toBe(true);
  });

  it('several details with one open key are not a storm: each is kept', async () => {
    const { bus, read } = stage([subscriber({ batching: { maxSize: 1, dedupeWindowMs: 30_000 } })], { foldMs: 0 });
    for (const why of ['first', 'second', 'third']) await bus.emit(failure('fetch', why));
    const [line] = await read();
    for (const why of ['first', 'second', 'third']) expect(line).toContain(why);
    expect(line).not.toContain('than are listed');
  });

  describe('the events that a storm only counts', () => {
    proves('bus:storms-taken-back');

    const restorable = { ...files, withdraw: { types: ['file.restored'] } };
    const restored = (path: string): EventInput => ({ ...changed(path), type: 'file.restored' });
    const paths = Array.from({ length: 500 }, (_, i) => `f${i}`);

    it('are withdrawn completely when their states end', async () => {
      const { bus, open, read } = stage([restorable]);
      await emitAll(bus, paths.map(changed));
      await emitAll(bus, paths.map(restored));
      expect(await open()).toEqual([]);
      expect(await read()).toEqual([]);
    });

    it('are subtracted once when their states end', async () => {
      const { bus, read } = stage([restorable]);
      await emitAll(bus, paths.map(changed));
      const over = paths.filter((path) => path !== 'f0' && path !== 'f499' && path !== 'f400');
      await emitAll(bus, [...over, ...over].map(restored));
      const lines = await read();
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('f0 changed');
      expect(lines[0]).toContain('3 in all');
    });

    it('a carrier that is composed during the subtraction waits for the subtraction', async () => {
      const { bus, read } = stage([restorable], { foldMs: 60_000 });
      const all = emitAll(bus, paths.map(changed));
      await bus.flush();
      await all;
      const back = emitAll(bus, paths.map(restored));
      expect(await read()).toEqual([]);
      await back;
    });

    it('are not written if their states end before the write', async () => {
      const { bus, open } = stage([restorable], { foldMs: 60_000 });
      const all = emitAll(bus, paths.map(changed));
      const back = emitAll(bus, paths.map(restored));
      await bus.flush();
      await Promise.all([all, back]);
      expect(await open()).toEqual([]);
    });

    it('are subtracted after the write if their states end during the write', async () => {
      const { bus, open } = stage([restorable]);
      const all = emitAll(bus, paths.map(changed));
      const writing = bus.flush();
      const back = emitAll(bus, paths.map(restored));
      await Promise.all([all, writing, back]);
      expect(await open()).toEqual([]);
      expect(bus.pending).toBe(false);
    });

    it('keep their count when states from before the last delivery end', async () => {
      const { bus, read } = stage([restorable]);
      await emitAll(bus, paths.map(changed));
      expect((await read()).join()).toContain('500 in all');
      await emitAll(
        bus,
        Array.from({ length: 100 }, (_, i) => changed(`later-${i}`)),
      );
      await emitAll(bus, paths.map(restored));
      expect((await read()).join()).toContain('100 in all');
    });

    it('can be withdrawn by another process, even by a process that starts later', async () => {
      const { bus, another, open, read } = stage([restorable]);
      await emitAll(bus, paths.map(changed));
      await emitAll(
        another(),
        paths.slice(0, 300).map((path) => restored(path)),
      );
      expect((await open()).reduce((sum, item) => sum + item.count, 0)).toBe(200);
      const [first, second] = [another(), another()];
      const left = paths.slice(300, 497);
      await Promise.all([
        emitAll(first, left.map(restored)),
        emitAll(second, left.map(restored)),
        emitAll(bus, left.map(restored)),
      ]);
      expect((await read()).join()).toContain('3 more file.changed events, not listed here (all of it: ');
      expect(await open()).toEqual([]);
    });

    it('have one count for all processes, and any process subtracts from this count', async () => {
      const { bus, another, open } = stage([restorable]);
      const other = another();
      await emitAll(bus, paths.map(changed));
      await emitAll(
        other,
        paths.map((path) => changed(`other-${path}`)),
      );
      await emitAll(
        other,
        paths.flatMap((path) => [restored(path), restored(`other-${path}`)]),
      );
      expect(await open()).toEqual([]);
    });

    it('are subtracted for each agent of a project that has not read the count', async () => {
      const { bus, inbox, another, read } = stage([restorable]);
      for (const there of [`${AGENT}#a`, `${AGENT}#b`, 'shop/codex#c']) await inbox.conversation(there).seen();
      const all = (event: EventInput): EventInput => ({ ...event, subject: 'shop/*' });
      await emitAll(
        bus,
        paths.map((path) => all(changed(path))),
      );
      expect((await read()).join()).toContain('500 in all');
      await emitAll(
        another(),
        paths.slice(5).map((path) => all(restored(path))),
      );
      for (const log of [AGENT, 'shop/codex']) {
        const counts = (await inbox.open(log)).filter((item) => item.audience !== 'a').map((item) => item.count);
        expect(
          counts.reduce((sum, count) => sum + count, 0),
          log,
        ).toBe(5);
      }
      expect((await inbox.open(AGENT)).filter((item) => item.audience === 'a')).toEqual([]);
    });

    it('have a correct count after their states have ended and begun several times', async () => {
      const { bus, read } = stage([restorable]);
      for (let i = 0; i < 3; i++) {
        await emitAll(bus, paths.map(changed));
        await emitAll(bus, paths.map(restored));
      }
      await emitAll(bus, paths.map(changed));
      expect((await read()).join()).toContain('500 in all');
    });
  });

  it('an event with an id of the maximum length is counted like any other', async () => {
    const { bus, open } = stage([files]);
    const id = (n: number): string => `${'x'.repeat(240)}${n}`;
    await emitAll(
      bus,
      Array.from({ length: 50 }, (_, i) => ({ ...changed(`f${i}`), id: id(i) })),
    );
    expect((await open()).reduce((sum, item) => sum + item.count, 0)).toBe(50);
  });

  it('newer states with one key are not a storm', async () => {
    const { bus, read } = stage([subscriber({ batching: { maxSize: 1 }, output: { supersede: true } })], { foldMs: 0 });
    for (const branch of ['a', 'b', 'c', 'd']) await bus.emit(failure('git', `now on ${branch}`));
    expect(await read()).toEqual([expect.stringMatching(/now on d(?!.*times)/)]);
  });

  it('a caller that awaits each emit does not wait for the fold window', async () => {
    const { bus, read } = stage([subscriber()], { foldMs: 3_600_000 });
    for (let i = 0; i < 20; i++) await bus.emit(failure('cargo', `line ${i % 3}`));
    expect(bus.pending).toBe(false);
    expect((await read()).join()).toContain('20 times');
  });

  it('a caller that awaits each emit of a storm does not wait for the fold window', async () => {
    const { bus, open } = stage([files], { foldMs: 3_600_000 });
    for (let i = 0; i < 100; i++) await bus.emit(changed(`f${i}`));
    expect(bus.pending).toBe(false);
    expect((await open()).reduce((sum, item) => sum + item.count, 0)).toBe(100);
  });

  it('after the last write nothing is pending', async () => {
    const { bus } = stage([files]);
    const all = emitAll(bus, [changed('a'), changed('a')]);
    expect(bus.pending).toBe(true);
    await all;
    expect(bus.pending).toBe(false);
  });
});

describe('for a whole project', () => {
  const ALL = 'shop/*';
  const alert = subscriber({
    id: 'alert',
    events: { types: ['alert.firing', 'alert.resolved'] },
    batching: { maxSize: 5, dedupeKey: ['payload.name'], dedupeWindowMs: 5_000 },
    withdraw: { types: ['alert.resolved'] },
  });
  const event = (what: string, name: string): EventInput => ({
    type: `alert.${what}`,
    source: 'monitor',
    subject: ALL,
    message: `${name} is ${what}`,
    data: { name },
  });
  const manned = async (foldMs?: number) => {
    const set = stage([alert], defined({ foldMs }));
    for (const conversation of ['a', 'b']) await set.inbox.conversation(`${AGENT}#${conversation}`).seen();
    await set.inbox.conversation('shop/writer#c').seen();
    const told = async (): Promise<string[]> => {
      const logs = (await Promise.all([AGENT, 'shop/writer'].map((log) => set.inbox.open(log)))).flat();
      return logs.map((item) => `${item.audience} ${item.notification.message}`).toSorted();
    };
    return { ...set, told };
  };

  it('an ended state is withdrawn from all agents', async () => {
    proves('bus:withdraws');
    const { bus, told } = await manned();
    await bus.emit(event('firing', 'disk'));
    expect(await told()).toEqual(['a disk is firing', 'b disk is firing', 'c disk is firing']);
    const { heard } = await bus.emit(event('resolved', 'disk'));
    expect(heard[0]).toMatchObject({ kind: 'withdrew', ids: [expect.any(String)] });
    expect(await told()).toEqual(['a disk is resolved', 'b disk is resolved', 'c disk is resolved']);
  });

  it('a repetition from any emitter waits for the end of the window', async () => {
    proves('bus:repeats');
    const { bus, another, read, told, open } = await manned(0);
    await bus.emit(event('firing', 'disk'));
    expect(await read()).toHaveLength(1);
    await another().emit(event('firing', 'disk'));
    expect(await read()).toEqual([]);
    expect((await open()).find((item) => item.audience === 'a')?.notification.deliver).toMatchObject({ at: expect.any(Number) });
    await another().emit(event('firing', 'cpu'));
    expect((await read()).join()).toContain('cpu');
    expect(await told()).toContain('c cpu is firing');
  });

  it('a storm is limited for each agent', async () => {
    proves('bus:storms');
    const { bus, inbox } = await manned();
    for (let wave = 0; wave < 3; wave++)
      await emitAll(
        bus,
        Array.from({ length: 30 }, (_, i) => event('firing', `n${wave}.${i}`)),
      );
    const open = (await inbox.open('shop/writer')).filter((item) => item.audience === 'c');
    expect(open.length).toBeLessThanOrEqual(8);
    expect(open.reduce((sum, item) => sum + item.count, 0)).toBe(90);
  });
});

describe('templates', () => {
  const template = { name: 'x.toon.j2', text: 'whatever', hash: 'abc' };

  it('FR-009, FR-014: are stored once by hash, and render the text that the agent reads', async () => {
    const keep = vi.fn(async () => {});
    const render = vi.fn<LineRenderer['render']>(async (line) => ({ kind: 'text', text: `said of ${line.ids.length}` }));
    const { bus, read } = stage([subscriber({ output: { template } })], { keep, lines: { render } });
    await emitAll(bus, [failure('a', 'b'), failure('c', 'd')]);
    expect(keep).toHaveBeenCalledTimes(1);
    expect((await read()).join()).toContain('said of 2');
    expect(render).toHaveBeenCalledTimes(1);
  });

  describe('the budget counts the text that templates make', () => {
    proves('plan:rendered');

    /** Counts the tokens of a text. The mark is fixed, because a random mark costs a varying number of tokens. */
    const tokensIn = (text: string): number => {
      const mark = /\[ep (\w+)\]/.exec(text)?.[1] ?? '';
      return encode(text.replaceAll(`ep ${mark}]`, 'ep k7f3]')).length;
    };
    const words = 'one two three four five six seven eight nine ten ';
    /** Makes a renderer whose text has `10 * tens` words for each notification in the line. */
    const wordy = (tens: number): LineRenderer => ({
      render: async ({ ids }) => ({ kind: 'text', text: ids.map((_, i) => `row ${i}: ${words.repeat(tens)}`).join('\n') }),
    });
    const build = subscriber({
      events: { types: ['build.failed'] },
      batching: { maxSize: 20, dedupeKey: ['payload.job'] },
      output: { template },
    });
    const failed = (job: number, severity: EventInput['severity']): EventInput => ({
      type: 'build.failed',
      source: 'ci',
      subject: AGENT,
      ...defined({ severity }),
      data: { job },
    });
    const jobs = (count: number, severity: EventInput['severity'] = 'info') =>
      Array.from({ length: count }, (_, job) => failed(job, severity));

    it('lines that are longer than their messages fill the budget, and the other notifications are counted', async () => {
      const alone = { ...build, batching: { ...build.batching, windowMs: 0, maxSize: 1 } };
      const { bus, view, open } = stage([alone], { lines: wordy(8), policy: { maxTokens: 400 } });
      await emitAll(bus, jobs(8));
      const text = await view();
      expect(tokensIn(text)).toBeLessThanOrEqual(400);
      expect(text.match(/row 0/g)).toHaveLength(4);
      expect(text).toContain('4 more: 4 build (info)');
      expect(await open()).toEqual([]);
    });

    it('a line that alone exceeds the budget has only the notifications that fit, and the others are counted', async () => {
      const { bus, view } = stage([build], { lines: wordy(4), policy: { maxTokens: 400 } });
      await emitAll(bus, jobs(12));
      const text = await view();
      expect(tokensIn(text)).toBeLessThanOrEqual(400);
      expect(text).toContain('row 2: ');
      expect(text).not.toContain('characters, cut)');
      expect(text).toMatch(/\d more: \d build/);
    });

    it('errors are neither cut nor lost: errors that do not fit are delivered with the next message', async () => {
      const { bus, view, open } = stage([build], { lines: wordy(4), policy: { maxTokens: 400, maxItemChars: 900 } });
      await emitAll(bus, jobs(12, 'error'));
      let rows = 0;
      for (let carriers = 0; (await open()).length > 0; carriers++) {
        const text = await view();
        expect(tokensIn(text)).toBeLessThanOrEqual(400);
        expect(text).not.toMatch(/characters, cut|more:/);
        rows += text.match(/row \d/g)?.length ?? 0;
        expect(carriers).toBeLessThan(12);
      }
      expect(rows).toBe(12);
    });

    it('each line is rendered once, in a bounded number of rounds', async () => {
      const lines = wordy(20);
      const render = vi.fn<LineRenderer['render']>((line, how) => lines.render(line, how));
      const alone = { ...build, batching: { ...build.batching, windowMs: 0, maxSize: 1 } };
      const { bus, view } = stage([alone], { lines: { render }, foldMs: 0, policy: { maxTokens: 300 } });
      await emitAll(bus, jobs(90, 'error'));
      await view();
      expect(new Set(render.mock.calls.map(([{ ids }]) => ids.join())).size).toBe(render.mock.calls.length);
      expect(render.mock.calls.length).toBeLessThanOrEqual(40);
    });
  });

  verifies(
    'view:templates',
    'a failing template is replaced by the message with a note, and the log has the reason',
    async () => {
      const { bus, read, inbox } = stage([subscriber({ output: { template } })], {
        lines: { render: async () => ({ kind: 'failed', reason: 'line 1: unknown filter' }) },
      });
      await bus.emit(failure('a', 'boom'));
      expect((await read()).join()).toContain('`a` failed: boom (its template failed)');
      const records = await inbox.store.read({ types: ['template_failed'] });
      expect(records.map(({ body }) => body)).toEqual([
        expect.objectContaining({ subscriber: 'tool_failure', reason: 'line 1: unknown filter' }),
      ]);
    },
  );
});

it.each([
  [{ type: 'no spaces', source: 's', subject: AGENT }, /event type "no spaces"/],
  [{ type: 'x', source: '', subject: AGENT }, /event source ""/],
  [{ type: 'x', source: 's', subject: 'nowhere' }, /nowhere/],
  [{ type: 'x', source: 's', subject: AGENT, severity: 'bad' }, /event severity "bad"/],
  [{ type: 'x', source: 's', subject: AGENT, data: [] }, /event data \[\]/],
] as unknown as [EventInput, RegExp][])(
  'FR-005: an invalid event is refused with the name of the field: %j',
  async (event, message) => {
    const { bus } = stage([subscriber()]);
    await expect(bus.emit(event)).rejects.toThrow(message);
  },
);
