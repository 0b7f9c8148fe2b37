/**
 * A schedule says how each process of each worker dies, and when faults of the machine happen. A schedule is a pure function of a
 * seed, a number and an engine. The same seed gives the same schedule on every machine.
 */
import { Chance } from '../../system/chance.ts';
import { BUGS, type Bug, type EngineName, type Point, pointsOf, type Role, roleOf, type Slot, SLOTS } from './roles.ts';

/** How the process of a worker dies. */
export type Death =
  /** SIGKILL from outside, `ms` after the process has written this number of lines. */
  | { readonly kind: 'kill'; readonly lines: number; readonly ms: number }
  /** SIGKILL from inside, when the process passes the point for the n-th time. */
  | { readonly kind: 'point'; readonly point: Point; readonly times: number };

/** Faults of a machine or a server. */
export const ENGINE_FAULTS = {
  sqlite: ['disk.frozen', 'disk.slow', 'disk.full', 'wakeups'],
  postgres: [
    'node.kill',
    'node.pause',
    'backend.kill',
    'standby.kill',
    'standby.pause',
    'primary.lost',
    'disk.frozen',
    'disk.slow',
    'disk.full',
    'wakeups',
  ],
  nats: ['node.kill', 'node.pause', 'leader.stepdown', 'leader.kill', 'disk.frozen', 'disk.slow', 'disk.full', 'wakeups'],
} as const satisfies Record<EngineName, readonly string[]>;
export type EngineFault = (typeof ENGINE_FAULTS)[EngineName][number];

/** `atMs`: when the action begins. `ms`: how long the action lasts. */
export type Action =
  | { readonly kind: 'pause'; readonly slot: Slot; readonly atMs: number; readonly ms: number }
  | { readonly kind: 'clock'; readonly slot: Slot; readonly atMs: number; readonly ms: number; readonly by: number }
  | { readonly kind: EngineFault; readonly atMs: number; readonly ms: number; readonly node: number };

export type Schedule = {
  readonly engine: EngineName;
  readonly seed: string;
  readonly number: number;
  /** JetStream: 1 is one server, and 3 is a cluster of three servers with three copies. */
  readonly replicas: 1 | 3;
  /** How a process dies that creates the store at the same time as another process. */
  readonly opening: Death;
  /**
   * How the processes of each slot die, one after the other. Then each slot starts a last process, which runs to the end of the
   * schedule.
   */
  readonly lives: Readonly<Record<Slot, readonly Death[]>>;
  readonly actions: readonly Action[];
  /** The minimum time for which the workers run. */
  readonly ms: number;
  readonly thread: boolean;
  readonly bug?: Bug;
};

export type Wanted = {
  readonly engine: EngineName;
  readonly seed: string;
  /** SQLite: whether each worker opens the file in a separate thread. Default: true in half of the schedules. */
  readonly thread?: boolean;
  readonly bug?: Bug;
};

const SECOND = 1_000;
const HOUR = 3_600_000;
const CLOCKS = [-72 * HOUR, -2 * HOUR, -90 * SECOND, 90 * SECOND, 2 * HOUR, 72 * HOUR];
const LIVES: Readonly<Record<Role, number>> = { producer: 1, carrier: 2, server: 1 };

export function scheduleOf(number: number, wanted: Wanted): Schedule {
  const { engine, seed, bug } = wanted;
  const chance = new Chance(`${seed} ${engine} ${number}`);
  const card = <T>(name: string, cards: readonly T[], at: number): T => cardAt(`${seed} ${engine} ${name}`, cards, at);
  const thread = engine === 'sqlite' && (wanted.thread ?? card('thread', [false, true], number));
  const opener = card<Point | 'kill'>('opening', [...pointsOf(engine, 'opener'), 'kill'], number);
  const base = {
    engine,
    seed,
    number,
    replicas: card<1 | 3>('replicas', [1, 3, 3], number),
    opening: opener === 'kill' ? killed(chance, 2) : { kind: 'point' as const, point: opener, times: 1 },
    thread,
  };
  if (bug !== undefined) return { ...base, replicas: 1, lives: livesWith(bug, chance), actions: [], ms: SECOND, bug };
  const livesOf = (slot: Slot): readonly Death[] => {
    const role = roleOf(slot);
    const points = pointsOf(engine, role);
    const [, nth = '1'] = slot.split('-');
    return Array.from({ length: LIVES[role] }, (_, life) => {
      // Two slots of a role take the cards alternately.
      const at = (number * LIVES[role] + life) * 2 + Number(nth) - 1;
      const point = card<Point | 'kill'>(role, [...points, ...points.map(() => 'kill' as const)], at);
      return point === 'kill' || points.length === 0 ? killed(chance, 40) : { kind: 'point', point, times: chance.between(1, 4) };
    });
  };
  return {
    ...base,
    lives: Object.fromEntries(SLOTS.map((slot) => [slot, livesOf(slot)])) as Record<Slot, readonly Death[]>,
    ...actionsOf(engine, number, base.replicas, { chance, card }),
  };
}

