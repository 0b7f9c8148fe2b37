/**
 * One conversation, for whoever carries to it. Two ways to close a notification:
 *
 * - `carry`: the transcript is ours. The notifications are written inside the record that goes to the model, in one append
 *   with their closing: exactly once.
 * - `offer` → `confirm` | `release`: another program owns the transcript. The offer is a lease; whoever dies in between
 *   lets go, and the next offer is the same text, flagged as repeated.
 */
import type { ConversationId, LogKey } from '../core/address.ts';
import { isDue, isExpired, queuedAt, waitedMs } from '../core/clocks.ts';
import type { Mute } from '../core/filter.ts';
import { fault } from '../core/faults.ts';
import { isFor, type Item } from '../core/items.ts';
import { isUnsaid, lineAlone, NO_FACTS, plan, type Facts } from '../core/make-plan.ts';
import { readBy, type NotificationId } from '../core/notification.ts';
import { lineName, type Decision, type Line, type Plan, type Said } from '../core/plan.ts';
import type { Policy } from '../core/policy.ts';
import type { Presence, PresenceUpdate } from '../core/ports.ts';
import {
  recorded,
  type ChatRequestRecord,
  type ClosedRecord,
  type ContactPoint,
  type Draft,
  type Outcome,
  type SentView,
  type Stored,
  type ToolCallResponseRecord,
  type ViewName,
} from '../core/records.ts';
import { neutralize } from '../core/views/body.ts';
import { signalText, standingText } from '../core/views/signal.ts';
import type { Render } from '../core/views/view.ts';
import { Gate, type Refusal, type RefusedCall } from './gate.ts';
import type { Inbox } from './inbox.ts';
import { leaseOf, offerOf, type Lessee, type Offer } from './lease.ts';
import { overtaken } from './overtaken.ts';
import { pull, type Pulled, type PullOptions } from './pull.ts';
import { redactor } from './redact.ts';
import { sightings } from './sightings.ts';
import { releaseStale } from './sweep.ts';
import { rendererOf } from './views.ts';

export type ConversationOptions = {
  readonly purpose?: string;
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: PresenceUpdate['process'];
  /** The process serves many conversations: its life is not theirs. */
  readonly shared?: boolean;
  /** The worktree that it works in. */
  readonly folder?: string;
  /** How this process carries, for `doctor`: `gateway:stdio files`. */
  readonly carrier?: string;
  /** The contact points that the host has; empty: not known. */
  readonly points?: readonly ContactPoint[];
  /** The model can call `get_notifications`. */
  readonly pulls?: boolean;
  /** By which name the model knows a tool of ours: another server of its host may have one of that name. */
  readonly nameOf?: (tool: string) => string;
  /** Our other tools that it can call. Default: as whoever carried to it last said. */
  readonly has?: readonly string[];
  /** The mark that its model knows without any frame: the server's instructions said it. */
  readonly knownMark?: () => string | undefined;
  /** Overrides the policy's view. */
  readonly view?: ViewName;
};

export type CarryOptions = {
  readonly at: ContactPoint;
  /** What the agent came to know by itself: `about` → when (epoch ms). */
  readonly known?: Readonly<Record<string, number>>;
  /** The tools whose results it carries. */
  readonly tools?: readonly string[];
};

export type Carried = {
  /** The records as they were written. */
  readonly records: readonly Stored[];
  /** What rides; undefined when nothing was due. */
  readonly view?: SentView;
  /** The carrier's content with the view behind it, for APIs that take one text. */
  readonly text: string;
};

export type OfferOptions = CarryOptions & {
  /** What carries: the tool's name, the hook's event. */
  readonly on?: string;
  /** Room for the view, in characters; a view that needs more is not offered. */
  readonly maxChars?: number;
  /** `maxChars` counts bytes of UTF-8. */
  readonly inBytes?: boolean;
};

/** A sign of life is written at most so often. */
export const PRESENCE_EVERY_MS = 30_000;
const PULL = 'get_notifications';
const TRIES = 8;
/** So often lines are rendered for one plan; what would still be new to it then waits, or is summarized. */
const ROUNDS = 4;

export class Conversation {
  readonly inbox: Inbox;
  readonly log: LogKey;
  readonly id: ConversationId;
  readonly options: ConversationOptions;
  #touchedAt = Number.NEGATIVE_INFINITY;
  #carriedAt = Number.NEGATIVE_INFINITY;
  #purpose: string | undefined;
  #mark: string | undefined;
  /** The mark that a frame explained last. */
  #toldMark: string | undefined;
  readonly #failedTemplates = new Set<string>();
  readonly #gate: Gate;

