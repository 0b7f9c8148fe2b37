/** Delivers notifications in one conversation, for the program that runs the agent's loop. */
import { defined } from '../core/defined.ts';
import {
  CONTACT_POINTS,
  VIEW_NAMES,
  type ContactPoint,
  type ReleasedRecord,
  type Stored,
  type ViewName,
} from '../core/records.ts';
import type { NotificationId } from '../core/notification.ts';
import type { Decision } from '../core/plan.ts';
import { begin, type Conversation as Inner, type Offer as Lease, type Pulled } from '../inbox/index.ts';
import { bad, check, checkName, checkText, checkWord, type Table } from './arguments.ts';
import { mustBeOpen } from './inner.ts';

export type ConversationOptions = {
  /** The contact points at which your loop can add text. By default, tool results and user messages. */
  readonly points?: readonly ContactPoint[];
  /** The view in which the model reads notifications. Default: the configured view. */
  readonly view?: ViewName;
  /** The use of the conversation. A conversation with a purpose gets no notification of another purpose. */
  readonly purpose?: string;
  /** The name of the program that runs the loop, for `earpiece agents`. */
  readonly host?: string;
  readonly hostVersion?: string;
  /**
   * Whether the model has a tool `get_notifications` that you answer with `notifications()`. A message that only counts some
   * notifications then names this tool.
   */
  readonly pulls?: boolean;
  /** Whether this process runs several conversations, each of which may end before the process. */
  readonly shared?: boolean;
  /** The worktree that the agent works in. */
  readonly folder?: string;
};

/** A message for the model, with the notifications that it carries. */
export type Message = {
  /** The content, followed by the notifications. */
  readonly text: string;
  /** Only the notifications, for an API that takes several parts; undefined if no notification was due. */
  readonly view: string | undefined;
  /** The ids of the notifications in the message. */
  readonly ids: readonly string[];
  /** The position of the message in the log. Save it with the message: after a crash, `transcript()` has the unsaved messages. */
  readonly seq: number;
};

export type ToolResult = {
  /** The id of the call, as the model gave it. */
  readonly id: string;
  /** The output of the tool. */
  readonly content: string;
  /** Whether the tool failed. The record has this value as `is_error`. */
  readonly isError?: boolean;
  /** The tool's name, for notifications that wait for this tool. */
  readonly name?: string;
  /**
   * Facts that the agent learned by this call, such as `file:/a/b.ts`, each with its time in milliseconds since the epoch.
   * Earlier notifications about such a fact close as `known`.
   */
  readonly known?: Readonly<Record<string, number>>;
};

/** The answer to a tool call that must not run now. */
export type Refusal = {
  /** The text to send as the tool's result. */
  readonly text: string;
  readonly ids: readonly string[];
  /** Whether an earlier refusal or message already delivered these interrupts. */
  readonly repeated: boolean;
};

const RELEASE_REASONS = [
  'cancelled',
  'write_error',
  'too_big',
  'client_died',
  'shutdown',
] as const satisfies readonly ReleasedRecord['reason'][];
export type ReleaseReason = (typeof RELEASE_REASONS)[number];

export type OfferOptions = {
  /** The contact point. Default `tool_result`. */
  readonly at?: ContactPoint;
  /** The name of the message that carries the notifications, such as a tool's name. */
  readonly on?: string;
  /** The maximum number of characters of the text. A longer text is not offered. */
  readonly maxChars?: number;
};

/**
 * Notifications on their way to a model whose transcript another program owns. Confirm or release an offer once. Repeating the
 * same call returns the same result, and the opposite call throws `bad_argument`.
 */
export type Offer = {
  /** The id of the lease in the log. */
  readonly id: string;
  readonly text: string;
  readonly ids: readonly string[];
  /** Whether the model may have seen the notifications before. If so, the text says that they are repeated. */
  readonly repeated: boolean;
  /**
   * Confirms that the text was sent. Resolves to `late` if the lease or the notifications have ended before. A lease whose time
   * is over ends with the next carrier.
   */
  confirm(): Promise<'confirmed' | 'late'>;
  /** Releases notifications whose text was not sent, so that they are offered again. The default reason is `cancelled`. */
  release(reason?: ReleaseReason): Promise<void>;
};

/** The answer of a tool `get_notifications`. */
export type Notifications = Pick<Pulled, 'notifications' | 'more' | 'withheld'> & {
  /** Confirms that the answer was sent. The notifications then count as delivered and read. Does nothing with `mark: false`. */
  confirm(): Promise<void>;
  /** Releases notifications whose answer was not sent, so that they are open again. */
  release(reason?: ReleaseReason): Promise<void>;
};