const killed = (chance: Chance, lines: number): Death => ({
  kind: 'kill',
  lines: chance.between(0, lines),
  ms: chance.between(0, 150),
});

/** Returns deaths that make a deliberate fault visible, and no other faults. */
function livesWith(bug: Bug, chance: Chance): Record<Slot, readonly Death[]> {
  const points: readonly Point[] = BUGS[bug];
  const of = (slot: Slot): readonly Death[] => {
    const mine = points.filter((point) => pointsOf('sqlite', roleOf(slot)).includes(point));
    return mine.length === 0
      ? []
      : [1, 2, 3].map(() => ({ kind: 'point', point: chance.pick(mine), times: chance.between(1, 3) }));
  };
  return Object.fromEntries(SLOTS.map((slot) => [slot, of(slot)])) as Record<Slot, readonly Death[]>;
}

type Drawing = { readonly chance: Chance; readonly card: <T>(name: string, cards: readonly T[], at: number) => T };

/**
 * Returns the faults of the machine. Faults of the engine follow each other, so that only one node fails at a time. Suspended
 * workers and wrong clocks of workers may overlap with the engine's faults.
 */
function actionsOf(
  engine: EngineName,
  number: number,
  replicas: 1 | 3,
  { chance, card }: Drawing,
): Pick<Schedule, 'actions' | 'ms'> {
  const actions: Action[] = [];
  let at = chance.between(300, 700);
  for (let nth = 0; nth < 2; nth++) {
    // A single NATS server and a cluster have separate decks, so that each goes through all its faults.
    const faults: readonly EngineFault[] = ENGINE_FAULTS[engine].filter(
      (fault) => replicas === 3 || !fault.startsWith('leader.'),
    );
    const kind = card(`faults of ${engine === 'nats' ? replicas : 1}`, faults, number * 2 + nth);
    const ms = chance.between(300, 1_000);
    actions.push({ kind, atMs: at, ms, node: chance.between(0, 2) });
    at += ms + chance.between(200, 600);
  }
  for (let nth = 0; nth < 2; nth++)
    actions.push({ kind: 'pause', slot: chance.pick(SLOTS), atMs: chance.between(200, 2_000), ms: chance.between(100, 1_200) });
  // One clock is wrong at a time.
  actions.push({
    kind: 'clock',
    slot: card('clock', SLOTS, number),
    atMs: chance.between(100, 1_000),
    ms: chance.between(500, 1_500),
    by: chance.pick(CLOCKS),
  });
  return { actions: actions.toSorted((a, b) => a.atMs - b.atMs), ms: at };
}

/** Returns the card at a place of an endless row of shuffled decks. Each deck contains each card once. */
function cardAt<T>(seed: string, cards: readonly T[], at: number): T {
  const chance = new Chance(`${seed} ${Math.floor(at / cards.length)}`);
  const deck = [...cards];
  for (let i = deck.length - 1; i > 0; i--) {
    const j = chance.between(0, i);
    [deck[i], deck[j]] = [deck[j] as T, deck[i] as T];
  }
  return deck[at % cards.length] as T;
}

/** Describes the schedule for people, with one line for each slot and each fault. */
export function describe({ engine, seed, number, replicas, thread, opening, lives, actions }: Schedule): string {
  const death = (one: Death): string =>
    one.kind === 'kill' ? `kill after ${one.lines} lines + ${one.ms} ms` : `${one.point}:${one.times}`;
  const action = (one: Action): string => {
    const what =
      one.kind === 'pause' ? ` ${one.slot}` : one.kind === 'clock' ? ` ${one.slot} ${one.by / SECOND} s` : ` node ${one.node}`;
    return `${one.atMs} ms ${one.kind}${what} for ${one.ms} ms`;
  };
  return [
    `schedule ${number} of seed ${seed}: ${engine}${engine === 'nats' ? ` with ${replicas} copies` : ''}${thread ? ' in a thread' : ''}`,
    `  opening: ${death(opening)}`,
    ...SLOTS.map((slot) => `  ${slot}: ${[...lives[slot].map(death), 'to the end'].join(', ')}`),
    ...actions.map((one) => `  ${action(one)}`),
  ].join('\n');
}
