/** Runs one turn of an agent: requests to its model and the tools between them, until the answer is final or the turn ends. */
import { defined } from '../core/defined.ts';
import { fault } from '../core/faults.ts';
import { levelRank, type Notification, type NotificationId } from '../core/notification.ts';
import type { ToolCallRequestRecord } from '../core/records.ts';
import type { Conversation } from '../inbox/index.ts';
import type { Answer, Finish, Finished } from './answer.ts';
import { runBatch } from './batch.ts';
import type { AgentEvent } from './events.ts';
import { Interruption, REPLIED, STOPPED } from './interruption.ts';
import type { Mode } from './modes.ts';
import type { AgentOptions, TurnResult } from './options.ts';
import type { Requests } from './requests.ts';
import { failureOf } from './retry.ts';
import { callKey, type SelfWatch } from './self-watch.ts';
import { response, type Transcript } from './transcript.ts';
import type { Usage } from './watching/budget.ts';

export const MAX_CYCLES = 100;
/** The maximum number of cycles that notifications during the last answer may add to a turn. */
const EXTRA_CYCLES = 3;
export const FORCED = 'You were interrupted because of the following.';
const MEANWHILE = 'While you answered, the following happened.';
const NOT_RUN = 'Not run: the tokens of this turn are used up.';
const CUT_OFF_ANSWER = 'the answer reached its limit of output tokens';
/**
 * The maximum number of consecutive answers whose calls are cut off at the limit of output tokens. The next such answer ends the
 * turn.
 */
const MAX_CUT_OFF = 3;

/** The part of the agent that its turn uses. */
export type TurnAgent = {
  readonly options: AgentOptions;
  readonly conversation: Conversation;
  readonly transcript: Transcript;
  readonly requests: Requests;
  readonly self: SelfWatch;
  readonly mode: () => Mode;
  readonly enter: (mode: Mode) => void;
  readonly emit: (event: AgentEvent) => void;
  /** Whether the program is closing the agent. */
  readonly closing: () => boolean;
  /** Returns the ids of the open notifications, and keeps these notifications from waking the agent. */
  readonly handBack: () => Promise<readonly NotificationId[]>;
};

export class Turn {
  readonly #agent: TurnAgent;
  /** Ends the current stream or tools, with an `Interruption` as the reason. */
  #abort = new AbortController();
  /** Whether `stop` was called for this turn. True even if another interruption happened slightly earlier. */
  #stopping = false;
  #mayForce = true;
  /** The words of a person that the transcript does not contain yet. */
  #replies: string[] = [];
  #ended = false;

  constructor(agent: TurnAgent) {
    this.#agent = agent;
  }

