/**
 * An agent: a conversation in the log, a model, tools, and the loop between them. The log is the history; whatever is in
 * memory here can be rebuilt from it, so that another process can go on after a crash.
 */
import type { LanguageModelV4, LanguageModelV4FunctionTool, SharedV4ProviderOptions } from '@ai-sdk/provider';
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
import type { Carried, Conversation, Inbox } from '../inbox/index.ts';
import type { BudgetOptions, Usage } from '../sources/budget.ts';
import type { Tool } from '../sources/tool.ts';
import { TASK_TOOLS } from '../tasks/index.ts';
import { askModel, type Answer } from './answer.ts';
import { runBatch } from './batch.ts';
import { EventQueue, type AgentEvent } from './events.ts';
import { Interruption, STOPPED } from './interruption.ts';
import { assertTransition, type Mode } from './modes.ts';
import { callOptionsOf, familyOf, placementOf, type Placement } from './placement.ts';
import { promptOf, unanswered } from './prompt.ts';
import { backoffMs, failureOf } from './retry.ts';
import { endNotes, takeOverNotes } from './notify-self.ts';
import { SelfWatch } from './self-watch.ts';
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
  readonly how: 'complete' | 'stopped' | 'failed';
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
  readonly #placement: Placement;
  readonly #listeners = new Set<EventQueue<AgentEvent>>();
  readonly #watcher: Watcher;
  #records: Draft[] = [];
  #mode: Mode = 'idle';
  #turn: Promise<TurnResult> | undefined;
  /** Ends the stream or the tools of this moment, with an `Interruption` as its reason. */
  #abort = new AbortController();
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
      points: ['turn_start', 'cycle_start', 'tool_batch_end', 'turn_end', 'idle', 'forced'],
      ...(options.purpose === undefined ? {} : { purpose: options.purpose }),
    });
    this.#placement = options.placement ?? placementOf(familyOf(options.model.provider));
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
    await this.conversation.seen();
    await this.#self.opened(this.#records);
    await this.#watcher.start(this.#records);
  }

  /** A turn: `text` goes to the model, with what is due. Rejects only with a fault of ours; a failed model is a result. */
  async send(text: string, options: { readonly author?: string; readonly signal?: AbortSignal } = {}): Promise<TurnResult> {
    if (this.#turn) throw new EarpieceError('bad_argument', 'a turn is running: reply() goes into it, stop() ends it');
    const { author, signal } = options;
    const stop = (): void => this.stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await this.#run('person', text, async () => {
        this.#watcher.personCame();
        await this.#carry(
          [...this.#begin(), { type: 'chat_request', content: text, ...(author === undefined ? {} : { author }) }],
          'turn_start',
        );
      });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Goes on where another process ended in the middle of a turn; undefined when the last turn was over. */
  async resume(): Promise<TurnResult | undefined> {
    const last = this.#records.findLast((r) => RESUMABLE.has(r.type));
    if (last === undefined || this.#turn || last.type === 'turn_start' || last.type === 'agent_stopped') return undefined;
    const cutOff = isType(last, 'chat_response');
    if (cutOff && !last.truncated) return undefined;
    return this.#run('person', '', async () => {
      if (cutOff) await this.#carry([{ type: 'chat_request', content: CUT_OFF, source: 'system' }], 'cycle_start');
    });
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

  /** Ends the turn now. What waits stays open and is handed back. */
  stop(): void {
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
      const answer = await this.#ask();
      if (answer.kind === 'failed') return this.#end('failed', cycle, text, failureOf(answer.error).why);
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
      if (this.#abort.signal.aborted && this.#abort.signal.reason === STOPPED) return this.#end('stopped', cycle, text);
      if (await this.#replied()) continue;
      const mayGoOn = !last && extra < EXTRA_CYCLES;
      if (mayGoOn && (await this.#urgent())) {
        extra++;
        await this.#carry([{ type: 'chat_request', content: MEANWHILE, source: 'system' }], 'turn_end');
        continue;
      }
      const { signal } = this.#abort;
      const ask = (question: string): Promise<string> =>
        last ? Promise.reject(new Error('the tokens of this turn are used up')) : this.#aside(question, signal);
      const ending = await this.options.onTurnEnd?.({ signal, ask });
      if (signal.aborted && signal.reason === STOPPED) return this.#end('stopped', cycle, text);
      if (ending?.again === true && mayGoOn && (await this.#due('turn_end'))) {
        extra++;
        await this.#carry([{ type: 'chat_request', content: MEANWHILE, source: 'system' }], 'turn_end');
        continue;
      }
      return this.#end('complete', cycle, text);
    }
  }

  async #ask(): Promise<Answer> {
    const { model, maxRetries = 4, chance = Math.random } = this.options;
    let redacted = false;
    for (let attempt = 1; ; attempt++) {
      fault('agent.request');
      const answer = await askModel(model, this.#request(), (event) => this.emit(event));
      if (answer.kind !== 'failed') return answer;
      const failure = failureOf(answer.error);
      if (failure.kind === 'retry' && failure.rateLimited) this.#self.refusedForRate(failure.afterMs);
      if (failure.kind === 'refused' && !redacted && (await this.#redact(failure.why))) {
        redacted = true;
        continue;
      }
      if (failure.kind !== 'retry' || attempt > maxRetries) return answer;
      const inMs = failure.afterMs ?? backoffMs(attempt, chance());
      this.emit({ type: 'retry', inMs, why: failure.why });
      if (!(await pause(inMs, this.#abort.signal)))
        return { kind: 'aborted', records: [], calls: [], reason: this.#abort.signal.reason };
    }
  }

  /** A request beside the conversation: what it says and what comes back is not written down here. */
  async #aside(question: string, abortSignal: AbortSignal): Promise<string> {
    const request = this.#request();
    const prompt = [...request.prompt, ...this.#placement.request([{ type: 'text', text: question }], undefined)];
    // Providers want the tools of a conversation that has calls, but none is to be called now.
    const none = request.tools === undefined ? {} : { toolChoice: { type: 'none' as const } };
    const answer = await askModel(this.options.model, { ...request, ...none, prompt, abortSignal }, () => {});
    if (answer.kind === 'finished')
      return answer.records.flatMap((r) => (r.type === 'chat_response' && r.message !== undefined ? [r.message] : [])).join('');
    throw answer.kind === 'failed' ? answer.error : answer.reason;
  }

  async #due(at: 'turn_end' | 'forced'): Promise<boolean> {
    return (await this.conversation.decisions({ at })).some((decision) => decision.kind === 'take');
  }

  #request(): Parameters<typeof askModel>[1] {
    const { system, maxOutputTokens, providerOptions, model, tools = [] } = this.options;
    const prompt = promptOf(this.#records, { placement: this.#placement, ...(system === undefined ? {} : { system }) });
    const definitions = tools.map((tool): LanguageModelV4FunctionTool => ({
      type: 'function',
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }));
    return {
      prompt,
      abortSignal: this.#abort.signal,
      providerOptions: { ...callOptionsOf(familyOf(model.provider)), ...providerOptions },
      ...(definitions.length > 0 ? { tools: definitions, toolChoice: { type: 'auto' as const } } : {}),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    };
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
    if (why.is.kind === 'stop') return 'stopped';
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
          endedAt.set(call.id, this.inbox.store.now());
          watch.ended(call, end);
        },
      },
      calls,
      tools: this.options.tools ?? [],
      signal: this.#abort.signal,
      emit: (event) => this.emit(event),
      land: async (call, outcome, last) => {
        for (const about of outcome.knows ?? []) knows[about] = endedAt.get(call.id) ?? this.inbox.store.now();
        fault('agent.tool_landing');
        const record = response(call, outcome.content, outcome.isError ?? false);
        if (!last) return this.#record([record]);
        // What failed in this batch rides on it.
        await this.#self.told();
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
    const delivered = carried.records.flatMap(({ body }) =>
      isType(body, 'chat_request') || isType(body, 'tool_call_response') ? (body.notifications ?? []).map(fromRecord) : [],
    );
    if (carried.view && delivered.length > 0) {
      this.emit({ type: 'delivered', at, ids: delivered.map((n) => n.id), text: carried.view.text });
      await this.#noted(delivered);
    }
    return carried;
  }

  /** Delivered in our own transcript is read: the gate falls, but for a pause, which lasts; this turn's depth is theirs. */
  async #noted(delivered: readonly Notification[]): Promise<void> {
    for (const { origin } of delivered) this.#depth = Math.max(this.#depth, origin?.depth ?? 0);
    const interrupts = delivered.filter((n) => isInterrupt(n) && n.action !== 'pause').map((n) => n.id);
    if (interrupts.length > 0) await this.inbox.markRead(this.conversation.log, interrupts, 'transcript');
  }

  async #record(drafts: readonly Draft[]): Promise<void> {
    if (drafts.length > 0) this.#take(await this.conversation.record(drafts));
  }

  #take(stored: readonly Stored[]): void {
    this.#records.push(...stored.map(({ body }) => body));
  }

  /** The last carrier's notifications become one line, for a provider that refuses the request with them. */
  async #redact(why: string): Promise<boolean> {
    const last = this.#records.findLast((r) => r.type === 'chat_request' || r.type === 'tool_call_response') as
      | ChatRequestRecord
      | ToolCallResponseRecord
      | undefined;
    if (!last?.view || !last.notifications?.length) return false;
    await this.#record([{ type: 'carrier_redacted', ids: last.notifications.map((n) => n.id), reason: why.slice(0, 500) }]);
    return true;
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
    if (how === 'failed') await this.#record([{ type: 'agent_failed', reason: (error ?? '').slice(0, 500) }]);
    await this.#self.turnEnded({ reason: how, cycles, ...(error === undefined ? {} : { error }) });
    const open =
      how === 'stopped'
        ? await this.inbox.store.items(this.conversation.log, { kind: 'open', conversation: this.conversation.id })
        : [];
    const handedBack = open.filter((item) => item.state === 'open').map((item) => item.id);
    this.#watcher.handedBack(handedBack);
    this.emit({ type: 'turn_ended', how, cycles, ...(error === undefined ? {} : { error }) });
    return { how, text, cycles, handedBack, ...(error === undefined ? {} : { error }) };
  }
}

const response = (call: ToolCallRequestRecord, content: string, isError: boolean): ToolCallResponseRecord => ({
  type: 'tool_call_response',
  id: call.id,
  content,
  is_error: isError,
});

/** False when the signal aborted first. */
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

const warn = (error: unknown): void => {
  process.emitWarning(`agent: ${error instanceof Error ? error.message : String(error)}`);
};
