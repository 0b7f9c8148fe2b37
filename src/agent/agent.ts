/**
 * Runs an agent: a conversation in the log, a model, tools, and the loop between them. The log is the history, so another process
 * can continue the conversation from the log after a crash.
 */
import { formatAddress, MAIN, parseAddress, type Address } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Emitter } from '../core/event.ts';
import type { Notification, NotificationId, Origin } from '../core/notification.ts';
import { isType, type ChatRequestRecord, type Draft } from '../core/records.ts';
import { begin, worktreeOf, type Conversation, type Inbox } from '../inbox/index.ts';
import { TASK_TOOLS } from '../tasks/index.ts';
import { EventQueue, type AgentEvent } from './events.ts';
import { assertTransition, type Mode } from './modes.ts';
import { endNotes, takeOverNotes } from './notes.ts';
import type { AgentOptions, TurnResult } from './options.ts';
import { familyOf, placementOf } from './placement.ts';
import { Requests } from './requests.ts';
import { SelfWatch } from './self-watch.ts';
import { Transcript } from './transcript.ts';
import { FORCED, MAX_CYCLES, Turn } from './turn.ts';
import { Watcher } from './watcher.ts';

const CUT_OFF = 'The program ended while you answered. Go on.';
const WOKEN = 'The following happened since your last turn.';