  /** Adds a person's words to the turn, and ends the current stream or tools. Returns false if the turn has already ended. */
  reply(text: string): boolean {
    if (this.#ended) return false;
    this.#replies.push(text);
    this.#interrupt(REPLIED);
    return true;
  }

  stop(): void {
    this.#stopping = true;
    this.#interrupt(STOPPED);
  }

  /** Interrupts the turn for a notification. Returns true if the current stream or tools were ended. */
  force({ id, action, origin }: Notification): boolean {
    const mode = this.#agent.mode();
    if (mode === 'executing') {
      if (action !== 'cancel' && action !== 'pause') return false;
    } else {
      const asked = action !== undefined || origin?.person !== undefined;
      if (mode !== 'streaming' || !(this.#mayForce || asked)) return false;
    }
    this.#interrupt(new Interruption({ kind: 'forced', by: id }));
    return true;
  }

  /** Runs the turn. The transcript already contains the turn's first request. */
  async run(): Promise<TurnResult> {
    let extra = 0;
    let cutOff = 0;
    let text = '';
    const { emit, enter, options, requests, self, transcript } = this.#agent;
    const { maxCycles = MAX_CYCLES } = options;
    const { budget } = self;
    for (let cycle = 1; ; cycle++) {
      enter('streaming');
      if (cycle > maxCycles) {
        self.outOfIterations();
        return this.#end(
          'failed',
          cycle - 1,
          text,
          `the turn needed more than ${maxCycles} requests to the model; raise agent.max_cycles (maxCycles), or send another message`,
        );
      }
      // If the budget is exceeded, this answer is the last.
      const last = budget.overspent;
      emit({ type: 'request', cycle });
      const answer = await requests.ask(this.#abort.signal);
      if (answer.kind === 'failed') return this.#end('failed', cycle, text, failureOf(answer.error).why);
      if (answer.kind === 'finished' || answer.started) await transcript.read();
      if (answer.kind === 'aborted') {
        await this.#keep(answer);
        if ((await this.#interrupted()) === 'stopped') return this.#end('stopped', cycle, text);
        continue;
      }

      text = textOf(answer);
      await transcript.record(answer.records);
      this.#mayForce = true;
      self.answered(this.#usage(answer), answer.headers);
      if (answer.calls.length > 0 && last) {
        await transcript.record(answer.calls.map((call) => response(call, NOT_RUN, true)));
        return this.#end(
          'failed',
          cycle,
          text,
          `the turn used ${budget.tokens} tokens (limit: ${options.budget?.tokens ?? 0} tokens)`,
        );
      }
      if (answer.finish.kind === 'refused') {
        await transcript.record(answer.calls.map((call) => response(call, 'Not run: the answer was refused.', true)));
        return this.#end('refused', cycle, text, `the provider refused to answer${saying(answer.finish)}`);
      }
      cutOff = answer.finish.kind === 'cut' && answer.calls.length > 0 ? cutOff + 1 : 0;
      if (cutOff > MAX_CUT_OFF) {
        await transcript.record(answer.calls.map((call) => response(call, `Not run: ${CUT_OFF_ANSWER} again.`, true)));
        return this.#end('truncated', cycle, text, `${CUT_OFF_ANSWER} ${cutOff} times in a row, in the arguments of its calls`);
      }
      if (answer.calls.length > 0) {
        enter('executing');
        await this.#execute(answer.calls);
        if (!this.#abort.signal.aborted) {
          enter('continuing');
          continue;
        }
        emit({ type: 'aborted', what: 'tools', why: String(this.#abort.signal.reason) });
        if ((await this.#interrupted()) === 'stopped') return this.#end('stopped', cycle, text);
        continue;
      }

      enter('continuing');
      if (this.#stopping) return this.#end('stopped', cycle, text);
      if (await this.#replied()) continue;
      const mayGoOn = !last && extra < EXTRA_CYCLES;
      if (mayGoOn && (await this.#urgent())) {
        extra++;
        await transcript.carry([{ type: 'chat_request', content: MEANWHILE, source: 'system' }], 'turn_end');
        continue;
      }
      const { signal } = this.#abort;
      const ask = async (question: string): Promise<string> => {
        if (budget.overspent) throw new Error('the tokens of this turn are used up');
        const aside = await requests.aside(question, signal);
        budget.askedAside(usedBy(aside));
        return textOf(aside);
      };
      const ending = await options.onTurnEnd?.({ signal, ask });
      const again = ending?.again === true && mayGoOn && (await this.#due('turn_end'));
      if (this.#stopping) return this.#end('stopped', cycle, text);
      // Nothing is awaited between this check and the end of the turn, so no reply is missed in between.
      if (this.#replies.length > 0 && (await this.#replied())) continue;
      if (again) {
        extra++;
        await transcript.carry([{ type: 'chat_request', content: MEANWHILE, source: 'system' }], 'turn_end');
        continue;
      }
      if (answer.finish.kind === 'cut') return this.#end('truncated', cycle, text, `${CUT_OFF_ANSWER}${saying(answer.finish)}`);
      return this.#end('complete', cycle, text);
    }
  }

  async #due(at: 'turn_end' | 'forced'): Promise<boolean> {
    return (await this.#agent.conversation.decisions({ at })).some((decision) => decision.kind === 'take');
  }

  /** Records the kept part of an aborted answer. Also answers the calls in this part, so that the log stays valid. */
  async #keep({ records, calls, reason }: Extract<Answer, { kind: 'aborted' }>): Promise<void> {
    this.#agent.emit({ type: 'aborted', what: 'answer', why: String(reason) });
    if (records.length > 0)
      await this.#agent.transcript.record([...records, ...calls.map((call) => response(call, 'Not run: interrupted.', true))]);
  }

  /** Decides how the turn continues after an interruption has ended its stream or its tools. */
  async #interrupted(): Promise<'stopped' | 'goes on'> {
    this.#agent.enter('interrupted');
    const why = this.#abort.signal.reason as Interruption;
    this.#abort = new AbortController();
    if (this.#stopping) return 'stopped';
    if (why.is.kind === 'forced') this.#mayForce = false;
    if (await this.#replied()) {
      this.#agent.enter('replying');
      return 'goes on';
    }
    // If tools were aborted, their results already carry the interrupt. Otherwise the interrupt is still due.
    const due = (await this.#agent.conversation.decisions({ at: 'forced' })).some((decision) => decision.kind === 'take');
    if (due) await this.#agent.transcript.carry([{ type: 'chat_request', content: FORCED, source: 'system' }], 'forced');
    return 'goes on';
  }

  /** Adds a person's replies to this turn, even if they arrive just after the answer has ended. */
  async #replied(): Promise<boolean> {
    const replies = this.#replies.splice(0);
    if (replies.length === 0) return false;
    if (this.#abort.signal.aborted) this.#abort = new AbortController();
    await this.#agent.transcript.carry(
      replies.map((content) => ({ type: 'chat_request', content })),
      'cycle_start',
    );
    return true;
  }

  /** Whether a notification of level error or above is due now. */
  async #urgent(): Promise<boolean> {
    const decisions = await this.#agent.conversation.decisions({ at: 'turn_end' });
    const taken = new Set(decisions.flatMap((d) => (d.kind === 'take' ? [d.id] : [])));
    const open = await this.#agent.conversation.inbox.store.items(this.#agent.conversation.log, {
      kind: 'open',
      conversation: this.#agent.conversation.id,
    });
    return open.some((item) => taken.has(item.id) && levelRank(item.notification.level) >= levelRank('error'));
  }

  async #execute(calls: readonly ToolCallRequestRecord[]): Promise<void> {
    const knows: Record<string, number> = {};
    /**
     * The time when each call ended. The call's result shows the state of its subject, so the model knows all older facts about
     * the subject.
     */
    const endedAt = new Map<string, number>();
    const watch = this.#agent.self.batchBegan(calls.map((call) => ({ id: call.id, name: call.name, args: call.arguments })));
    await runBatch({
      watch: {
        began: (call) => watch.began(call),
        ended: (call, end) => {
          endedAt.set(call.id, this.#agent.conversation.inbox.store.ordered());
          watch.ended(call, end);
        },
      },
      calls,
      tools: this.#agent.options.tools ?? [],
      signal: this.#abort.signal,
      emit: (event) => this.#agent.emit(event),
      land: async (call, outcome, last) => {
        for (const about of outcome.knows ?? [])
          knows[about] = endedAt.get(call.id) ?? this.#agent.conversation.inbox.store.ordered();
        fault('agent.tool_landing');
        const record = response(call, outcome.content, outcome.isError ?? false);
        if (!last) return this.#agent.transcript.record([record]);
        // The results report the failures of this batch, so no notification repeats them.
        await this.#agent.self.told();
        for (const { id } of calls) knows[callKey(id)] = this.#agent.conversation.inbox.store.now();
        await this.#agent.transcript.carry([record], 'tool_batch_end', {
          known: knows,
          tools: [...new Set(calls.map(({ name }) => name))],
        });
        watch.carried();
      },
    });
  }

  #usage(answer: Finished): Usage | undefined {
    const used = usedBy(answer);
    if (used !== undefined) this.#agent.emit({ type: 'usage', ...used, cachedTokens: answer.usage?.inputTokens.cacheRead ?? 0 });
    return used;
  }

  async #end(how: TurnResult['how'], cycles: number, text: string, error?: string): Promise<TurnResult> {
    this.#ended = true;
    this.#agent.enter(how === 'complete' ? 'complete' : 'aborted');
    // A reply that this turn cannot answer any more is in the transcript, so the next request contains it.
    await this.#agent.transcript.record(this.#replies.splice(0).map((content) => ({ type: 'chat_request', content })));
    // The end of the program does not count as a stop by a person, so the turn continues after a restart.
    if (how === 'stopped' && !this.#agent.closing()) await this.#agent.transcript.record([{ type: 'agent_stopped' }]);
    // The record is only for listeners: a failed turn can still be resumed.
    if (how !== 'complete' && how !== 'stopped')
      await this.#agent.transcript.record([{ type: 'agent_failed', reason: (error ?? '').slice(0, 500) }]);
    await this.#agent.self.turnEnded({
      reason: how === 'complete' || how === 'stopped' ? how : 'failed',
      cycles,
      ...defined({ error }),
    });
    const handedBack = how === 'stopped' ? await this.#agent.handBack() : [];
    this.#agent.emit({ type: 'turn_ended', how, cycles, ...defined({ error }) });
    return { how, text, cycles, handedBack, ...defined({ error }) };
  }

  #interrupt(why: Interruption): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(why);
  }
}

const textOf = ({ records }: Finished): string =>
  records.flatMap((r) => (r.type === 'chat_response' && r.message !== undefined ? [r.message] : [])).join('');

const usedBy = ({ usage }: Finished): Usage | undefined =>
  usage && { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 };

const saying = ({ raw }: Finish): string => (raw === undefined ? '' : ` (${raw})`);
