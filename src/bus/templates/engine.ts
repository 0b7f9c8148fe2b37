/**
 * Runs templates and conditions of subscribers in a worker, one at a time, with limits for steps, time, memory, input and output.
 * The engine ends a worker that exceeds its time or that a template broke. The next question starts a new worker.
 *
 * States: *idle* (no worker: before the first question, and after a worker was lost), *starting*, *ready* (a worker waits,
 * without keeping the process alive), *asked*, *closed*. Questions wait in a queue. Only `#answer`, which runs once at a time,
 * and `close` change the state.
 */
import type { Json } from '../../core/json.ts';
import type { Rendered } from '../../core/ports.ts';
import type { Answer, Complaint, Limits, Question } from './protocol.ts';
import { startThread, type Lost, type Thread } from './thread.ts';

export type { Complaint } from './protocol.ts';

/** Renders templates and evaluates conditions. Methods neither throw nor reject. Reasons are worded for people. */
export interface TemplateEngine extends AsyncDisposable {
  render(template: { readonly name: string; readonly text: string }, context: Json): Promise<Rendered>;
  /** Evaluates whether an expression is true in a context. As in Jinja, empty, zero and missing values are false. */
  evaluate(expression: string, context: Json): Promise<Evaluated>;
  /** Compiles a template and returns its first problem. Undefined if there is no problem. */
  check(template: { readonly text: string }): Promise<Complaint | undefined>;
  checkExpression(expression: string): Promise<Complaint | undefined>;
  /** Whether a question is still unanswered. */
  readonly busy: boolean;
  /** Ends the worker. Later questions fail. */
  close(): Promise<void>;
}

export type Evaluated =
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'failed'; readonly reason: string };

export type TemplateEngineOptions = {
  /** The time in ms for one render, condition or check, from its start in the worker. Default 250. */
  readonly deadlineMs?: number;
  /**
   * The time limit for the worker's start, in ms. Default 30,000. A start takes about 50 ms, but seconds on a very busy machine.
   */
  readonly startMs?: number;
  /** The longest result, in characters. Default 16,384. */
  readonly maxChars?: number;
  /** The approximate maximum length of a context as JSON, in characters. Default 524,288. */
  readonly maxContextChars?: number;
  /** The maximum number of steps of one render. Default 1,000,000, which takes about 50 ms. */
  readonly fuel?: number;
  /** The engine's memory in MB, without its code. Default 64. */
  readonly memoryMb?: number;
  /**
   * Gets the template or expression and the reason when a worker was lost. A template with an ordinary error does not trigger
   * this call.
   */
  readonly onTrouble?: (reason: string) => void;
};

/** The maximum length of a template or an expression, in characters. */
const MAX_SOURCE_CHARS = 65_536;
const MAX_DEPTH = 200;

export function templateEngine(options: TemplateEngineOptions = {}): TemplateEngine {
  return new WorkerEngine(options);
}

type Failure = { readonly kind: 'failed'; readonly complaint: Complaint };
type Verdict = Exclude<Answer, { kind: 'wrong' | 'broken' }> | Failure;

class WorkerEngine implements TemplateEngine {
  readonly #options: Required<Omit<TemplateEngineOptions, 'onTrouble'>> & Pick<TemplateEngineOptions, 'onTrouble'>;
  #thread: Thread | undefined;
  /** Resolves when all questions so far have been answered. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Resolves when the discarded workers have ended. */
  #leaving: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;
  #unanswered = 0;

