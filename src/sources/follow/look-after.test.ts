import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Emitter, EventInput } from '../../core/event.ts';
import { armFaults, FOLLOW_FAULT_POINTS, UNFOLLOW_FAULT_POINTS } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import { CannotLook, type Follower, type Look, type Standing } from './follower.ts';
import { letGo, looker, renewLease, takeLease } from './lease.ts';
import {
  add,
  following,
  groupsOf,
  keepState,
  listed,
  NEW,
  remove,
  stateOf,
  type Followed,
  type Group,
  type State,
} from './list.ts';
import { unfollow } from './unfollow.ts';
import { GRACE_MS, isDue, LONGEST_MS, lookAfter, lookOnce, type Surroundings } from './look-after.ts';

const MINUTE = 60_000;

/** Simulates a store's settings, a clock and the reports. Each id is reported once, as in a log. */
class Place {
  readonly settings = new Map<string, Json>();
  readonly told: string[] = [];
  readonly withdrawn: string[] = [];
  /** The messages of open notifications by key. */
  readonly open = new Map<string, string>();
  readonly ids = new Set<string>();
  now = Date.UTC(2026, 0, 1);
  heard = true;
  looks = 0;
  agents: readonly string[] = ['coder'];
  sees: (state: Json | undefined) => Partial<Look> = () => ({});

  readonly store = {
    now: () => this.now,
    overview: () => Promise.resolve(this.agents.map((agent) => ({ log: `shop/${agent}` })) as never),
    setting: (key: string) => Promise.resolve(this.settings.get(key)),
    setSetting: (key: string, value: Json | undefined) => {
      if (value === undefined) this.settings.delete(key);
      else this.settings.set(key, JSON.parse(JSON.stringify(value)) as Json);
      return Promise.resolve();
    },
    swapSetting: async (key: string, from: Json | undefined, to: Json | undefined) => {
      if (JSON.stringify(this.settings.get(key)) !== JSON.stringify(from)) return false;
      await this.store.setSetting(key, to);
      return true;
    },
  };

  readonly emitter: Emitter = {
    emit: (event: EventInput) => {
      const isNew = !this.ids.has(event.id ?? '');
      if (event.type === 'follow.over') {
        this.withdrawn.push(event.key ?? '');
        if (isNew) this.open.delete(event.key ?? '');
      } else if (!this.heard) return Promise.reject(new EarpieceError('nobody_there', 'nobody'));
      else if (isNew) {
        this.told.push(event.message ?? '');
        this.open.set(event.key ?? '', event.message ?? '');
      }
      this.ids.add(event.id ?? '');
      return Promise.resolve({ event: event as never, heard: [] });
    },
  };

  readonly follower: Follower = {
    look: (state) => {
      this.looks++;
      const seen = this.sees(state);
      return Promise.resolve({ standing: [], news: [], state: state ?? null, summary: 'seen', againMs: MINUTE, ...seen });
    },
  };

  around(more: Partial<Surroundings> = {}): Surroundings {
    return {
      store: this.store,
      project: 'shop',
      emitter: this.emitter,
      followerOf: () => this.follower,
      isAnyoneThere: () => Promise.resolve(true),
      now: () => this.now,
      sleep: (ms) => Promise.resolve(void (this.now += ms)),
      signal: new AbortController().signal,
      ...more,
    };
  }

  async follow(more: Partial<Followed> = {}): Promise<Followed & Group> {
    const what = { kind: 'url', url: `http://shop.test/${more.uid ?? ''}` } as const;
    const { followed } = await add(this.store, 'shop', { uid: 'u1', what, to: 'shop/coder', ...more });
    return { ...followed, tos: [followed.to], paces: [followed.everyMs] };
  }

  async look(followed: Group): Promise<State | undefined> {
    return lookOnce(this.around(), followed, await stateOf(this.store, followed.uid));
  }
}

const wrong = (key: string, fingerprint = key): Standing => ({
  key,
  fingerprint,
  type: 'url.failed',
  severity: 'error',
  message: `${key} is wrong`,
  data: {},
});

