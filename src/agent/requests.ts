/**
 * Sends the requests of one conversation to its model. Decides the content of each request, its retries, and whether a refusal is
 * caused by notifications in the request.
 *
 * The cause of a 4xx is often unclear. Notifications are left out only with proof that they are the cause:
 *
 *   whole ── refused ─▶ again ── refused ─▶ without (a trial; its answer is not used)
 *     without ── refused ─▶ the cause is something else: the turn fails, the notifications stay in the conversation
 *     without ── accepted ─▶ once more whole ── refused ─▶ left out: a record says so, and one line replaces them
 *
 * Any other accepted request ends the trials. A restart before the record is written begins again with the whole request.
 */
import type { LanguageModelV4FunctionTool, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { defined } from '../core/defined.ts';
import { fault } from '../core/faults.ts';
import type { NotificationId } from '../core/notification.ts';
import { isType, type ChatRequestRecord, type Draft, type ToolCallResponseRecord } from '../core/records.ts';
import { plainDuration } from './watching/seen.ts';
import type { Tool } from '../handles/tool.ts';
import { askModel, type Answer, type Finished } from './answer.ts';
import type { AgentOptions } from './options.ts';
import { withCacheMarks } from './cache.ts';
import type { AgentEvent } from './events.ts';
import { callOptionsOf, familyOf, type Placement } from './placement.ts';
import { promptOf } from './prompt.ts';
import { backoffMs, failureOf } from './retry.ts';

type ModelOptions = Pick<
  AgentOptions,
  'model' | 'tools' | 'system' | 'maxOutputTokens' | 'maxRetries' | 'maxRetryAfterMs' | 'providerOptions' | 'chance'
>;

export type RequestsOptions = ModelOptions & {
  readonly placement: Placement;
  readonly records: () => readonly Draft[];
  readonly emit: (event: AgentEvent) => void;
  readonly refusedForRate: (afterMs: number | undefined) => void;
  /** Records that the notifications were left out. Resolves when the record is durable and in `records`. */
  readonly leaveOut: (left: {
    readonly ids: readonly NotificationId[];
    readonly reason: string;
    readonly refusals: number;
  }) => Promise<void>;
};

/** The kind of the next request in the trials that the head of this file describes. */
type Trial = 'whole' | 'again' | 'without' | 'once more';

export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /**
   * Asks the model until the provider answers, `signal` aborts, a retry cannot help, or the retries are used up. Never rejects
   * for a provider's error.
   */
  async ask(signal: AbortSignal): Promise<Answer> {
    const { maxRetries = 4, maxRetryAfterMs = 60_000, chance = Math.random, emit, leaveOut } = this.#options;
    let trial: Trial = 'whole';
    let first: Answer | undefined;
    for (let retries = 0; ;) {
      fault('agent.request');
      const answer: Answer = trial === 'without' ? await this.#tryWithout(signal) : await this.#send(signal);
      if (answer.kind === 'finished' && trial === 'without') {
        trial = 'once more';
        continue;
      }
      if (answer.kind !== 'failed') return answer;
      const failure = failureOf(answer.error);
      if (failure.kind === 'refused') {
        first ??= answer;
        const suspects = suspectsIn(this.#options.records());
        const next = this.#after(trial, failure.tooLong ?? false, suspects);
        if (next === undefined) return first;
        if (next === 'left out') {
          const left = { ids: suspects.ids, reason: failure.why.slice(0, 500), refusals: 3 };
          await leaveOut(left);
          emit({ type: 'left_out', ids: left.ids, why: left.reason });
          trial = 'whole';
        } else trial = next;
        continue;
      }
      if (failure.kind !== 'retry') return answer;
      if (failure.rateLimited) this.#options.refusedForRate(failure.afterMs);
      if (++retries > maxRetries) return answer;
      if ((failure.afterMs ?? 0) > maxRetryAfterMs)
        return { kind: 'failed', error: new Error(tooLate(failure.why, failure.afterMs ?? 0, maxRetryAfterMs)) };
      const inMs = failure.afterMs ?? backoffMs(retries, chance());
      emit({ type: 'retry', inMs, why: failure.why });
      if (!(await pause(inMs, signal))) return { kind: 'aborted', records: [], calls: [], reason: signal.reason, started: false };
    }
  }

  /**
   * Sends a request outside of the conversation. Neither question nor answer is recorded. Rejects if the model does not answer.
   */
  async aside(question: string, abortSignal: AbortSignal): Promise<Finished> {
    const { placement, model } = this.#options;
    const request = this.#request(abortSignal);
    const prompt = [...request.prompt, ...placement.request([{ type: 'text', text: question }], undefined)];
    // Providers require the tools in a conversation that has calls, but the model must not call a tool now.
    const none = request.tools === undefined ? {} : { toolChoice: { type: 'none' as const } };
    const answer = await askModel(model, { ...request, ...none, prompt }, () => {});
    if (answer.kind === 'finished') return answer;
    throw answer.kind === 'failed' ? answer.error : answer.reason;
  }

  #after(trial: Trial, tooLong: boolean, { ids, chars }: Suspects): Trial | 'left out' | undefined {
    if (ids.length === 0) return undefined;
    // Short notifications rarely make a prompt too long, so they stay in the request.
    if (tooLong && chars < LONG_CHARS) return undefined;
    switch (trial) {
      case 'whole':
        return 'again';
      case 'again':
        return 'without';
      case 'without':
        return undefined;
      case 'once more':
        return 'left out';
      default:
        return trial satisfies never;
    }
  }

  #send(signal: AbortSignal): Promise<Answer> {
    return askModel(this.#options.model, this.#request(signal), (event) => this.#options.emit(event));
  }

  /**
   * Tests whether the provider accepts the request without the suspected notifications. Ends the stream when the provider has
   * accepted the request.
   */
  async #tryWithout(signal: AbortSignal): Promise<Answer> {
    const { model, records } = this.#options;
    const taken = new AbortController();
    const request = this.#request(AbortSignal.any([signal, taken.signal]), suspectsIn(records()).ids);
    const answer = await askModel(
      model,
      request,
      () => {},
      () => taken.abort(),
    );
    if (answer.kind !== 'aborted' || signal.aborted) return answer;
    return { kind: 'finished', records: [], calls: [], finish: { kind: 'whole' } };
  }

  #request(abortSignal: AbortSignal, without: readonly NotificationId[] = []): Parameters<typeof askModel>[1] {
    const { system, maxOutputTokens, providerOptions, model, tools = [], placement, records } = this.#options;
    const family = familyOf(model.provider);
    const prompt = withCacheMarks(promptOf(records(), { placement, without, ...defined({ system }) }), {
      family,
      given: providerOptions,
    });
    const definitions = tools.map(definitionOf);
    return {
      prompt,
      abortSignal,
      providerOptions: { ...callOptionsOf(family), ...providerOptions } satisfies SharedV4ProviderOptions,
      ...(definitions.length > 0 ? { tools: definitions, toolChoice: { type: 'auto' as const } } : {}),
      ...defined({ maxOutputTokens }),
    };
  }
}

