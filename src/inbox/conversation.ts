/**
 * One conversation, for whoever carries to it. Two ways to close a notification:
 *
 * - `carry`: the transcript is ours. The notifications are written inside the record that goes to the model, in one append
 *   with their closing: exactly once.
 * - `offer` → `confirm` | `release`: another program owns the transcript. The offer is a lease; whoever dies in between
 *   lets go, and the next offer is the same text, flagged as repeated.
 */
import type { ConversationId, LogKey } from '../core/address.ts';
import { filteredBecause, type Mute } from '../core/filter.ts';
import { fault } from '../core/faults.ts';
import { isFor, type Item } from '../core/items.ts';
import { isUnsaid, NO_FACTS, plan, type Facts } from '../core/make-plan.ts';
import { readBy, type NotificationId } from '../core/notification.ts';
import { lineName, type Decision, type Line, type Plan, type Said } from '../core/plan.ts';
import type { Policy } from '../core/policy.ts';
import type { Presence, PresenceUpdate, Withheld } from '../core/ports.ts';
import {
  isType,
  recorded,
  type CarrierId,
  type ChatRequestRecord,
  type ClosedRecord,
  type ContactPoint,
  type Draft,
  type Outcome,
  type OfferedRecord,
  type ReleasedRecord,
  type SentView,
  type Stored,
  type ToolCallResponseRecord,
  type ViewName,
} from '../core/records.ts';
import { gateText, render, signalText, tellsOfWhole } from '../core/views/index.ts';
import { markOf } from './ids.ts';
import type { Inbox } from './inbox.ts';
import { pulled, type Pulled } from './pulled.ts';
import { redactor } from './redact.ts';
import { releaseStale } from './sweep.ts';