/** A complete event of a source. */
const changed = { type: 'file.modified', source: 'files', subject: 'shop/coder', key: 'file:a', message: 'a was changed' };

describe('a look', () => {
  proves('follow:told-once', 'follow:withdrawn');

  it('reports a state once, and withdraws it when it ends', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = () => ({ standing: [wrong('a'), wrong('b')] });
    await place.look(followed);
    await place.look(followed);
    expect(place.told).toEqual(['a is wrong', 'b is wrong']);
    place.sees = () => ({ standing: [wrong('b')] });
    await place.look(followed);
    expect(place.withdrawn).toEqual(['follow:u1:a']);
    place.sees = () => ({ standing: [wrong('a'), wrong('b', 'otherwise')] });
    await place.look(followed);
    expect(place.told).toEqual(['a is wrong', 'b is wrong', 'a is wrong', 'b is wrong']);
  });

  it.each(FOLLOW_FAULT_POINTS.flatMap((point) => [1, 2, 3].map((time) => [point, time] as const)))(
    'after a crash at %s, hit %s, the check is repeated: nothing is reported twice or lost',
    async (point, time) => {
      const place = new Place();
      const followed = await place.follow();
      place.sees = () => ({ standing: [wrong('old')] });
      await place.look(followed);
      place.sees = () => ({
        standing: [wrong('a'), wrong('b')],
        news: [{ ...wrong('n'), id: 'n1', message: 'news' }],
        state: 'further',
      });
      let left = time;
      armFaults((at) => {
        if (at === point && --left === 0) throw new Error('crash');
      });
      await place.look(followed).catch(() => undefined);
      armFaults(undefined);
      await place.look(followed);
      expect(place.told.toSorted()).toEqual(['a is wrong', 'b is wrong', 'news', 'old is wrong']);
      expect(new Set(place.withdrawn)).toEqual(new Set(['follow:u1:old']));
      expect(await stateOf(place.store, 'u1')).toMatchObject({ told: { a: 'a', b: 'b' }, source: 'further' });
    },
  );

  /** The possible states after a crash: a name for each case, and the fingerprints of its states by key. */
  const WORLDS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['everything is fixed', {}],
    ['only the old state is back', { old: 'old' }],
    ['one problem is fixed', { b: 'b' }],
    ['one problem has another text', { a: 'a2', b: 'b' }],
    ['nothing has changed', { a: 'a', b: 'b' }],
  ];
  const standingIn = (world: Readonly<Record<string, string>>): readonly Standing[] =>
    Object.entries(world).map(([key, fingerprint]) => ({ ...wrong(key, fingerprint), message: `${fingerprint} is wrong` }));

  for (const point of FOLLOW_FAULT_POINTS)
    for (const [name, world] of WORLDS)
      it.each([1, 2, 3, 4])(`after a crash at ${point}, hit %s, if ${name}, exactly the current state is open`, async (time) => {
        const place = new Place();
        const followed = await place.follow();
        place.sees = () => ({ standing: standingIn({ old: 'old' }) });
        await place.look(followed);
        const news = [{ ...wrong('n'), id: 'n1', message: 'news' }];
        const sees = (now: typeof world) => (state: Json | undefined) => ({
          standing: standingIn(now),
          news: state === 'further' ? [] : news,
          events: state === 'further' ? [] : [changed],
          state: 'further',
        });
        place.sees = sees({ a: 'a', b: 'b' });
        let left = time;
        armFaults((at) => {
          if (at === point && --left === 0) throw new Error('crash');
        });
        await place.look(followed).catch(() => undefined);
        armFaults(undefined);
        place.sees = sees(world);
        await place.look(followed);
        await place.look(followed);
        for (const key of ['follow:u1:n', changed.key]) place.open.delete(key);
        expect([...place.open.values()].toSorted()).toEqual(Object.values(world).map((text) => `${text} is wrong`));
        expect(place.told.filter((message) => message === 'news')).toHaveLength(1);
        expect(place.told.filter((message) => message === changed.message)).toHaveLength(1);
        expect(place.told.filter((message) => message === 'b is wrong').length).toBeLessThanOrEqual(1);
        const { told, untold } = await stateOf(place.store, 'u1');
        expect({ told, untold }).toEqual({ told: world, untold: undefined });
      });

  it('an event of a source that happens again is reported again, even after a crash', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = () => ({ events: [changed] });
    let state = (await place.look(followed)) as State;
    state = (await lookOnce(place.around(), followed, state)) as State;
    expect(place.told).toHaveLength(2);
    armFaults((at) => {
      if (at === 'follow.told') throw new Error('crash');
    });
    await lookOnce(place.around(), followed, state).catch(() => undefined);
    armFaults(undefined);
    expect(place.told).toHaveLength(3);
    // The crashed check made the first report, which is not repeated.
    await place.look(followed);
    expect(place.told).toHaveLength(4);
  });

  it('after a crash, reports wait until an agent is active, and nothing else is checked', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = (state) => ({ news: state === 'further' ? [] : [{ ...wrong('n'), id: 'n1' }], state: 'further' });
    armFaults((at) => {
      if (at === 'follow.planned') throw new Error('crash');
    });
    await place.look(followed).catch(() => undefined);
    armFaults(undefined);
    place.heard = false;
    expect(((await place.look(followed))?.nextAt ?? 0) - place.now).toBe(5_000);
    expect(place.looks).toBe(1);
    place.heard = true;
    await place.look(followed);
    expect(place.told).toEqual(['n is wrong']);
  });

  it('a follower that ends after a crash withdraws what the crashed process may have reported', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = () => ({ standing: [wrong('a'), wrong('b')] });
    armFaults((at) => {
      if (at === 'follow.told') throw new Error('crash');
    });
    await place.look(followed).catch(() => undefined);
    armFaults(undefined);
    expect([...place.open.values()]).toEqual(['a is wrong']);
    await unfollow(place.around(), 'f1');
    expect([...place.open]).toEqual([]);
    expect([...place.settings]).toEqual([]);
  });

  it('a follower that ends withdraws its news, also those that a crashed process may have reported', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = () => ({ news: [{ ...wrong('n'), id: 'review:1', key: 'review:1' }] });
    await place.look(followed);
    place.sees = () => ({ news: [{ ...wrong('m'), id: 'review:2', key: 'review:2' }] });
    armFaults((at) => {
      if (at === 'follow.told') throw new Error('crash');
    });
    await place.look(followed).catch(() => undefined);
    armFaults(undefined);
    expect([...place.open.values()]).toEqual(['n is wrong', 'm is wrong']);
    await unfollow(place.around(), 'f1');
    expect([...place.open]).toEqual([]);
    expect([...place.settings]).toEqual([]);
  });

  it('is repeated from the same state if no agent was active', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.heard = false;
    const news = [{ ...wrong('n'), id: 'n1', message: 'news' }];
    place.sees = () => ({ news, state: 'further', againMs: 1_000, over: 'merged' });
    expect(((await place.look(followed))?.nextAt ?? 0) - place.now).toBe(5_000);
    place.sees = () => ({ news, state: 'further' });
    expect(await stateOf(place.store, 'u1')).toMatchObject({ told: {}, summary: 'not reported: no agent is active' });
    expect((await stateOf(place.store, 'u1')).source).toBeUndefined();
    place.heard = true;
    await place.look(followed);
    expect(place.told).toEqual(['news']);
    expect((await stateOf(place.store, 'u1')).source).toBe('further');
  });

  it('writes an unchanged state once a minute', async () => {
    const place = new Place();
    const followed = await place.follow();
    let state = (await place.look(followed)) as State;
    const written = place.settings.get('follower u1');
    for (let i = 0; i < 50; i++) {
      place.now += 1_000;
      state = (await lookOnce(place.around(), followed, state)) as State;
    }
    expect(place.settings.get('follower u1')).toEqual(written);
    place.now += 11_000;
    await lookOnce(place.around(), followed, state);
    expect(place.settings.get('follower u1')).toMatchObject({ lookedAt: place.now });
  });

  it('ends the follower when the followed thing has ended; a follower that was ended meanwhile leaves no state', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = () => ({ standing: [wrong('a')] });
    await place.look(followed);
    place.sees = () => ({ news: [{ ...wrong('n'), id: 'n1', message: 'it was merged' }], over: 'merged' });
    expect(await place.look(followed)).toBeUndefined();
    expect(place.told).toEqual(['a is wrong', 'it was merged']);
    expect(place.withdrawn).toEqual(['follow:u1:a']);
    expect([...place.settings]).toEqual([]);

    const other = await place.follow({ uid: 'u2' });
    place.sees = () => ({ standing: [wrong('c')] });
    await remove(place.store, 'shop', ({ id }) => id === other.id);
    expect(await lookOnce(place.around(), other, NEW)).toBeUndefined();
    expect(place.withdrawn.at(-1)).toBe('follow:u2:c');
    expect([...place.settings]).toEqual([]);
  });
});

