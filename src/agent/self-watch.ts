/**
 * Emits an agent's own events to the bus: its tools, its turns, its budget, loops, its provider's rate limits, and a changed
 * setup. Errors of these events never fail the agent: emits run in the background, and their errors are reported. The agent waits
 * for pending emits only when it opens, at a carrier, at the end of a turn, and when it closes. Each wait has a time limit.
 */
import type { LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import type { Emitted, Emitter } from '../core/event.ts';
import type { Origin } from '../core/notification.ts';
import type { Draft } from '../core/records.ts';
import { patience, type Inbox } from '../inbox/index.ts';
import { Budget, type BudgetOptions, type Usage } from './watching/budget.ts';
import { changes, lastSetup, sameSetup, setupKeys, setupRecord, type Setup } from './watching/config.ts';
import { Loops } from './watching/loops.ts';
import { RateLimits, type Headers } from './watching/rate-limits.ts';
import type { Seen } from './watching/seen.ts';
import { queried, resumed, sessionEnded, turnBegan, turnEnded } from './watching/sessions.ts';
import { ToolCalls, type CallEnd, type ToolUse } from './watching/tool-calls.ts';

export type SelfWatchOptions = {
  readonly inbox: Inbox;
  readonly emitter: Emitter | undefined;
  readonly log: LogKey;
  /** `project/agent#conversation`. */
  readonly address: string;
  readonly setup: Setup;
  /** The name of the provider, for reports about its rate limits. */
  readonly provider: string;
  readonly budget: BudgetOptions & { readonly iterations: number };
  readonly onTrouble: (error: unknown) => void;
};

/** The maximum time that a slow store or bus may delay a carrier, without the time in which templates run. */
const EMITTED_WITHIN_MS = 250;
const ENDED_WITHIN_MS = 2_000;

export class SelfWatch {
  readonly budget: Budget;
  readonly #options: SelfWatchOptions;
  readonly #loops = new Loops();
  readonly #rateLimits: RateLimits;
  readonly #calls = new ToolCalls();
  /** Emits and withdrawals that still run. */
  readonly #pending = new Set<Promise<unknown>>();
  /**
   * Emitted events that were still pending when a carrier stopped waiting. While one of these events is pending, later carriers
   * do not wait.
   */
  #stuck: readonly Promise<unknown>[] = [];
  /** Emitted events that are withdrawn when the turn ends. */
  #ofThisTurn: Promise<Emitted | undefined>[] = [];
  #setup: Setup | undefined;
  #turn = 0;
  #running = false;
  #turnsHere = 0;

  constructor(options: SelfWatchOptions) {
    this.#options = options;
    this.budget = new Budget(options.budget);
    this.#rateLimits = new RateLimits({ provider: options.provider });
  }

  /**
   * Emits the events about a resumed conversation and a changed setup. Withdraws earlier events about the model or the tools if
   * they are the same as in the last turn. Call this method once, when the agent opens, with the records of its conversation.
   */
  async opened(records: readonly Draft[]): Promise<void> {
    const { address, setup } = this.#options;
    this.#turn = records.filter(({ type }) => type === 'turn_start').length;
    this.#setup = lastSetup(records);
    this.#tell(resumed(records, address));
    const changed = this.#setup === undefined ? [] : changes(this.#setup, setup, address);
    this.#tell(changed);
    if (this.#options.emitter !== undefined && this.#setup !== undefined)
      for (const key of setupKeys(address))
        if (!changed.some((seen) => seen.key === key)) this.#takeBack(key, 'the setup is the same as in the last turn');
    await this.told();
  }

  /** Returns the record of the setup, for the first turn and for a turn with a changed model or changed tools; otherwise none. */
  setupRecords(): readonly Draft[] {
    const { setup } = this.#options;
    if (sameSetup(this.#setup, setup)) return [];
    this.#setup = setup;
    return [setupRecord(setup)];
  }

  turnBegan(query: string, by: 'person' | 'notification', goesOn: boolean): void {
    const { address } = this.#options;
    this.#running = true;
    this.budget.begin(this.#now());
    this.#loops.begin();
    this.#calls.begin();
    if (!goesOn) this.#turn += 1;
    this.#turnsHere += 1;
    this.#tell([queried(query, address, by), turnBegan(this.#turn, address)]);
  }

  answered(usage: Usage | undefined, headers: Headers | undefined): void {
    this.budget.answered(usage);
    if (headers !== undefined) this.#tell(this.#rateLimits.heard(headers, this.#now()));
  }

  refusedForRate(afterMs: number | undefined): void {
    this.#tell([this.#rateLimits.refused({ afterMs })]);
  }

  /** Records that the batch of an answer begins. Emits the events about reached limits and loops now. */
  batchBegan(calls: readonly ToolUse[]): Batch {
    const now = this.#now();
    this.#tellOfThisTurn([...this.budget.reached(now), ...this.#loops.batch(calls, now)]);
    const ends: CallEnd[] = [];
    const worked: [Seen, string][] = [];
    const id = this.#options.inbox.ids.make('b');
    const startedAt = new Map<string, number>();
    return {
      began: (call) => {
        startedAt.set(call.id, this.#now());
        this.#tell([this.#calls.pending(call)], call.name);
      },
      ended: (call, end) => {
        ends.push(end);
        const seen = this.#calls.ended(call, end, this.#now() - (startedAt.get(call.id) ?? now));
        if (end.kind === 'success') worked.push(...seen.map((each): [Seen, string] => [each, call.name]));
        // The result of the call already shows the failure to the model, so `about` ties the event to that result.
        else
          this.#tell(
            seen.map((each) => ({ ...each, about: callKey(call.id) })),
            call.name,
          );
      },
      carried: () => {
        for (const [seen, tool] of worked) this.#tell([seen], tool);
        this.#tell([this.#calls.batch({ id, ends, durationMs: this.#now() - now })]);
      },
    };
  }

  outOfIterations(): void {
    this.#tell([this.budget.outOfIterations()]);
  }

  async turnEnded(how: {
    readonly reason: 'complete' | 'stopped' | 'failed';
    readonly cycles: number;
    readonly error?: string;
  }): Promise<void> {
    this.#running = false;
    const over = this.budget.reachedLate(this.#now());
    this.#tellOfThisTurn(over.filter(({ type }) => type.startsWith('budget.')));
    this.#tell(over.filter(({ type }) => !type.startsWith('budget.')));
    const { count: toolCalls } = this.#calls;
    this.#tell([turnEnded({ ...how, turn: this.#turn, toolCalls, tokens: this.budget.tokens }, this.#options.address)]);
    const emitted = this.#ofThisTurn.splice(0);
    if (emitted.length > 0)
      void this.#track(
        Promise.all(emitted).then(async (all) => {
          for (const id of all.flatMap((each) => each?.heard.flatMap((heard) => ('id' in heard ? [heard.id] : [])) ?? []))
            await this.#options.inbox.withdraw(this.#options.log, { id }, { by: 'agent', reason: 'the turn has ended' });
        }),
      );
    await this.told();
  }

  /** Resolves when all emitted events are durable, or after the time limit, or at once while an earlier emit is stuck. */
  async told(withinMs = EMITTED_WITHIN_MS): Promise<void> {
    if (this.#pending.size === 0 || this.#stuck.some((emit) => this.#pending.has(emit))) return;
    const waitedFor = [...this.#pending];
    const time = patience(withinMs, () => this.#options.inbox.lines?.busy?.() ?? false);
    // The bus may hold events back to count them. `inbox.written()` makes the bus write these events now.
    const written = this.#options.inbox.written().catch(this.#options.onTrouble);
    const how = await Promise.race([Promise.allSettled([written, ...waitedFor]), time.over]);
    time.end();
    this.#stuck = how === undefined ? waitedFor : [];
  }

  async closed(): Promise<void> {
    this.#tell([sessionEnded(this.#options.address, this.#turnsHere)]);
    await this.told(ENDED_WITHIN_MS);
  }

  #now(): number {
    return this.#options.inbox.store.now();
  }

  #tellOfThisTurn(all: readonly Seen[]): void {
    for (const seen of all) this.#ofThisTurn.push(this.#emit(seen));
  }

  #tell(all: readonly Seen[], tool?: string): void {
    for (const seen of all) void this.#emit(seen, tool);
  }

  /** Emits an event, and never rejects. Resolves to undefined if there is no emitter, or if the emit failed. */
  #emit(seen: Seen, tool?: string): Promise<Emitted | undefined> {
    const { emitter, address } = this.#options;
    if (emitter === undefined) return Promise.resolve(undefined);
    const origin = this.#originOf(seen, tool);
    const event = { ...seen, source: 'agent', subject: address, ...defined({ origin }) };
    return this.#track((async () => emitter.emit(event))());
  }

  /**
   * Returns the origin of an event. An event that the agent has caused must not wake this agent. An event that should interrupt
   * the running turn has no origin, because events with an agent as their origin are never critical.
   */
  #originOf({ type }: Seen, tool: string | undefined): Partial<Origin> | undefined {
    if (this.#running && (type === 'budget.token.exceeded' || type === 'agent.loop.detected')) return undefined;
    return { agent: this.#options.log, depth: 0, ...defined({ tool }) };
  }

  #takeBack(key: string, reason: string): void {
    void this.#track(this.#options.inbox.withdraw(this.#options.log, { key }, { by: 'agent', reason }));
  }

  /** Tracks the work while it runs. If the work fails, reports the error and resolves to undefined. */
  async #track<T>(work: Promise<T>): Promise<T | undefined> {
    this.#pending.add(work);
    try {
      return await work;
    } catch (error) {
      this.#options.onTrouble(error);
      return undefined;
    } finally {
      this.#pending.delete(work);
    }
  }
}

/** Returns the `about` of the event about a call. The model knows the event when the result of the call is recorded. */
export const callKey = (id: string): string => `call:${id}`;

export type Batch = {
  readonly began: (call: ToolUse) => void;
  readonly ended: (call: ToolUse, end: CallEnd) => void;
  /** Emits the successes when the results are recorded, so that no carrier waits for these emits. */
  readonly carried: () => void;
};
