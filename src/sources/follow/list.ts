/**
 * Adds, changes and removes the followers of a project. The store keeps the list as one value, and each follower's state as
 * another value. Only this user's commands and agents write these values, so no file in a repository can add to the list.
 */
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { EventInput } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { listKey } from './key.ts';

export type Until = 'idle' | 'blocked' | 'done';

/** A followed thing, as a person or an agent has named it. */
export type What =
  | { readonly kind: 'pr'; readonly host: string; readonly repo: string; readonly number: number; readonly title?: string }
  | { readonly kind: 'log'; readonly file: string; readonly match: string }
  | { readonly kind: 'url'; readonly url: string; readonly value?: string }
  /** `log` is the agent, as `project/agent`. */
  | { readonly kind: 'agent'; readonly log: string; readonly until: Until }
  | { readonly kind: 'files'; readonly folder: string; readonly globs: readonly string[] }
  | { readonly kind: 'git'; readonly folder: string }
  | { readonly kind: 'lsp'; readonly folder: string; readonly command: readonly string[] }
  | { readonly kind: 'command'; readonly command: string; readonly folder: string };

export type Followed = {
  /** The id for people, such as `f1`. A free id is used again. */
  readonly id: string;
  /** An id that is never used again. */
  readonly uid: string;
  readonly what: What;
  /** The address that is notified. */
  readonly to: string;
  /** The `uid` of the first follower of the same thing, whose state and checks this follower shares. Undefined for the first. */
  readonly group?: string;
  /** Whether `unfollow` has begun to end the follower, which then no longer counts. */
  readonly ending?: true;
  /** Whether the thing is followed even while no conversation is active. */
  readonly keep?: true;
  /** The agent that added the follower; undefined if a person added it. */
  readonly by?: string;
  /** The time between two checks, in ms, if it is not the default. */
  readonly everyMs?: number;
  /** The level of a matching line, or of a failing URL. */
  readonly level?: 'info' | 'warning' | 'error';
  readonly since: number;
  /** The time at which a person or an agent asked for a check at once. Epoch ms. */
  readonly asked?: number;
  /** The process that runs and follows a command. One process per project follows everything else. */
  readonly process?: Owner;
};

export type Trouble = { readonly says: string; readonly since: number; readonly times: number; readonly lasting: boolean };

/**
 * All followers of one thing. These followers share the state with this `uid`, and each agent is notified of the thing once. `by`
 * is undefined if a person added one of the followers. The person's permission then counts for the common check of the followers.
 */
export type Group = Omit<Followed, 'to' | 'group' | 'ending'> & {
  /** The addresses that are notified, the widest first. */
  readonly tos: readonly string[];
  /** The time between two checks that each follower asks for, in ms; undefined for the default. */
  readonly paces: readonly (number | undefined)[];
};

/**
 * A report of a check. A report of a new or changed state has the state's key and fingerprint. A report that withdraws an ended
 * state has only the key. A report without `tos` goes to all addresses of its group.
 */
export type Report = {
  readonly event: Omit<EventInput, 'subject'>;
  readonly key?: string;
  readonly fingerprint?: string;
  readonly tos?: readonly string[];
  /** The key of the ended state whose withdrawal replaces this report. */
  readonly endOf?: string;
};

/** The memory of a follower: its reports, and the state of its source. */
export type State = {
  /** A number that grows with each check that writes this state. The number is part of the ids of events. */
  readonly turn: number;
  /** The fingerprints of reported states that are open, by key. */
  readonly told: Readonly<Record<string, string>>;
  /** The ids of the events that reported these states, by key. A log accepts each id of an event only once. */
  readonly ids?: Readonly<Record<string, string>>;
  /** The event keys of the latest news, the latest last. `unfollow` withdraws the unread notifications with these keys. */
  readonly news?: readonly string[];
  /** The addresses that were notified of these states. */
  readonly tos?: readonly string[];
  /** The reports that the process was about to queue when it wrote this state. */
  readonly untold?: readonly Report[];
  readonly source?: Json;
  readonly summary?: string;
  readonly lookedAt?: number;
  readonly nextAt?: number;
  /** The time when this state was written. */
  readonly keptAt?: number;
  readonly trouble?: Trouble;
};

export const NEW: State = { turn: 0, told: {} };

type Kept = Pick<Store, 'setting' | 'setSetting' | 'swapSetting'>;

