/**
 * Tracks the limits of one agent turn: tokens, requests to the model, time, and the size of its context. Reports a warning before
 * each limit, and an event when the tokens or the requests are used up, each once per turn.
 */
import { EarpieceError } from '../../core/errors.ts';
import { plainDuration, plainNumber, seen, type Seen } from './seen.ts';

export type BudgetOptions = {
  /** The maximum number of input and output tokens of one turn, cached or not, with the requests of `TurnEnding.ask`. */
  readonly tokens?: number;
  /** The size of the model's context window. The last request and its answer must fit into this window. */
  readonly contextTokens?: number;
  /** How long a turn should take, in ms. A turn that takes longer is not ended; to end the turn, call `stop`. */
  readonly timeoutMs?: number;
  /** The fraction of each limit at which the agent is warned. Default 0.8 of tokens and time, 0.7 of iterations and context. */
  readonly warnAt?: {
    readonly tokens?: number;
    readonly iterations?: number;
    readonly context?: number;
    readonly time?: number;
  };
};

export type Usage = { readonly inputTokens: number; readonly outputTokens: number };

type Kind = 'token' | 'iteration' | 'timeout' | 'context';

const WARN_AT = { tokens: 0.8, iterations: 0.7, context: 0.7, time: 0.8 } as const;

export class Budget {
  readonly #limits: Readonly<Record<Kind, number | undefined>>;
  readonly #warnAt: Readonly<Record<Kind, number>>;
  readonly #told = new Set<string>();
  #contextToldLate = false;
  #beganAt = 0;
  #tokens = 0;
  #iterations = 0;
  #context = 0;