  constructor(inbox: Inbox, log: LogKey, id: ConversationId, options: ConversationOptions = {}) {
    this.inbox = inbox;
    this.log = log;
    this.id = id;
    this.options = options;
    this.#gate = new Gate({
      inbox,
      log,
      id,
      policy: () => this.policy(),
      mine: (items) => this.#mine(items),
      view: (gate) => this.#gateView(gate),
      pulls: () => this.#pulls,
      shows: () => !isSignal(this.#format()),
      carried: (told) => this.#carried(told),
    });
  }

  get address(): string {
    return `${this.log}#${this.id}`;
  }

  policy(): Policy {
    return this.inbox.policies.policy(this.log.slice(0, this.log.indexOf('/')));
  }

  /** Tells that the conversation lives; written at most every 30 s. */
  async seen(update: Omit<PresenceUpdate, 'log' | 'conversation'> = {}): Promise<void> {
    const now = this.inbox.store.now();
    const nothingNew = Object.keys(update).length === 0;
    if (nothingNew && Math.abs(now - this.#touchedAt) < PRESENCE_EVERY_MS) return;
    this.#touchedAt = now;
    const presence = await this.inbox.store.touch({ ended: false, ...this.#presence(), ...update });
    this.#toldMark = presence.mark;
    this.#purpose = presence.purpose;
  }

  /** What it is for, as whoever carries to it was told; else as anyone who carries to it was. */
  async purpose(): Promise<string | undefined> {
    return this.options.purpose ?? (this.#purpose ??= (await this.presence())?.purpose);
  }

  /** Those that it may take, as they are told to it. */
  async #mine(items: readonly Item[]): Promise<readonly Item[]> {
    const purpose = items.some((item) => item.notification.purpose !== undefined) ? await this.purpose() : undefined;
    const mine = items.filter((item) => isFor(item, this.id, purpose));
    if (mine.every((item) => item.notification.needs === undefined)) return mine;
    const has = this.options.has ?? (await this.presence())?.has ?? [];
    return mine.map((item) => ({ ...item, notification: readBy(item.notification, has, this.nameOf) }));
  }

  /** By which name its model knows a tool of ours. */
  readonly nameOf = (tool: string): string => this.options.nameOf?.(tool) ?? tool;

  /**
   * Certain, without waiting, that there is nothing to carry and no gate: the answer to nearly every tool call. False says
   * nothing.
   */
  quiet(): boolean {
    if (this.inbox.unwritten) return false;
    return (
      Math.abs(this.inbox.store.now() - this.#touchedAt) < PRESENCE_EVERY_MS &&
      (this.inbox.store.quiet?.(this.log, this.id) ?? false)
    );
  }

  async ended(): Promise<void> {
    await this.seen({ ended: true });
    this.forgetSeen();
  }

  /** The next contact is written at once: somebody has said meanwhile that it is gone. */
  forgetSeen(): void {
    this.#touchedAt = Number.NEGATIVE_INFINITY;
  }

  presence(): Promise<Presence | undefined> {
    return this.inbox.store.presence({ log: this.log, conversation: this.id }).then((found) => found[0]);
  }

  /**
   * Appends records of our own transcript; the last `chat_request` or `tool_call_response` among them is the carrier.
   * What is due rides inside it.
   */
  async carry(records: Draft | readonly Draft[], options: CarryOptions): Promise<Carried> {
    const drafts: readonly Draft[] = Array.isArray(records) ? (records as readonly Draft[]) : [records as Draft];
    const own = drafts.map((draft): Draft => ({ ...draft, conversation: this.id }));
    const carrier = own.findLastIndex((draft) => draft.type === 'chat_request' || draft.type === 'tool_call_response');
    if (carrier < 0) throw new TypeError('carry needs a chat_request or a tool_call_response among the records');
    await this.seen(options.at === 'turn_start' ? { turnStarted: true } : {});
    await this.answered(options.at);
    for (let tries = 0; ; tries++) {
      const made = tries < TRIES ? await this.#compose(options, false) : undefined;
      const taken = made?.ids.flatMap((id) => made.items.filter((item) => item.id === id)) ?? [];
      const loaded = own.map((draft, i): Draft =>
        i === carrier && made?.view
          ? {
              ...(draft as ChatRequestRecord | ToolCallResponseRecord),
              notifications: taken.map((item) => ({
                ...recorded(item.notification),
                ...(item.count > 1 ? { count: item.count, firstAt: item.at } : {}),
              })),
              ...(made.summarizes.length > 0 ? { summarizes: made.summarizes } : {}),
              view: made.view,
            }
          : draft,
      );
      const appended = await this.inbox.store.append(this.log, [...(made?.closings ?? []), ...loaded]);
      if (appended.kind !== 'appended') continue;
      const content = contentOf(own[carrier] as Draft);
      if (made?.view === undefined) return { records: appended.records, text: content };
      await this.#carried(made.told);
      return { records: appended.records, view: made.view, text: `${content}\n\n${made.view.text}` };
    }
  }

  /** Appends records of our own transcript that carry nothing: answers, calls, results before the batch's last. */
  async record(drafts: readonly Draft[]): Promise<readonly Stored[]> {
    const appended = await this.inbox.store.append(
      this.log,
      drafts.map((draft): Draft => ({ ...draft, conversation: this.id })),
    );
    if (appended.kind !== 'appended') throw new TypeError(`records that carry nothing cannot be refused (${appended.kind})`);
    return appended.records;
  }

  /** Leases what is due to one carrier; undefined when nothing is, or when it does not fit. */
  async offer(options: OfferOptions): Promise<Offer | undefined> {
    await this.seen(options.at === 'turn_start' ? { turnStarted: true } : {});
    await this.answered(options.at);
    for (let tries = 0; tries < TRIES; tries++) {
      const made = await this.#compose(options, true);
      const size = (text: string): number => (options.inBytes ? Buffer.byteLength(text) : text.length);
      const fits = made.view !== undefined && size(made.view.text) <= (options.maxChars ?? Number.POSITIVE_INFINITY);
      if (made.view === undefined || !fits) {
        if (made.closings.length === 0) return undefined;
        if ((await this.inbox.store.append(this.log, made.closings)).kind === 'appended') return undefined;
        continue;
      }
      fault('offer.planned');
      const { at, on } = options;
      const record = leaseOf(this.#lessee, { at, on, view: made.view, ids: made.ids, summarizes: made.summarizes });
      const appended = await this.inbox.store.append(this.log, [...made.closings, record]);
      if (appended.kind !== 'appended') continue;
      fault('offer.appended');
      return offerOf(this.#lessee, record, { confirmed: () => this.#carried(made.told) });
    }
    return undefined;
  }

  /** For the views that only say that something waits: the fixed text of this moment. Takes nothing. */
  async signal(options: CarryOptions): Promise<{ readonly text: string; readonly waiting: boolean }> {
    await this.seen();
    const made = await this.#compose(options, true, true);
    const waiting = made.items.some((item) =>
      made.decisions.some((d) => d.id === item.id && d.kind !== 'close' && d.step !== 'moment' && d.step !== 'relevance'),
    );
    if (made.closings.length > 0) await this.inbox.store.append(this.log, made.closings);
    const format = this.#format() === 'signal_ja' ? 'signal_ja' : 'signal_en';
    const pulls = this.#pulls || undefined;
    // A refusal closes them as delivered, and has shown none of their messages.
    const gate = await this.gate();
    if (gate.length === 0) return { text: signalText(format, waiting, pulls), waiting };
    const unread = waiting || gate.some(({ read }) => !read);
    return { text: standingText(format, { waiting: unread, ...this.#gate.pausedBy(gate), pulls }), waiting: true };
  }

  /** The interrupts that hold the gate up; empty when it is down. */
  gate(): Promise<readonly Item[]> {
    return this.#gate.up();
  }

  /** The answer to a tool call while the gate is up; undefined when the tool may run. See `Gate`. */
  refuse(call: RefusedCall): Promise<Refusal | undefined> {
    return this.#gate.refuse(call);
  }

  /** The host proves that its model was asked with what was delivered before, so the gate of that falls. A pause holds. */
  async answered(at: ContactPoint): Promise<void> {
    if (at === 'turn_start' || at === 'tool_batch_end' || at === 'cycle_start') await this.#gate.answered(at);
  }

  /**
   * What `get_notifications` answers: open ones (claimed by a lease that also reads), what a budget summarized or cut, the
   * interrupts that hold the gate up, and withheld results. With `mark: false` nothing is claimed and nothing changes.
   */
  async pull(options: PullOptions): Promise<Pulled> {
    const render = await rendererOf(this.#format());
    await this.seen();
    return pull(
      {
        lessee: this.#lessee,
        compose: async () => {
          const made = await this.#compose({ at: 'tool_result' }, true, true);
          const kept = (step: Decision['step']): ReadonlySet<string> =>
            new Set(made.decisions.flatMap((d) => (d.kind === 'keep' && d.step === step ? [d.id] : [])));
          const [hidden, early] = [kept('relevance'), kept('moment')];
          // A pull is the moment for all that waits for one, except for a time.
          const isEarly = ({ id, notification: { deliver } }: Item): boolean =>
            early.has(id) && typeof deliver === 'object' && 'at' in deliver;
          const open = made.items.filter(
            (item) => item.state === 'open' && !made.closedIds.has(item.id) && !hidden.has(item.id) && !isEarly(item),
          );
          return { open, closings: made.closings };
        },
        gate: () => this.gate(),
        mine: (items) => this.#mine(items),
        carried: () => this.#carried(false),
        said: (item) => this.#saidAlone(item, render),
        reader: this.#reader,
        lift: this.#gate.lift,
      },
      options,
    );
  }

  /** Keeps a result that the model did not get, until it is pulled or its time is over. */
  async withhold(tool: string, body: string): Promise<void> {
    const { withheld, redact } = this.policy();
    const at = this.inbox.store.now();
    const clean = redactor(redact)(body);
    const cut =
      Buffer.byteLength(clean) <= withheld.maxBytes ? clean : Buffer.from(clean).subarray(0, withheld.maxBytes).toString('utf8');
    await this.inbox.store.withhold({
      log: this.log,
      conversation: this.id,
      id: this.inbox.ids.make('w'),
      at,
      until: at + withheld.keepMs,
      tool,
      body: cut,
    });
  }

  /** A dry run: what a carrier at this contact point would take now, and why. Nothing is written. */
  async preview(options: CarryOptions): Promise<{ readonly view?: SentView; readonly decisions: readonly Decision[] }> {
    const made = await this.#compose({ ...options, dry: true }, true);
    return { ...(made.view ? { view: made.view } : {}), decisions: made.decisions };
  }

  /** The same without the view: what would be taken, kept or closed now. */
  async decisions(options: CarryOptions): Promise<readonly Decision[]> {
    return (await this.#compose({ ...options, dry: true }, true, true)).decisions;
  }

  async #compose(options: Composing, leased: boolean, pulls = false): Promise<Composed> {
    const { store } = this.inbox;
    if (this.inbox.unwritten) await this.inbox.written();
    let all = await store.items(this.log, { kind: 'open', conversation: this.id });
    if (all.length === 0) return NOTHING;
    if (await releaseStale(this.inbox, this.log, all)) all = await store.items(this.log, { kind: 'open', conversation: this.id });
    const items = await this.#mine(all.filter((item) => item.state === 'open'));
    if (items.length === 0) return NOTHING;

    const policy = this.policy();
    const now = store.now();
    const facts = await this.#facts(items, options);
    const format = this.#format();
    // The signal only says that something waits: nothing is taken until it is pulled.
    const unseen = pulls || (leased && isSignal(format));
    const made = unseen
      ? plan(items, options.at, policy, facts, now)
      : await this.#plan(items, options.at, { policy, facts, now });
    const closings = closingsOf(made.decisions, this.id);
    const closedIds = new Set(closings.flatMap((closing) => closing.ids));
    const ids = made.lines.flatMap((line) => line.ids);
    const summarizes = made.rest?.ids ?? [];
    if (ids.length === 0 || unseen)
      return { items, ids: [], summarizes: [], closings, closedIds, decisions: made.decisions, told: false };
    const { view, told } = await this.#render(made, policy, format);
    return { items, ids, summarizes, closings, closedIds, decisions: made.decisions, view, told };
  }

  async #facts(items: readonly Item[], { dry = false, ...options }: Composing): Promise<Facts> {
    const waiting = items.filter(
      (item) => typeof item.notification.deliver === 'object' && 'afterTurns' in item.notification.deliver,
    );
    const turnsSince: Record<string, number> = {};
    if (waiting.length > 0) {
      for (const { id } of waiting) turnsSince[id] = 0;
      const first = waiting.reduce((least, { seq }) => Math.min(least, seq), Number.MAX_SAFE_INTEGER);
      for await (const { seq } of this.inbox.transcript(this, { types: ['turn_start'], after: first }))
        for (const item of waiting) if (item.seq < seq) turnsSince[item.id] = (turnsSince[item.id] ?? 0) + 1;
    }
    const mutes: readonly Mute[] = await this.inbox.mutes(this.log);
    const { known = {}, tools } = options;
    return {
      known,
      points: this.options.points ?? [],
      turnsSince,
      mutes,
      ...(await overtaken({ inbox: this.inbox, log: this.log, mine: (some) => this.#mine(some) }, items)),
      ...(tools === undefined ? {} : { tools }),
      ...(await this.#clockFacts(items, dry)),
    };
  }

  /** Asked only where an item's time has come, or seems to have. */
  async #clockFacts(items: readonly Item[], dry: boolean): Promise<Pick<Facts, 'clockAlone' | 'sighted'>> {
    const now = this.inbox.store.now();
    const { maxDeferMs } = this.policy();
    const timed = items.filter((item) => {
      const { deliver = 'next', expiresAt } = item.notification;
      if (typeof expiresAt === 'number' && queuedAt(item, now) === undefined) return true;
      if (deliver === 'next') return false;
      return typeof deliver === 'object' && 'at' in deliver
        ? isDue(deliver.at, item, { now })
        : waitedMs(item, { now }) >= maxDeferMs;
    });
    const sighted = timed.length === 0 ? {} : await sightings(this.inbox, this.log, timed, dry);
    const alone = items.some((item) => isExpired(item, now, sighted[item.id])) && !(await this.inbox.witnesses.agree());
    return { ...(alone ? { clockAlone: true as const } : {}), ...(Object.keys(sighted).length > 0 ? { sighted } : {}) };
  }

  #format(): ViewName {
    return this.options.view ?? this.policy().view;
  }

  get #pulls(): string | false {
    return this.options.pulls === true && this.nameOf(PULL);
  }

  /** One that is pulled before any frame has said it: its text is made without its template. */
  #saidAlone(item: Item, render: Render): string {
    const { maxItemChars, maxTokens } = this.policy();
    const { items } = render(this.#format(), {
      lines: [lineAlone(item)],
      rest: undefined,
      mark: '',
      tellMark: false,
      pulls: this.#pulls,
      maxItemChars,
      maxTokens,
      timeZone: this.inbox.timeZone,
    });
    return items[0]?.text ?? item.notification.message;
  }

  async #render(made: Plan, policy: Policy, format: ViewName): Promise<{ view: SentView; told: boolean }> {
    const mark = (this.#mark ??= await this.inbox.mark(this.log));
    const told = this.options.knownMark?.() === mark || this.#toldMark === mark || (await this.presence())?.mark === mark;
    const tellMark = !told;
    const { inbox } = this;
    const render = await rendererOf(format);
    const view = render(format, {
      lines: made.lines,
      rest: made.rest,
      mark,
      tellMark,
      pulls: this.#pulls,
      maxItemChars: policy.maxItemChars,
      maxTokens: policy.maxTokens,
      get timeZone() {
        return inbox.timeZone;
      },
    });
    return { view, told: tellMark };
  }

  /**
   * The plan by what templates really make of the lines: what it takes is rendered, and planned again with what came out,
   * until it takes nothing that it does not know. Each line is rendered once.
   */
  async #plan(
    items: readonly Item[],
    at: ContactPoint,
    { policy, facts, now }: { readonly policy: Policy; readonly facts: Facts; readonly now: number },
  ): Promise<Plan> {
    const said = new Map<string, Said>();
    for (let round = 1; ; round++) {
      const made = plan(items, at, policy, { ...facts, said, saidAll: round > ROUNDS }, now);
      const unsaid = this.inbox.lines === undefined ? [] : made.lines.filter((line) => isUnsaid(line));
      if (unsaid.length === 0) return made;
      const all = await Promise.all(unsaid.map(async (line) => [lineName(line), await this.#said(line)] as const));
      for (const [name, what] of all) said.set(name, what);
    }
  }

  /** What a template says is asked for at the first offer only: later ones copy it. */
  async #said(line: Line): Promise<Said> {
    const { lines: renderer, timeZone } = this.inbox;
    const rendered = await renderer?.render(line, { timeZone });
    if (rendered?.kind === 'text' && rendered.text.trim() !== '') return rendered;
    await this.#templateFailed(line, rendered?.kind === 'failed' ? rendered.reason : 'it says nothing');
    return { kind: 'failed' };
  }

  /** Once for each template: a loop must not grow the log without end. A log that cannot take it stops no delivery. */
  async #templateFailed({ ids, subscriber }: Line, reason: string): Promise<void> {
    const { id, template } = subscriber ?? {};
    if (template === undefined || this.#failedTemplates.has(template)) return;
    this.#failedTemplates.add(template);
    const record = { type: 'template_failed', conversation: this.id, subscriber: id, template, reason, ids };
    await this.inbox.store.append(this.log, [record]).catch(() => undefined);
  }

  /** The interrupts as its model reads them: none is left out, whatever the budget. */
  async #gateView(gate: readonly Item[]): Promise<{ readonly view: SentView; readonly told: boolean }> {
    const policy = { ...this.policy(), maxItems: gate.length, maxTokens: Number.POSITIVE_INFINITY };
    const lines = await this.#plan(
      gate.map((item) => ({ ...item, state: 'open' as const })),
      'forced',
      { policy, facts: NO_FACTS, now: this.inbox.store.now() },
    );
    return this.#render(lines, policy, this.#format());
  }

  get #lessee(): Lessee {
    const through = this.options.carrier === 'hook' ? ({ through: 'hook' } as const) : {};
    return { inbox: this.inbox, log: this.log, id: this.id, leaseMs: this.policy().leaseMs, ...through };
  }

  /** Who pulls, for `why`: the client, the way it takes, and the process. */
  get #reader(): string {
    const { host, hostVersion, carrier } = this.options;
    const client = [host ?? 'a client without a name', hostVersion].filter((part) => part !== undefined).join(' ');
    const words = `get_notifications by ${client}${carrier === undefined ? '' : `, ${carrier}`}, process ${this.inbox.owner.pid}`;
    return neutralize(words, 200).replace(/\s+/g, ' ');
  }

  /** When it last carried is written like the rest of presence: at most every 30 s, but for the first of all. */
  async #carried(told: boolean): Promise<void> {
    const now = this.inbox.store.now();
    if (!told && Math.abs(now - this.#carriedAt) < PRESENCE_EVERY_MS) return;
    this.#carriedAt = now;
    const presence = {
      ...this.#presence(),
      carried: true as const,
      ...(told ? { told: true as const, ...this.#explained() } : {}),
    };
    this.#toldMark = (await this.inbox.store.touch(presence)).mark;
  }

  #explained(): { readonly mark?: string } {
    return this.#mark === undefined ? {} : { mark: this.#mark };
  }

  #presence(): PresenceUpdate {
    const { purpose, host, hostVersion, process, shared, folder, carrier, pulls, has } = this.options;
    return {
      log: this.log,
      conversation: this.id,
      ...(purpose === undefined ? {} : { purpose }),
      ...(host === undefined ? {} : { host }),
      ...(hostVersion === undefined ? {} : { hostVersion }),
      ...(process === undefined ? {} : { process }),
      ...(shared === undefined ? {} : { shared }),
      ...(folder === undefined ? {} : { folder }),
      ...(carrier === undefined ? {} : { carrier }),
      ...(pulls === undefined ? {} : { pulls }),
      ...(has === undefined ? {} : { has }),
    };
  }
}

/** `dry`: nothing is written. */
type Composing = CarryOptions & { readonly dry?: boolean };

type Composed = {
  readonly items: readonly Item[];
  readonly ids: readonly NotificationId[];
  readonly summarizes: readonly NotificationId[];
  readonly closings: readonly ClosedRecord[];
  readonly closedIds: ReadonlySet<NotificationId>;
  readonly decisions: readonly Decision[];
  readonly view?: SentView;
  readonly told: boolean;
};

const NOTHING: Composed = { items: [], ids: [], summarizes: [], closings: [], closedIds: new Set(), decisions: [], told: false };

export const isSignal = (format: ViewName): boolean => format === 'signal_en' || format === 'signal_ja';

const contentOf = (draft: Draft): string =>
  draft.type === 'chat_request' || draft.type === 'tool_call_response' ? String((draft as { content: unknown }).content) : '';

/** One closing record for each outcome and reason. */
function closingsOf(decisions: readonly Decision[], conversation: ConversationId): ClosedRecord[] {
  const groups = new Map<string, { outcome: Outcome; reason: string; step: string; ids: NotificationId[] }>();
  for (const decision of decisions) {
    if (decision.kind !== 'close') continue;
    const key = `${decision.outcome} ${decision.reason}`;
    const group = groups.get(key);
    if (group) group.ids.push(decision.id);
    else groups.set(key, { outcome: decision.outcome, reason: decision.reason, step: decision.step, ids: [decision.id] });
  }
  return [...groups.values()].map(({ outcome, reason, step, ids }) => ({
    type: 'notification_closed',
    conversation,
    ids,
    outcome,
    by: step,
    reason,
  }));
}
