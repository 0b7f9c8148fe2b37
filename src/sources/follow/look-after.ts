/**
 * Runs the followers of a project in one process. The process reads the wall clock each second, so that checks resume as soon as
 * the machine wakes from sleep.
 */
import { defined } from '../../core/defined.ts';
import type { Emitter } from '../../core/event.ts';
import { fault } from '../../core/faults.ts';
import type { Store } from '../../core/ports.ts';
import { CannotLook, type Follower, type Look, type Standing } from './follower.ts';
import {
  following,
  groupOf,
  groupsOf,
  keepState,
  listed,
  remove,
  stateOf,
  type Followed,
  type Group,
  type State,
  type Trouble,
} from './list.ts';
import { caughtUp, reportsOf, tell, tellEnd, UNHEARD } from './tell.ts';
import { completeEnd } from './unfollow.ts';

export type Surroundings = {
  readonly store: Pick<Store, 'setting' | 'setSetting' | 'swapSetting' | 'overview'>;
  readonly project: string;
  readonly emitter: Emitter;
  readonly followerOf: (group: Group) => Follower;
  /** Whether some conversation of the project is active. */
  readonly isAnyoneThere: () => Promise<boolean>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
};

const TICK_MS = 1_000;
/** The interval at which an unchanged state is written, for `earpiece following`. */
const KEEP_EVERY_MS = 60_000;
/** How long the process waits for the next conversation. */
export const GRACE_MS = 60_000;
/** The interval of checks for active conversations. */
const THERE_EVERY_MS = 5_000;
const AT_ONCE = 4;
/** The number of consecutive failed checks after which a transient problem is reported. */
const TOLD_AFTER = 3;
export const LONGEST_MS = 15 * 60_000;
const FIRST_WAIT_MS = 15_000;
/** The first wait after a problem that a person must solve. Each further failure doubles the wait, up to `LONGEST_MS`. */
const FIRST_LASTING_MS = 60_000;
/** The minimum time until the next check if no agent was active to read the reports of the last check. */
const UNHEARD_MS = 5_000;

/**
 * Checks the followed things of a project repeatedly. Resolves when `signal` aborts or when no follower is left. Also
 * resolves when no conversation was active for a minute, unless a follower runs without conversations.
 */
export async function lookAfter(around: Surroundings): Promise<void> {
  const { store, project, now, signal } = around;
  const looks = new Looks(around);
  let there = true;
  let askedAt = Number.NEGATIVE_INFINITY;
  let lastAt = now();
  while (!signal.aborted) {
    const all = await listed(store, project);
    for (const each of all) if (each.ending) await completeEnd(around, each);
    const list = groupsOf(all.filter(({ what }) => what.kind !== 'command'));
    if (list.length === 0) break;
    const at = now();
    if (Math.abs(at - askedAt) >= THERE_EVERY_MS) [there, askedAt] = [await around.isAnyoneThere(), at];
    if (there) lastAt = at;
    const kept = list.filter(({ keep }) => keep);
    if (kept.length === 0 && !there && Math.abs(at - lastAt) >= GRACE_MS && !looks.running) break;
    await looks.at(there ? list : kept);
    await around.sleep(TICK_MS, signal);
  }
  await looks.ended();
}

/**
 * Runs the checks of one process. The check with the earliest due time runs first. At most 4 checks of each kind run at once, so
 * that slow checks do not delay other kinds.
 */