export const MAX_FOLLOWED = 50;
/** The maximum number of followers that an agent may add. */
export const MAX_OF_AN_AGENT = 10;

const stateKey = (uid: string): string => `follower ${uid}`;

export async function following(store: Kept, project: string): Promise<readonly Followed[]> {
  return (await listed(store, project)).filter(({ ending }) => !ending);
}

/** Returns all followers, also those that `unfollow` has begun to end. */
export async function listed(store: Kept, project: string): Promise<readonly Followed[]> {
  return listIn(await store.setting(listKey(project)));
}

/**
 * Returns the groups of these followers. A group has the fields of its first follower. Followers that a person added are before
 * those of agents.
 */
export function groupsOf(list: readonly Followed[]): readonly Group[] {
  const members = Map.groupBy(
    list.filter(({ ending }) => !ending),
    groupOf,
  );
  return [...members].map(([uid, all]) => together(uid, all));
}

function together(uid: string, all: readonly Followed[]): Group {
  const ranked = all.toSorted((a, b) => Number(a.by !== undefined) - Number(b.by !== undefined));
  const { to: _to, group: _group, ...first } = ranked[0] as Followed;
  const level = ranked.find((each) => each.level !== undefined)?.level;
  const asked = Math.max(...all.map((each) => each.asked ?? 0));
  return {
    ...first,
    uid,
    tos: [...new Set(all.map(({ to }) => to))].toSorted((a, b) => widthOf(b) - widthOf(a)),
    paces: all.map(({ everyMs }) => everyMs),
    ...(all.some(({ keep }) => keep) ? { keep: true as const } : {}),
    ...defined({ level }),
    ...(asked === 0 ? {} : { asked }),
  };
}

export const groupOf = ({ group, uid }: Followed): string => group ?? uid;

const widthOf = (address: string): number => (address.endsWith('/*') ? 2 : address.includes('#') ? 0 : 1);

/** Whether the address `wide` includes `narrow`: the same address, the project of an agent, or the agent of a conversation. */
export const covers = (wide: string, narrow: string): boolean =>
  wide === narrow ||
  (wide.endsWith('/*') && narrow.startsWith(wide.slice(0, -1))) ||
  (!wide.includes('#') && narrow.startsWith(`${wide}#`));

const listIn = (value: Json | undefined): readonly Followed[] => (Array.isArray(value) ? (value as Followed[]) : []);

/** Changes the list. Throws `conflict` if other processes keep changing the list. */
async function change(store: Kept, project: string, to: (list: readonly Followed[]) => readonly Followed[]): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = await store.setting(listKey(project));
    const after = to(listIn(before));
    const value = after.length === 0 ? undefined : (after as unknown as Json);
    if (await store.swapSetting(listKey(project), before, value)) return;
  }
  throw new EarpieceError('conflict', `the list of followed things of ${project} keeps changing; try again`, { retryable: true });
}

const TRIES = 20;