  constructor(options: TemplateEngineOptions) {
    this.#options = {
      deadlineMs: 250,
      startMs: 30_000,
      maxChars: 16_384,
      maxContextChars: 524_288,
      fuel: 1_000_000,
      memoryMb: 64,
      ...options,
    };
  }

  async render({ name, text }: { readonly name: string; readonly text: string }, context: Json): Promise<Rendered> {
    const verdict = await this.#ask(`template ${name}`, text, () => ({
      kind: 'render',
      text,
      context: this.#contextText(context),
    }));
    return verdict.kind === 'text' ? verdict : { kind: 'failed', reason: reasonOf(verdict) };
  }

  async evaluate(expression: string, context: Json): Promise<Evaluated> {
    const verdict = await this.#ask(`condition ${expression}`, expression, () => ({
      kind: 'evaluate',
      expression,
      context: this.#contextText(context),
    }));
    if (verdict.kind === 'value') return verdict;
    return { kind: 'failed', reason: reasonOf(verdict, expression) };
  }

  async check({ text }: { readonly text: string }): Promise<Complaint | undefined> {
    const verdict = await this.#ask('a template', text, () => ({ kind: 'check', text }));
    return verdict.kind === 'failed' ? verdict.complaint : undefined;
  }

  async checkExpression(expression: string): Promise<Complaint | undefined> {
    const verdict = await this.#ask(`condition ${expression}`, expression, () => ({ kind: 'check_expression', expression }));
    return verdict.kind === 'failed' ? verdict.complaint : undefined;
  }

  get busy(): boolean {
    return this.#unanswered > 0;
  }

  close(): Promise<void> {
    return (this.#closed ??= (async () => {
      await this.#thread?.end();
      await this.#queue;
      await this.#leaving;
    })());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #ask(what: string, source: string, question: () => Question): Promise<Verdict> {
    if (source.length > MAX_SOURCE_CHARS)
      return Promise.resolve(failure(`has more than ${MAX_SOURCE_CHARS.toLocaleString('en')} characters`));
    let asked: Question;
    try {
      asked = question();
    } catch (error) {
      return Promise.resolve(failure(error instanceof Error ? error.message : String(error)));
    }
    this.#unanswered++;
    const turn = this.#queue.then(() => this.#answer(what, asked)).finally(() => this.#unanswered--);
    this.#queue = turn;
    return turn;
  }

  async #answer(what: string, question: Question): Promise<Verdict> {
    const { deadlineMs, startMs, fuel, maxChars, memoryMb } = this.#options;
    await this.#leaving;
    if (this.#closed) return CLOSED;
    if (!this.#thread) {
      const started = await startThread({ fuel, maxChars, memoryMb } satisfies Limits, startMs);
      if ('kind' in started) return this.#lost(what, started);
      this.#thread = started;
      if (this.#closed) {
        this.#giveUp();
        return CLOSED;
      }
    }
    const answer = await this.#thread.ask(question, deadlineMs);
    switch (answer.kind) {
      case 'lost':
        this.#giveUp();
        return this.#closed ? CLOSED : this.#lost(what, answer);
      case 'broken':
        this.#giveUp();
        this.#report(`${short(what)} ${answer.complaint.message}`);
        return { kind: 'failed', complaint: answer.complaint };
      case 'wrong':
        return { kind: 'failed', complaint: answer.complaint };
      case 'text':
      case 'value':
      case 'fine':
        return answer;
      default:
        return answer satisfies never;
    }
  }

  #giveUp(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    // The next question awaits the worker's end.
    if (thread) this.#leaving = thread.end();
  }

  #lost(what: string, { reason }: Lost): Verdict {
    const message =
      reason === 'late'
        ? `took longer than ${this.#options.deadlineMs.toLocaleString('en')} ms`
        : `lost its worker: ${reason.died}`;
    this.#report(`${short(what)} ${message}`);
    return failure(message);
  }

  #report(reason: string): void {
    try {
      this.#options.onTrouble?.(reason);
    } catch {
      // A listener's exception must not stop a render.
    }
  }

  /**
   * Encodes the context as JSON. Throws a message for people if the context is too large. The size is checked first, because
   * encoding runs in the caller's thread.
   */
  #contextText(context: Json): string {
    const { maxContextChars } = this.#options;
    if (!isWithin(context, maxContextChars))
      throw new Error(`context is larger than ${maxContextChars.toLocaleString('en')} characters`);
    return JSON.stringify(context);
  }
}

const failure = (message: string): Failure => ({ kind: 'failed', complaint: { message } });
const short = (what: string): string => (what.length > 120 ? `${what.slice(0, 119).toWellFormed()}…` : what);
const CLOSED = failure('the template engine is closed');

/** Turns a failure into a message for people. The line number of an expression on one line is omitted. */
function reasonOf(verdict: Verdict, expression?: string): string {
  if (verdict.kind !== 'failed') return `the template worker gave an unexpected answer: ${verdict.kind}`;
  const { line, message } = verdict.complaint;
  return line === undefined || (expression !== undefined && !expression.includes('\n')) ? message : `line ${line}: ${message}`;
}

/**
 * Whether the JSON of a value has at most about `maxChars` characters. Stops when the limit is exceeded. A value without text
 * counts too, because encoding it takes time.
 */
function isWithin(value: Json, maxChars: number): boolean {
  let left = maxChars;
  const walk = (each: Json, depth: number): void => {
    if (depth > MAX_DEPTH) throw new Error(`context is nested deeper than ${MAX_DEPTH} levels`);
    if (typeof each !== 'object' || each === null) {
      left -= typeof each === 'string' ? each.length + 4 : 4;
      return;
    }
    left -= 16;
    if (isList(each)) {
      for (let at = 0; at < each.length && left >= 0; at++) walk(each[at] ?? null, depth + 1);
      return;
    }
    for (const key in each) {
      if (left < 0) return;
      left -= key.length + 4;
      walk(each[key] ?? null, depth + 1);
    }
  };
  walk(value, 0);
  return left >= 0;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