/** Simulates the logs of several agents. Each log accepts each id of an event only once. */
class Agents extends Place {
  /** The open messages of each agent, by key. */
  readonly logs = new Map<string, Map<string, string>>();
  readonly heardBy: string[] = [];
  readonly #known = new Set<string>();
  override readonly emitter: Emitter = {
    emit: (event: EventInput) => {
      const named = event.subject.endsWith('/*') ? this.agents : [event.subject.slice('shop/'.length)];
      for (const agent of named) {
        const log = this.logs.get(agent) ?? new Map<string, string>();
        this.logs.set(agent, log);
        if (event.type === 'follow.over') log.delete(event.key ?? '');
        else if (!this.#known.has(`${agent} ${event.id}`)) {
          log.set(event.key ?? '', event.message ?? '');
          this.heardBy.push(`${agent}: ${event.message}`);
        }
        this.#known.add(`${agent} ${event.id}`);
      }
      return Promise.resolve({ event: event as never, heard: [] });
    },
  };

  constructor() {
    super();
    this.agents = ['coder', 'reviewer'];
  }

  async lookAll(): Promise<void> {
    for (const group of groupsOf(await following(this.store, 'shop'))) await this.look(group);
  }

  held(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.logs].map(([agent, log]) => [agent, [...log.values()]]));
  }
}

