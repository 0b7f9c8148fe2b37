/**
 * Who writes when: what concerns one key in one agent's log is written in the order in which it came, whichever subscriber
 * made it, and whether it was for the agent, for one of its conversations or for its whole project. Other keys do not wait.
 */
import type { Address } from '../core/address.ts';

/** Writes for one address, and holds some of it back for a while. */
export interface Writer {
  readonly address: Address;
  /** The number (`Turns.arrived`) of the newest that it holds back of the key; undefined: nothing. */
  heldBack(key: string): number | undefined;
  /** What it holds back of the key takes its turn now. */
  letGo(key: string): void;
}

/** `last`: of each agent, and of "*" for all, who wrote last and when that is done. */
type Lane = {
  readonly name: string;
  readonly last: Map<string, { readonly by: Writer; readonly done: Promise<unknown> }>;
  readonly holding: Set<Writer>;
};

export class Turns {
  readonly #lanes = new Map<string, Lane>();
  #arrivals = 0;

  /** The number of what arrives now. */
  arrived(): number {
    return ++this.#arrivals;
  }

  /** `by` holds something back under the key. */
  holds(by: Writer, key: string): void {
    this.#lane(by, key).holding.add(by);
  }

  released(by: Writer, key: string): void {
    const lane = this.#lanes.get(nameOf(by, key));
    if (lane?.holding.delete(by)) this.#leave(lane);
  }

  /** What others hold back of the key, and came before number `before`, takes its turn; the oldest first. */
  letOthersGo(by: Writer, key: string, before = Number.POSITIVE_INFINITY): void {
    const lane = this.#lanes.get(nameOf(by, key));
    if (lane === undefined || lane.holding.size === 0 || (lane.holding.size === 1 && lane.holding.has(by))) return;
    const earlier = [...lane.holding].flatMap((writer) => {
      const at = writer === by || !overlap(writer.address, by.address) ? undefined : writer.heldBack(key);
      return at === undefined || at >= before ? [] : [{ writer, at }];
    });
    for (const { writer } of earlier.toSorted((a, b) => a.at - b.at)) writer.letGo(key);
  }

  /** Runs `work` after `after` (what `by` itself wrote before), and after what others write under these keys. */
  take<T>(
    { by, keys, after }: { readonly by: Writer; readonly keys: readonly string[]; readonly after: Promise<unknown> },
    work: () => Promise<T>,
  ): Promise<T> {
    const lanes = keys.map((key) => this.#lane(by, key));
    const before = lanes.flatMap((lane) => (lane.last.size === 0 ? [] : writtenByOthers(by, lane)));
    const done = (before.length === 0 ? after : Promise.allSettled([after, ...before])).then(work);
    for (const lane of lanes) this.#writes(by, lane, done);
    return done;
  }

  #writes(by: Writer, lane: Lane, done: Promise<unknown>): void {
    const agent = agentOf(by.address);
    // Whoever writes for all has waited for each.
    if (agent === '*') lane.last.clear();
    const last = { by, done };
    lane.last.set(agent, last);
    const over = (): void => {
      if (lane.last.get(agent) !== last) return;
      lane.last.delete(agent);
      this.#leave(lane);
    };
    done.then(over, over);
  }

  #lane(by: Writer, key: string): Lane {
    const name = nameOf(by, key);
    let lane = this.#lanes.get(name);
    if (lane === undefined) this.#lanes.set(name, (lane = { name, last: new Map(), holding: new Set() }));
    return lane;
  }

  #leave(lane: Lane): void {
    const { name, last, holding } = lane;
    if (last.size === 0 && holding.size === 0 && this.#lanes.get(name) === lane) this.#lanes.delete(name);
  }
}

function writtenByOthers(by: Writer, { last }: Lane): readonly Promise<unknown>[] {
  const agent = agentOf(by.address);
  const found: Promise<unknown>[] = [];
  for (const [of, one] of last) if (one.by !== by && (agent === '*' || of === '*' || of === agent)) found.push(one.done);
  return found;
}

const nameOf = ({ address }: Writer, key: string): string => `${address.project}\n${key}`;

const agentOf = (address: Address): string => (address.kind === 'project' ? '*' : address.agent);

const overlap = (a: Address, b: Address): boolean => a.kind === 'project' || b.kind === 'project' || a.agent === b.agent;
