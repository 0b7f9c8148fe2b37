/** Keeps the conversation of one agent as its model reads it: the records in the log, and the unread interrupts. */
import { defined } from '../core/defined.ts';
import { fault } from '../core/faults.ts';
import { isInterrupt, type Notification, type NotificationId } from '../core/notification.ts';
import {
  fromRecord,
  isType,
  type Draft,
  type Stored,
  type ToolCallRequestRecord,
  type ToolCallResponseRecord,
} from '../core/records.ts';
import type { Carried, Conversation } from '../inbox/index.ts';
import type { AgentEvent } from './events.ts';
import { unanswered } from './prompt.ts';
import { unansweredCarriers } from './requests.ts';

/** The contact points at which an agent composes a carrier. */
export type Moment = 'turn_start' | 'cycle_start' | 'tool_batch_end' | 'turn_end' | 'idle' | 'forced';

/**
 * The types of records that show whether a turn has ended. The last such record decides. `agent_stopped` means that a person
 * ended the turn.
 */
const RESUMABLE: ReadonlySet<string> = new Set([
  'turn_start',
  'chat_request',
  'chat_response',
  'tool_call_request',
  'tool_call_response',
  'agent_stopped',
]);

const LOST = 'Not finished: the agent ended while this call ran. The call may have taken effect.';

export class Transcript {
  readonly #conversation: Conversation;
  readonly #emit: (event: AgentEvent) => void;
  readonly #mustHold: () => Promise<void>;
  readonly #records: Draft[] = [];
  /** The interrupts in the transcript that no answered request has contained yet. */
  #unread: NotificationId[] = [];
  /** The number of agent-to-agent hops that led to this turn. */
  depth = 0;

  /** `mustHold` throws if another machine has taken the conversation over. */
  constructor(conversation: Conversation, emit: (event: AgentEvent) => void, mustHold: () => Promise<void>) {
    this.#conversation = conversation;
    this.#emit = emit;
    this.#mustHold = mustHold;
  }

  get records(): readonly Draft[] {
    return this.#records;
  }

  /**
   * Reads the log and completes the unfinished work of an earlier process. Answers the calls without a result, and marks the
   * interrupts that the model has read.
   */
  async open(): Promise<void> {
    for await (const { body } of this.#conversation.inbox.transcript(this.#conversation)) this.#records.push(body);
    await this.record(unanswered(this.#records).map((call) => response(call, LOST, true)));
    await this.#readBefore();
  }

  async record(drafts: readonly Draft[]): Promise<void> {
    if (drafts.length === 0) return;
    await this.#mustHold();
    this.#take(await this.#conversation.record(drafts));
  }

  /** Appends `records` with the due notifications. `known` contains the facts that the model already has, each with its time. */
  async carry(
    records: readonly Draft[],
    at: Moment,
    { known = {}, tools }: { readonly known?: Readonly<Record<string, number>>; readonly tools?: readonly string[] } = {},
  ): Promise<Carried> {
    await this.#mustHold();
    const carried = await this.#conversation.carry(records, { at, known, ...defined({ tools }) });
    this.#take(carried.records);
    fault('agent.carried');
    const delivered = carriedIn(carried.records.map(({ body }) => body));
    if (carried.view && delivered.length > 0) {
      this.#emit({ type: 'delivered', at, ids: delivered.map((n) => n.id), text: carried.view.text });
      // The turn gets the greatest depth of its delivered notifications.
      for (const { origin } of delivered) this.depth = Math.max(this.depth, origin?.depth ?? 0);
      this.#unread.push(...interruptsIn(delivered));
    }
    return carried;
  }

  /**
   * Marks the interrupts of the transcript as read, which lowers their gate. Call this method when the provider has accepted a request with
   * the whole transcript.
   */
  async read(): Promise<void> {
    if (this.#unread.length === 0) return;
    await this.#conversation.inbox.markRead(this.#conversation.log, this.#unread, 'transcript');
    this.#unread = [];
  }

  /** Leaves notifications out of all later requests. */
  async leaveOut(left: {
    readonly ids: readonly NotificationId[];
    readonly reason: string;
    readonly refusals: number;
  }): Promise<void> {
    await this.record([{ type: 'carrier_redacted', ...left }]);
    this.#unread = this.#unread.filter((id) => !left.ids.includes(id));
  }

  /** Returns the last record of a turn that was cut off or failed; undefined if the last turn ended otherwise. */
  cutOffAt(): Draft | undefined {
    const last = this.#records.findLast((r) => RESUMABLE.has(r.type));
    if (last === undefined || last.type === 'turn_start' || last.type === 'agent_stopped') return undefined;
    return isType(last, 'chat_response') && !last.truncated ? undefined : last;
  }

  /** Marks interrupts as read if an earlier process had sent them to its model but did not mark them. */
  async #readBefore(): Promise<void> {
    const gates = new Set((await this.#conversation.gate()).map(({ id }) => id));
    const there = carriedIn(this.#records).filter(({ id }) => gates.has(id));
    const waiting = new Set(carriedIn(unansweredCarriers(this.#records)).map(({ id }) => id));
    this.#unread = interruptsIn(there.filter(({ id }) => !waiting.has(id)));
    await this.read();
    this.#unread = interruptsIn(there.filter(({ id }) => waiting.has(id)));
  }

  #take(stored: readonly Stored[]): void {
    for (const { body } of stored) this.#records.push(body);
  }
}

/** Makes the record that answers a call. */
export const response = (call: ToolCallRequestRecord, content: string, isError: boolean): ToolCallResponseRecord => ({
  type: 'tool_call_response',
  id: call.id,
  content,
  is_error: isError,
});

const carriedIn = (records: readonly Draft[]): readonly Notification[] =>
  records.flatMap((record) =>
    isType(record, 'chat_request') || isType(record, 'tool_call_response') ? (record.notifications ?? []).map(fromRecord) : [],
  );

/**
 * Returns the interrupts among these notifications, without pauses: the gate of a pause stays up until a person resumes the
 * agent.
 */
const interruptsIn = (all: readonly Notification[]): NotificationId[] =>
  all.filter((each) => isInterrupt(each) && each.action !== 'pause').map(({ id }) => id);