const tooLate = (why: string, afterMs: number, most: number): string =>
  `${why}; the provider asks for a retry after ${plainDuration(afterMs)}, but the agent waits at most ${plainDuration(most)}`;

const definitionOf = ({ name, description, inputSchema }: Tool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema,
});

/** Unread views with this many characters in total, about 4,000 tokens, may make a prompt too long. */
const LONG_CHARS = 16_000;

type Suspects = { readonly ids: readonly NotificationId[]; readonly chars: number };

/** Returns the notifications that no answered request has contained. Such a notification may be the cause of a refusal. */
function suspectsIn(records: readonly Draft[]): Suspects {
  const unread = unansweredCarriers(records).filter(({ view }) => view !== undefined && view.text !== '');
  return {
    ids: unread.flatMap(({ notifications = [], summarizes = [] }) => [...notifications.map(({ id }) => id), ...summarizes]),
    chars: unread.reduce((sum, { view }) => sum + (view?.text.length ?? 0), 0),
  };
}

/** Returns the carriers after the model's last answer, except carriers that were left out. */
export function unansweredCarriers(records: readonly Draft[]): readonly (ChatRequestRecord | ToolCallResponseRecord)[] {
  const last = records.findLastIndex(({ type }) => type === 'chat_response' || type === 'tool_call_request');
  const after = records.slice(last + 1);
  const left = new Set(after.flatMap((record) => (isType(record, 'carrier_redacted') ? record.ids : [])));
  return after.flatMap((record) =>
    (isType(record, 'chat_request') || isType(record, 'tool_call_response')) &&
    record.notifications?.some(({ id }) => !left.has(id))
      ? [record]
      : [],
  );
}

/** Waits for `ms` milliseconds. Resolves to false if the signal aborts first. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
