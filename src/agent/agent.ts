/**
 * An agent: a conversation in the log, a model, tools, and the loop between them. The log is the history; whatever is in
 * memory here can be rebuilt from it, so that another process can go on after a crash.
 */
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { formatAddress, MAIN, parseAddress, type Address } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Emitter } from '../core/event.ts';
import { fault } from '../core/faults.ts';
import { isInterrupt, levelRank, type Notification, type NotificationId, type Origin } from '../core/notification.ts';
import {
  fromRecord,
  isType,
  type ChatRequestRecord,
  type Draft,
  type Stored,
  type ToolCallRequestRecord,
  type ToolCallResponseRecord,
} from '../core/records.ts';
import { begin, worktreeOf, type Carried, type Conversation, type Inbox } from '../inbox/index.ts';
import type { BudgetOptions, Usage } from './watching/budget.ts';
import type { Tool } from '../handles/tool.ts';
import { TASK_TOOLS } from '../tasks/index.ts';
import type { Answer, Finish } from './answer.ts';
import { runBatch } from './batch.ts';
import { EventQueue, type AgentEvent } from './events.ts';
import { Interruption, STOPPED } from './interruption.ts';
import { assertTransition, type Mode } from './modes.ts';
import { familyOf, placementOf, type Placement } from './placement.ts';
import { unanswered } from './prompt.ts';
import { Requests, unansweredCarriers } from './requests.ts';
import { failureOf } from './retry.ts';
import { endNotes, takeOverNotes } from './notify-self.ts';
import { callKey, SelfWatch } from './self-watch.ts';
import { Watcher } from './watcher.ts';

export type AgentOptions = {
  readonly model: LanguageModelV4;
  readonly earpiece: Inbox & { readonly bus?: Emitter };
  /** `project/agent#conversation`; without a conversation it is the agent's main one. */
  readonly address: string;
  /** Where it tells what happens to it: tools that fail, what is used up, loops … Default: the bus of `earpiece`, if it has one. */
  readonly emitter?: Emitter;
  readonly tools?: readonly Tool[];
  readonly system?: string;
  readonly purpose?: string;
  /** Requests to the model in one turn. Default 100. */
  readonly maxCycles?: number;
  /** Tries after the first for what passes (rate limits, overload, broken connections). Default 4. */
  readonly maxRetries?: number;
  /** The longest wait that a provider's `retry-after` may ask for; the turn fails when it asks for more. Default 60,000 ms. */
  readonly maxRetryAfterMs?: number;
  readonly maxOutputTokens?: number;
  /**
   * What one turn may use; it is warned before that is over. A turn that has used more tokens is told so at once
   * (critical) and answers once more: calls in that answer are not run, and the turn has failed. Default: no limits.
   */
  readonly budget?: BudgetOptions;
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Where notifications stand in requests. Default: by the model's provider. */
  readonly placement?: Placement;
  /** Called when a turn is about to end by itself: background tools may ask, wait or end. */
  readonly onTurnEnd?: (turn: TurnEnding) => Promise<{ readonly again?: boolean } | void>;
  /** From 0 to 1, for the spread of retries. */
  readonly chance?: () => number;
  /** What goes wrong beside the conversation (an event that nobody could be told). Default: a warning of the process. */
  readonly onTrouble?: (error: unknown) => void;
};

/** A turn that is about to end by itself. With `again` the answer gets one more cycle, if something is due for it. */
export type TurnEnding = {
  readonly signal: AbortSignal;
  /** Asks the model aside: the question and its answer stay out of the conversation. Rejects when there is no answer. */
  readonly ask: (question: string) => Promise<string>;
};

export type TurnResult = {
  /**
   * `complete`: the model ended its answer by itself. `truncated`: its answer reached the limit of output tokens. `refused`:
   * the model or a filter of its provider declined. `stopped`: a person or a signal ended the turn. `failed`: there is no
   * answer. `error` says more for `truncated`, `refused` and `failed`.
   */
  readonly how: 'complete' | 'truncated' | 'refused' | 'stopped' | 'failed';
  readonly text: string;
  readonly cycles: number;
  readonly error?: string;
  /** What waited when a person stopped the turn: it stays open and is not replayed by itself. */
  readonly handedBack: readonly NotificationId[];
};