/** Opens a conversation for writing. Throws `store_refused` while another agent, of any process, has the conversation open. */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const parsed = parseAddress(options.address);
  if (parsed.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `the address must name one agent, got the whole project ${options.address}: write ${parsed.project}/<agent>`,
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
  /** Receives the agent's events for subscribers; undefined if there is no receiver. */
  readonly emitter: Emitter | undefined;
  readonly #self: SelfWatch;
  readonly #requests: Requests;
  readonly #listeners = new Set<EventQueue<AgentEvent>>();
  readonly #watcher: Watcher;
  readonly #transcript: Transcript;
  #mode: Mode = 'idle';
  #turn: Turn | undefined;
  #over: Promise<unknown> = Promise.resolve();
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
      ...defined({ purpose: options.purpose }),
    });
    this.#transcript = new Transcript(
      this.conversation,
      (event) => this.emit(event),
      () => this.inbox.mustHoldWriter(this.conversation),
    );
    this.#requests = new Requests({
      ...options,
      placement: options.placement ?? placementOf(familyOf(options.model.provider)),
      records: () => this.records,
      emit: (event) => this.emit(event),
      refusedForRate: (afterMs) => this.#self.refusedForRate(afterMs),
      leaveOut: (left) => this.#transcript.leaveOut(left),
    });
    this.#watcher = new Watcher(this);
    const { model, tools = [] } = options;
    // `openai.chat` and `openai.responses` are one provider, `openai`.
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
      onTrouble: (error) => this.trouble(error),
    });
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** Whether the agent is paused. During a pause, only a resume wakes the agent. */
  async paused(): Promise<boolean> {
    return (await this.conversation.gate()).some((item) => item.notification.action === 'pause');
  }

  /** Every record of the conversation, oldest first. */
  get records(): readonly Draft[] {
    return this.#transcript.records;
  }

  /**
   * Returns the origin of notifications that this agent queues now. The origin's `depth` limits chains of agents that wake each
   * other.
   */
  origin(): Origin {
    return { agent: this.conversation.log, depth: this.#transcript.depth + 1 };
  }

  /** Iterates over all events from now until the agent is closed. */
  events(): AsyncIterable<AgentEvent> & { close(): void } {
    const queue = new EventQueue<AgentEvent>(() => this.#listeners.delete(queue));
    this.#listeners.add(queue);
    return queue;
  }

  emit(event: AgentEvent): void {
    for (const listener of this.#listeners) listener.push(event);
  }

  trouble(error: unknown): void {
    (this.options.onTrouble ?? warn)(error);
  }

  async open(): Promise<void> {
    await this.inbox.holdWriter(this.conversation);
    await this.#transcript.open();
    await begin(this.conversation);
    await this.#self.opened(this.records);
    await this.#watcher.start(this.records);
  }

  /**
   * Runs a turn: sends `text` to the model with the due notifications. A failure of the model is a result, and not an error.
   * Rejects if a turn is running, or if the store fails. If the signal is already aborted, the result is `stopped`, and the agent
   * writes and requests nothing.
   */
  async send(text: string, options: { readonly author?: string; readonly signal?: AbortSignal } = {}): Promise<TurnResult> {
    if (this.#turn)
      throw new EarpieceError('bad_argument', 'a turn is running: call reply() to add a message, or stop() to end the turn');
    const { author, signal } = options;
    return this.#stoppable(signal, () =>
      this.#run('person', text, async () => {
        this.#watcher.personCame();
        await this.#transcript.carry(
          [...this.#begin(), { type: 'chat_request', content: text, ...defined({ author }) }],
          'turn_start',
        );
      }),
    );
  }

  /**
   * Continues a turn that did not finish, for example because its process ended. Resolves to undefined if there is no such turn,
   * or if a turn is running.
   */
  async resume(options: { readonly signal?: AbortSignal } = {}): Promise<TurnResult | undefined> {
    const last = this.#transcript.cutOffAt();
    if (last === undefined || this.#turn) return undefined;
    return this.#stoppable(options.signal, () =>
      this.#run('person', '', async () => {
        if (isType(last, 'chat_response'))
          await this.#transcript.carry([{ type: 'chat_request', content: CUT_OFF, source: 'system' }], 'cycle_start');
      }),
    );
  }

  /** Whether `resume` can continue the last turn. False while a turn runs. */
  get cutOff(): boolean {
    return this.#turn === undefined && this.#transcript.cutOffAt() !== undefined;
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

  /**
   * Runs a turn about the notifications that are due now, without a message from a person. Resolves to undefined if a turn runs
   * or the agent is closed.
   */
  async wake(ids: readonly NotificationId[], at: 'idle' | 'forced'): Promise<TurnResult | undefined> {
    if (this.#turn || this.#closed) return undefined;
    return this.#run('notification', at === 'forced' ? FORCED : WOKEN, async () => {
      await this.#transcript.record([{ type: 'agent_woken', ids }]);
      this.#watcher.woke();
      const request: ChatRequestRecord = { type: 'chat_request', content: at === 'forced' ? FORCED : WOKEN, source: 'system' };
      await this.#transcript.carry([...this.#begin(), request], at);
    });
  }

  /**
   * Adds a person's words to the running turn, and ends the current answer or tools. Returns false if no turn can take the words,
   * because no turn runs or the turn has just ended.
   */
  reply(text: string): boolean {
    return this.#turn?.reply(text) ?? false;
  }

  /**
   * Ends the turn now, even if another interruption arrives at the same time. Open notifications stay open, and the turn's result
   * lists them as `handedBack`.
   */
  stop(): void {
    this.#turn?.stop();
  }

  /**
   * Interrupts the agent for an open interrupt. The watcher calls this method. Returns true if the current stream or tools were
   * ended. Returns false if the next carrier delivers the notification, or if the notification must wait.
   */
  force({ notification }: { readonly notification: Notification }): boolean {
    return this.#turn?.force(notification) ?? false;
  }

  /**
   * Releases the conversation, so that a later agent can continue it. With `over`, no agent will continue the conversation, so
   * the notes of this conversation are closed too.
   */
  async close({ over = false }: { readonly over?: boolean } = {}): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.stop();
    await this.#over.catch(() => undefined);
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

  #enter(mode: Mode): void {
    assertTransition(this.#mode, mode);
    this.#mode = mode;
    this.emit({ type: 'mode', mode });
  }

  async #run(by: 'person' | 'notification', content: string, start: () => Promise<void>): Promise<TurnResult> {
    if (by === 'person') this.#transcript.depth = 0;
    const turn = new Turn({
      options: this.options,
      conversation: this.conversation,
      transcript: this.#transcript,
      requests: this.#requests,
      self: this.#self,
      mode: () => this.#mode,
      enter: (mode) => this.#enter(mode),
      emit: (event) => this.emit(event),
      closing: () => this.#closed,
      handBack: () => this.#handBack(),
    });
    this.#turn = turn;
    const over = (async (): Promise<TurnResult> => {
      this.emit({ type: 'turn_started', by, content });
      this.#self.turnBegan(content, by, content === '');
      await takeOverNotes(this.conversation);
      await start();
      return turn.run();
    })();
    this.#over = over;
    try {
      return await over;
    } finally {
      this.#turn = undefined;
      if (this.#mode !== 'idle') {
        // The turn threw an error, for example because the store failed. The next turn starts from the log.
        if (this.#mode !== 'complete' && this.#mode !== 'aborted') this.#mode = 'aborted';
        this.#enter('idle');
      }
      this.#watcher.look();
    }
  }

  /**
   * Returns the ids of the open notifications, and keeps these notifications from waking the agent until a person sends the next
   * message.
   */
  async #handBack(): Promise<readonly NotificationId[]> {
    const { log, id } = this.conversation;
    const open = await this.inbox.store.items(log, { kind: 'open', conversation: id });
    const ids = open.filter((item) => item.state === 'open').map((item) => item.id);
    this.#watcher.handedBack(ids);
    return ids;
  }
}

const warn = (error: unknown): void => {
  process.emitWarning(`agent: ${error instanceof Error ? error.message : String(error)}`);
};
