/**
 * One conversation, for the program that delivers notifications to it. There are two ways of delivery.
 *
 * - `carry`: this program owns the transcript. The carrier's record contains the notifications, and its append also closes them.
 *   The notifications are delivered exactly once.
 * - `offer` → `confirm` | `release`: another program owns the transcript. The offer is a lease. If the owner of the lease dies
 *   before the confirmation, the notifications are offered again with the same text, marked as repeated.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { fault } from '../../core/faults.ts';
import type { Item } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
import type { Decision } from '../../core/plan.ts';
import type { Policy } from '../../core/policy.ts';
import type { Presence, PresenceUpdate } from '../../core/ports.ts';
import {
  recorded,
  type ChatRequestRecord,
  type ClosedRecord,
  type ContactPoint,
  type Draft,
  type SentView,
  type Stored,
  type ToolCallResponseRecord,
} from '../../core/records.ts';
import { signalText, gatedText } from '../../core/views/signal.ts';
import type { Logs } from '../context.ts';
import { Claim } from './claim.ts';
import { closedAtOnce, compose, type Composed, type Composing } from './compose.ts';
import { Contact } from './contact.ts';
import type { CarryOptions } from './facts.ts';
import { foresee, type Carrier, type Foreseen } from './foresee.ts';
import { Frames } from './frames.ts';
import { Gate, type CallResult, type Refusal, type RefusedCall } from './gate.ts';
import { carryingLesseeOf, leaseOf, offerOf, type Offer } from './lease.ts';
import { olderClosings } from './older-states.ts';
import type { Parts } from './parts.ts';
import { pull, type Pulled, type PullOptions } from './pull.ts';
import { formatOf, policyOf, pullName, toolName, type ConversationOptions, type Recipient } from './recipient.ts';
import { withhold } from './withheld.ts';

export type Carried = {
  /** The appended records, as the store has written them. */
  readonly records: readonly Stored[];
  /** The frame with the delivered notifications. Undefined if the carrier took nothing. */
  readonly view?: SentView;
  /** The carrier's content, an empty line and the view, for APIs that take one text. Only the view if the content is empty. */
  readonly text: string;
};

export type OfferOptions = CarryOptions & {
  /** The name of the carrying tool or hook event. */
  readonly on?: string;
  /** The maximum number of characters of the view. A longer view is not offered. */
  readonly maxChars?: number;
  /** Whether `maxChars` counts bytes of UTF-8 instead of characters. */
  readonly inBytes?: boolean;
  /** Facts about the carrier, for its record. */
  readonly facts?: Json;
};

/**
 * The maximum number of attempts to compose a carrier. An attempt fails if another writer changes one of the notifications first.
 */
const TRIES = 8;

export class Conversation {
  readonly inbox: Logs;
  readonly log: LogKey;
  readonly id: ConversationId;
  readonly options: ConversationOptions;
  readonly #recipient: Recipient;
  readonly #contact: Contact;
  readonly #parts: Parts;
  readonly #gate: Gate;

  constructor(inbox: Logs, log: LogKey, id: ConversationId, options: ConversationOptions = {}) {
    this.inbox = inbox;
    this.log = log;
    this.id = id;
    this.options = options;
    this.#recipient = { context: inbox, log, id, options };
    this.#contact = new Contact(this.#recipient);
    this.#parts = { recipient: this.#recipient, contact: this.#contact, frames: new Frames(this.#recipient, this.#contact) };
    this.#gate = new Gate(this.#parts);
  }

  get address(): string {
    return `${this.log}#${this.id}`;
  }