export type ConversationOptions = {
  readonly purpose?: string;
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: PresenceUpdate['process'];
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

export type Offer = {
  readonly carrier: CarrierId;
  readonly view: SentView;
  readonly ids: readonly NotificationId[];
  /** The bytes are out. `late`: the lease was lost before; recorded, never a second close. */
  confirm(): Promise<'confirmed' | 'late'>;
  release(reason: ReleasedRecord['reason']): Promise<void>;
};

export type OfferOptions = CarryOptions & {
  /** What carries: the tool's name, the hook's event. */
  readonly on?: string;
  /** Room for the view, in characters; a view that needs more is not offered. */
  readonly maxChars?: number;
};

export type Refusal = {
  readonly text: string;
  readonly ids: readonly NotificationId[];
  readonly repeated: boolean;
  readonly offer?: Offer;
};

const PRESENCE_EVERY_MS = 30_000;
const PULL = 'get_notifications';
const TRIES = 8;
/** So often lines are rendered for one plan; what would still be new to it then waits, or is summarized. */
const ROUNDS = 4;
/** Refusals of one gate that are recorded one by one; a loop must not grow the log without end. */
const RECORDED_REFUSALS = 100;

export class Conversation {
  readonly inbox: Inbox;
  readonly log: LogKey;
  readonly id: ConversationId;
  readonly options: ConversationOptions;
  #touchedAt = Number.NEGATIVE_INFINITY;
  #carriedAt = Number.NEGATIVE_INFINITY;
  #told = false;
  #purpose: string | undefined;
  #mark: string | undefined;
  readonly #failedTemplates = new Set<string>();

  constructor(inbox: Inbox, log: LogKey, id: ConversationId, options: ConversationOptions = {}) {
    this.inbox = inbox;
    this.log = log;
    this.id = id;
    this.options = options;
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
    if (nothingNew && now - this.#touchedAt < PRESENCE_EVERY_MS) return;
    this.#touchedAt = now;
    const presence = await this.inbox.store.touch({ ...this.#presence(), ...update });
    this.#told = presence.told;
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
    return this.inbox.store.now() - this.#touchedAt < PRESENCE_EVERY_MS && (this.inbox.store.quiet?.(this.log, this.id) ?? false);
  }

  async ended(): Promise<void> {
    await this.seen({ ended: true });
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
    for (let tries = 0; tries < TRIES; tries++) {
      const made = await this.#compose(options, true);
      const fits = made.view !== undefined && made.view.text.length <= (options.maxChars ?? Number.POSITIVE_INFINITY);
      if (made.view === undefined || !fits) {
        if (made.closings.length === 0) return undefined;
        if ((await this.inbox.store.append(this.log, made.closings)).kind === 'appended') return undefined;
        continue;
      }
      fault('offer.planned');
      const record = this.#lease(options, made.view, made.ids, made.summarizes);
      const appended = await this.inbox.store.append(this.log, [...made.closings, record]);
      if (appended.kind !== 'appended') continue;
      fault('offer.appended');
      return this.#offered(record, [], made.told);
    }
    return undefined;
  }

  /** For the views that only say that something waits: the fixed text of this moment. Takes nothing. */
  async signal(options: CarryOptions): Promise<{ readonly text: string; readonly waiting: boolean }> {
    await this.seen();
    const made = await this.#compose(options, true, true);
    const waiting = made.items.some((item) =>
      made.decisions.some((d) => d.id === item.id && d.kind !== 'close' && d.step !== 'moment'),
    );
    if (made.closings.length > 0) await this.inbox.store.append(this.log, made.closings);
    const format = this.options.view ?? this.policy().view;
    return { text: signalText(format === 'signal_ja' ? 'signal_ja' : 'signal_en', waiting, this.#pulls || undefined), waiting };
  }

  /** The interrupts that hold the gate up; empty when it is down. */
  async gate(): Promise<readonly Item[]> {
    const policy = this.policy();
    const now = this.inbox.store.now();
    const items = await this.inbox.store.items(this.log, { kind: 'gate', conversation: this.id });
    if (items.length === 0) return items;
    const mutes = await this.inbox.mutes(this.log);
    return (await this.#mine(items)).filter((item) => {
      const { expiresAt } = item.notification;
      if (typeof expiresAt === 'number' && expiresAt <= now) return false;
      if (item.takenBy !== undefined && item.takenBy !== this.id) return false;
      return filteredBecause(item.notification, policy, mutes, now) === undefined;
    });
  }

  /**
   * The answer to a tool call while the gate is up; undefined when it is down. The first refusal delivers the interrupts,
   * the others repeat the same text.
   */
  async refuse(call: { readonly on: string }): Promise<Refusal | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      const gate = await this.gate();
      if (gate.length === 0) return undefined;
      if (await releaseStale(this.inbox, this.log, gate)) continue;
      const ids = gate.map((item) => item.id);
      const known = await this.#refusalBefore(gate);
      const open = gate.filter((item) => item.state === 'open');
      const view = known === undefined || open.length > 0 ? await this.#gateView(gate) : undefined;
      const text = known?.text ?? view?.text ?? '';
      const drafts: Draft[] = [];
      let lease: OfferedRecord | undefined;
      if (open.length > 0 && view) {
        const items = view.items.filter((item) => item.ids.some((id) => open.some((o) => o.id === id)));
        lease = this.#lease(
          { at: 'forced', on: call.on },
          { ...view, items, text },
          open.map((item) => item.id),
          [],
        );
        drafts.push(lease);
      }
      const recorded = Math.max(...gate.map((item) => item.history.length)) < RECORDED_REFUSALS;
      if (recorded) drafts.push({ type: 'gate_refused', conversation: this.id, ids, on: call.on, ...(known ? {} : { text }) });
      if (drafts.length > 0 && (await this.inbox.store.append(this.log, drafts)).kind !== 'appended') continue;
      if (lease) fault('offer.appended');
      return { text, ids, repeated: lease === undefined, ...(lease ? { offer: this.#offered(lease, [], true) } : {}) };
    }
    return undefined;
  }

  /**
   * What `get_notifications` answers: open ones (claimed by a lease that also reads), what a budget summarized or cut, the
   * interrupts that hold the gate up, and withheld results. With `mark: false` nothing is claimed and nothing changes.
   */
  async pull(options: { readonly mark: boolean; readonly limit?: number }): Promise<Pulled> {
    await this.seen();
    for (let tries = 0; ; tries++) {
      const made = await this.#compose({ at: 'tool_result' }, true, true);
      const gate = await this.gate();
      const taken = await this.inbox.store.items(this.log, { kind: 'unread', conversation: this.id });
      const unread = (await this.#mine(taken)).filter((item) => !item.read && isToldInPart(item));
      const open = made.items.filter((item) => item.state === 'open' && !made.closedIds.has(item.id));
      const all = [...new Map([...open, ...gate, ...unread].map((item) => [item.id, item] as const)).values()].toSorted(
        (a, b) => b.seq - a.seq,
      );
      const shown = all.slice(0, options.limit ?? 50);
      const withheld: readonly Withheld[] = await this.inbox.store.withheld(this.log, this.id);
      const answer = (offer: Offer | undefined): Pulled => pulled(shown, all.length - shown.length, withheld, offer);
      if (!options.mark || shown.length === 0) {
        if (options.mark && withheld.length > 0) await this.inbox.store.withheld(this.log, this.id, { take: true });
        return answer(undefined);
      }

      const claims = shown.filter((item) => item.state === 'open');
      const record: OfferedRecord = {
        ...this.#lease(
          { at: 'tool_result', on: 'get_notifications' },
          {
            format: 'json',
            items: claims.map((item) => ({ ids: [item.id], text: item.text ?? item.notification.message })),
            text: '',
          },
          claims.map((item) => item.id),
          [],
        ),
        reads: true,
      };
      const drafts: Draft[] = [...made.closings, ...(claims.length > 0 ? [record] : [])];
      if (drafts.length > 0 && (await this.inbox.store.append(this.log, drafts)).kind !== 'appended' && tries < TRIES) continue;
      fault('offer.appended');
      return answer(
        this.#offered(
          record,
          shown.map((item) => item.id),
          false,
          withheld.length > 0,
        ),
      );
    }
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
    const made = await this.#compose(options, true);
    return { ...(made.view ? { view: made.view } : {}), decisions: made.decisions };
  }

  /** The same without the view: what would be taken, kept or closed now. */
  async decisions(options: CarryOptions): Promise<readonly Decision[]> {
    return (await this.#compose(options, true, true)).decisions;
  }

  /** The host has no `get_notifications`, and its model has answered the refusal: the gate that it saw falls. */
  async answered(at: ContactPoint): Promise<void> {
    if (this.options.pulls || (at !== 'turn_start' && at !== 'tool_batch_end')) return;
    const seen = (await this.gate()).filter((item) => item.state === 'closed');
    if (seen.length > 0)
      await this.inbox.markRead(
        this.log,
        seen.map((item) => item.id),
        at,
      );
  }

  async #compose(options: CarryOptions, leased: boolean, pulls = false): Promise<Composed> {
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
    const format = this.options.view ?? policy.view;
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

  async #facts(items: readonly Item[], options: CarryOptions): Promise<Facts> {
    const waiting = items.filter(
      (item) => typeof item.notification.deliver === 'object' && 'afterTurns' in item.notification.deliver,
    );
    const turnsSince: Record<string, number> = {};
    if (waiting.length > 0) {
      for (const { id } of waiting) turnsSince[id] = 0;
      const first = Math.min(...waiting.map(({ seq }) => seq));
      for await (const { seq } of this.inbox.transcript(this, { types: ['turn_start'], after: first }))
        for (const item of waiting) if (item.seq < seq) turnsSince[item.id] = (turnsSince[item.id] ?? 0) + 1;
    }
    const mutes: readonly Mute[] = await this.inbox.mutes(this.log);
    const { known = {}, tools } = options;
    return { known, points: this.options.points ?? [], turnsSince, mutes, ...(tools === undefined ? {} : { tools }) };
  }

  get #pulls(): string | false {
    return this.options.pulls === true && this.nameOf(PULL);
  }

  async #render(made: Plan, policy: Policy, format: ViewName): Promise<{ view: SentView; told: boolean }> {
    const tellMark = !this.#told && !(await this.presence())?.told;
    const view = render(format, {
      lines: made.lines,
      rest: made.rest,
      mark: await this.#markText(),
      tellMark,
      pulls: this.#pulls,
      maxItemChars: policy.maxItemChars,
      maxTokens: policy.maxTokens,
      timeZone: this.inbox.timeZone,
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

  async #gateView(gate: readonly Item[]): Promise<SentView> {
    const policy = { ...this.policy(), maxItems: gate.length, maxTokens: Number.POSITIVE_INFINITY };
    const format = this.options.view ?? policy.view;
    const lines = await this.#plan(
      gate.map((item) => ({ ...item, state: 'open' as const })),
      'forced',
      { policy, facts: NO_FACTS, now: this.inbox.store.now() },
    );
    const { view } = await this.#render(lines, policy, format);
    return { ...view, text: gateText(format, { view, pulls: this.#pulls }) };
  }

  /** The text that this same set of interrupts was refused with before, if it was. */
  async #refusalBefore(gate: readonly Item[]): Promise<{ text: string } | undefined> {
    const seqs = [...new Set(gate.flatMap((item) => item.history))];
    const key = gate
      .map((item) => item.id)
      .toSorted()
      .join(' ');
    const refusals = await this.inbox.store.read({ log: this.log, seqs, types: ['gate_refused'], conversation: this.id });
    for (const { body } of refusals) {
      if (isType(body, 'gate_refused') && body.text !== undefined && body.ids.toSorted().join(' ') === key)
        return { text: body.text };
    }
    return undefined;
  }

  #lease(
    options: OfferOptions,
    view: SentView,
    ids: readonly NotificationId[],
    summarizes: readonly NotificationId[],
  ): OfferedRecord {
    return {
      type: 'carrier_offered',
      conversation: this.id,
      carrier: this.inbox.ids.make('c') as CarrierId,
      at_point: options.at,
      ids,
      ...(summarizes.length > 0 ? { summarizes } : {}),
      owner: this.inbox.owner,
      until: this.inbox.store.now() + this.policy().leaseMs,
      view,
      ...(options.on === undefined ? {} : { on: options.on }),
    };
  }

  #offered(record: OfferedRecord, alsoRead: readonly NotificationId[], told: boolean, takesWithheld = false): Offer {
    const { inbox, log, id } = this;
    const { carrier } = record;
    let done: 'confirmed' | 'released' | undefined;
    return {
      carrier,
      view: record.view,
      ids: record.ids,
      confirm: async () => {
        fault('confirm.before');
        if (done !== undefined) return done === 'confirmed' ? 'confirmed' : 'late';
        done = 'confirmed';
        const held = record.ids.length === 0 ? [] : await inbox.store.items(log, { kind: 'carrier', carrier });
        const late = record.ids.length > 0 && !held.some((item) => item.state === 'offered');
        const drafts: Draft[] = [
          ...(record.ids.length > 0
            ? [{ type: 'carrier_confirmed' as const, conversation: id, carrier, ...(late ? { late: true as const } : {}) }]
            : []),
          ...(alsoRead.length > 0
            ? [{ type: 'notification_read' as const, conversation: id, ids: alsoRead, by: 'get_notifications' }]
            : []),
        ];
        if (drafts.length > 0) await inbox.store.append(log, drafts);
        if (takesWithheld) await inbox.store.withheld(log, id, { take: true });
        fault('confirm.after');
        await this.#carried(told);
        return late ? 'late' : 'confirmed';
      },
      release: async (reason) => {
        fault('release.before');
        if (done !== undefined) return;
        done = 'released';
        if (record.ids.length > 0)
          await inbox.store.append(log, [{ type: 'carrier_released', conversation: id, carrier, reason }]);
      },
    };
  }

  /** When it last carried is written like the rest of presence: at most every 30 s, but for the first of all. */
  async #carried(told: boolean): Promise<void> {
    const now = this.inbox.store.now();
    if (!told && now - this.#carriedAt < PRESENCE_EVERY_MS) return;
    this.#carriedAt = now;
    await this.seen({ carried: true, ...(told ? { told: true as const } : {}) });
  }

  async #markText(): Promise<string> {
    if (this.#mark !== undefined) return this.#mark;
    // A fork's model knows the mark of the conversation that it remembers.
    const [first] = await this.inbox.lineage(this);
    return (this.#mark = markOf(await this.inbox.store.secret(), this.log, first?.conversation ?? this.id));
  }

  #presence(): PresenceUpdate {
    const { purpose, host, hostVersion, process, carrier, pulls, has } = this.options;
    return {
      log: this.log,
      conversation: this.id,
      ...(purpose === undefined ? {} : { purpose }),
      ...(host === undefined ? {} : { host }),
      ...(hostVersion === undefined ? {} : { hostVersion }),
      ...(process === undefined ? {} : { process }),
      ...(carrier === undefined ? {} : { carrier }),
      ...(pulls === undefined ? {} : { pulls }),
      ...(has === undefined ? {} : { has }),
    };
  }
}

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

/** Of what was delivered the model may fetch more: it was counted in a sum, or its text was cut. */
const isToldInPart = ({ outcome, text = '' }: Item): boolean =>
  outcome === 'summarized' || (outcome === 'delivered' && tellsOfWhole(text));

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