describe('several followers of one thing', () => {
  proves('follow:told-once', 'follow:withdrawn');

  const url = { kind: 'url', url: 'http://shop.test/' } as const;

  it.each([
    ['the whole project', { to: 'shop/*' }],
    ['the same agent', { to: 'shop/coder' }],
  ])('if a person follows for %s and an agent for itself, the agent gets one notification after one check', async (_, { to }) => {
    const place = new Agents();
    await place.follow({ uid: 'p', what: url, to });
    await place.follow({ uid: 'a', what: url, to: 'shop/coder', by: 'shop/coder' });
    expect((await following(place.store, 'shop')).map(({ id, to: address }) => [id, address])).toEqual([
      ['f1', to],
      ['f2', 'shop/coder'],
    ]);
    place.sees = () => ({ standing: [wrong('a')], news: [{ ...wrong('n'), id: 'n1', message: 'news' }] });
    await place.lookAll();
    expect(place.looks).toBe(1);
    expect(place.heardBy.filter((line) => line.startsWith('coder'))).toEqual(['coder: a is wrong', 'coder: news']);
    place.sees = () => ({});
    await place.lookAll();
    expect(place.held()['coder']).toEqual(['news']);
  });

  it('a follower that is added later reports the open states to its agent only', async () => {
    const place = new Agents();
    await place.follow({ uid: 'a', what: url, by: 'shop/coder' });
    place.sees = () => ({ standing: [wrong('a')] });
    await place.lookAll();
    const { followed } = await add(place.store, 'shop', { uid: 'p', what: url, to: 'shop/*' });
    expect(followed).toMatchObject({ asked: place.now });
    await place.lookAll();
    await place.lookAll();
    expect(place.heardBy).toEqual(['coder: a is wrong', 'reviewer: a is wrong']);
  });

  it.each(['f1', 'f2'])('if %s ends, the other follower continues without a repetition', async (id) => {
    const place = new Agents();
    await place.follow({ uid: 'p', what: url, to: 'shop/*' });
    await place.follow({ uid: 'a', what: url, to: 'shop/coder', by: 'shop/coder' });
    place.sees = () => ({ standing: [wrong('a')] });
    await place.lookAll();
    await unfollow(place.around(), id);
    expect(place.held()).toEqual({ coder: ['a is wrong'], reviewer: id === 'f1' ? [] : ['a is wrong'] });
    place.sees = () => ({ standing: [wrong('a'), wrong('b')] });
    await place.lookAll();
    expect(place.held()).toEqual({
      coder: ['a is wrong', 'b is wrong'],
      reviewer: id === 'f1' ? [] : ['a is wrong', 'b is wrong'],
    });
    expect(place.heardBy.filter((line) => line === 'coder: a is wrong')).toHaveLength(1);
    place.sees = () => ({});
    await place.lookAll();
    expect(place.held()).toEqual({ coder: [], reviewer: [] });
    await unfollow(place.around(), id === 'f1' ? 'f2' : 'f1');
    expect([...place.settings]).toEqual([]);
  });

  it.each(UNFOLLOW_FAULT_POINTS.flatMap((point) => [1, 2].map((count) => [point, count] as const)))(
    'after a crash of unfollow at %s with %i followers, the next process completes the removal',
    async (point, count) => {
      const place = new Agents();
      await place.follow({ uid: 'p', what: url, to: 'shop/*' });
      if (count === 2) await place.follow({ uid: 'a', what: url, to: 'shop/coder', by: 'shop/coder' });
      place.sees = () => ({ standing: [wrong('a')] });
      await place.lookAll();
      armFaults((at) => {
        if (at === point) throw new Error('crash');
      });
      await expect(unfollow(place.around(), 'f1')).rejects.toThrow('crash');
      armFaults(undefined);
      expect((await following(place.store, 'shop')).map(({ id }) => id)).toEqual(count === 2 ? ['f2'] : []);
      const stop = new AbortController();
      await lookAfter(place.around({ signal: stop.signal, sleep: () => Promise.resolve(stop.abort()) }));
      expect(await listed(place.store, 'shop')).toHaveLength(count - 1);
      expect(place.held()).toEqual({ coder: count === 2 ? ['a is wrong'] : [], reviewer: [] });
      expect(place.settings.size).toBe(count === 2 ? 2 : 0);
    },
  );
});