  policy(): Policy {
    return policyOf(this.#recipient);
  }

  /** Returns the model's name for an Earpiece tool. */
  readonly nameOf = (tool: string): string => toolName(this.#recipient, tool);

  /** Records contact with the conversation. Contact without an update is written at most every 30 s. */
  async seen(update: Omit<PresenceUpdate, 'log' | 'conversation'> = {}): Promise<void> {
    await this.#contact.seen(update);
  }

  /** Records that another process has written a contact with the same facts at this time, epoch ms. */
  wasSeen(at: number): void {
    this.#contact.wasSeen(at);
  }

  async ended(): Promise<void> {
    await this.seen({ ended: true });
    this.forgetSeen();
  }

  /** Makes sure that the next contact is written at once, for example after the conversation was recorded as ended. */
  forgetSeen(): void {
    this.#contact.forget();
  }

  presence(): Promise<Presence | undefined> {
    return this.#contact.presence();
  }

  /** Returns the purpose of the conversation: from its options, else from its presence. */
  purpose(): Promise<string | undefined> {
    return this.#contact.purpose();
  }

  /**
   * Whether the store knows at once that no notification waits and no gate is up. The last contact must also have been written
   * less than 30 s ago. False proves nothing.
   */
  quiet(): boolean {
    if (this.inbox.unwritten) return false;
    return this.#contact.isFresh && (this.inbox.store.quiet?.(this.log, this.id) ?? false);
  }

  /**
   * Appends records to a transcript that this program owns. The carrier is the last `chat_request` or `tool_call_response` among
   * them. The carrier contains the due notifications, or none if all attempts fail (see `TRIES`).
   */
  async carry(records: Draft | readonly Draft[], options: CarryOptions): Promise<Carried> {
    const drafts: readonly Draft[] = Array.isArray(records) ? (records as readonly Draft[]) : [records as Draft];
    const own = drafts.map((draft): Draft => ({ ...draft, conversation: this.id }));
    const at = own.findLastIndex((draft) => draft.type === 'chat_request' || draft.type === 'tool_call_response');
    if (at < 0) throw new TypeError('carry needs a chat_request or a tool_call_response among the records');
    const carrier = own[at] as ChatRequestRecord | ToolCallResponseRecord;
    await this.#begins(options.at);
    const claim = new Claim(this.#recipient, options.at);
    for (let tries = 0; ; tries++) {
      const made = tries < TRIES ? await this.#compose({ ...options, leased: false, claim }) : undefined;
      const loaded = made?.view === undefined ? own : own.with(at, { ...carrier, ...loadOf(made, made.view) });
      const closings = made === undefined ? [] : await this.#closingsOf(made);
      const appended = await this.inbox.store.append(this.log, [...claim.releases(), ...closings, ...loaded]);
      if (appended.kind !== 'appended') {
        await claim.after(appended, made?.items ?? []);
        continue;
      }
      const content = String((carrier as { readonly content: unknown }).content);
      if (made?.view === undefined) return { records: appended.records, text: content };
      await this.#contact.carried(made.explains);
      return {
        records: appended.records,
        view: made.view,
        text: content === '' ? made.view.text : `${content}\n\n${made.view.text}`,
      };
    }
  }

  /**
   * Appends records without notifications to a transcript that this program owns: answers, calls, and all results of a batch but
   * the last.
   */
  async record(drafts: readonly Draft[]): Promise<readonly Stored[]> {
    const appended = await this.inbox.store.append(
      this.log,
      drafts.map((draft): Draft => ({ ...draft, conversation: this.id })),
    );
    if (appended.kind !== 'appended') throw new TypeError(`an append without notifications must succeed (${appended.kind})`);
    return appended.records;
  }

  /**
   * Leases the due notifications to one carrier. Undefined with a signal view, if nothing is due, if the view does not fit, or if
   * all attempts fail (see `TRIES`).
   */
  async offer(options: OfferOptions): Promise<Offer | undefined> {
    const { at, on, maxChars = Number.POSITIVE_INFINITY, inBytes = false, facts } = options;
    await this.#begins(at);
    const lessee = carryingLesseeOf(this.#recipient);
    const size = (text: string): number => (inBytes ? Buffer.byteLength(text) : text.length);
    const claim = new Claim(this.#recipient, at);
    for (let tries = 0; tries < TRIES; tries++) {
      const made = await this.#compose({ ...options, leased: true, claim });
      const { items, view, ids, summarizes, counts, closings, explains } = made;
      const fits = view !== undefined && size(view.text) <= maxChars;
      if (fits) fault('offer.planned');
      const record = fits ? leaseOf(lessee, { at, on, view, ids, summarizes, counts, facts }) : undefined;
      const drafts = [...claim.releases(), ...closedAtOnce(closings), ...(record === undefined ? [] : [record])];
      if (drafts.length === 0) return undefined;
      const appended = await this.inbox.store.append(this.log, drafts);
      if (appended.kind !== 'appended') {
        await claim.after(appended, items);
        continue;
      }
      if (record === undefined) return undefined;
      fault('offer.appended');
      return offerOf(lessee, record, { items: takenOf(made), contact: this.#contact, explains });
    }
    await claim.drop();
    return undefined;
  }

  /** Returns the text of a signal view at a contact point. Takes no notifications. */
  async signal(options: CarryOptions): Promise<{ readonly text: string; readonly waiting: boolean }> {
    await this.seen();
    const { items, decisions, closings } = await this.#compose({ ...options, leased: true, decidesOnly: true });
    const waiting = items.some((item) =>
      decisions.some((d) => d.id === item.id && d.kind !== 'close' && d.step !== 'moment' && d.step !== 'relevance'),
    );
    const atOnce = closedAtOnce(closings);
    if (atOnce.length > 0) await this.inbox.store.append(this.log, atOnce);
    const format = formatOf(this.#recipient) === 'signal_ja' ? 'signal_ja' : 'signal_en';
    const pulls = pullName(this.#recipient) || undefined;
    // An interrupt may be closed as delivered although no refusal has shown its message, so the gate is checked too.
    const gate = await this.gate();
    if (gate.length === 0) return { text: signalText(format, waiting, pulls), waiting };
    const unread = waiting || gate.some(({ read }) => !read);
    return { text: gatedText(format, { waiting: unread, ...this.#gate.pausedBy(gate), pulls }), waiting: true };
  }

  /** Returns the interrupts that hold the gate up. The list is empty when the gate is down. */
  gate(): Promise<readonly Item[]> {
    return this.#gate.up();
  }

  /** Returns the answer to a tool call while the gate is up. See `Gate.refuse`. */
  refuse(call: RefusedCall): Promise<Refusal | undefined> {
    return this.#gate.refuse(call);
  }

  /** Reopens interrupts if the host dropped their refusal and ran the refused call. */
  ran(results: readonly CallResult[]): Promise<void> {
    return this.#gate.ran(results);
  }

  /**
   * Records that a model request contained everything that was delivered before. Has an effect only at `turn_start`,
   * `tool_batch_end` and `cycle_start`. See `Gate.answered`.
   */
  async answered(at: ContactPoint): Promise<void> {
    if (at === 'turn_start' || at === 'tool_batch_end' || at === 'cycle_start') await this.#gate.answered(at);
  }

  /**
   * Returns the answer of `get_notifications`: the open notifications, notifications that a budget summarized or cut, the
   * interrupts that hold the gate up, and withheld results. The pull leases the open notifications that it shows, and the
   * confirmation marks all shown notifications as read. With `mark: false`, nothing is leased.
   */
  pull(options: PullOptions): Promise<Pulled> {
    return pull(this.#parts, this.#gate, options);
  }

  /** Keeps a tool result that the model did not get, until the model pulls the result or the result expires. */
  async withhold(tool: string, body: string): Promise<void> {
    await withhold(this.#recipient, tool, body);
  }

  /** Previews which items a carrier at this contact point would take now, with the reasons. Takes and closes no item. */
  async preview(options: CarryOptions): Promise<{ readonly view?: SentView; readonly decisions: readonly Decision[] }> {
    const { view, decisions } = await this.#compose({ ...options, leased: true, dry: true });
    return { ...defined({ view }), decisions };
  }

  /** Previews like `preview`, but only the decisions and no view. */
  async decisions(options: CarryOptions): Promise<readonly Decision[]> {
    return (await this.#compose({ ...options, leased: true, decidesOnly: true, dry: true })).decisions;
  }

  /** Predicts the decisions of these carriers of the conversation at each of their contact points. See `foresee`. */
  foresee(carriers: readonly Carrier[], more: readonly Item[] = []): Promise<readonly Foreseen[]> {
    return foresee(this.#parts, carriers, more);
  }

  async #begins(at: ContactPoint): Promise<void> {
    await this.seen(at === 'turn_start' ? { turnStarted: true } : {});
    await this.answered(at);
  }

  /** Returns the records that close the items of the plan, and the older states that the plan does not close itself. */
  async #closingsOf(made: Composed): Promise<readonly ClosedRecord[]> {
    const closed = closedAtOnce(made.closings);
    const receiver = { log: this.log, id: this.id, contact: this.#contact, closed: closed.flatMap(({ ids }) => ids) };
    return [...closed, ...(await olderClosings(this.inbox.store, receiver, takenOf(made)))];
  }

  #compose(composing: Composing): Promise<Composed> {
    return compose(this.#parts, composing);
  }
}

/** Returns the items that the carrier shows or counts. */
function takenOf({ items, ids, summarizes }: Composed): readonly Item[] {
  const taken = new Set([...ids, ...summarizes]);
  return items.filter(({ id }) => taken.has(id));
}

/** Returns the fields of a carrier's record that list its notifications. */
function loadOf(
  { items, ids, summarizes, counts }: Composed,
  view: SentView,
): Pick<ToolCallResponseRecord, 'notifications' | 'summarizes' | 'counts' | 'view'> {
  const taken = ids.flatMap((id) => items.filter((item) => item.id === id));
  return {
    notifications: taken.map((item) => ({
      ...recorded(item.notification),
      ...(item.count > 1 ? { count: item.count, firstAt: item.at } : {}),
    })),
    ...(summarizes.length > 0 ? { summarizes } : {}),
    counts,
    view,
  };
}