class Looks {
  readonly #around: Surroundings;
  readonly #states = new Map<string, State>();
  readonly #running = new Map<string, { readonly kind: string; readonly work: Promise<void> }>();
  #list: readonly Group[] = [];
  /** Followers that keep a process between their checks. */
  readonly #lasting = new Map<string, Follower>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  get running(): boolean {
    return this.#running.size > 0;
  }

  /** Starts the checks that are due. */
  async at(list: readonly Group[]): Promise<void> {
    for (const { uid } of list)
      if (!this.#states.has(uid) && !this.#running.has(uid)) this.#states.set(uid, await stateOf(this.#around.store, uid));
    this.#list = list;
    for (const [uid, follower] of this.#lasting) if (list.every((each) => each.uid !== uid)) await this.#end(uid, follower);
    this.#fill();
  }

  async ended(): Promise<void> {
    this.#list = [];
    await Promise.all([...this.#running.values()].map(({ work }) => work));
    for (const [uid, follower] of this.#lasting) await this.#end(uid, follower);
  }

  async #end(uid: string, follower: Follower): Promise<void> {
    if (this.#running.has(uid)) return;
    this.#lasting.delete(uid);
    await follower.end?.();
  }

  #followerOf(followed: Group): Follower {
    const follower = this.#lasting.get(followed.uid) ?? this.#around.followerOf(followed);
    if (follower.end !== undefined) this.#lasting.set(followed.uid, follower);
    return follower;
  }

  #fill(): void {
    const at = this.#around.now();
    const due = this.#list.flatMap((followed) => {
      const state = this.#states.get(followed.uid);
      return state === undefined || this.#running.has(followed.uid) || !isDue(followed, state, at) ? [] : [{ followed, state }];
    });
    for (const { followed, state } of due.toSorted((a, b) => (a.state.nextAt ?? 0) - (b.state.nextAt ?? 0))) {
      const { kind } = followed.what;
      const busy = [...this.#running.values()].filter((other) => other.kind === kind).length;
      if (busy < AT_ONCE) this.#running.set(followed.uid, { kind, work: this.#look(followed, state) });
    }
  }

  async #look(followed: Group, before: State): Promise<void> {
    const { uid } = followed;
    this.#states.delete(uid);
    try {
      const after = await lookOnce({ ...this.#around, followerOf: (each) => this.#followerOf(each) }, followed, before);
      if (after === undefined) this.#list = this.#list.filter((each) => each.uid !== uid);
      else this.#states.set(uid, after);
    } catch {
      // The store has failed, so the next check reads the state again.
    } finally {
      this.#running.delete(uid);
      if (!this.#around.signal.aborted) this.#fill();
    }
  }
}

/** Whether a check is due: its time has passed, a check was requested, or the clock ran backwards. */
export const isDue = ({ asked = 0 }: Pick<Group, 'asked'>, { nextAt, lookedAt }: State, now: number): boolean =>
  nextAt === undefined || now >= nextAt || (lookedAt !== undefined && (now < lookedAt || asked > lookedAt));

/**
 * Makes one check, reports its findings, and writes the state if it has changed or is a minute old. Resolves to the new state, or
 * to undefined if the follower has ended. If no agent can read the reports of an earlier check, makes no check.
 */
export async function lookOnce(around: Surroundings, followed: Group, kept: State): Promise<State | undefined> {
  const { store, project, emitter, signal, now } = around;
  const { uid } = followed;
  const before = await caughtUp(around, followed, kept);
  if (before === undefined) return { ...kept, nextAt: now() + UNHEARD_MS };
  const seen = await see(around.followerOf(followed), before, signal);
  const at = now();
  fault('follow.looked');
  const trouble = seen instanceof CannotLook ? troubleAfter(before.trouble, seen, at) : undefined;
  const reports = reportsOf(followed, before, foundIn(followed, seen, trouble));
  const wanted: State = {
    turn: before.turn,
    told: before.told,
    ...defined({ ids: before.ids, news: before.news, tos: before.tos, keptAt: before.keptAt }),
    ...(seen instanceof CannotLook ? memoryOf(before) : { source: seen.state, summary: seen.summary }),
    lookedAt: at,
    nextAt: at + waitAfter(followed, seen, trouble),
    ...defined({ trouble }),
  };
  const { heard, ...told } = await tell(around, followed, { ...before, ...defined({ source: wanted.source }) }, reports);
  if (!(seen instanceof CannotLook) && heard && seen.over !== undefined) {
    await remove(store, project, (each) => groupOf(each) === uid);
    await keepState(store, uid, undefined);
    return undefined;
  }
  // If no agent was active for the reports, the next check begins with the same state of the source.
  const unheard = { ...memoryOf(before), summary: UNHEARD, nextAt: Math.max(wanted.nextAt ?? 0, at + UNHEARD_MS) };
  const { source: _source, ...rest } = wanted;
  const after: State = heard ? { ...wanted, ...told } : { ...rest, ...unheard, ...told };
  if (reports.length === 0 && isUnchanged(before, after)) return after;
  // A person or an agent may have ended the follower during the check. In this case, the follower's notifications and state are
  // removed.
  if ((await following(store, project)).every((each) => groupOf(each) !== uid)) {
    await tellEnd(followed, after, emitter);
    await keepState(store, uid, undefined);
    return undefined;
  }
  const written = { ...after, turn: before.turn + 1, keptAt: at };
  await keepState(store, uid, written);
  fault('follow.kept');
  return written;
}

const memoryOf = ({ source, summary }: State): Pick<State, 'source' | 'summary'> => defined({ source, summary });

/**
 * Returns the findings of a check. A thing that cannot be checked is reported after 3 failed checks, or at once if only a person
 * can solve the problem. The earlier reports about the thing stay open.
 */
function foundIn(followed: Group, seen: Look | CannotLook, trouble: Trouble | undefined): Parameters<typeof reportsOf>[2] {
  if (!(seen instanceof CannotLook)) return { ...seen, whole: true };
  const isTold = trouble !== undefined && (trouble.lasting || trouble.times >= TOLD_AFTER);
  return { standing: isTold ? [standingOf(followed, trouble)] : [], news: [], whole: false };
}

function isUnchanged(before: State, after: State): boolean {
  const since = (after.lookedAt ?? 0) - (before.keptAt ?? 0);
  return since >= 0 && since < KEEP_EVERY_MS && contentOf(before) === contentOf(after);
}

const contentOf = ({ told, tos, source, summary, trouble }: State): string =>
  JSON.stringify([
    told,
    tos ?? null,
    source ?? null,
    summary ?? null,
    trouble?.says ?? null,
    Math.min(TOLD_AFTER, trouble?.times ?? 0),
  ]);

async function see(follower: Follower, { source }: State, signal: AbortSignal): Promise<Look | CannotLook> {
  try {
    return await follower.look(source, signal);
  } catch (error) {
    if (error instanceof CannotLook) return error;
    return new CannotLook(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error));
  }
}

function troubleAfter(before: Trouble | undefined, { message, lasting }: CannotLook, at: number): Trouble {
  return { says: message, lasting, since: before?.since ?? at, times: (before?.times ?? 0) + 1 };
}

function waitAfter({ paces }: Group, seen: Look | CannotLook, trouble: Trouble | undefined): number {
  // A check that reached its limit continues at once.
  if (!(seen instanceof CannotLook)) return seen.againMs === 0 ? 0 : Math.min(...paces.map((each) => each ?? seen.againMs));
  const { everyMs } = seen;
  if (everyMs !== undefined) return Math.min(...paces.map((each) => each ?? everyMs));
  const first = seen.lasting ? FIRST_LASTING_MS : FIRST_WAIT_MS;
  const back = Math.min(LONGEST_MS, first * 2 ** Math.min(10, (trouble?.times ?? 1) - 1));
  return Math.max(Math.min(...paces.map((each) => each ?? 0)), back, seen.againMs ?? 0);
}

/**
 * Makes the state that notifies the agent of a thing that cannot be checked. The state is withdrawn when the thing can be checked
 * again.
 */
function standingOf(followed: Group, { says }: Trouble): Standing {
  return {
    key: 'trouble',
    fingerprint: says,
    type: 'follow.blind',
    severity: 'warning',
    message: `${nameOf(followed)} cannot be followed now: ${says}`,
    data: { follower: followed.id, reason: says },
  };
}

/** Returns the name of a followed thing for a reader, such as `pull request acme/shop#12`. */
export function nameOf({ what }: Pick<Followed, 'what'>): string {
  switch (what.kind) {
    case 'pr':
      return `pull request ${what.repo}#${what.number}`;
    case 'log':
      return `log ${what.file}`;
    case 'url':
      return what.value === undefined ? what.url : `${what.url} (${what.value})`;
    case 'agent':
      return `agent ${what.log} until ${what.until}`;
    case 'files':
      return `files ${what.globs.join(' ')}`;
    case 'git':
      return `git in ${what.folder}`;
    case 'lsp':
      return `\`${what.command.join(' ')}\``;
    case 'command':
      return `\`${what.command}\``;
    default:
      return what satisfies never;
  }
}
