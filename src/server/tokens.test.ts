import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../core/ports.ts';
import { memoryStore } from '../stores/memory.ts';
import { Tokens } from './tokens.ts';

let now: number;
let store: Store;
let tokens: Tokens;
beforeEach(() => {
  now = 1_000_000;
  store = memoryStore({ clock: { now: () => now } });
  tokens = new Tokens({ store, speaker: undefined });
});

describe('tokens', () => {
  it('are compared in every character, and are stored as a hash', async () => {
    const { token, id } = await tokens.create({ kind: 'project', name: 'ci', project: 'shop' });
    expect(token).toMatch(/^ep_[0-9a-z]{12}_[0-9a-z]{40}$/u);
    expect(await tokens.check(token)).toEqual({
      id,
      kind: 'project',
      name: 'ci',
      project: 'shop',
      agent: null,
      conversation: null,
      session: false,
      expiresAt: null,
      account: id,
    });
    for (const wrong of [
      '',
      token.slice(0, -1),
      `${token}x`,
      `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
      `ep_${'a'.repeat(12)}_${'b'.repeat(40)}`,
    ])
      expect(await tokens.check(wrong)).toBeUndefined();
    expect(JSON.stringify(await store.setting(`token ${id}`))).not.toContain(token.slice(-40));
    expect(await tokens.list()).toMatchObject([{ id, lastUsedAt: now }]);
    expect(JSON.stringify(await tokens.list())).not.toMatch(/hash/u);
  });

  it('end when they expire or when any process revokes them', async () => {
    const short = await tokens.create({ kind: 'admin', name: 'short', expiresInMs: 1_000 });
    const long = await tokens.create({ kind: 'admin', name: 'long' });
    now += 999;
    expect(await tokens.check(short.token)).toBeDefined();
    now += 1;
    expect(await tokens.check(short.token)).toBeUndefined();
    expect((await tokens.list()).map(({ name }) => name)).toEqual(['long']);
    const told: string[] = [];
    tokens.onRevoked((id) => told.push(id));
    expect(await new Tokens({ store, speaker: undefined }).revoke(long.id)).toBe(true);
    expect([await tokens.check(long.token), await tokens.lives(long.id), await tokens.revoke(long.id)]).toEqual([
      undefined,
      false,
      false,
    ]);
    expect(told).toEqual([]);
    expect(await store.setting('tokens')).toEqual([short.id]);
    // Another process may have the right clock, so a token is refused but kept unless a second clock agrees.
    await tokens.create({ kind: 'admin', name: 'another' });
    expect(await store.setting(`token ${short.id}`)).toBeDefined();
    await new Tokens({ store, speaker: undefined }, async () => true).create({ kind: 'admin', name: 'a third' });
    expect(await store.setting(`token ${short.id}`)).toBeUndefined();
  });

  it('last at most ten years, and have a name that a list can show', async () => {
    await expect(tokens.create({ kind: 'admin', name: 'x', expiresInMs: 8.64e15 })).rejects.toThrow('at most ten years (3650d)');
    await expect(tokens.create({ kind: 'admin', name: 'x'.repeat(101) })).rejects.toThrow('a name of 101 characters');
  });

  it('are refused above the maximum number, and then nothing is stored', async () => {
    await store.setSetting(
      'tokens',
      Array.from({ length: 1_000 }, (_, i) => `t${i}`),
    );
    for (let i = 0; i < 1_000; i++) await store.setSetting(`token t${i}`, { id: `t${i}`, expiresAt: null });
    const made: string[] = [];
    const set = store.setSetting.bind(store);
    store.setSetting = (key, value, options) => {
      if (value !== undefined) made.push(key);
      return set(key, value, options);
    };
    await expect(tokens.create({ kind: 'admin', name: 'one more' })).rejects.toThrow(
      'there are already 1000 tokens and browser sessions',
    );
    expect(made).toHaveLength(1);
    expect(await store.setting(made[0] ?? '')).toBeUndefined();
  });

  it('log in at most twenty browsers each, including browsers that another browser logged in', async () => {
    const admin = await tokens.create({ kind: 'admin', name: 'x' });
    const other = await tokens.session(undefined, 1_000);
    const first = await tokens.session(await tokens.check(admin.token), 1_000);
    const all = [first];
    for (let i = 0; i < 20; i++) {
      now++;
      all.push(await tokens.session(await tokens.check(all.at(-1)?.token ?? ''), 1_000));
    }
    expect(await tokens.check(first.token)).toBeUndefined();
    for (const { token } of [...all.slice(1), other]) expect(await tokens.check(token)).toBeDefined();
    await tokens.revoke(admin.id);
    expect((await tokens.list()).map(({ id }) => id)).toEqual([other.id]);
  });

  it('a late write of the last use does not restore a revoked token', async () => {
    const { token, id } = await tokens.create({ kind: 'admin', name: 'x' });
    await tokens.check(token);
    now += 120_000;
    const checking = tokens.check(token);
    await tokens.revoke(id);
    await checking;
    expect(await store.setting(`token ${id}`)).toBeUndefined();
  });

  it('the token of a session ends with the token that created the session', async () => {
    const parent = await tokens.create({ kind: 'project', name: 'me', project: 'shop', expiresInMs: 10_000 });
    const who = await tokens.check(parent.token);
    const session = await tokens.session(who, 3_600_000);
    expect(session).toMatchObject({ session: true, kind: 'project', project: 'shop', expiresAt: parent.expiresAt });
    expect(await tokens.check(session.token)).toMatchObject({ session: true });
    const told: string[] = [];
    tokens.onRevoked((id) => told.push(id));
    await tokens.revoke(parent.id);
    expect(await tokens.check(session.token)).toBeUndefined();
    expect(told).toEqual([parent.id, session.id]);
    // The session is made at the moment when its token is revoked.
    const late = await tokens.session(who, 3_600_000);
    expect(await tokens.check(late.token)).toBeUndefined();
    expect(await tokens.any()).toBe(false);
  });

  it.each([
    [
      { kind: 'admin', name: ' ' },
      'a token of kind admin needs a name that is not blank and has no control characters, got " "; write e.g. ci',
    ],
    [{ kind: 'admin', name: 'x', project: 'shop' }, 'a token of kind admin is for every project; leave the project out'],
    [{ kind: 'send', name: 'x' }, 'a token of kind send is for one project; name the project'],
    [{ kind: 'agent', name: 'x', project: 'shop' }, 'a token of kind agent is for one agent; name the agent'],
    [
      { kind: 'send', name: 'x', project: 'shop', agent: 'a' },
      'a token of kind send is not for a single agent; leave the agent out, or create a token of kind agent',
    ],
    [{ kind: 'project', name: 'x', project: 'a/b' }, 'a token of kind project has "a/b", which is not a valid project'],
  ] as const)('%j is refused', async (request, why) => {
    await expect(tokens.create(request)).rejects.toThrow(why);
    expect(await tokens.list()).toEqual([]);
  });
});
