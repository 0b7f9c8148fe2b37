/**
 * Compares the clocks of the processes of one store. Each long-lived process records its clock's time. In a shared store, a
 * process closes expired notifications only if the clock of another live process agrees.
 */
import { agree } from '../../core/clocks.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { systemTime } from '../presence/processes.ts';

/** The setting with the last recorded clock time of each process, epoch ms. */
const CLOCKS = 'clocks';
/** How often a process records its clock, in ms. Ten minutes are enough, because clocks agree if they differ by at most a day. */
const NOTE_EVERY_MS = 10 * 60_000;
/** How long the result of a comparison is cached, in ms. */
const ASK_EVERY_MS = 30_000;
const TRIES = 20;
/** If the recorded time of a process on another machine does not change for this long, in ms, the process is treated as ended. */
const SILENT_MS = 3 * NOTE_EVERY_MS;

type Clocks = Readonly<Record<string, Owner & { readonly at: number }>>;

export type WrongClock = { readonly owner: Owner; readonly own: boolean; readonly offByMs: number };

export type WitnessDeps = {
  readonly store: Pick<Store, 'now' | 'setting' | 'swapSetting' | 'private'>;
  readonly owner: Owner;
  readonly isAlive: (owner: Owner) => boolean | undefined;
};

export class Witnesses {
  readonly #deps: WitnessDeps;
  #notedTick = Number.NEGATIVE_INFINITY;
  /** The last recorded time of each process on another machine, and when this process first saw that time. */
  readonly #seen = new Map<string, { readonly at: number; readonly tick: number; readonly changed: boolean }>();
  #asked: { readonly tick: number; readonly now: number; readonly answer: 'agrees' | 'alone' | 'disagrees' } | undefined;

  constructor(deps: WitnessDeps) {
    this.#deps = deps;
  }

  /** Records this process's clock time, at most every ten minutes, and removes the records of ended processes. */
  async note(): Promise<void> {
    const { store, owner } = this.#deps;
    const tick = performance.now();
    if (store.private || tick - this.#notedTick < NOTE_EVERY_MS) return;
    this.#notedTick = tick;
    for (let tries = 0; tries < TRIES; tries++) {
      const before = await store.setting(CLOCKS);
      const alive = Object.entries((before ?? {}) as Clocks).filter(([name, other]) => this.#mayLive(name, other));
      const next: Clocks = { ...Object.fromEntries(alive), [nameOf(owner)]: { ...owner, at: store.now() } };
      if (await store.swapSetting(CLOCKS, before, next)) return;
    }
  }

  /**
   * Whether another live process has a clock that agrees with this process's clock. True for a private store, which has no other
   * process.
   */
  async agree(): Promise<boolean> {
    return this.#deps.store.private === true || (await this.#ask()) === 'agrees';
  }

  /**
   * Returns the clocks that are known to be wrong: this process's clock, or if that clock is trusted, the clocks of other live
   * processes. `offByMs` is positive for a clock that is ahead.
   */
  async wrong(): Promise<readonly WrongClock[]> {
    const { store, owner } = this.#deps;
    if (store.private === true) return [];
    const now = store.now();
    const others = await this.#others();
    if (await this.trusted())
      return others
        .filter((other) => this.#surelyLives(other) && !agree(other.at, now))
        .map((other) => ({ owner: other, own: false, offByMs: other.at - now }));
    const right = systemTime() ?? others[0]?.at ?? now;
    return [{ owner, own: true, offByMs: now - right }];
  }

  /**
   * Whether this process's clock agrees with the operating system's clock. If that clock is unknown, false if this process's
   * clock disagrees with the clocks of all other live processes.
   */
  async trusted(): Promise<boolean> {
    const { store } = this.#deps;
    if (store.private === true) return true;
    // In a program that has given the store another clock, the operating system's time does not prove that clock wrong.
    const system = agree(store.now(), Date.now()) ? systemTime() : undefined;
    return system === undefined ? (await this.#ask()) !== 'disagrees' : agree(system, store.now());
  }

  /**
   * Whether this process's clock may decide which notifications are old enough to remove. True if the clock of another live
   * process agrees, or if no other process lives and the operating system's clock agrees.
   */
  async mayRemove(): Promise<boolean> {
    if (await this.agree()) return true;
    const system = systemTime();
    return (await this.#ask()) === 'alone' && system !== undefined && agree(system, this.#deps.store.now());
  }

  async #ask(): Promise<'agrees' | 'alone' | 'disagrees'> {
    const tick = performance.now();
    const now = this.#deps.store.now();
    const last = this.#asked;
    // If this process's clock has jumped since the last comparison, that comparison proves nothing.
    if (last !== undefined && tick - last.tick < ASK_EVERY_MS && agree(last.now + (tick - last.tick), now)) return last.answer;
    const others = await this.#others();
    const answer = others.length === 0 ? 'alone' : others.some(({ at }) => agree(at, now)) ? 'agrees' : 'disagrees';
    this.#asked = { tick, now, answer };
    return answer;
  }

  /** Returns the other processes that may live, each with its last recorded clock time. */
  async #others(): Promise<readonly Clocks[string][]> {
    const { store, owner } = this.#deps;
    const all = Object.entries(((await store.setting(CLOCKS)) ?? {}) as Clocks);
    return all.filter(([name, other]) => name !== nameOf(owner) && this.#mayLive(name, other)).map(([, other]) => other);
  }

  /**
   * Whether the process may live. A process that cannot be checked, such as one on another machine, counts as living while its
   * recorded time changes.
   */
  #mayLive(name: string, other: Clocks[string]): boolean {
    const alive = this.#deps.isAlive(other);
    if (alive !== undefined) return alive;
    const tick = performance.now();
    const seen = this.#seen.get(name);
    if (seen?.at === other.at) return tick - seen.tick < SILENT_MS;
    this.#seen.set(name, { at: other.at, tick, changed: seen !== undefined });
    return true;
  }

  #surelyLives(other: Clocks[string]): boolean {
    return this.#deps.isAlive(other) ?? this.#seen.get(nameOf(other))?.changed === true;
  }
}

const nameOf = ({ machine, pid, startedAt }: Owner): string => `${machine} ${pid} ${startedAt}`;