  /** `iterations` is the maximum number of requests to the model in one turn. Throws `bad_argument` for an invalid limit. */
  constructor(options: BudgetOptions & { readonly iterations: number }) {
    const { tokens, contextTokens, timeoutMs, iterations, warnAt = {} } = options;
    for (const [name, limit] of Object.entries({ tokens, contextTokens, timeoutMs }))
      if (limit !== undefined && !(Number.isFinite(limit) && limit > 0))
        throw new EarpieceError(
          'bad_argument',
          `budget.${name} must be a number above 0, got ${limit}; leave the option out for no limit`,
        );
    for (const [name, part] of Object.entries(warnAt))
      if (part !== undefined && !(part > 0 && part <= 1))
        throw new EarpieceError('bad_argument', `budget.warnAt.${name} must be above 0 and at most 1, got ${part}`);
    this.#limits = { token: tokens, iteration: iterations, timeout: timeoutMs, context: contextTokens };
    this.#warnAt = {
      token: warnAt.tokens ?? WARN_AT.tokens,
      iteration: warnAt.iterations ?? WARN_AT.iterations,
      timeout: warnAt.time ?? WARN_AT.time,
      context: warnAt.context ?? WARN_AT.context,
    };
  }

  /** Begins a turn: sets all counts to 0, except the size of the context. */
  begin(now: number): void {
    this.#told.clear();
    // If the last turn emitted `context.approaching_limit` at its end, the agent reads that event now. So this turn does not
    // repeat the event.
    if (this.#contextToldLate) this.#told.add('context.approaching_limit');
    this.#contextToldLate = false;
    this.#beganAt = now;
    this.#tokens = 0;
    this.#iterations = 0;
  }

  /** Counts an answer of the model. If the provider reports no usage, only the request is counted. */
  answered(usage: Usage | undefined): void {
    this.#iterations += 1;
    if (usage === undefined) return;
    this.#context = usage.inputTokens + usage.outputTokens;
    this.#tokens += this.#context;
  }

  /** Counts the tokens of a request outside of the conversation, which is neither a cycle of the turn nor in its context. */
  askedAside(usage: Usage | undefined): void {
    if (usage !== undefined) this.#tokens += usage.inputTokens + usage.outputTokens;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Whether the turn has used more tokens than its limit. */
  get overspent(): boolean {
    return this.#tokens > (this.#limits.token ?? Number.POSITIVE_INFINITY);
  }

  /** Returns events for the warnings and limits that are reached now, except events already emitted in this turn. */
  reached(now: number): readonly Seen[] {
    const elapsed = now - this.#beganAt;
    return [
      ...this.#of('token', this.#tokens, () => [
        `${plainNumber(this.#tokens)} of ${plainNumber(this.#limits.token ?? 0)} tokens of this turn are used`,
        plainNumber,
      ]),
      ...this.#of('iteration', this.#iterations, () => [
        `${plainNumber(this.#iterations)} of ${plainNumber(this.#limits.iteration ?? 0)} requests of this turn are used`,
        plainNumber,
      ]),
      ...this.#of('timeout', elapsed, () => [
        `This turn has taken ${plainDuration(elapsed)} of ${plainDuration(this.#limits.timeout ?? 0)}`,
        plainDuration,
      ]),
      ...this.#of('context', this.#context, () => [
        `The context holds ${plainNumber(this.#context)} of ${plainNumber(this.#limits.context ?? 0)} tokens`,
        plainNumber,
      ]),
    ];
  }

  /**
   * Returns the events for the end of a turn: exceeded limits, and the size of the context. Warnings before a limit are left out,
   * because the turn has ended.
   */
  reachedLate(now: number): readonly Seen[] {
    const late = this.reached(now).filter(({ type }) => !/^budget\..*\.warning$/u.test(type));
    this.#contextToldLate = late.some(({ type }) => type === 'context.approaching_limit');
    return late;
  }

  /** Returns the event for a turn that ended at its maximum number of requests. */
  outOfIterations(): Seen {
    const limit = this.#limits.iteration ?? 0;
    return seen(`The last turn was ended after ${plainNumber(limit)} requests to the model, the maximum`, {
      type: 'budget.iteration.exceeded',
      severity: 'critical',
      data: counted('iteration', this.#iterations, limit),
    });
  }

  #of(kind: Kind, current: number, said: () => readonly [string, (left: number) => string]): readonly Seen[] {
    const limit = this.#limits[kind];
    if (limit === undefined || current < limit * this.#warnAt[kind]) return [];
    if (kind === 'token' && current > limit) {
      if (this.#once('budget.token.exceeded')) return [];
      this.#told.add('budget.token.warning');
      return [
        seen(
          `The tokens of this turn are used up: ${plainNumber(current)} of ${plainNumber(limit)}. The next answer ends the turn; no further tools run.`,
          { type: 'budget.token.exceeded', severity: 'critical', data: counted(kind, current, limit) },
        ),
      ];
    }
    const type = kind === 'context' ? 'context.approaching_limit' : `budget.${kind}.warning`;
    if (this.#once(type)) return [];
    const [is, plain] = said();
    const left = Math.max(0, limit - current);
    return [
      seen(`${is} (${percent(current, limit)} %); ${left === 0 ? 'nothing is' : `${plain(left)} are`} left`, {
        type,
        severity: 'warning',
        data: counted(kind, current, limit),
      }),
    ];
  }

  /** Returns true if an event of this type was already emitted in this turn, and marks the type as emitted. */
  #once(type: string): boolean {
    const before = this.#told.has(type);
    this.#told.add(type);
    return before;
  }
}

/** Returns the percentage, rounded down so that a value below the limit does not show as 100. */
const percent = (current: number, limit: number): number => Math.floor((current / limit) * 100);

/**
 * Returns the numbers for `data`. A number may have two names, such as `limit` and `max`, because existing templates use either
 * name.
 */
function counted(kind: Kind, current: number, limit: number): Record<string, string | number> {
  const remaining = Math.max(0, limit - current);
  const percentage = percent(current, limit);
  const seconds = (ms: number): number => Math.round(ms / 100) / 10;
  const unit = kind === 'timeout' ? seconds : (n: number): number => n;
  return {
    budget_type: kind,
    current: unit(current),
    limit: unit(limit),
    max: unit(limit),
    remaining: unit(remaining),
    percentage,
    percent: percentage,
    ...(kind === 'timeout'
      ? { elapsed_seconds: seconds(current), limit_seconds: seconds(limit), remaining_seconds: seconds(remaining) }
      : {}),
    ...(kind === 'context' ? { current_tokens: current, max_tokens: limit, remaining_tokens: remaining } : {}),
  };
}
