import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { logKey, type ConversationId } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import { memoryStore, openSqliteStore } from '../../stores/index.ts';
import { Inbox, isIn, type Conversation } from '../index.ts';

const LOG = logKey('shop', 'coder');

const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

describe.each(STORES)('a fork over $name', ({ open }) => {
  let folder: string;
  let store: Store;
  let inbox: Inbox;
  let now: number;

  const talk = (id: string): Conversation =>
    inbox.conversation({ log: LOG, conversation: id as ConversationId }, { pulls: true });
  const ask = (of: Conversation, content: string, at: 'turn_start' | 'idle' = 'turn_start'): Promise<string> =>
    of.carry([{ type: 'turn_start' }, { type: 'chat_request', content }], { at }).then(({ text }) => text);
  const send = async (to: string, message: string, more: object = {}): Promise<string> =>
    (await inbox.queue(to, { kind: { source: 'tool', name: 'failed' }, message, ...more })).id;
  const said = async (of: Conversation): Promise<readonly unknown[]> => {
    const contents: unknown[] = [];
    for await (const { body } of inbox.transcript(of)) if ('content' in body) contents.push(body.content);
    return contents;
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-fork-'));
    now = 1_700_000_000_000;
    store = await open({ now: () => now }, folder);
    inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  });
  afterEach(async () => {
    await inbox.close();
    expect(await store.verify().catch(() => ['closed'])).toEqual(['closed']);
    rmSync(folder, { recursive: true, force: true });
  });

  it('keeps open notifications with the same ids, and both conversations get these notifications once', async () => {
    proves('log:fork');
    const a = talk('a');
    await ask(a, 'hello');
    const id = await send('shop/coder#a', 'the build failed', { level: 'error' });

    const { conversation, ids } = await inbox.fork(a, { to: 'b' });
    expect(ids).toEqual([id]);
    const b = talk(conversation);
    for (const one of [b, a]) {
      expect(await ask(one, 'and now?')).toContain('the build failed');
      expect(await ask(one, 'and now?')).toBe('and now?');
    }
    const why = (await inbox.why(id, LOG))?.items ?? [];
    expect(why.map(({ item, receipt }) => `${item.audience} ${receipt}`).sort()).toEqual(['a delivered', 'b delivered']);
    const steps = why.find(({ item }) => item.audience === 'b')?.steps.map(({ what, detail }) => [what, detail]);
    expect(steps).toEqual([
      ['queued', undefined],
      ['forked', 'b began as a'],
      ['delivered', 'in a user message'],
    ]);
    expect(await said(b)).toEqual(['hello', 'and now?', 'and now?']);
  });

  it('a fork of an earlier point has the notifications that were open at that point, except those that have since been withdrawn', async () => {
    const a = talk('a');
    await ask(a, 'one');
    const delivered = await send('shop/coder#a', 'delivered later');
    const anyones = await send('shop/coder', 'taken later');
    const withdrawn = await send('shop/coder#a', 'withdrawn later');
    const upTo = await store.head();
    await inbox.withdraw(LOG, { id: withdrawn }, { by: 'test', reason: 'over' });
    await ask(a, 'two');
    await send('shop/coder#a', 'of later');

    const { ids } = await inbox.fork(a, { to: 'b', upTo });
    expect([...ids].sort()).toEqual([delivered, anyones].sort());
    const b = talk('b');
    const text = await ask(b, 'another two');
    expect(text).toContain('delivered later');
    expect(text).toContain('taken later');
    expect(text).not.toContain('withdrawn later');
    expect(text).not.toContain('of later');
    expect(await said(b)).toEqual(['one', 'another two']);
    expect(await said(a)).toEqual(['one', 'two']);
  });

  it('leaves notifications for any conversation to the first conversation with a carrier', async () => {
    const a = talk('a');
    await ask(a, 'hello');
    await send('shop/coder', 'for the agent');
    await inbox.fork(a, { to: 'b' });
    expect(await ask(talk('b'), 'b')).toContain('for the agent');
    expect(await ask(a, 'a')).toBe('a');
  });

  it('has its own gate for an interrupt that the original has read', async () => {
    const a = talk('a');
    await ask(a, 'hello');
    const id = await send('shop/coder#a', 'stop', { level: 'critical' });
    const upTo = await store.head();
    await ask(a, 'go on');
    await inbox.markRead(LOG, [id], 'test');
    expect(await a.gate()).toEqual([]);
    await inbox.fork(a, { to: 'b', upTo });
    expect((await talk('b').gate()).map((item) => item.id)).toEqual([id]);
    expect(await a.gate()).toEqual([]);
  });

  it('keeps the mark that its model knows, and does not explain the mark again', async () => {
    const a = talk('a');
    await send('shop/coder#a', 'first');
    const first = await ask(a, 'hello');
    const mark = /\[ep ([a-z0-9]+)\]/u.exec(first)?.[1];
    expect(mark).toBeDefined();
    await inbox.fork(a, { to: 'b' });
    await send('shop/coder#b', 'second');
    await send('shop/coder#a', 'second');
    const ofB = await ask(talk('b'), 'go on');
    expect(ofB).toContain(`[ep ${mark}]`);
    expect(ofB).toBe(await ask(a, 'go on'));
  });

  it('a fork of a fork reads its whole lineage, and counts the turns of the whole lineage', async () => {
    const a = talk('a');
    await ask(a, '1');
    await send('shop/coder#a', 'after two turns', { deliver: { afterTurns: 2 } });
    await ask(a, '2');
    await inbox.fork(a, { to: 'b' });
    const b = talk('b');
    await ask(b, '3');
    const upToB = await store.head();
    await ask(a, 'not in the forks');
    await inbox.fork(b, { to: 'c', upTo: upToB });
    const c = talk('c');
    expect(await said(c)).toEqual(['1', '2', '3']);
    expect((await inbox.lineage(c)).map(({ conversation }) => conversation)).toEqual(['a', 'b', 'c']);
    expect(await ask(c, '4')).toContain('after two turns');

    const lineage = await inbox.lineage(c);
    const all = await store.read({ log: LOG, limit: 1_000, types: ['chat_request'] });
    expect(all.filter((record) => isIn(lineage, record)).map(({ body }) => (body as { content?: unknown }).content)).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
    const newest: unknown[] = [];
    for await (const { body } of inbox.transcript(c, { types: ['chat_request'], newestFirst: true }))
      newest.push((body as { content?: unknown }).content);
    expect(newest).toEqual(['4', '3', '2', '1']);
  });

  it('a fork at a point before the first fork began is a fork of the original', async () => {
    const a = talk('a');
    await ask(a, '1');
    const early = await store.head();
    await ask(a, '2');
    await inbox.fork(a, { to: 'b' });
    expect(await inbox.fork(talk('b'), { to: 'c', upTo: early })).toMatchObject({ from: 'a', upTo: early });
    expect(await said(talk('c'))).toEqual(['1']);
  });

  it('needs a conversation with records, and a free name', async () => {
    const refused = async (work: Promise<unknown>): Promise<string> => {
      const error = await work.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof EarpieceError)) throw new Error(`not refused: ${String(error)}`);
      return `${error.code}: ${error.message}`;
    };
    expect(await refused(inbox.fork(talk('nobody')))).toBe(
      'not_found: shop/coder#nobody has no records; name a conversation and a position with records',
    );
    const before = await store.head();
    const a = talk('a');
    await ask(a, 'hello');
    expect(await refused(inbox.fork(a, { upTo: before }))).toBe(
      'not_found: shop/coder#a has no records up to 0; name a conversation and a position with records',
    );
    expect(await refused(inbox.fork(a, { to: 'a' }))).toBe('bad_argument: shop/coder#a exists; choose another name for the fork');
    expect(await refused(inbox.fork(a, { to: 'x/y' }))).toContain('bad_address: conversation "x/y"');
    const both = await Promise.allSettled([inbox.fork(a, { to: 'b' }), inbox.fork(a, { to: 'b' })]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