export const isSameThing = (a: What, b: What): boolean => sameKey(a) === sameKey(b);
const sameKey = (what: What): string => {
  const { title: _title, ...rest } = what as What & { readonly title?: string };
  return JSON.stringify(Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

export const isFollowed = async (store: Kept, project: string, what: What): Promise<boolean> =>
  (await following(store, project)).some((each) => isSameThing(each.what, what));

export type Added = {
  readonly followed: Followed;
  /** Whether this follower already existed. If so, its thing is checked again now. */
  readonly known: boolean;
};

/**
 * Adds a follower, or changes the existing follower of the same thing for the same address. A person and an agent have separate
 * followers, so that neither can end the follower of the other.
 */
export async function add(
  store: Kept & Pick<Store, 'now'>,
  project: string,
  asked: Omit<Followed, 'id' | 'since' | 'group' | 'asked' | 'ending' | 'process'>,
): Promise<Added> {
  let added: Added | undefined;
  await change(store, project, (list) => {
    const at = store.now();
    const there = list.filter(({ ending }) => !ending);
    const same = there.find((each) => each.to === asked.to && each.by === asked.by && isSameThing(each.what, asked.what));
    if (same !== undefined) {
      const { asked: _asked, ...before } = same;
      const followed: Followed = { ...before, ...asked, id: same.id, uid: same.uid, since: same.since, asked: at };
      added = { followed, known: true };
      return list.map((each) => (each === same ? followed : each));
    }
    checkRoom(there, asked);
    const other = list.find((each) => isHeardWith(each, asked));
    // The thing is checked now, so that the new address is notified of its open states.
    const joined = other === undefined ? {} : { group: groupOf(other), asked: at };
    const followed: Followed = { ...asked, id: freeId(list), since: at, ...joined };
    added = { followed, known: false };
    return [...list, followed];
  });
  return added as unknown as Added;
}

/** Whether two followers share their checks. Followers of an agent must also notify the same address. */
const isHeardWith = (a: Pick<Followed, 'what' | 'to'>, b: Pick<Followed, 'what' | 'to'>): boolean =>
  (a.what.kind !== 'agent' || a.to === b.to) && isSameThing(a.what, b.what);

/**
 * Adds the follower of one run of a command, or continues the follower of a killed run of the same command. Two runs that are
 * alive have separate followers, with separate states.
 */
export async function addRun(
  store: Kept & Pick<Store, 'now'>,
  project: string,
  asked: Pick<Followed, 'uid' | 'what' | 'to'> & { readonly process: Owner },
  isAlive: (owner: Owner) => boolean | undefined,
): Promise<Followed> {
  let added: Followed | undefined;
  await change(store, project, (list) => {
    const runs = list.filter(
      (each) => each.what.kind === 'command' && each.to === asked.to && isSameThing(each.what, asked.what),
    );
    // Whether a run on another machine is alive is unknown, so this run continues the follower of that run.
    const killed = runs.find((each) => !each.ending && each.process !== undefined && isAlive(each.process) !== true);
    if (killed !== undefined) {
      const followed: Followed = (added = { ...killed, process: asked.process });
      return list.map((each) => (each === killed ? followed : each));
    }
    checkRoom(list.filter(({ ending }) => !ending));
    const followed: Followed = (added = { ...asked, uid: freeUid(runs, asked.uid), id: freeId(list), since: store.now() });
    return [...list, followed];
  });
  return added as unknown as Followed;
}

/** Returns the first uid that no other run has. When all runs have ended, the next run gets the first uid again. */
function freeUid(runs: readonly Followed[], first: string): string {
  for (let n = 1; ; n++) {
    const uid = n === 1 ? first : `${first}.${n}`;
    if (runs.every((each) => each.uid !== uid)) return uid;
  }
}

/** Removes the follower of a run, unless another run has continued this follower. */
export const removeRun = (store: Kept, project: string, { uid, process }: Pick<Followed, 'uid' | 'process'>): Promise<void> =>
  remove(
    store,
    project,
    (each) =>
      each.uid === uid &&
      each.process?.machine === process?.machine &&
      each.process?.pid === process?.pid &&
      each.process?.startedAt === process?.startedAt,
  );

function checkRoom(list: readonly Followed[], { by }: Pick<Followed, 'by'> = {}): void {
  if (list.length >= MAX_FOLLOWED)
    throw new EarpieceError(
      'bad_argument',
      `this project already follows ${MAX_FOLLOWED} things, the maximum; to stop following a thing: earpiece unfollow <id>`,
    );
  if (by !== undefined && list.filter((each) => each.by === by).length >= MAX_OF_AN_AGENT)
    throw new EarpieceError('bad_argument', `${by} follows ${MAX_OF_AN_AGENT} things already; end one of these followers first`);
}

function freeId(list: readonly Followed[]): string {
  for (let n = 1; ; n++) if (list.every(({ id }) => id !== `f${n}`)) return `f${n}`;
}

/** Marks a follower as ending, and returns the follower. Resolves to undefined if no follower has this id. */
export async function beginEnd(store: Kept, project: string, id: string): Promise<Followed | undefined> {
  let found: Followed | undefined;
  await change(store, project, (list) => {
    found = list.find((each) => each.id === id);
    return list.map((each) => (each === found ? { ...each, ending: true } : each));
  });
  return found;
}

export const remove = (store: Kept, project: string, isOver: (followed: Followed) => boolean): Promise<void> =>
  change(store, project, (list) => list.filter((each) => !isOver(each)));

export async function stateOf(store: Kept, uid: string): Promise<State> {
  return ((await store.setting(stateKey(uid))) as unknown as State | undefined) ?? NEW;
}

export const keepState = (store: Kept, uid: string, state: State | undefined): Promise<void> =>
  store.setSetting(stateKey(uid), state);