export type Preview = {
  readonly text: string | undefined;
  readonly ids: readonly string[];
  /** The decision for each open notification, with its reason. */
  readonly decisions: readonly Decision[];
};

const TOOL_RESULT: Table<ToolResult> = {
  id: { needed: 'name' },
  content: { needed: 'text' },
  isError: 'flag',
  name: 'text',
  known: 'json',
};
export const CONVERSATION: Table<ConversationOptions> = {
  points: { listOf: CONTACT_POINTS },
  view: VIEW_NAMES,
  purpose: 'text',
  host: 'text',
  hostVersion: 'text',
  pulls: 'flag',
  shared: 'flag',
  folder: 'text',
};
/**
 * The time after which a refusal counts as delivered if the process still runs. If the process ends earlier, the next process
 * gets the interrupt again, marked as repeated.
 */
const TAKEN_AFTER_MS = 2_000;
/** The maximum time between two calls of one batch. */
const SAME_BATCH_MS = 1_000;

const OFFER: Table<OfferOptions> = { at: CONTACT_POINTS, on: 'text', maxChars: 'amount' };

/**
 * A conversation has two ways to deliver notifications. If your program writes the transcript, `userMessage` and `toolResult`
 * return each message with its notifications. Each notification is in exactly one message of the log. If another program writes
 * the transcript, `offer` leases due notifications until you confirm or release them.
 */
export class Conversation {
  /** `project/agent#conversation`. */
  readonly address: string;
  readonly #inner: Inner;
  #begun: Promise<unknown> | undefined;
  /** The last refusal of this loop that is not confirmed yet. */
  #refusal: { readonly lease: Lease; readonly at: number; readonly timer: NodeJS.Timeout } | undefined;

  /** Programs call `Earpiece.conversation`, and not this constructor. */
  constructor(inner: { readonly address: string }) {
    this.#inner = inner as Inner;
    this.address = inner.address;
  }

  /** Begins a turn with a message from the user. Earlier refusals then count as read. */
  async userMessage(text: string, options: { readonly author?: string } = {}): Promise<Message> {
    checkText('userMessage', 'text', text);
    check('userMessage', options, { author: 'text' });
    await this.#goOn();
    const { author } = options;
    const request = { type: 'chat_request' as const, content: text, ...defined({ author }) };
    return messageOf(await this.#inner.carry([{ type: 'turn_start' }, request], { at: 'turn_start' }));
  }

  /** Adds due notifications to the result of a tool call. Send the returned text to the model in place of the result. */
  async toolResult(result: ToolResult): Promise<Message> {
    check('toolResult', result, TOOL_RESULT, 'the result');
    await this.#goOn();
    const { id, content, isError = false, name, known } = result;
    return messageOf(
      await this.#inner.carry(
        { type: 'tool_call_response', id, content, is_error: isError },
        { at: 'tool_result', ...(name === undefined ? {} : { tools: [name] }), ...defined({ known }) },
      ),
    );
  }

  /**
   * Records that all tool calls of one answer have ended. Call this method before the next model request. Earlier refusals then
   * count as read.
   */
  async batchEnded(): Promise<void> {
    await this.#goOn();
    await this.#inner.answered('tool_batch_end');
  }