const MAX_CYCLES = 100;
/** Cycles that what arrives during the last answer may add to a turn. */
const EXTRA_CYCLES = 3;
const FORCED = 'You were interrupted because of the following.';
/** Answers in a row whose calls were cut off at the limit of output tokens; one more ends the turn. */
const MAX_CUT_OFF = 3;
const CUT_OFF_ANSWER = 'the answer reached its limit of output tokens';
const MEANWHILE = 'While you answered, the following happened.';
const CUT_OFF = 'The program ended while you answered. Go on.';
const NOT_RUN = 'Not run: the tokens of this turn are used up.';
const WOKEN = 'The following happened since your last turn.';

/** By the last of these it is told whether a turn was over. `agent_stopped`: a person ended it. */
const RESUMABLE: ReadonlySet<string> = new Set([
  'turn_start',
  'chat_request',
  'chat_response',
  'tool_call_request',
  'tool_call_response',
  'agent_stopped',
]);

/** Opens a conversation for writing. Throws `store_refused` when another process writes it. */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const parsed = parseAddress(options.address);
  if (parsed.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `an agent has one conversation: write ${parsed.project}/<agent>, not ${options.address}`,
    );
  const address: Address = parsed.kind === 'conversation' ? parsed : { ...parsed, kind: 'conversation', conversation: MAIN };
  const agent = new Agent(options, formatAddress(address));
  await agent.open();
  return agent;
}

export class Agent implements AsyncDisposable {
  readonly address: string;
  readonly inbox: Inbox;
  readonly conversation: Conversation;
  readonly options: AgentOptions;
  /** Where what happens to it is told; undefined where nobody listens. */
  readonly emitter: Emitter | undefined;
  readonly #self: SelfWatch;
  readonly #requests: Requests;
  readonly #listeners = new Set<EventQueue<AgentEvent>>();
  readonly #watcher: Watcher;
  #records: Draft[] = [];
  /** Interrupts in the transcript that no request with them has been answered. */
  #unread: NotificationId[] = [];
  #mode: Mode = 'idle';
  #turn: Promise<TurnResult> | undefined;
  /** Ends the stream or the tools of this moment, with an `Interruption` as its reason. */
  #abort = new AbortController();
  /** A person stopped this turn. An interruption that came just before does not hide it. */
  #stopping = false;
  #mayForce = true;
  #depth = 0;
  #closed = false;

