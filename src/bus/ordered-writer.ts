/**
 * Only this module decides when the bus writes. Writes for one key in one agent's log happen in the order in which the events
 * arrived. This order holds across subscribers, and for writes to the agent, to one of its conversations or to the whole project.
 * Writes of other channels for other keys do not wait. An arrived event is in one of these states:
 *
 * ```
 * arrived ──has a condition──▶ asked ──answered──▶ held or in line
 * arrived ──its key was written less than a fold ago, or in a storm──▶ held
 * arrived ──else──▶ in line
 * held ──its time has passed, or a later event of its key is in line──▶ in line
 * in line ──all earlier writes of its key and of its channel are done──▶ written
 * ```
 *
 * - asked: a condition is being evaluated. Later events of the same key wait for the answer (`whenAnswered`).
 * - held: the channel holds the event back (`hold`), to count it with other events. When a later event of its key is put in line
 *   by another channel, the held event is put in line first (`overtake`). The channel then stops holding the event (`release`).
 * - in line: its write waits for earlier writes (`write`). A failed write does not delay later writes.
 */
import type { Address } from '../core/address.ts';

/** Holds events back for one address. Channels implement this interface. */
export interface Holder {
  readonly address: Address;
  /** Returns the number (`arrived`) of the newest held event of the key. Undefined if no event is held. */
  heldBack(key: string): number | undefined;
  /** Puts the held events of the key in line now. */
  putInLine(key: string): void;
}

/** The unwritten events of one key in one project. */
type Lane = {
  readonly name: string;
  /** Resolves when the last condition under the key has been evaluated and its result has been handled. */
  asked: Promise<void> | undefined;
  readonly holding: Set<Outlet>;
  /** The last write for each agent. "*" means all agents. */
  readonly inLine: Map<string, { readonly by: Outlet; readonly done: Promise<unknown> }>;
};

/** The lanes by project and key. A lane exists only while an event of its key is unwritten. */
class Lanes {
  readonly #byName = new Map<string, Lane>();

  find(address: Address, key: string): Lane | undefined {
    return this.#byName.get(nameOf(address, key));
  }

  at(address: Address, key: string): Lane {
    const name = nameOf(address, key);
    let lane = this.#byName.get(name);
    if (lane === undefined) this.#byName.set(name, (lane = { name, asked: undefined, holding: new Set(), inLine: new Map() }));
    return lane;
  }

  /** Removes the lane if no event of its key is unwritten. */
  leave(lane: Lane): void {
    const { name, asked, holding, inLine } = lane;
    if (asked === undefined && holding.size === 0 && inLine.size === 0 && this.#byName.get(name) === lane)
      this.#byName.delete(name);
  }
}

export class OrderedWriter {
  readonly #lanes = new Lanes();
  readonly #questions = new Set<Promise<void>>();
  #arrivals = 0;

  /** Returns the number of an event that arrives now. */
  arrived(): number {
    return ++this.#arrivals;
  }