  /**
   * Checks the gate. Call this method before each tool call. While an interrupt is unread, returns the text to send instead of
   * running the tool. Returns undefined if the tool may run. An interrupt usually counts as read at the next `userMessage` or
   * `batchEnded`, or at a confirmed answer of `notifications`. A call of `refuse` at least 1 s after the last refusal has the
   * same effect. A `pause` refuses all calls until a person resumes the agent, or until the pause is withdrawn or expires. The
   * process may die within 2 s of the first refusal, before another call of this object. In that case, the next process gets the
   * interrupt again, marked as repeated.
   */
  async refuse(tool: string): Promise<Refusal | undefined> {
    checkName('refuse', 'the name of the tool', tool);
    await this.#begin();
    if (this.#refusal !== undefined && this.#now() - this.#refusal.at >= SAME_BATCH_MS) await this.#confirmRefusal();
    const refusal = await this.#inner.refuse({ on: tool });
    if (refusal === undefined) return undefined;
    if (refusal.offer !== undefined) {
      await this.#confirmRefusal();
      const timer = setTimeout(() => void this.#confirmRefusal().catch(() => {}), TAKEN_AFTER_MS);
      timer.unref();
      this.#refusal = { lease: refusal.offer, at: this.#now(), timer };
    }
    return { text: refusal.text, ids: refusal.ids, repeated: refusal.repeated };
  }

  /** Leases due notifications. Resolves to undefined if no notification is due, or if the text is longer than `maxChars`. */
  async offer(options: OfferOptions = {}): Promise<Offer | undefined> {
    check('offer', options, OFFER);
    await this.#goOn();
    const offer = await this.#inner.offer({ at: 'tool_result', ...options });
    if (offer === undefined) return undefined;
    return {
      id: offer.carrier,
      text: offer.view.text,
      ids: offer.ids,
      repeated: offer.view.repeated === true,
      ...settledOnce(offer),
    };
  }

  /**
   * Returns open notifications, newest first, for a tool that the model calls. With `mark: false`, the notifications stay open
   * and unread.
   */
  async notifications(options: { readonly mark?: boolean; readonly limit?: number } = {}): Promise<Notifications> {
    check('notifications', options, { mark: 'flag', limit: 'count' });
    await this.#goOn();
    const { offer, states: _states, ...pulled } = await this.#inner.pull({ mark: true, ...options });
    const settling = settledOnce(offer);
    return {
      ...pulled,
      confirm: async () => void (await settling.confirm()),
      release: settling.release,
    };
  }

  /** Shows the notifications that a message at this contact point would carry. Delivers and closes none of them. */
  async preview(options: { readonly at?: ContactPoint } = {}): Promise<Preview> {
    check('preview', options, { at: CONTACT_POINTS });
    mustBeOpen(this.#inner.inbox);
    const { view, decisions } = await this.#inner.preview({ at: 'tool_result', ...options });
    return { text: view?.text, ids: view?.items.flatMap(({ ids }) => ids) ?? [], decisions };
  }

  /**
   * Yields the records of the conversation, oldest first. A fork begins with the records of its parent. The records of the types
   * `chat_request` and `tool_call_response` are the messages of your loop. After a crash, add the messages that you had not saved.
   */
  transcript(): AsyncIterable<Stored> {
    mustBeOpen(this.#inner.inbox);
    return this.#inner.inbox.transcript(this.#inner);
  }

  /** Ends the conversation. Unread notifications wait for the agent's next conversation. */
  async end(): Promise<void> {
    mustBeOpen(this.#inner.inbox);
    await this.#confirmRefusal();
    await this.#inner.ended();
  }

  /**
   * Begins the conversation if necessary, and confirms the last refusal. The loop has continued, so the loop has received the
   * refusal.
   */
  async #goOn(): Promise<void> {
    await this.#begin();
    await this.#confirmRefusal();
  }

  #now(): number {
    return this.#inner.inbox.store.now();
  }

  async #confirmRefusal(): Promise<void> {
    const { lease, timer } = this.#refusal ?? {};
    this.#refusal = undefined;
    clearTimeout(timer);
    await lease?.confirm();
  }

  /** Begins the conversation at its first call. The conversation takes over the unread notifications of earlier conversations. */
  async #begin(): Promise<void> {
    mustBeOpen(this.#inner.inbox);
    this.#begun ??= begin(this.#inner).catch((error: unknown) => {
      this.#begun = undefined;
      throw error;
    });
    await this.#begun;
  }
}

/**
 * Makes the functions that confirm or release a lease, once. After a failed call, the same or the opposite call may be tried
 * again.
 */
function settledOnce(lease: Lease | undefined): Pick<Offer, 'confirm' | 'release'> {
  let done: { readonly how: 'confirm' | 'release'; readonly answer: Promise<'confirmed' | 'late'> } | undefined;
  const settle = (how: 'confirm' | 'release', make: () => Promise<'confirmed' | 'late'>): Promise<'confirmed' | 'late'> => {
    if (done !== undefined && done.how !== how)
      throw bad(`${how}: this offer was already ${done.how === 'confirm' ? 'confirmed' : 'released'}; settle each offer once`);
    if (done !== undefined) return done.answer;
    const answer = make().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    done = { how, answer };
    return answer;
  };
  return {
    confirm: async () => settle('confirm', async () => (await lease?.confirm()) ?? 'confirmed'),
    release: async (reason = 'cancelled') => {
      checkWord('release', 'reason', reason, RELEASE_REASONS);
      await settle('release', async () => {
        await lease?.release(reason);
        return 'confirmed';
      });
    },
  };
}

type CarriedRecord = Awaited<ReturnType<Inner['carry']>>;

function messageOf({ records, view, text }: CarriedRecord): Message {
  const ids: readonly NotificationId[] = view?.items.flatMap((item) => item.ids) ?? [];
  return { text, view: view?.text, ids, seq: records.at(-1)?.seq ?? 0 };
}
