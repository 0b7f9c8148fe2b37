import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { memoryStore, openSqliteStore } from '../../stores/index.ts';
import { Inbox, type Conversation } from '../index.ts';

const LOG = logKey('shop', 'coder');
const ME: Owner = { machine: 'here', pid: 1, startedAt: '1' };
const OTHER: Owner = { machine: 'here', pid: 2, startedAt: '1' };

const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

describe.each(STORES)('an older state over $name', ({ open }) => {
  proves('plan:supersede');
  let folder: string;
  let store: Store;
  let now: number;
  let dead: Set<number>;
  let inbox: Inbox;

  const openInbox = (owner: Owner): Inbox =>
    new Inbox({
      store,
      policies: { policy: () => DEFAULT_POLICY },
      owner,
      isAlive: ({ pid }) => !dead.has(pid),
      timeZone: 'UTC',
    });
  const talk = (of: Inbox = inbox, options: ConstructorParameters<typeof Conversation>[3] = { pulls: true }): Conversation =>
    of.conversation({ log: LOG, conversation: 'main' as ConversationId }, options);
  const queue = (id: string, more: object = {}): Promise<unknown> =>
    inbox.queue('shop/coder', { id, message: `CI is ${id}`, key: 'ci', kind: 'ci.state', supersede: true, ...more });
  const withdraw = (id: string): Promise<unknown> => inbox.withdraw(LOG, { id }, { by: 'ann', reason: 'wrong' });
  const offer = (of?: Conversation): ReturnType<Conversation['offer']> => (of ?? talk()).offer({ at: 'tool_result' });
  const receipt = async (id: string): Promise<string | undefined> => (await inbox.why(id, LOG))?.items[0]?.receipt;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-older-'));
    now = 1_700_000_000_000;
    dead = new Set();
    store = await open({ now: () => now }, folder);
    inbox = openInbox(ME);
  });
  afterEach(async () => {
    await inbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['waits for a time', { deliver: { inMs: 3_600_000 } }],
    ['waits for turns', { deliver: { afterTurns: 5 } }],
    ['has expired', { ttlMs: 1_000 }],
    ['is known already', { about: 'file:/a' }],
  ])('that %s does not keep a message from its newer state', async (_, more) => {
    await queue('red', more);
    await queue('green');
    now += 5_000;
    const request = { type: 'chat_request', content: 'hello', source: 'user' } as const;
    const { view } = await talk().carry(request, { at: 'turn_start', known: { 'file:/a': now + 1_000 } });
    expect(view?.text).toContain('CI is green');
    expect(await receipt('green')).toBe('delivered');
    expect(await receipt('red')).not.toBe('queued');
  });

  it.each(['too_big', 'late', 'cancelled'] as const)(
    'is delivered if the offer of the newer state is released as %s and the newer state then ends',
    async (reason) => {
      await queue('red');
      await queue('green');
      const newer = await offer();
      expect(newer?.view.text).toContain('CI is green');
      expect(newer?.view.text).not.toContain('CI is red');
      expect(await offer(talk(openInbox(OTHER)))).toBeUndefined();
      expect((await talk().pull({ mark: true })).notifications).toEqual([]);
      expect(await talk().decisions({ at: 'tool_result' })).toMatchObject([{ kind: 'close', id: 'red', outcome: 'superseded' }]);
      expect((await inbox.why('red', LOG))?.items[0]?.verdict).toMatchObject({ kind: 'superseded', by: 'green', over: false });
      await newer?.release(reason);
      await withdraw('green');
      expect((await offer())?.view.text).toContain('CI is red');
    },
  );

  it('is delivered if the process that offered the newer state dies and the newer state expires', async () => {
    await queue('red');
    await queue('green', { expiresAt: now + 1_000 });
    await offer(talk(openInbox(OTHER)));
    dead.add(OTHER.pid);
    now += 1_000;
    expect((await offer())?.view.text).toContain('CI is red');
  });

  it('is delivered if the newer state is withdrawn before its pull is confirmed', async () => {
    await queue('red');
    await queue('green');
    const pulled = await talk().pull({ mark: true });
    expect(pulled.notifications.map(({ id }) => id)).toEqual(['green']);
    await withdraw('green');
    await pulled.offer?.confirm();
    expect((await offer())?.view.text).toContain('CI is red');
  });

  it('closes with the confirmation of the newer state, and is never delivered', async () => {
    await queue('red');
    await queue('green');
    const newer = await offer();
    expect(await receipt('red')).toBe('queued');
    await newer?.confirm();
    expect(await receipt('red')).toBe('superseded');
    await withdraw('green');
    expect(await offer()).toBeUndefined();
  });

  it("closes with the record of the newer state in the program's own transcript", async () => {
    await queue('red');
    await queue('green');
    const result = { type: 'tool_call_response', id: '1', content: 'done', is_error: false } as const;
    const { text } = await talk().carry(result, { at: 'tool_result' });
    expect(text).toContain('CI is green');
    expect(await receipt('red')).toBe('superseded');
  });

  it('closes with a confirmation of the newer state that comes after the end of the lease', async () => {
    await queue('red');
    await queue('green');
    const late = await offer();
    now += DEFAULT_POLICY.leaseMs;
    await talk(openInbox(OTHER)).decisions({ at: 'tool_result' });
    expect(await late?.confirm()).toBe('late');
    expect(await receipt('red')).toBe('superseded');
    expect(await offer()).toBeUndefined();
  });

  it('closes with the newest state, although another carrier holds a state between them that is then withdrawn', async () => {
    await queue('red');
    await queue('yellow');
    const middle = await offer(talk(openInbox(OTHER)));
    await queue('green');
    const newest = await offer();
    expect(newest?.view.text).toContain('CI is green');
    await newest?.confirm();
    await withdraw('yellow');
    await middle?.release('cancelled');
    expect(await receipt('red')).toBe('superseded');
    expect(await offer()).toBeUndefined();
  });

  it('is not delivered after a refusal that shows its newer state', async () => {
    await queue('red');
    await queue('down', { level: 'critical' });
    const refusal = await talk().refuse({ on: 'write_file' });
    expect(refusal?.text).toContain('CI is down');
    await refusal?.offer?.confirm();
    expect(await offer()).toBeUndefined();
    expect(await receipt('red')).toBe('superseded');
  });

  it('that is an interrupt is delivered if a host drops the newer state after the confirmation, and the newer state ends', async () => {
    proves('gate:superseded');
    await queue('down', { level: 'critical' });
    await queue('half', { deliver: 'after_tool' });
    const dropped = await offer(talk(inbox, { pulls: true, carrier: 'hook' }));
    await dropped?.confirm();
    expect(await inbox.gates(LOG)).toEqual([]);
    await dropped?.reopen();
    await withdraw('half');
    expect((await talk().refuse({ on: 'write_file' }))?.text).toContain('CI is down');
  });
});
