import { afterEach, describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import type { Emitted, EventInput, Handled } from '../core/event.ts';
import { makeEvent } from '../core/event.ts';
import type { Json } from '../core/json.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { createAgent, type Agent } from './agent.ts';
import type { AgentOptions } from './options.ts';
import { notifySelf } from './notify-self.ts';
import { scriptedModel, type ScriptedModel } from './scripted-model.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function stage() {
  const clock = { at: Date.parse('2026-03-28T10:00:00Z') };
  const store = memoryStore({ clock: { now: () => clock.at } });
  const inbox = new Inbox({ store, policies: { policy: () => ({ ...DEFAULT_POLICY, coalesceMs: {} }) }, timeZone: 'UTC' });
  cleanups.push(() => inbox.close());
  return {
    inbox,
    clock,
    open: async (conversation: string, options: Partial<AgentOptions> = {}): Promise<Opened> => {
      const model = scriptedModel([{ text: 'well' }]);
      const agent = await createAgent({ model, earpiece: inbox, address: `shop/coder#${conversation}`, ...options });
      cleanups.push(() => agent.close());
      return { agent, model, note: (args) => noteOf(agent, args) };
    },
    waiting: async (): Promise<string[]> => (await inbox.open('shop/coder')).map(({ notification }) => notification.message),
  };
}

type Opened = {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly note: (args: Json) => Promise<{ readonly error?: string; readonly answer?: Record<string, Json> }>;
};

const noteOf: (agent: Agent, args: Json) => ReturnType<Opened['note']> = async (agent, args) => {
  const call = { id: 'c', signal: new AbortController().signal, batch: [], progress: () => {} };
  const { content, isError } = await notifySelf(() => agent).execute(args, call);
  return isError === true ? { error: content } : { answer: JSON.parse(content) as Record<string, Json> };
};

/** Returns how often the last request contains the text. */
const times = ({ requests }: ScriptedModel, text: string): number =>
  JSON.stringify(requests.at(-1)?.prompt ?? []).split(text).length - 1;

describe('the kept note', () => {
  it.each([
    [{}, '[NOTE] x', 'agent.self.notify', 'info'],
    [
      {
        category: null,
        priority: null,
        deliver_at: null,
        persist_cross_session: null,
        expires_in: null,
        key: null,
        withdraw: null,
      },
      '[NOTE] x',
      'agent.self.notify',
      'info',
    ],
    [{ category: 'discovery' }, '[DISCOVERY] x', 'agent.self.notify', 'info'],
    [{ category: 'warning', priority: 'high' }, '[!WARN] x', 'agent.self.notify', 'warning'],
    [{ category: 'checkpoint', priority: 'low' }, '[CHECKPOINT] x', 'agent.self.notify', 'info'],
    [{ category: 'reminder', priority: 'critical' }, '[!REMINDER] x', 'agent.self.remind', 'error'],
  ])('%j is kept as %s', async (more, message, kind, level) => {
    const { inbox, open } = stage();
    const { note, agent } = await open('a');
    expect(await note({ message: 'x', ...more })).toMatchObject({ answer: { status: 'kept' } });
    const [item, ...others] = await inbox.open('shop/coder');
    expect(others).toEqual([]);
    expect(item?.notification).toMatchObject({ message, level, expiresAt: inbox.store.now() + 86_400_000 });
    expect(`${item?.notification.kind.source}.${item?.notification.kind.name}`).toBe(kind);
    expect(item?.audience).toBe(agent.conversation.id);
  });

  it.each([
    ['immediate', 'now'],
    ['next_turn', 'next_cycle'],
    ['after_tool', 'after_tool'],
    [{ after_turns: 3 }, { afterTurns: 3 }],
    ['after 3 turns', { afterTurns: 3 }],
    [{ at: 'in 10m' }, { at: Date.parse('2026-03-28T10:10:00Z') }],
    [{ at: '2026-03-29T09:00:00+02:00' }, { at: Date.parse('2026-03-29T07:00:00Z') }],
    [{ after_tool: 'deploy' }, { afterTool: 'deploy' }],
  ])('deliver_at %j is kept as %j', async (deliverAt, deliver) => {
    const { inbox, open } = stage();
    const { note } = await open('a');
    await note({ message: 'x', deliver_at: deliverAt });
    expect((await inbox.open('shop/coder'))[0]?.notification.deliver).toEqual(deliver);
  });

  it('expires the given time after its delivery time, or never', async () => {
    const { inbox, open } = stage();
    const { note } = await open('a');
    const now = inbox.store.now();
    await note({ message: 'late', deliver_at: { at: 'in 3 days' } });
    await note({ message: 'short', expires_in: '30m' });
    await note({ message: 'for ever', expires_in: '0' });
    const [late, short, ever] = (await inbox.open('shop/coder')).map(({ notification }) => (notification.expiresAt ?? 0) - now);
    expect(late).toBe(4 * 86_400_000);
    expect(short).toBe(1_800_000);
    expect(ever).toBeGreaterThan(100 * 365 * 86_400_000);
  });
});