  /** Gives a holder its write access to the log. */
  outlet(holder: Holder): Outlet {
    return new Outlet(this.#lanes, holder);
  }

  /** Whether a condition is being evaluated. */
  get isAsking(): boolean {
    return this.#questions.size > 0;
  }

  /** Resolves when all conditions so far have been evaluated and their results handled. */
  async answered(): Promise<void> {
    await Promise.all(this.#questions);
  }

  /**
   * Calls `act` at once, unless a condition must be evaluated first: `question`, or an earlier condition under the same key.
   * `act` gets the condition's result, and whether `act` was delayed.
   */
  whenAnswered<A, T>(
    { address, key }: { readonly address: Address; readonly key: string | undefined },
    question: Promise<A> | undefined,
    act: (answer: A | undefined, waited: boolean) => Promise<T>,
  ): Promise<T> {
    const before = key === undefined ? undefined : this.#lanes.find(address, key)?.asked;
    if (question === undefined && before === undefined) return act(undefined, false);
    // The result is wrapped in an object, so that `acted` resolves when `act` has begun and not when its promise resolves. A
    // flush awaits `acted`, and then the writes.
    const acted = Promise.all([question, before]).then(([answer]) => ({ result: act(answer, true) }));
    const over: Promise<void> = acted.then(
      () => undefined,
      () => undefined,
    );
    this.#questions.add(over);
    if (key !== undefined) this.#lanes.at(address, key).asked = over;
    void over.then(() => {
      this.#questions.delete(over);
      const lane = key === undefined ? undefined : this.#lanes.find(address, key);
      if (lane?.asked !== over) return;
      lane.asked = undefined;
      this.#lanes.leave(lane);
    });
    return acted.then(({ result }) => result);
  }
}

/** Runs the writes of one holder in sequence. */
export class Outlet {
  readonly #lanes: Lanes;
  readonly holder: Holder;
  #last: Promise<unknown> = Promise.resolve();
  #writing = 0;

  constructor(lanes: Lanes, holder: Holder) {
    this.#lanes = lanes;
    this.holder = holder;
  }

  /** Whether a write is in line. */
  get isWriting(): boolean {
    return this.#writing > 0;
  }

  /** Resolves when every write that is now in line is done or has failed. */
  async written(): Promise<void> {
    await this.#last;
  }

  /** Records that the holder now holds back an event of the key. */
  hold(key: string): void {
    this.#lanes.at(this.holder.address, key).holding.add(this);
  }

  release(key: string): void {
    const lane = this.#lanes.find(this.holder.address, key);
    if (lane?.holding.delete(this)) this.#lanes.leave(lane);
  }

  /**
   * Puts other holders' events of the key in line, oldest first. Skips a holder if the number of its newest event of the key is
   * `before` or higher.
   */
  overtake(key: string, before = Number.POSITIVE_INFINITY): void {
    const lane = this.#lanes.find(this.holder.address, key);
    if (lane === undefined || lane.holding.size === 0 || (lane.holding.size === 1 && lane.holding.has(this))) return;
    const earlier = [...lane.holding].flatMap(({ holder }) => {
      const at = holder === this.holder || !overlap(holder.address, this.holder.address) ? undefined : holder.heldBack(key);
      return at === undefined || at >= before ? [] : [{ holder, at }];
    });
    for (const { holder } of earlier.toSorted((a, b) => a.at - b.at)) holder.putInLine(key);
  }

  /** Runs `work` after this holder's earlier writes, and after other holders' writes under these keys for the same agents. */
  write<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    this.#writing++;
    const lanes = keys.map((key) => this.#lanes.at(this.holder.address, key));
    const others = lanes.flatMap((lane) => (lane.inLine.size === 0 ? [] : this.#othersIn(lane)));
    const done = (others.length === 0 ? this.#last : Promise.allSettled([this.#last, ...others])).then(work);
    for (const lane of lanes) this.#joins(lane, done);
    const written = done.finally(() => void this.#writing--);
    this.#last = written.then(
      () => undefined,
      () => undefined,
    );
    return written;
  }

  #joins(lane: Lane, done: Promise<unknown>): void {
    const agent = agentOf(this.holder.address);
    // A write for all agents waits for each agent's last write, so it is now the last write of all agents.
    if (agent === '*') lane.inLine.clear();
    const last = { by: this, done };
    lane.inLine.set(agent, last);
    const over = (): void => {
      if (lane.inLine.get(agent) !== last) return;
      lane.inLine.delete(agent);
      this.#lanes.leave(lane);
    };
    done.then(over, over);
  }

  #othersIn({ inLine }: Lane): readonly Promise<unknown>[] {
    const agent = agentOf(this.holder.address);
    const found: Promise<unknown>[] = [];
    for (const [of, one] of inLine) if (one.by !== this && (agent === '*' || of === '*' || of === agent)) found.push(one.done);
    return found;
  }
}

const nameOf = ({ project }: Address, key: string): string => `${project}\n${key}`;

const agentOf = (address: Address): string => (address.kind === 'project' ? '*' : address.agent);

const overlap = (a: Address, b: Address): boolean => a.kind === 'project' || b.kind === 'project' || a.agent === b.agent;