describe('a thing that cannot be checked', () => {
  proves('follow:trouble');

  it('is reported after three checks, and withdrawn when a check succeeds; earlier reports stay', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = () => ({ standing: [wrong('a')] });
    await place.look(followed);
    place.sees = () => {
      throw new CannotLook('GitHub answers HTTP 502');
    };
    const waits: number[] = [];
    const reports: number[] = [];
    let state: State | undefined;
    for (let i = 0; i < 8; i++) {
      state = await place.look(followed);
      waits.push(((state?.nextAt ?? 0) - place.now) / 1_000);
      reports.push(place.told.length);
      await keepState(place.store, 'u1', state);
    }
    expect(waits).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
    expect(reports).toEqual([1, 1, 2, 2, 2, 2, 2, 2]);
    expect(place.told).toEqual(['a is wrong', 'http://shop.test/ cannot be followed now: GitHub answers HTTP 502']);
    expect(state).toMatchObject({ told: { a: 'a' }, trouble: { times: 8, says: 'GitHub answers HTTP 502' } });
    place.sees = () => ({ standing: [wrong('a')] });
    await place.look(followed);
    expect(place.told).toHaveLength(2);
    expect(place.withdrawn).toEqual(['follow:u1:trouble']);
    expect((await stateOf(place.store, 'u1')).trouble).toBeUndefined();
  });

  it('is reported at once if the problem lasts, and checked after 1 to 15 minutes; a rate limit delays the next check, and a local file is checked at its own pace', async () => {
    const place = new Place();
    const followed = await place.follow();
    place.sees = () => {
      throw new CannotLook('gone', { lasting: true });
    };
    const gone = await place.look(followed);
    expect(place.told).toEqual(['http://shop.test/ cannot be followed now: gone']);
    const waits = [(gone?.nextAt ?? 0) - place.now];
    for (let n = 0; n < 5; n++) {
      place.now += waits.at(-1) ?? 0;
      waits.push(((await place.look(followed))?.nextAt ?? 0) - place.now);
    }
    expect(waits).toEqual([MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE, LONGEST_MS, LONGEST_MS]);
    expect(place.told).toHaveLength(1);
    place.sees = () => {
      throw new CannotLook('limited', { againMs: 40 * MINUTE });
    };
    expect(((await place.look(followed))?.nextAt ?? 0) - place.now).toBe(40 * MINUTE);
    place.sees = () => {
      throw new CannotLook('not a regular file', { lasting: true, everyMs: 1_000 });
    };
    expect(((await place.look(followed))?.nextAt ?? 0) - place.now).toBe(1_000);
    expect(((await place.look({ ...followed, paces: [10 * MINUTE] }))?.nextAt ?? 0) - place.now).toBe(10 * MINUTE);
  });
});