it.each([
  [{}, 'message is missing: needs a text that is not blank'],
  [{ message: ' ' }, 'message " " needs a text that is not blank'],
  [{ message: 'x', category: 'todo' }, 'category "todo" must be one of discovery, warning, checkpoint, reminder, context'],
  [{ message: 'x', priority: 'urgent' }, 'priority "urgent" must be one of low, normal, high, critical'],
  [{ message: 'x', persist_cross_session: 'yes' }, 'persist_cross_session "yes" must be true or false'],
  [{ message: 'x', deliver_at: { after_turns: 0 } }, 'deliver_at.after_turns 0 must be a whole number from 1 to 1,000'],
  [{ message: 'x', deliver_at: 7 }, /^deliver_at 7 must be one of immediate, next_turn, after_tool, \{"after_turns": n\}/u],
  [{ message: 'x', deliver_at: 'somewhen' }, /^deliver_at "somewhen" must be one of .*: the time "somewhen" is not understood/u],
  [{ message: 'x', deliver_at: { at: 'yesterday' } }, /^deliver_at \{"at":"yesterday"\} .* has passed/u],
  [{ message: 'x', expires_in: 'soon' }, 'expires_in "soon" must be a time such as "30m", "2h" or "7 days", or "0" for never'],
  [{ message: 'x', key: '' }, 'key "" must be a text of 1 to 80 characters'],
  [{ withdraw: '' }, 'withdraw "" must be a text of 1 to 80 characters'],
  [{ message: 'x', withdraw: 'k' }, 'withdraw removes a note and takes no other argument; leave out message'],
  [{ message: 'x', prority: 'high' }, /^there is no argument "prority", did you mean priority\?/u],
])('%j is refused, and no note is kept', async (args, message) => {
  const { open, waiting } = stage();
  const { note } = await open('a');
  expect((await note(args)).error).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  expect(await waiting()).toEqual([]);
});

it('a note that is too long is refused', async () => {
  const { open } = stage();
  const { note } = await open('a');
  expect(await note({ message: 'x'.repeat(4_001) })).toEqual({
    error: 'message must have at most 4000 characters, got 4001: write the text to a file and note its path',
  });
});

describe('a key', () => {
  it('a later note with the same key replaces the earlier note', async () => {
    const { open } = stage();
    const { note, agent, model } = await open('a');
    await note({ message: 'OLD', key: 'plan' });
    await note({ message: 'NEW', key: 'plan' });
    await agent.send('go');
    expect([times(model, 'OLD'), times(model, 'NEW')]).toEqual([0, 1]);
  });

  it("withdraws only the agent's own note, in both scopes", async () => {
    const { inbox, open, waiting } = stage();
    const { note } = await open('a');
    const other = await open('b');
    await inbox.queue('shop/coder', { kind: 'ci.failed', message: 'RED', key: 'plan' });
    await other.note({ message: 'OTHER', key: 'plan' });
    await note({ message: 'HERE', key: 'plan' });
    await note({ message: 'THERE', key: 'plan', persist_cross_session: true });
    expect(await note({ withdraw: 'plan' })).toMatchObject({ answer: { status: 'withdrawn', withdrawn: 2 } });
    expect(await waiting()).toEqual(['RED', '[NOTE] OTHER']);
    expect(await note({ withdraw: 'plan', message: null })).toMatchObject({ answer: { status: 'nothing', withdrawn: 0 } });
  });
});