  constructor(options: AgentOptions, address: string) {
    this.options = options;
    this.address = address;
    this.inbox = options.earpiece;
    this.emitter = options.emitter ?? options.earpiece.bus;
    this.conversation = this.inbox.conversation(address, {
      host: 'earpiece',
      carrier: 'agent',
      pulls: true,
      has: TASK_TOOLS.map(({ name }) => name).filter((name) => options.tools?.some((tool) => tool.name === name)),
      process: this.inbox.owner,
      folder: worktreeOf(process.cwd()),
      points: ['turn_start', 'cycle_start', 'tool_batch_end', 'turn_end', 'idle', 'forced'],
      ...(options.purpose === undefined ? {} : { purpose: options.purpose }),
    });
    this.#requests = new Requests({
      ...options,
      placement: options.placement ?? placementOf(familyOf(options.model.provider)),
      records: () => this.#records,
      emit: (event) => this.emit(event),
      refusedForRate: (afterMs) => this.#self.refusedForRate(afterMs),
      leaveOut: async (left) => {
        await this.#record([{ type: 'carrier_redacted', ...left }]);
        this.#unread = this.#unread.filter((id) => !left.ids.includes(id));
      },
    });
    this.#watcher = new Watcher(this);
    const { model, tools = [] } = options;
    // `openai.chat` and `openai.responses` are one provider.
    const provider = model.provider.split('.')[0] ?? model.provider;
    this.#self = new SelfWatch({
      inbox: this.inbox,
      emitter: this.emitter,
      log: this.conversation.log,
      address: this.conversation.address,
      setup: {
        model: `${provider}:${model.modelId}`,
        tools: tools.map(({ name }) => name).toSorted(),
      },
      provider,
      budget: { ...options.budget, iterations: options.maxCycles ?? MAX_CYCLES },
      onTrouble: options.onTrouble ?? warn,
    });
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** A pause is neither withdrawn nor resumed: nothing wakes the agent. */
  async paused(): Promise<boolean> {
    return (await this.conversation.gate()).some((item) => item.notification.action === 'pause');
  }

  /** The conversation as it stands: every record that it has, oldest first. */
  get records(): readonly Draft[] {
    return this.#records;
  }

  /** What a notification queued by this agent now has as its origin: chains of agents that wake each other end by depth. */
  origin(): Origin {
    return { agent: this.conversation.log, depth: this.#depth + 1 };
  }

  /** All that happens from now on, until the agent is closed. */
  events(): AsyncIterable<AgentEvent> & { close(): void } {
    const queue = new EventQueue<AgentEvent>(() => this.#listeners.delete(queue));
    this.#listeners.add(queue);
    return queue;
  }

  emit(event: AgentEvent): void {
    for (const listener of this.#listeners) listener.push(event);
  }

  async open(): Promise<void> {
    await this.inbox.holdWriter(this.conversation);
    for await (const { body } of this.inbox.transcript(this.conversation)) this.#records.push(body);
    const lost = unanswered(this.#records);
    if (lost.length > 0)
      await this.#record(
        lost.map((call) =>
          response(call, 'Not finished: the agent ended while this ran. It is not known whether it took effect.', true),
        ),
      );
    await this.#readBefore();
    await begin(this.conversation);
    await this.#self.opened(this.#records);
    await this.#watcher.start(this.#records);
  }

  /**
   * A turn: `text` goes to the model, with what is due. Rejects only with a fault of ours; a failed model is a result. With a
   * signal that is aborted already nothing is written or asked: the result is `stopped`.
   */
  async send(text: string, options: { readonly author?: string; readonly signal?: AbortSignal } = {}): Promise<TurnResult> {
    if (this.#turn) throw new EarpieceError('bad_argument', 'a turn is running: reply() goes into it, stop() ends it');
    const { author, signal } = options;
    return this.#stoppable(signal, () =>
      this.#run('person', text, async () => {
        this.#watcher.personCame();
        await this.#carry(
          [...this.#begin(), { type: 'chat_request', content: text, ...(author === undefined ? {} : { author }) }],
          'turn_start',
        );
      }),
    );
  }

  /** Goes on where another process ended in the middle of a turn; undefined when the last turn was over. */
  async resume(options: { readonly signal?: AbortSignal } = {}): Promise<TurnResult | undefined> {
    const last = this.#cutOffAt();
    if (last === undefined || this.#turn) return undefined;
    return this.#stoppable(options.signal, () =>
      this.#run('person', '', async () => {
        if (isType(last, 'chat_response'))
          await this.#carry([{ type: 'chat_request', content: CUT_OFF, source: 'system' }], 'cycle_start');
      }),
    );
  }

  /** The last turn is not over: `resume` goes on with it. */
  get cutOff(): boolean {
    return this.#turn === undefined && this.#cutOffAt() !== undefined;
  }

  #cutOffAt(): Draft | undefined {
    const last = this.#records.findLast((r) => RESUMABLE.has(r.type));
    if (last === undefined || last.type === 'turn_start' || last.type === 'agent_stopped') return undefined;
    return isType(last, 'chat_response') && !last.truncated ? undefined : last;
  }

  async #stoppable(signal: AbortSignal | undefined, run: () => Promise<TurnResult>): Promise<TurnResult> {
    if (signal?.aborted) return { how: 'stopped', text: '', cycles: 0, handedBack: await this.#handBack() };
    const stop = (): void => this.stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await run();
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** A turn that nobody asked for: what is due at this moment is what it is about. */
  async wake(ids: readonly NotificationId[], at: 'idle' | 'forced'): Promise<TurnResult | undefined> {
    if (this.#turn || this.#closed) return undefined;
    return this.#run('notification', at === 'forced' ? FORCED : WOKEN, async () => {
      await this.#record([{ type: 'agent_woken', ids }]);
      const request: ChatRequestRecord = { type: 'chat_request', content: at === 'forced' ? FORCED : WOKEN, source: 'system' };
      await this.#carry([...this.#begin(), request], at);
    });
  }

  /** A person's words inside the running turn: the answer or the tools of this moment end. */
  reply(text: string): void {
    this.#interrupt(new Interruption({ kind: 'reply', text }));
  }

  /** Ends the turn now, whatever else interrupts it at this moment. What waits stays open and is handed back. */
  stop(): void {
    if (this.#turn) this.#stopping = true;
    this.#interrupt(STOPPED);
  }

  /**
   * For the watcher: a critical or an action that is open. True when it ended the stream or the tools of this moment; false
   * when it rides on what comes anyway, or has to wait for its turn.
   */
  force(item: { readonly notification: Notification }): boolean {
    const { notification } = item;
    if (this.#mode === 'executing') {
      if (notification.action !== 'cancel' && notification.action !== 'pause') return false;
    } else {
      const asked = notification.action !== undefined || notification.origin?.person !== undefined;
      if (this.#mode !== 'streaming' || !(this.#mayForce || asked)) return false;
    }
    this.#interrupt(new Interruption({ kind: 'forced', by: notification.id }));
    return true;
  }

  /** Lets the conversation go; it can be gone on with. `over`: it never will be, and what it noted for itself goes too. */
  async close({ over = false }: { readonly over?: boolean } = {}): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.stop();
    await this.#turn?.catch(() => undefined);
    await this.#watcher.stop();
    await this.#self.closed();
    if (over) await endNotes(this.conversation);
    await this.conversation.ended();
    await this.inbox.releaseWriter(this.conversation);
    for (const listener of this.#listeners) listener.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #begin(): readonly Draft[] {
    return [...this.#self.setupRecords(), { type: 'turn_start' }];
  }

  #interrupt(why: Interruption): void {
    if (this.#turn && !this.#abort.signal.aborted) this.#abort.abort(why);
  }

  #enter(mode: Mode): void {
    assertTransition(this.#mode, mode);
    this.#mode = mode;
    this.emit({ type: 'mode', mode });
  }

  async #run(by: 'person' | 'notification', content: string, start: () => Promise<void>): Promise<TurnResult> {
    this.#abort = new AbortController();
    this.#stopping = false;
    this.#mayForce = true;
    if (by === 'person') this.#depth = 0;
    const turn = (async (): Promise<TurnResult> => {
      this.emit({ type: 'turn_started', by, content });
      this.#self.turnBegan(content, by, content === '');
      await takeOverNotes(this.conversation);
      await start();
      return this.#cycles();
    })();
    this.#turn = turn;
    try {
      return await turn;
    } finally {
      this.#turn = undefined;
      if (this.#mode !== 'idle') {
        // Only after a fault of ours: the next turn starts from the log.
        if (this.#mode !== 'complete' && this.#mode !== 'aborted') this.#mode = 'aborted';
        this.#enter('idle');
      }
      this.#watcher.look();
    }
  }

  async #cycles(): Promise<TurnResult> {
    let extra = 0;
    let cutOff = 0;
    let text = '';
    const { maxCycles = MAX_CYCLES } = this.options;
    const { budget } = this.#self;
    for (let cycle = 1; ; cycle++) {
      this.#enter('streaming');
      if (cycle > maxCycles) {
        this.#self.outOfIterations();
        return this.#end('failed', cycle - 1, text, `the turn took more than ${maxCycles} requests to the model`);
      }
      // More was used than there is: this answer is the last.
      const last = budget.overspent;
      this.emit({ type: 'request', cycle });
      const answer = await this.#requests.ask(this.#abort.signal);
      if (answer.kind === 'failed') return this.#end('failed', cycle, text, failureOf(answer.error).why);
      if (answer.kind === 'finished' || answer.started) await this.#read();
      if (answer.kind === 'aborted') {
        await this.#keep(answer);
        if ((await this.#interrupted()) === 'stopped') return this.#end('stopped', cycle, text);
        continue;
      }

      text = answer.records.flatMap((r) => (r.type === 'chat_response' && r.message !== undefined ? [r.message] : [])).join('');
      await this.#record(answer.records);
      this.#mayForce = true;
      this.#self.answered(this.#usage(answer), answer.headers);
      if (answer.calls.length > 0 && last) {
        await this.#record(answer.calls.map((call) => response(call, NOT_RUN, true)));
        return this.#end('failed', cycle, text, `the turn used ${budget.tokens} tokens of ${this.options.budget?.tokens ?? 0}`);
      }
      if (answer.finish.kind === 'refused') {
        await this.#record(answer.calls.map((call) => response(call, 'Not run: the answer was refused.', true)));
        return this.#end('refused', cycle, text, `the provider refused to answer${saying(answer.finish)}`);
      }
      cutOff = answer.finish.kind === 'cut' && answer.calls.length > 0 ? cutOff + 1 : 0;
      if (cutOff > MAX_CUT_OFF) {
        await this.#record(answer.calls.map((call) => response(call, `Not run: ${CUT_OFF_ANSWER} again.`, true)));
        return this.#end('truncated', cycle, text, `${CUT_OFF_ANSWER} ${cutOff} times in a row, in the arguments of its calls`);
      }
      if (answer.calls.length > 0) {
        this.#enter('executing');
        await this.#execute(answer.calls);
        if (!this.#abort.signal.aborted) {
          this.#enter('continuing');
          continue;
        }
        this.emit({ type: 'aborted', what: 'tools', why: String(this.#abort.signal.reason) });
        if ((await this.#interrupted()) === 'stopped') return this.#end('stopped', cycle, text);
        continue;
      }

      this.#enter('continuing');
      if (this.#stopping) return this.#end('stopped', cycle, text);
      if (await this.#replied()) continue;
      const mayGoOn = !last && extra < EXTRA_CYCLES;
      if (mayGoOn && (await this.#urgent())) {
        extra++;
        await this.#carry([{ type: 'chat_request', content: MEANWHILE, source: 'system' }], 'turn_end');
        continue;
      }
      const { signal } = this.#abort;
      const ask = (question: string): Promise<string> =>
        last ? Promise.reject(new Error('the tokens of this turn are used up')) : this.#requests.aside(question, signal);
      const ending = await this.options.onTurnEnd?.({ signal, ask });
      if (this.#stopping) return this.#end('stopped', cycle, text);
      if (ending?.again === true && mayGoOn && (await this.#due('turn_end'))) {
        extra++;
        await this.#carry([{ type: 'chat_request', content: MEANWHILE, source: 'system' }], 'turn_end');
        continue;
      }
      if (answer.finish.kind === 'cut') return this.#end('truncated', cycle, text, `${CUT_OFF_ANSWER}${saying(answer.finish)}`);
      return this.#end('complete', cycle, text);
    }
  }

  async #due(at: 'turn_end' | 'forced'): Promise<boolean> {
    return (await this.conversation.decisions({ at })).some((decision) => decision.kind === 'take');
  }

  /** What is kept of an answer that was cut off; its calls are answered, so that the log stays whole. */
  async #keep({ records, calls, reason }: Extract<Answer, { kind: 'aborted' }>): Promise<void> {
    this.emit({ type: 'aborted', what: 'answer', why: String(reason) });
    if (records.length > 0)
      await this.#record([...records, ...calls.map((call) => response(call, 'Not run: interrupted.', true))]);
  }

  /** After the stream or the tools were ended by us: what comes next in this turn. */
  async #interrupted(): Promise<'stopped' | 'goes on'> {
    this.#enter('interrupted');
    const why = this.#abort.signal.reason as Interruption;
    this.#abort = new AbortController();
    if (this.#stopping || why.is.kind === 'stop') return 'stopped';
    if (why.is.kind === 'reply') {
      await this.#carry([{ type: 'chat_request', content: why.is.text }], 'cycle_start');
      this.#enter('replying');
      return 'goes on';
    }
    this.#mayForce = false;
    // Tools that were ended took the interrupt along in their results already.
    const due = (await this.conversation.decisions({ at: 'forced' })).some((decision) => decision.kind === 'take');
    if (due) await this.#carry([{ type: 'chat_request', content: FORCED, source: 'system' }], 'forced');
    return 'goes on';
  }

  /** A reply that came when the answer had just ended belongs into this turn as well. */
  async #replied(): Promise<boolean> {
    const { aborted, reason } = this.#abort.signal;
    if (!aborted || !(reason instanceof Interruption) || reason.is.kind !== 'reply') return false;
    this.#abort = new AbortController();
    await this.#carry([{ type: 'chat_request', content: reason.is.text }], 'cycle_start');
    return true;
  }

  /** Whether something of error or above would ride now. */
  async #urgent(): Promise<boolean> {
    const decisions = await this.conversation.decisions({ at: 'turn_end' });
    const taken = new Set(decisions.flatMap((d) => (d.kind === 'take' ? [d.id] : [])));
    const open = await this.inbox.store.items(this.conversation.log, { kind: 'open', conversation: this.conversation.id });
    return open.some((item) => taken.has(item.id) && levelRank(item.notification.level) >= levelRank('error'));
  }

  async #execute(calls: readonly ToolCallRequestRecord[]): Promise<void> {
    const knows: Record<string, number> = {};
    /** What a result tells is known as of then, and not of when it is written down. */
    const endedAt = new Map<string, number>();
    const watch = this.#self.batchBegan(calls.map((call) => ({ id: call.id, name: call.name, args: call.arguments })));
    await runBatch({
      watch: {
        began: (call) => watch.began(call),
        ended: (call, end) => {
          endedAt.set(call.id, this.inbox.store.ordered());
          watch.ended(call, end);
        },
      },
      calls,
      tools: this.options.tools ?? [],
      signal: this.#abort.signal,
      emit: (event) => this.emit(event),
      land: async (call, outcome, last) => {
        for (const about of outcome.knows ?? []) knows[about] = endedAt.get(call.id) ?? this.inbox.store.ordered();
        fault('agent.tool_landing');
        const record = response(call, outcome.content, outcome.isError ?? false);
        if (!last) return this.#record([record]);
        // The results say what failed in this batch: no notification tells it again.
        await this.#self.told();
        for (const { id } of calls) knows[callKey(id)] = this.inbox.store.now();
        await this.#carry([record], 'tool_batch_end', knows, [...new Set(calls.map(({ name }) => name))]);
        watch.carried();
      },
    });
  }

  async #carry(
    records: readonly Draft[],
    at: 'turn_start' | 'cycle_start' | 'tool_batch_end' | 'turn_end' | 'idle' | 'forced',
    known: Readonly<Record<string, number>> = {},
    tools?: readonly string[],
  ): Promise<Carried> {
    const carried = await this.conversation.carry(records, { at, known, ...(tools === undefined ? {} : { tools }) });
    this.#take(carried.records);
    fault('agent.carried');
    const delivered = carriedIn(carried.records.map(({ body }) => body));
    if (carried.view && delivered.length > 0) {
      this.emit({ type: 'delivered', at, ids: delivered.map((n) => n.id), text: carried.view.text });
      this.#noted(delivered);
    }
    return carried;
  }

  /** This turn is as deep as what it is about. */
  #noted(delivered: readonly Notification[]): void {
    for (const { origin } of delivered) this.#depth = Math.max(this.#depth, origin?.depth ?? 0);
    this.#unread.push(...interruptsIn(delivered));
  }

  /** The provider has taken a request with all that is in the transcript: interrupts are read, and their gate falls. */
  async #read(): Promise<void> {
    if (this.#unread.length === 0) return;
    await this.inbox.markRead(this.conversation.log, this.#unread, 'transcript');
    this.#unread = [];
  }

  /** What an earlier process had in the transcript and did not get to mark as read. */
  async #readBefore(): Promise<void> {
    const gates = new Set((await this.conversation.gate()).map(({ id }) => id));
    const there = carriedIn(this.#records).filter(({ id }) => gates.has(id));
    const waiting = new Set(carriedIn(unansweredCarriers(this.#records)).map(({ id }) => id));
    this.#unread = interruptsIn(there.filter(({ id }) => !waiting.has(id)));
    await this.#read();
    this.#unread = interruptsIn(there.filter(({ id }) => waiting.has(id)));
  }

  async #record(drafts: readonly Draft[]): Promise<void> {
    if (drafts.length > 0) this.#take(await this.conversation.record(drafts));
  }

  #take(stored: readonly Stored[]): void {
    for (const { body } of stored) this.#records.push(body);
  }

  #usage({ usage }: Extract<Answer, { kind: 'finished' }>): Usage | undefined {
    if (usage === undefined) return undefined;
    const used = { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 };
    this.emit({ type: 'usage', ...used, cachedTokens: usage.inputTokens.cacheRead ?? 0 });
    return used;
  }

  async #end(how: TurnResult['how'], cycles: number, text: string, error?: string): Promise<TurnResult> {
    this.#enter(how === 'complete' ? 'complete' : 'aborted');
    // A program that ends is no person that stops: it goes on when it is started again.
    if (how === 'stopped' && !this.#closed) await this.#record([{ type: 'agent_stopped' }]);
    // For whoever watches; a turn that failed can be resumed all the same.
    if (how !== 'complete' && how !== 'stopped')
      await this.#record([{ type: 'agent_failed', reason: (error ?? '').slice(0, 500) }]);
    await this.#self.turnEnded({
      reason: how === 'complete' || how === 'stopped' ? how : 'failed',
      cycles,
      ...(error === undefined ? {} : { error }),
    });
    const handedBack = how === 'stopped' ? await this.#handBack() : [];
    this.emit({ type: 'turn_ended', how, cycles, ...(error === undefined ? {} : { error }) });
    return { how, text, cycles, handedBack, ...(error === undefined ? {} : { error }) };
  }

  /** What waits: it does not wake the agent by itself until a person has come. */
  async #handBack(): Promise<readonly NotificationId[]> {
    const { log, id } = this.conversation;
    const open = await this.inbox.store.items(log, { kind: 'open', conversation: id });
    const ids = open.filter((item) => item.state === 'open').map((item) => item.id);
    this.#watcher.handedBack(ids);
    return ids;
  }
}

const response = (call: ToolCallRequestRecord, content: string, isError: boolean): ToolCallResponseRecord => ({
  type: 'tool_call_response',
  id: call.id,
  content,
  is_error: isError,
});

const saying = ({ raw }: Finish): string => (raw === undefined ? '' : ` (${raw})`);

const carriedIn = (records: readonly Draft[]): readonly Notification[] =>
  records.flatMap((record) =>
    isType(record, 'chat_request') || isType(record, 'tool_call_response') ? (record.notifications ?? []).map(fromRecord) : [],
  );

/** The gate of a pause lasts until somebody lifts it. */
const interruptsIn = (all: readonly Notification[]): NotificationId[] =>
  all.filter((each) => isInterrupt(each) && each.action !== 'pause').map(({ id }) => id);

const warn = (error: unknown): void => {
  process.emitWarning(`agent: ${error instanceof Error ? error.message : String(error)}`);
};