describe('the process that runs the followers', () => {
  proves('follow:sessions', 'follow:pace');

  /** Runs the followers until the clock shows this time. */
  async function until(place: Place, at: number, more: Partial<Surroundings> = {}): Promise<void> {
    const stop = new AbortController();
    const sleep = async (ms: number): Promise<void> => {
      place.now += ms;
      if (place.now >= at) stop.abort();
      await new Promise(setImmediate);
    };
    await lookAfter(place.around({ sleep, signal: stop.signal, ...more }));
  }

  it('checks at the interval that the last check names, or at --every; an incomplete check continues at once', async () => {
    const place = new Place();
    await place.follow();
    await place.follow({ uid: 'u2', everyMs: 5 * MINUTE });
    const began = place.now;
    await until(place, began + 20 * MINUTE);
    expect(place.looks).toBe(20 + 4);
    const often = await place.follow({ uid: 'u3', everyMs: MINUTE / 2 });
    expect(((await place.look(often))?.nextAt ?? 0) - place.now).toBe(MINUTE / 2);
    place.sees = () => ({ againMs: 0 });
    expect(((await place.look(often))?.nextAt ?? 0) - place.now).toBe(0);
  });

  it('checks at once after three hours of sleep, and after the clock was set back', async () => {
    const place = new Place();
    const followed = await place.follow();
    await place.look(followed);
    const state = await stateOf(place.store, 'u1');
    expect(isDue(followed, state, place.now + 59_000)).toBe(false);
    expect(isDue(followed, state, place.now + 3 * 60 * MINUTE)).toBe(true);
    expect(isDue(followed, state, place.now - 3 * 60 * MINUTE)).toBe(true);
    expect(isDue({ ...followed, asked: place.now + 1 }, state, place.now + 2)).toBe(true);
  });

  it('ends a minute after the last session, unless a follower needs no session', async () => {
    const place = new Place();
    await place.follow();
    const began = place.now;
    const nobody = { isAnyoneThere: () => Promise.resolve(false) };
    await until(place, began + 60 * MINUTE, nobody);
    expect(place.looks).toBe(0);
    expect(place.now - began).toBeLessThanOrEqual(GRACE_MS + 5_000);
    await place.follow({ uid: 'u2', keep: true });
    await until(place, place.now + 10 * MINUTE, nobody);
    expect(place.looks).toBe(10);
  });

  it('slow checks do not delay other kinds, and the longest overdue check runs first', async () => {
    const place = new Place();
    const slow = new AbortController();
    const looked = new Map<string, number>();
    const followerOf = ({ uid, what }: Group): Follower => ({
      look: async () => {
        looked.set(uid, (looked.get(uid) ?? 0) + 1);
        if (what.kind === 'pr') await new Promise((resolve) => slow.signal.addEventListener('abort', resolve));
        return { standing: [], news: [], state: null, summary: '', againMs: 1_000 };
      },
    });
    for (let i = 0; i < 10; i++) {
      const pr = { kind: 'pr', host: 'github.test', repo: 'acme/shop', number: i } as const;
      await add(place.store, 'shop', { uid: `pr${i}`, what: pr, to: 'shop/coder' });
      await place.follow({ uid: `u${i}` });
    }
    const ended = until(place, place.now + 20_000, { followerOf });
    setTimeout(() => slow.abort(), 200);
    await ended;
    for (let i = 0; i < 10; i++) expect(looked.get(`u${i}`)).toBeGreaterThan(5);
    expect([...looked.keys()].filter((uid) => uid.startsWith('pr'))).toEqual(['pr0', 'pr1', 'pr2', 'pr3']);
  });

  it('ends when nothing is followed, and runs at most four checks at once', async () => {
    const place = new Place();
    await until(place, place.now + 60 * MINUTE);
    for (let i = 0; i < 10; i++) await place.follow({ uid: `u${i}` });
    let most = 0;
    let now = 0;
    place.follower.look = async () => {
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now--;
      return { standing: [], news: [], state: null, summary: '', againMs: MINUTE };
    };
    await until(place, place.now + 30_000);
    expect(most).toBe(4);
  });
});