describe('the scope of a note', () => {
  proves('self:deferred');

  it('a note of a conversation is delivered only in that conversation, even after a restart', async () => {
    const { open } = stage();
    const { note, agent } = await open('a');
    await note({ message: 'MINE', deliver_at: { after_turns: 2 } });
    await agent.send('one');
    await agent.close();
    const other = await open('b');
    await other.agent.send('hello');
    await other.agent.send('hello');
    expect(times(other.model, 'MINE')).toBe(0);
    const again = await open('a');
    await again.agent.send('two');
    expect(times(again.model, 'MINE')).toBe(0);
    await again.agent.send('three');
    expect(times(again.model, 'MINE')).toBe(1);
    await again.agent.send('four');
    expect(times(again.model, 'MINE')).toBe(1);
  });

  it('the end of a conversation withdraws its notes and no other notifications', async () => {
    const { inbox, open, waiting } = stage();
    const { note, agent } = await open('a');
    await note({ message: 'MINE' });
    await note({ message: 'NEXT', persist_cross_session: true });
    await inbox.queue('shop/coder#a', { kind: 'ci.failed', message: 'RED' });
    await agent.close({ over: true });
    expect(await waiting()).toEqual(['[NOTE] NEXT', 'RED']);
  });

  it('a note of the agent is delivered once, to the next conversation', async () => {
    const { open } = stage();
    const { note, agent, model } = await open('a');
    await note({ message: 'FOR-NEXT', persist_cross_session: true });
    await agent.send('and now?');
    expect(times(model, 'FOR-NEXT')).toBe(0);
    const [b, c] = [await open('b'), await open('c')];
    await b.agent.send('hello');
    expect(times(b.model, 'FOR-NEXT')).toBe(1);
    await c.agent.send('hello');
    expect(times(c.model, 'FOR-NEXT')).toBe(0);
    await b.agent.send('and now?');
    expect(times(b.model, 'FOR-NEXT')).toBe(1);
  });

  it('a note of the agent with a time is delivered to the conversation that is active at that time', async () => {
    const { open, clock } = stage();
    const { note, agent, model } = await open('a');
    await note({ message: 'TEA', persist_cross_session: true, deliver_at: { at: 'in 10m' } });
    await agent.send('hello');
    expect(times(model, 'TEA')).toBe(0);
    clock.at += 600_000;
    await agent.send('hello');
    expect(times(model, 'TEA')).toBe(1);
  });

  it('if four conversations begin at once, one of them gets the note', async () => {
    const { open } = stage();
    const first = await open('a');
    await first.note({ message: 'FOR-NEXT', persist_cross_session: true });
    const others = await Promise.all(['b', 'c', 'd', 'e'].map((name) => open(name)));
    await Promise.all(others.map(({ agent }) => agent.send('hello')));
    expect(others.reduce((sum, { model }) => sum + times(model, 'FOR-NEXT'), 0)).toBe(1);
  });
});

describe('through a bus', () => {
  const bus = (heard: readonly Handled[]) => {
    const emitted: EventInput[] = [];
    const emit = async (event: EventInput): Promise<Emitted> => {
      emitted.push(event);
      return { event: makeEvent(event, { id: 'e', now: 0 }), heard };
    };
    return { emitted, emitter: { emit } };
  };
  const notes = (emitted: readonly EventInput[]): EventInput[] => emitted.filter(({ type }) => type.startsWith('agent.self.'));

  it('the note is emitted and not queued directly', async () => {
    const { open, waiting } = stage();
    const { emitted, emitter } = bus([{ subscriber: 'self_notify', kind: 'queued', id: 'n1' }]);
    const { note } = await open('a', { emitter });
    expect(await note({ message: 'x', category: 'discovery', key: 'k' })).toMatchObject({ answer: { id: 'n1' } });
    expect(notes(emitted)).toMatchObject([
      {
        type: 'agent.self.notify',
        source: 'agent',
        subject: 'shop/coder#a',
        key: 'self:a:k',
        deliver: 'next_cycle',
        data: { message: 'x', category: 'discovery', priority: 'normal', inject_at: 'turn_start', persist_cross_session: false },
        origin: { agent: 'shop/coder', tool: 'notify_self' },
      },
    ]);
    expect(await waiting()).toEqual([]);
  });

  it('if notes are off, the agent learns that its note was not kept', async () => {
    const { open, waiting } = stage();
    const { emitter } = bus([{ subscriber: 'self_notify', kind: 'skipped', because: 'the subscriber is disabled' }]);
    const { note } = await open('a', { emitter });
    expect(await note({ message: 'x' })).toEqual({ error: 'The note was not kept: self_notify: the subscriber is disabled' });
    expect(await waiting()).toEqual([]);
  });

  it('without a subscriber for notes, the note is still queued', async () => {
    const { open, waiting } = stage();
    const { note } = await open('a', { emitter: bus([]).emitter });
    await note({ message: 'x' });
    expect(await waiting()).toEqual(['[NOTE] x']);
  });
});
