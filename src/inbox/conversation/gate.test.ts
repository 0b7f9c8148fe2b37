import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { itemKey, replay } from '../../core/items.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { memoryStore, openSqliteStore } from '../../stores/index.ts';
import type { NotificationId } from '../../core/notification.ts';
import { Inbox, type Conversation } from '../index.ts';
import { recordEarly } from './early-refusal.ts';
import { UNPROVEN_MS, type CallResult, type Proof } from './gate.ts';
import { proves } from '../../../e2e/verifies.ts';

const LOG = logKey('shop', 'coder');
const ME: Owner = { machine: 'here', pid: 1, startedAt: '1' };
const OTHER: Owner = { machine: 'here', pid: 2, startedAt: '1' };

const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

describe.each(STORES)('the gate over $name', ({ open }) => {
  let folder: string;
  let store: Store;
  let now: number;
  let dead: Set<number>;
  let inbox: Inbox;
  let maxItems: number;

  const openInbox = (owner: Owner, over = store): Inbox =>
    new Inbox({
      store: over,
      policies: { policy: () => ({ ...DEFAULT_POLICY, maxItems }) },
      owner,
      isAlive: ({ pid }) => !dead.has(pid),
      timeZone: 'UTC',
    });
  const talk = (of: Inbox = inbox, options: ConstructorParameters<typeof Conversation>[3] = { pulls: true }): Conversation =>
    of.conversation({ log: LOG, conversation: 'main' as ConversationId }, options);
  const stop = (): Promise<unknown> => inbox.queue('shop/coder', { id: 'stop', message: 'stop it', level: 'critical' });
  const pause = (): Promise<unknown> =>
    inbox.queue('shop/coder', { id: 'hold', message: 'hold on', action: 'pause', origin: { person: 'Ann' } });
  /** Makes one call. The client gets the whole answer before it sends the next call. */
  const call = async (of?: Conversation): Promise<string | undefined> => {
    const refusal = await (of ?? talk()).refuse({ on: 'write_file' });
    await refusal?.offer?.confirm();
    return refusal?.text;
  };
  const steps = async (id: string): Promise<string[]> =>
    (await inbox.why(id, LOG))?.items[0]?.steps.map(({ what, detail }) => `${what}: ${detail}`) ?? [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-gate-'));
    now = 1_700_000_000_000;
    dead = new Set();
    maxItems = DEFAULT_POLICY.maxItems;
    store = await open({ now: () => now }, folder);
    inbox = openInbox(ME);
  });
  afterEach(async () => {
    // The index has the same items as a replay of the log.
    const records = await store.read({ log: LOG, limit: 10_000 });
    const items = await store.items(LOG, { kind: 'latest', limit: 10_000 });
    expect(new Map(items.map((item) => [itemKey(item), item]))).toEqual(replay(records));
    await inbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a refusal for a pause that was pulled first has the text of any other pause', async () => {
    await pause();
    await (await talk().pull({ mark: true })).offer?.confirm();
    expect(await call()).toContain('\nuser critical, Ann asks to pause: “hold on”\n');
  });

  it('stays up for a parallel call if an early refusal is recorded after a newer refusal', async () => {
    proves('gate:early');
    await inbox.queue('shop/coder', { id: 'stop', message: 'stop', level: 'critical' });
    const at = now;
    now += 10_000;
    const refusal = await talk().refuse({ on: 'write_file', beganAt: now });
    await recordEarly(talk(), { ids: ['stop' as NotificationId], text: refusal?.text ?? '', on: 'write_file', at });
    await refusal?.offer?.confirm();
    expect((await talk().refuse({ on: 'write_file', beganAt: now }))?.text).toContain('stop');
  });

  describe('with states of one key', () => {
    const state = { key: 'prod', kind: 'prod.state', supersede: true } as const;
    const down = { ...state, id: 'down', message: 'PROD DOWN', level: 'critical' } as const;
    const gates = async (): Promise<readonly string[]> => (await inbox.gates(LOG)).map(({ id }) => id);

    it('is not held up by an interrupt that a newer state replaces before its delivery', async () => {
      proves('gate:superseded', 'plan:supersede');
      await inbox.queue('shop/coder', down);
      expect(await gates()).toEqual(['down']);
      await inbox.queue('shop/coder', { ...state, id: 'up', message: 'prod is up again' });
      expect(await gates()).toEqual([]);
      expect(await call()).toBeUndefined();
      const offer = await talk().offer({ at: 'tool_result' });
      expect(offer?.view.text).toContain('prod is up again');
      expect(offer?.view.text).not.toContain('PROD DOWN');
      await offer?.release('cancelled');
      expect(await call()).toBeUndefined();
      expect((await inbox.why('down', LOG))?.items[0]?.verdict).toMatchObject({ kind: 'superseded', by: 'up', over: false });
      await (await talk().offer({ at: 'tool_result' }))?.confirm();
      expect((await inbox.why('down', LOG))?.items[0]?.verdict).toMatchObject({ kind: 'superseded', by: 'up', over: true });
    });

    it('shows only the newest of two interrupts', async () => {
      proves('gate:superseded', 'plan:supersede');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...down, id: 'worse', message: 'PROD LOST' });
      const text = await call();
      expect(text).toContain('PROD LOST');
      expect(text).not.toContain('PROD DOWN');
      now += UNPROVEN_MS;
      expect(await call()).toBeUndefined();
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      expect((await inbox.why('down', LOG))?.items[0]?.receipt).toBe('superseded');
    });

    it('stays up for an older interrupt if the newer interrupt ended without proof that the model has read the newer interrupt', async () => {
      proves('gate:superseded');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...down, id: 'worse', message: 'PROD LOST' });
      const refusal = await talk().refuse({ on: 'write_file' });
      expect(refusal?.text).toContain('PROD LOST');
      await refusal?.offer?.release('cancelled');
      await inbox.withdraw(LOG, { id: 'worse' }, { by: 'ann', reason: 'wrong' });
      expect(await gates()).toEqual(['down']);
      expect(await call()).toContain('PROD DOWN');
    });

    it('stays up for an interrupt of one conversation if another conversation has got the newer state', async () => {
      proves('gate:superseded');
      await inbox.queue('shop/coder#main', down);
      await inbox.queue('shop/coder', { ...state, id: 'up', message: 'prod is up again' });
      const other = inbox.conversation({ log: LOG, conversation: 'other' as ConversationId });
      await (await other.offer({ at: 'tool_result' }))?.confirm();
      expect(await gates()).toEqual(['down']);
      expect(await call()).toContain('PROD DOWN');
    });

    it.each([
      ['the newer state has expired', { expiresAt: 1_700_000_000_001 }, 2],
      ['the newer state is of another sender', { origin: { person: 'Ann' } }, 0],
      ['the newer state is for another purpose', { purpose: 'chat' }, 0],
      ['the newer state waits for a time', { deliver: { at: 1_700_000_600_000 } }, 0],
      ['the newer state waits for the next turn', { deliver: 'turn_start' }, 0],
      ['the newer state waits for a number of turns', { deliver: { afterTurns: 2 } }, 0],
    ] as const)('stays up if %s', async (_, newer, later) => {
      proves('gate:superseded');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'up', message: 'prod is up again', ...newer });
      now += later;
      expect(await gates()).toEqual(['down']);
      expect(await call(talk(inbox, { pulls: true, purpose: 'task' }))).toContain('PROD DOWN');
    });

    it('is held up until the newer state is due, and an interrupt whose newer state has ended before is delivered', async () => {
      proves('gate:superseded', 'plan:supersede');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'later', message: 'prod was up', deliver: { at: now + 60_000 } });
      const offer = await talk().offer({ at: 'tool_result' });
      expect(offer?.view.text).toContain('PROD DOWN');
      expect(offer?.view.text).not.toContain('prod was up');
      await offer?.release('cancelled');
      await inbox.withdraw(LOG, { id: 'later' }, { by: 'ann', reason: 'wrong' });
      expect(await call()).toContain('PROD DOWN');
    });

    it('is lowered when the newer state is due', async () => {
      proves('gate:superseded');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'later', message: 'prod was up', deliver: { at: now + 60_000 } });
      expect(await gates()).toEqual(['down']);
      now += 60_000;
      expect(await gates()).toEqual([]);
      expect(await call()).toBeUndefined();
      const offer = await talk().offer({ at: 'tool_result' });
      expect(offer?.view.text).toContain('prod was up');
      expect(offer?.view.text).not.toContain('PROD DOWN');
    });

    it.each(['a signal view', 'a carrier without room'])(
      '%s closes no interrupt for a newer state that it does not show',
      async (how) => {
        proves('gate:superseded');
        await inbox.queue('shop/coder', down);
        await inbox.queue('shop/coder', { ...state, id: 'up', message: 'prod is up again', expiresAt: now + 1_000 });
        if (how === 'a signal view') await talk(inbox, { view: 'signal_en', pulls: true }).signal({ at: 'tool_result' });
        else expect(await talk().offer({ at: 'tool_result', maxChars: 1 })).toBeUndefined();
        now += 1_000;
        expect(await call()).toContain('PROD DOWN');
      },
    );

    it.each(['an offer', "the program's own transcript"])('%s closes no interrupt whose newer state has no room', async (how) => {
      proves('gate:superseded', 'plan:supersede');
      maxItems = 1;
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { message: 'tests failed', level: 'error' });
      await inbox.queue('shop/coder', {
        ...state,
        id: 'half',
        message: 'prod is half up',
        level: 'error',
        deliver: 'after_tool',
      });
      const at = 'tool_result';
      if (how === 'an offer') await (await talk().offer({ at }))?.confirm();
      else await talk().carry({ type: 'tool_call_response', id: '1', content: 'done', is_error: false }, { at });
      expect(await gates()).toEqual(['down']);
      await inbox.withdraw(LOG, { id: 'half' }, { by: 'ann', reason: 'wrong' });
      expect(await call()).toContain('PROD DOWN');
    });

    it.each(['too_big', 'late', 'cancelled'] as const)(
      'stays up if the offer of the newer state is released as %s, and no other carrier closes the interrupt meanwhile',
      async (reason) => {
        proves('gate:superseded', 'plan:supersede');
        await inbox.queue('shop/coder', down);
        await inbox.queue('shop/coder', { ...state, id: 'half', message: 'prod is half up', deliver: 'after_tool' });
        const offer = await talk().offer({ at: 'tool_result' });
        expect(offer?.view.text).toContain('prod is half up');
        expect(await talk(openInbox(OTHER)).offer({ at: 'tool_result' })).toBeUndefined();
        expect((await inbox.why('down', LOG))?.items[0]?.verdict).toMatchObject({ kind: 'superseded', by: 'half', over: false });
        await offer?.release(reason);
        expect(await gates()).toEqual(['down']);
        await inbox.withdraw(LOG, { id: 'half' }, { by: 'ann', reason: 'wrong' });
        expect(await call()).toContain('PROD DOWN');
      },
    );

    it.each([
      ['the process that offered the newer state has died', () => void dead.add(OTHER.pid)],
      ['the lease of the newer state has ended', () => void (now += DEFAULT_POLICY.leaseMs)],
    ])('goes up again as soon as %s', async (_, ends) => {
      proves('gate:superseded');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'half', message: 'prod is half up', deliver: 'after_tool' });
      await talk(openInbox(OTHER)).offer({ at: 'tool_result' });
      expect(await gates()).toEqual([]);
      expect(await call()).toBeUndefined();
      ends();
      expect(await gates()).toEqual(['down']);
      expect(await call()).toContain('PROD DOWN');
    });

    it('falls with the confirmation of the newer state, and the older interrupt is never delivered', async () => {
      proves('gate:superseded', 'plan:supersede');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'half', message: 'prod is half up', deliver: 'after_tool' });
      await (await talk().offer({ at: 'tool_result' }))?.confirm();
      expect((await inbox.why('down', LOG))?.items[0]?.receipt).toBe('superseded');
      await inbox.withdraw(LOG, { id: 'half' }, { by: 'ann', reason: 'wrong' });
      expect(await call()).toBeUndefined();
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
    });

    it('goes up again if the newer state is withdrawn after its offer, although the carrier is confirmed', async () => {
      proves('gate:superseded', 'plan:supersede');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'half', message: 'prod is half up', deliver: 'after_tool' });
      await inbox.queue('shop/coder', { id: 'other', message: 'another notification' });
      const offer = await talk().offer({ at: 'tool_result' });
      await inbox.withdraw(LOG, { id: 'half' }, { by: 'ann', reason: 'wrong' });
      expect(await offer?.confirm()).toBe('confirmed');
      expect(await gates()).toEqual(['down']);
      expect(await call()).toContain('PROD DOWN');
    });

    it('stays down if another process confirms the newer state, and the next carrier closes the older interrupt', async () => {
      proves('gate:superseded', 'plan:supersede');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'half', message: 'prod is half up', deliver: 'after_tool' });
      const offer = await talk().offer({ at: 'tool_result' });
      const conversation = 'main' as ConversationId;
      await store.append(LOG, [{ type: 'carrier_confirmed', conversation, carrier: offer!.carrier }]);
      expect(await gates()).toEqual([]);
      expect(await call()).toBeUndefined();
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      expect((await inbox.why('down', LOG))?.items[0]?.receipt).toBe('superseded');
    });

    it('the confirmation of the newer state counts, although the older interrupt was withdrawn before', async () => {
      proves('gate:superseded');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'half', message: 'prod is half up', deliver: 'after_tool' });
      const offer = await talk().offer({ at: 'tool_result' });
      await inbox.withdraw(LOG, { id: 'down' }, { by: 'ann', reason: 'wrong' });
      expect(await offer?.confirm()).toBe('confirmed');
      expect((await inbox.why('half', LOG))?.items[0]?.receipt).toBe('delivered');
      expect((await inbox.why('down', LOG))?.items[0]?.receipt).toBe('withdrawn');
    });

    it('a refusal searches at most 5,000 notifications for a newer state of an interrupt', async () => {
      proves('gate:superseded');
      const hold = { key: 'hold', supersede: true, message: 'hold on', action: 'pause', origin: { person: 'Ann' } } as const;
      await inbox.queue('shop/coder', { ...hold, id: 'first' });
      const noise = Array.from({ length: 9_000 }, (_, i) => ({
        type: 'system_notification_queued',
        conversation: 'other' as ConversationId,
        id: `n${i}` as NotificationId,
        kind: { source: 'user', name: 'message' },
        message: 'noise',
      }));
      await store.append(LOG, noise);
      await inbox.queue('shop/coder', { ...hold, id: 'second' });
      let pages = 0;
      const counted = new Proxy(store, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== 'function') return member;
          return (...args: unknown[]): unknown => {
            if (name === 'read' && JSON.stringify(args).includes('newestFirst')) pages += 1;
            return Reflect.apply(member, target, args);
          };
        },
      });
      const refusal = await talk(openInbox(ME, counted)).refuse({ on: 'write_file' });
      expect(refusal?.ids).toEqual(['second']);
      expect(pages).toBeLessThanOrEqual(5);
    });

    it('a pull shows the newer state of an interrupt first, and without room for it the gate stays up', async () => {
      proves('gate:superseded', 'plan:supersede');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'up', message: 'prod is up again', deliver: 'turn_start' });
      await inbox.queue('shop/coder', { id: 'noise', message: 'noise' });
      await inbox.queue('shop/coder', { id: 'stop', message: 'stop it', level: 'critical' });
      const pull = async (limit: number): Promise<readonly string[]> => {
        const { notifications, offer } = await talk().pull({ mark: true, limit });
        await offer?.confirm();
        return notifications.map(({ id }) => id);
      };
      expect(await pull(1)).toEqual(['stop']);
      expect(await gates()).toEqual(['down']);
      expect(await pull(1)).toEqual(['up']);
      expect(await gates()).toEqual([]);
      expect(await pull(9)).toEqual(['noise']);
    });

    it('a pull shows a newer state that waits for the next turn, and not the interrupt that it replaces', async () => {
      proves('gate:superseded');
      await inbox.queue('shop/coder', down);
      await inbox.queue('shop/coder', { ...state, id: 'up', message: 'prod is up again', deliver: 'turn_start' });
      const { notifications, offer } = await talk(inbox, { pulls: true }).pull({ mark: true });
      expect(notifications.map(({ id }) => id)).toEqual(['up']);
      await offer?.confirm();
      expect(await gates()).toEqual([]);
    });

    it('stays up for a delivered interrupt until the agent has read it, although a newer state waits', async () => {
      proves('gate:superseded');
      await inbox.queue('shop/coder', down);
      expect(await call()).toContain('PROD DOWN');
      await inbox.queue('shop/coder', { ...state, id: 'up', message: 'prod is up again' });
      expect(await call()).toContain('PROD DOWN');
      now += UNPROVEN_MS;
      expect(await call()).toBeUndefined();
      expect((await talk().offer({ at: 'tool_result' }))?.view.text).toContain('prod is up again');
    });
  });

  it('if one of two critical notifications in a line is withdrawn, a refusal names only the other', async () => {
    proves('lease:withdrawn', 'gate:withdrawn');
    const key = 'deploy';
    await inbox.queue('shop/coder', { id: 'first', message: 'the disk is full', level: 'critical', key });
    await inbox.queue('shop/coder', { id: 'second', message: 'the database is gone', level: 'critical', key });
    expect(await call()).toContain('critical: the disk is full; the database is gone');
    await inbox.withdraw(LOG, { id: 'first' }, { by: 'Ann', reason: 'cleaned up' });
    const text = await call();
    expect(text).toContain('critical: the database is gone');
    expect(text).not.toContain('the disk is full');
    expect(await call()).toBe(text);
  });

  it('refuses a call although another process takes the interrupt at each attempt, and delivers it with a later call', async () => {
    await stop();
    const there = talk(openInbox(OTHER));
    const append = store.append.bind(store);
    store.append = async (log, drafts) => {
      if (!drafts.some((draft) => draft.type === 'carrier_offered' && draft['at_point'] === 'forced')) return append(log, drafts);
      const taken = await there.offer({ at: 'turn_start' });
      const appended = await append(log, drafts);
      await taken?.release('shutdown');
      return appended;
    };
    expect(await call()).toBe('this call was not made, an interrupt came first.\nget_notifications lets calls through again.');
    store.append = append;
    expect(await call()).toContain('stop it');
    expect(await call()).toContain('stop it');
  });

  it('an interrupt that a refusal shows counts as shown, although a late text with this interrupt is never sent', async () => {
    proves('gate:early');
    await stop();
    const late = await talk(openInbox(OTHER)).offer({ at: 'tool_result' });
    expect(await call()).toContain('stop it');
    await late?.release('late');
    const { notifications } = await talk().pull({ mark: true });
    expect(notifications).toMatchObject([{ id: 'stop', repeated: true }]);
    expect(await inbox.withdraw(LOG, { id: 'stop' }, { by: 'Ann', reason: 'done' })).toMatchObject([{ result: 'maybe_seen' }]);
  });

  it('waits for a late text with one interrupt, also if an ended process holds another interrupt', async () => {
    await stop();
    await talk(openInbox(OTHER)).offer({ at: 'turn_start' });
    await inbox.queue('shop/coder', { id: 'more', message: 'and this', action: 'cancel' });
    const late = await talk().offer({ at: 'turn_start' });
    dead.add(OTHER.pid);
    let waits = 0;
    const landed = async (): Promise<void> => {
      waits += 1;
      await late?.release('late');
    };
    const refusal = await talk().refuse({ on: 'write_file', landed });
    expect(waits).toBe(1);
    expect(refusal?.ids).toEqual(['stop', 'more']);
    expect(refusal?.text).toContain('and this');
  });

  it('refuses all calls of a serial batch, and is lowered by a call that begins a second after the last refusal', async () => {
    proves('gate:asked-again', 'gate:batch');
    await stop();
    for (let i = 0; i < 60; i++) {
      expect(await call()).toContain('stop it');
      now += 35;
    }
    now += 1_000 - 35;
    expect(await call()).toBeUndefined();
    expect(await talk().gate()).toEqual([]);
    expect((await steps('stop')).at(-1)).toBe('read: asked again 1.0 s after the last of 60 refusals, calling write_file');
  });

  describe('at a host with a proof', () => {
    const refuse = async (proof: Proof, id?: string): Promise<string | undefined> => {
      const refusal = await talk(inbox, {}).refuse({ on: 'Bash', proof, call: id });
      await refusal?.offer?.confirm();
      return refusal?.text;
    };
    const observed = async (...ids: string[]): Promise<void> => {
      const named = (ids.length === 0 ? ['stop'] : ids) as NotificationId[];
      const conversation = 'main' as ConversationId;
      await store.append(LOG, [{ type: 'notification_observed', conversation, ids: named, evidence: 'file' }]);
    };
    const ended = (call: string, result: string): CallResult => ({ call, contains: (text) => result.includes(text) });

    it('is lowered by the next model request, and not by time', async () => {
      proves('gate:model-asked', 'hosts:slow-batch');
      await stop();
      for (let i = 0; i < 20; i++) {
        expect(await refuse('request')).toContain('stop it');
        now += 2_000;
      }
      await talk().answered('cycle_start');
      expect(await refuse('request')).toBeUndefined();
    });

    it.each(['turn_start', 'tool_batch_end'] as const)(
      'refuses no call for a critical notification that the transcript shows at the contact point %s',
      async (at) => {
        proves('gate:read-before');
        await stop();
        await (await talk(inbox, {}).offer({ at }))?.confirm();
        await observed();
        expect(await refuse('request')).toBeUndefined();
        expect((await steps('stop')).at(-1)).toBe(`read: the transcript shows the interrupt (${at}), calling Bash`);
      },
    );

    it('refuses a call for an interrupt that the transcript does not show, for a pause, and for an interrupt in the result of another call', async () => {
      proves('gate:read-before');
      await stop();
      await (await talk(inbox, {}).offer({ at: 'turn_start' }))?.confirm();
      expect(await refuse('transcript')).toContain('stop it');
      await inbox.queue('shop/coder', { id: 'hold', message: 'hold on', action: 'pause' });
      await (await talk(inbox, {}).offer({ at: 'turn_start' }))?.confirm();
      await observed('stop', 'hold');
      expect(await refuse('transcript')).toContain('hold on');
      await inbox.withdraw(LOG, { id: 'hold' }, { by: 'Ann', reason: 'enough' });
      await inbox.queue('shop/coder', { id: 'second', message: 'and this', level: 'critical' });
      await (await talk(inbox, {}).offer({ at: 'tool_result' }))?.confirm();
      await observed('second');
      expect(await refuse('transcript')).toContain('and this');
    });

    it('refuses no call a second after a tool result that shows the interrupt, if the transcript has the text', async () => {
      proves('gate:read-before');
      await stop();
      await (await talk(inbox, {}).offer({ at: 'tool_result' }))?.confirm();
      now += 2_000;
      expect(await refuse('transcript')).toContain('stop it');
      await inbox.queue('shop/coder', { id: 'second', message: 'and this', level: 'critical' });
      await (await talk(inbox, {}).offer({ at: 'tool_result' }))?.confirm();
      await observed('stop', 'second');
      now += 1_000;
      expect(await refuse('transcript')).toBeUndefined();
      expect((await steps('second')).at(-1)).toBe(
        "read: asked again 1.0 s after a tool's result that shows the interrupt, calling Bash",
      );
    });

    it('is lowered by a call a second after the last refusal, if the transcript has the text', async () => {
      await stop();
      await refuse('transcript');
      now += 2_000;
      expect(await refuse('transcript')).toContain('stop it');
      now += 1_000;
      await observed();
      expect(await refuse('transcript')).toBeUndefined();
    });

    it('is lowered by a call a minute after the first refusal if the proof is missing, so a missing hook does not block an agent forever', async () => {
      proves('gate:unproven');
      await stop();
      for (let i = 0; i < 30; i++) {
        expect(await refuse('request')).toContain('stop it');
        now += 2_000;
      }
      expect(await refuse('request')).toBeUndefined();
    });

    it('stays up after a refused call that ran, and the interrupt is delivered again, marked as repeated', async () => {
      proves('hosts:lost-refusal');
      await stop();
      const text = (await refuse('request', 'call-1')) ?? '';
      const conversation = talk(inbox, {});
      await conversation.ran([ended('call-1', `denied: ${text}`), ended('another', 'done')]);
      expect((await conversation.gate()).map(({ state }) => state)).toEqual(['closed']);
      await conversation.ran([ended('call-1', 'done')]);
      await conversation.answered('tool_batch_end');
      expect((await conversation.gate()).map(({ state }) => state)).toEqual(['open']);
      now += UNPROVEN_MS;
      expect(await refuse('request', 'call-2')).toContain('1 notification, repeated');
      // The result of the first call proves nothing about the second refusal.
      await conversation.ran([ended('call-1', 'done')]);
      await conversation.answered('tool_batch_end');
      expect(await refuse('request')).toBeUndefined();
    });
  });

  it('stays up until 1,000 ms have passed since the last refusal', async () => {
    proves('gate:batch');
    await stop();
    for (let i = 0; i < 5; i++) {
      expect(await call()).toContain('stop it');
      now += 999;
    }
    expect(await talk().gate()).toHaveLength(1);
  });

  it('measures the time to the start of a call, and not to the check of the call', async () => {
    proves('gate:batch');
    await stop();
    expect(await call()).toContain('stop it');
    const beganAt = now + 20;
    now += 5_000;
    expect((await talk().refuse({ on: 'slow', beganAt }))?.text).toContain('stop it');
  });

  it('stays up until a refusal has reached the client, regardless of the time', async () => {
    proves('gate:batch');
    await stop();
    for (let i = 0; i < 3; i++) {
      const refusal = await talk().refuse({ on: 'x' });
      expect(refusal?.text).toContain('stop it');
      await refusal?.offer?.release('cancelled');
      now += 5_000;
    }
    expect(await talk().gate()).toHaveLength(1);
  });

  it('is lowered for interrupts with an earlier refusal, but not for a newer interrupt', async () => {
    proves('gate:asked-again');
    await stop();
    expect(await call()).toContain('stop it');
    now += 2_000;
    await inbox.queue('shop/coder', { id: 'more', message: 'and this', action: 'cancel' });
    const second = await call();
    expect(second).toContain('and this');
    expect(second).not.toContain('stop it');
    now += 1_000;
    expect(await call()).toBeUndefined();
  });

  it('measures the time since the last refusal of any process', async () => {
    proves('gate:batch', 'gate:asked-again');
    const there = talk(openInbox(OTHER));
    await stop();
    expect(await call()).toContain('stop it');
    now += 20;
    expect(await call(there)).toContain('stop it');
    now += 990;
    expect(await call()).toContain('stop it');
    now += 1_000;
    expect(await call(there)).toBeUndefined();
  });

  it('an agent that repeats its calls without a break is refused 109 times, and then no longer', async () => {
    proves('gate:asked-again');
    await stop();
    let refused = 0;
    while ((await call()) !== undefined) {
      refused += 1;
      now += 100;
      expect(refused).toBeLessThan(200);
    }
    expect(refused).toBe(109);
    expect(await store.read({ log: LOG, types: ['gate_refused'] })).toHaveLength(100);
  });

  it('a clock that was set back costs one more refusal', async () => {
    proves('gate:asked-again');
    await stop();
    expect(await call()).toContain('stop it');
    now -= 3_600_000;
    expect(await call()).toContain('stop it');
    now += 3_600_000 + 1_000;
    expect(await call()).toBeUndefined();
  });

  it.each(['turn_start', 'tool_batch_end', 'cycle_start'] as const)(
    'is lowered at %s after a refusal, even if the agent has get_notifications',
    async (at) => {
      proves('gate:model-asked');
      await stop();
      expect(await talk().offer({ at: 'tool_result' })).toBeDefined();
      await talk().answered(at);
      expect(await talk().gate()).toHaveLength(1);
      await inbox.withdraw(LOG, { id: 'stop' }, { by: 'test', reason: 'again' });
      await inbox.queue('shop/coder', { id: 'two', message: 'stop two', level: 'critical' });
      expect(await call()).toContain('stop two');
      await (await talk().offer({ at }))?.release('shutdown');
      expect(await talk().gate()).toEqual([]);
    },
  );

  it('lets a call pass after get_notifications has shown the interrupt', async () => {
    proves('gate:read-unasked');
    await stop();
    await (await talk().pull({ mark: true })).offer?.confirm();
    expect(await call()).toBeUndefined();
  });

  it('an interrupt that another process shows in an unconfirmed answer refuses only calls that begin less than a second later', async () => {
    proves('gate:read-unasked');
    const there = talk(openInbox(OTHER));
    await stop();
    const pulled = await talk().pull({ mark: true });
    now += 20;
    expect(await call(there)).toContain('stop it');
    now += 1_000;
    expect(await call(there)).toBeUndefined();
    await pulled.offer?.release('cancelled');
    expect(await call(there)).toContain('stop it');
  });

  describe('a pause', () => {
    it('refuses calls until a person lifts it: reading, turns and time do not lift it, and the refusal says so', async () => {
      proves('gate:pause');
      await pause();
      const text = await call();
      expect(text).toContain('Ann asks to pause: “hold on”');
      // No command can open a store that belongs to one process.
      const how = store.private ? '' : ', with `earpiece resume shop/coder` or in the console';
      expect(text).toContain(`Calls are made again only after a person lifts the pause${how}.`);
      expect(text).not.toContain('get_notifications');
      const pulled = await talk().pull({ mark: true });
      expect(pulled.notifications).toMatchObject([
        {
          id: 'hold',
          repeated: true,
          holds: `until a person lifts it${store.private ? '' : ': earpiece resume shop/coder, or the console'}`,
        },
      ]);
      await pulled.offer?.confirm();
      await inbox.markRead(LOG, ['hold'], 'api');
      for (const at of ['turn_start', 'tool_batch_end'] as const) await talk().answered(at);
      now += 60_000;
      expect(await call()).toBe(text);
      expect((await inbox.why('hold', LOG))?.items[0]?.receipt).toBe('read');
      expect(await inbox.resume('shop/coder', { person: 'Bob' })).toEqual([
        {
          log: LOG,
          id: 'hold',
          conversation: 'main',
          message: 'hold on',
          person: 'Ann',
          since: 1_700_000_000_000,
          notified: true,
        },
      ]);
      expect(await call()).toBeUndefined();
    });

    it('counts long series of refusals without filling the log', async () => {
      proves('gate:pause');
      const loop = talk();
      await pause();
      for (let i = 0; i < 450; i++) {
        expect(await call(loop)).toContain('hold on');
        now += 50;
      }
      const records = await store.read({ log: LOG, types: ['gate_refused'] });
      expect(records).toHaveLength(103);
      expect(records.reduce((sum, { body }) => sum + ((body as { times?: number }).times ?? 1), 0)).toBe(400);
    });

    it('stays when the gate of a critical notification is lowered', async () => {
      proves('gate:pause');
      await stop();
      await pause();
      expect(await call()).toContain('2 notifications');
      now += 1_000;
      const text = await call();
      expect(text).toContain('hold on');
      expect(text).not.toContain('stop it');
    });

    it('a resume of one conversation leaves other conversations paused, and a resume of a project lifts all pauses', async () => {
      proves('gate:pause');
      const on = (id: string): Conversation =>
        inbox.conversation({ log: LOG, conversation: id as ConversationId }, { pulls: true });
      for (const id of ['a', 'b', 'c']) {
        await on(id).seen();
        await inbox.queue(`shop/coder#${id}`, { id: `hold-${id}`, message: 'hold on', action: 'pause' });
      }
      const ids = async (to: string): Promise<string[]> =>
        (await inbox.resume(to, { person: 'Bob' })).map(({ id }) => id as string);
      await (await on('a').refuse({ on: 'x' }))?.offer?.confirm();
      expect(await ids('shop/coder#b')).toEqual(['hold-b']);
      expect(await on('a').gate()).toHaveLength(1);
      expect(await on('b').gate()).toEqual([]);
      expect(await ids('shop/*')).toEqual(['hold-a', 'hold-c']);
      expect(await ids('shop/*')).toEqual([]);
      expect((await on('a').offer({ at: 'tool_result' }))?.view.text).toContain('Go on.');
    });

    it('if a pause was lifted before the agent saw it, only the message of the person stays', async () => {
      proves('gate:resume');
      await talk().seen();
      for (let i = 0; i < 5; i++) {
        await inbox.queue('shop/coder', { id: `hold-${i}`, message: 'hold on', action: 'pause' });
        expect(await inbox.resume('shop/coder', { person: 'Bob' })).toMatchObject([{ id: `hold-${i}`, notified: false }]);
      }
      expect([await inbox.open(LOG), await talk().gate()]).toEqual([[], []]);
      await pause();
      const message = 'the migration is over';
      expect(await inbox.resume('shop/coder', { person: 'Bob', message })).toMatchObject([{ notified: true }]);
      const { text } = (await talk().offer({ at: 'tool_result' }))?.view ?? {};
      expect(text).toContain('Bob wrote: “the migration is over”');
      expect(text).not.toContain('resume');
    });

    it('a pause that was shown and has expired is not a pause that a person lifts', async () => {
      proves('gate:resume');
      await talk().seen();
      await inbox.queue('shop/coder', { message: 'hold on', action: 'pause', ttlMs: 1_000 });
      await call();
      now += 1_000;
      await pause();
      const message = 'the migration is over';
      await inbox.resume('shop/coder', { person: 'Bob', message });
      const { text } = (await talk().offer({ at: 'tool_result' }))?.view ?? {};
      expect(text).toContain('Bob wrote: “the migration is over”');
      expect(text).not.toContain('resume');
    });

    it('several resumes before the next delivery are one notification, with the last message', async () => {
      proves('gate:resume');
      for (const times of ['one', 'two', 'three']) {
        await inbox.queue('shop/coder', { id: times, message: 'hold on', action: 'pause' });
        await (await talk().refuse({ on: 'x' }))?.offer?.confirm();
        const lifted = await inbox.resume('shop/coder', { person: 'Bob', message: `go on ${times}` });
        expect(lifted).toMatchObject([{ id: times, notified: true }]);
      }
      const { text } = (await talk().offer({ at: 'tool_result' }))?.view ?? {};
      expect(text).toContain('1 notification');
      expect(text).toContain('Bob asks to resume: “go on three”');
    });

    it('an interrupt whose time has passed is shown as expired, and its gate as down', async () => {
      proves('gate:expired');
      // A process closes no notification as expired while it is alone, because its clock may be wrong.
      await openInbox(OTHER).witnesses.note();
      await inbox.queue('shop/coder', { id: 'hold', message: 'hold on', action: 'pause', ttlMs: 2_000 });
      await inbox.queue('shop/coder', { id: 'stop', message: 'stop it', level: 'critical', ttlMs: 1_000 });
      const paused = await call();
      expect(paused).toContain('2023-11-14T22:13:22Z');
      expect((await store.agents({}))[0]?.paused).toBe(true);
      now += 2_500;
      expect(await call()).toBeUndefined();
      for (const swept of [false, true]) {
        if (swept) expect(await inbox.sweep()).toMatchObject({ expired: 2 });
        for (const [id, at] of [
          ['hold', 1_700_000_002_000],
          ['stop', 1_700_000_001_000],
        ] as const) {
          const verdict = (await inbox.why(id, LOG))?.items[0]?.verdict;
          expect(verdict).toMatchObject({
            kind: 'expired',
            at,
            over: true,
            held: { refusals: 1, deliveredAt: 1_700_000_000_000 },
          });
        }
        expect((await store.agents({}))[0]?.paused).toBe(false);
        expect(await inbox.withdraw(LOG, { id: 'hold' }, { by: 'Ann', reason: 'go on' })).toEqual([
          { id: 'hold', result: 'too_late' },
        ]);
      }
      expect(await steps('hold')).toContain('gate lowered: sweep: the notification has expired');
      expect(await inbox.sweep()).toMatchObject({ expired: 0 });
    });

    it('a resume after the expiry of the pause lifts nothing and sends no message', async () => {
      proves('gate:pause');
      await talk().seen();
      const hold = { message: 'hold on', action: 'pause', ttlMs: 1_000 } as const;
      await inbox.queue('shop/coder', { ...hold, id: 'ttl1' });
      await call();
      await inbox.queue('shop/coder', { ...hold, id: 'ttl2' });
      await inbox.queue('shop/*', { ...hold, id: 'ttl3' });
      now += 1_000;
      const head = await store.head();
      for (const to of ['shop/coder#main', 'shop/coder', 'shop/*']) expect(await inbox.resume(to, { person: 'Bob' })).toEqual([]);
      expect(await store.head()).toBe(head);
      await pause();
      expect((await inbox.resume('shop/coder', { person: 'Bob' })).map(({ id }) => id)).toEqual(['hold']);
    });

    it('is lifted by a resume during its delivery', async () => {
      proves('gate:pause');
      await pause();
      const refusal = await talk().refuse({ on: 'x' });
      const resumed = inbox.queue('shop/coder', { message: 'go on', action: 'resume' });
      await refusal?.offer?.confirm();
      await resumed;
      expect(await talk().gate()).toEqual([]);
    });

    it('is lifted by a withdrawal, in every conversation that has the pause', async () => {
      proves('gate:withdrawn');
      const on = (id: string): Conversation =>
        inbox.conversation({ log: LOG, conversation: id as ConversationId }, { pulls: true });
      await on('a').seen();
      await on('b').seen();
      await pause();
      await (await on('a').refuse({ on: 'x' }))?.offer?.confirm();
      expect(await inbox.withdraw(LOG, { id: 'hold' }, { by: 'Ann', reason: 'no' })).toEqual([
        { id: 'hold', result: 'maybe_seen' },
      ]);
      expect([await on('a').gate(), await on('b').gate()]).toEqual([[], []]);
    });
  });

  it('withdrawing a delivered interrupt by id or by key reports that its gate is down', async () => {
    proves('gate:withdrawn');
    for (const [id, what] of [
      ['s1', { id: 's1' }],
      ['s2', { key: 'k' }],
    ] as const) {
      await inbox.queue('shop/coder', { id, message: 'stop', action: 'cancel', ...('key' in what ? { key: what.key } : {}) });
      await call();
      expect(await inbox.withdraw(LOG, what, { by: 'Ann', reason: 'no' })).toEqual([{ id, result: 'gate_lowered' }]);
      expect(await talk().gate()).toEqual([]);
      expect((await steps(id)).at(-1)).toBe('gate lowered: Ann: “no”');
      expect(await inbox.withdraw(LOG, { id }, { by: 'Ann', reason: 'no' })).toEqual([{ id, result: 'too_late' }]);
    }
  });
});