describe('the list', () => {
  proves('follow:limits');

  it('contains each thing once for each address, and at most 50 followers, of which an agent may add 10', async () => {
    const place = new Place();
    expect((await place.follow()).id).toBe('f1');
    place.now += 1;
    const again = await add(place.store, 'shop', {
      uid: 'other',
      what: { kind: 'url', url: 'http://shop.test/' },
      to: 'shop/coder',
    });
    expect(again).toMatchObject({ known: true, followed: { id: 'f1', uid: 'u1', asked: place.now } });
    for (let i = 0; i < 10; i++) await place.follow({ uid: `a${i}`, by: 'shop/coder' });
    await expect(place.follow({ uid: 'a10', by: 'shop/coder' })).rejects.toThrow('shop/coder follows 10 things already');
    for (let i = 0; i < 39; i++) await place.follow({ uid: `p${i}` });
    await expect(place.follow({ uid: 'p39' })).rejects.toThrow('already follows 50 things');
    await remove(place.store, 'shop', ({ id }) => id === 'f7');
    expect((await place.follow({ uid: 'p39' })).id).toBe('f7');
    expect(await following(place.store, 'shop')).toHaveLength(50);
  });

  it('has one process that runs its followers; a dead process is replaced', async () => {
    const { store } = new Place();
    const one = { machine: 'm', pid: 1, startedAt: 'a' };
    const two = { ...one, pid: 2 };
    expect(await takeLease(store, 'shop', one, () => true)).toBe(true);
    expect(await takeLease(store, 'shop', two, () => true)).toBe(false);
    expect(await takeLease(store, 'shop', two, () => false)).toBe(true);
    expect(await renewLease(store, 'shop', one)).toBe(false);
    expect(await letGo(store, 'shop', one)).toBe(false);
    expect(await looker(store, 'shop', () => true)).toMatchObject(two);
    expect(await letGo(store, 'shop', two)).toBe(true);
    expect(await looker(store, 'shop', () => true)).toBeUndefined();
  });

  it('another process takes over two minutes after the last renewal by a process that cannot be checked', async () => {
    const place = new Place();
    const { store } = place;
    const foreign = { machine: 'container', pid: 1, startedAt: 'a' };
    const own = { machine: 'm', pid: 2, startedAt: 'b' };
    const unknown = (): undefined => undefined;
    expect(await takeLease(store, 'shop', foreign, unknown)).toBe(true);
    for (let i = 0; i < 5; i++) {
      place.now += MINUTE;
      expect(await takeLease(store, 'shop', own, unknown)).toBe(false);
      expect(await renewLease(store, 'shop', foreign)).toBe(true);
    }
    place.now += 2 * MINUTE + 1;
    expect(await looker(store, 'shop', unknown)).toBeUndefined();
    expect(await takeLease(store, 'shop', own, unknown)).toBe(true);
    expect(await renewLease(store, 'shop', foreign)).toBe(false);
  });
});
