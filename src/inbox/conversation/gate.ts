/**
 * The gate of one conversation. An interrupt raises the gate when it is queued. While the gate is up, the host answers tool calls
 * with `refuse().text`, usually without running the tool.
 *
 * The gate of a critical notification or a cancel is lowered when the model has read the notification. The gate of a pause is
 * lowered when a person resumes the agent. The gate of any interrupt is lowered when the interrupt is withdrawn or expires.
 *
 * Each of the following events proves that the model has read an interrupt:
 *
 * - A confirmed answer of `get_notifications`.
 * - A model request after the delivery, reported by the host (`answered`).
 * - A call that begins at least `ASKED_AGAIN_MS` after the last refusal, at a host without a better proof (`Proof`). If the proof
 *   is the transcript, a delivery with a tool's result counts like a refusal.
 * - A call, if the transcript shows the interrupt in a message before the batch of the call (`readBefore`).
 *
 * The start of a call less than `ASKED_AGAIN_MS` after a refusal proves nothing. Claude Code, Codex and Qwen send the writing
 * calls of one batch one after the other. These calls are 10 to 35 ms apart, and more on a busy machine. Each of the first
 * `RENEWING_REFUSALS` refusals restarts the time. Later, only one refusal in 100 restarts the time, so that an agent in a loop
 * is not refused forever. At a host with a better proof (`Proof`), time alone proves nothing. The better proof may be missing,
 * for example because a hook is not installed. Then a call lowers the gate after a longer time: at least `UNPROVEN_MS` after
 * the first refusal and `ASKED_AGAIN_MS` after the last. The refusals of a signal view show no message. With such a view and
 * the tool `get_notifications`, only a call of this tool proves that the model has read the interrupt.
 *
 * A host that stops waiting for its hook drops the refusal and runs the call. The result of such a call proves that the model has
 * not read the interrupt (`ran`). The interrupt is then offered again, marked as repeated.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { isExpired } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import { fault } from '../../core/faults.ts';
import { filterOf } from '../../core/filter.ts';
import type { Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Store } from '../../core/ports.ts';
import {
  isType,
  type ContactPoint,
  type Draft,
  type GateRefusedRecord,
  type OfferedRecord,
  type SentView,
} from '../../core/records.ts';
import { gateText, pausedUntil } from '../../core/views/gate.ts';
import type { Context } from '../context.ts';
import { isSame } from '../presence/presence.ts';
import { mutesOf } from '../producing/mutes.ts';
import { dueFacts } from './facts.ts';
import { leaseOf, lesseeOf, offerOf, readRecords, statesOf, type Offer } from './lease.ts';
import { supersededOf } from './overtaken.ts';
import type { Parts } from './parts.ts';
import { readBefore } from './read-before.ts';
import { formatOf, isSignal, policyOf, pullName } from './recipient.ts';
import { releaseStale } from './stale.ts';

export type Refusal = {
  readonly text: string;
  readonly ids: readonly NotificationId[];
  readonly repeated: boolean;
  /** See `Offer`. */
  readonly states?: Offer['states'];
  readonly offer?: Offer;
};

export type RefusedCall = {
  /** The name of the called tool. */
  readonly on: string;
  /** When the call began, by the store's clock. Default: now. */
  readonly beganAt?: number;
  /** True if the tool has already run. The text then says that the result is withheld. */
  readonly made?: boolean;
  /** The host's id of the call. */
  readonly call?: string | undefined;
  /** The proof that this host gives. Default: only the time between calls. */
  readonly proof?: Proof | undefined;
  /**
   * The gate calls this function before it writes the refusal, because the write may take long or fail. The host may send the
   * returned text at once. If the function returns undefined, the tool call already ran or got another text. In that case, the
   * gate refuses and writes nothing.
   */
  readonly known?: (gate: KnownGate) => string | undefined;
  /**
   * The gate calls this function once before it composes the refusal, if an offer of this process holds an interrupt. If that
   * offer was too late for its carrier, the model has not seen the interrupt. The promise then resolves after the release of the
   * offer.
   */
  readonly landed?: (() => Promise<void>) | undefined;
};

/**
 * How a host proves that its model has read a refusal. `request`: the host reports each model request or the end of each batch.
 * `transcript`: the host's transcript file contains the refusal.
 */
export type Proof = 'request' | 'transcript';

/** The result of a call, as a hook reports it. */
export type CallResult = {
  /** The host's id of the call. */
  readonly call: string;
  /** Whether the model reads this text in the result. */
  readonly contains: (text: string) => boolean;
};

export type KnownGate = {
  readonly text: string;
  readonly ids: readonly NotificationId[];
  /** See `Offer`. */
  readonly states: Offer['states'];
  /** Whether a pause holds the gate up. Reading does not lower such a gate. */
  readonly paused: boolean;
};

/**
 * The time after a refusal, in ms, from which the beginning of a call proves a new model request. A model needs more time than
 * this to answer, and the calls of one batch follow each other in less time.
 */
export const ASKED_AGAIN_MS = 1_000;
/** Without the host's proof, a call lowers the gate this many ms after the first refusal and `ASKED_AGAIN_MS` after the last. */
export const UNPROVEN_MS = 60_000;
/** The number of refusals of an interrupt that each get a record and restart the time. */
export const RENEWING_REFUSALS = 100;
/** After `RENEWING_REFUSALS` refusals, the number of refusals that one record counts. */
const REFUSALS_A_RECORD = 100;
const TRIES = 8;

export class Gate {
  readonly #parts: Parts;
  /** The number of refusals that no record counts yet. */
  #unrecorded = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the interrupts that hold the gate up. The list is empty when the gate is down. */
  async up(): Promise<readonly Item[]> {
    const { context, log, id } = this.#parts.recipient;
    const items = await context.store.items(log, { kind: 'gate', conversation: id });
    if (items.length === 0) return items;
    const policy = policyOf(this.#parts.recipient);
    const now = context.store.now();
    const mutes = await mutesOf(context, log);
    const mine = await this.#parts.contact.mine(items);
    const superseded = await supersededOf(context, log, mine, {
      reader: async () => ({ id, purpose: await this.#parts.contact.purpose() }),
      facts: (newer) => dueFacts(this.#parts.recipient, newer, true),
      policy,
      now,
    });
    return mine.filter((item) => {
      if (isExpired(item, now) || superseded.has(item)) return false;
      if (item.takenBy !== undefined && item.takenBy !== id) return false;
      return filterOf(item.notification, policy, mutes, now) === undefined;
    });
  }

  /**
   * Returns the answer to a tool call while the gate is up. Undefined if no interrupt holds back this call, or if `known` returns
   * undefined. The first refusal offers the interrupts. Later refusals of the same interrupts repeat the text. If the interrupts
   * change at each of 8 attempts, the refusal shows no interrupt, and a later refusal offers them.
   */
  async refuse(call: RefusedCall): Promise<Refusal | undefined> {
    const { context, log, id } = this.#parts.recipient;
    const beganAt = call.beganAt ?? context.store.now();
    const made = call.made ?? false;
    const lessee = lesseeOf(this.#parts.recipient);
    let waited = false;
    for (let tries = 0; tries < TRIES; tries++) {
      const up = await this.up();
      if (up.length === 0) return undefined;
      if (await releaseStale(context, log, up)) continue;
      if (!waited && call.landed !== undefined && up.some((item) => isOwnOffer(item, context))) {
        waited = true;
        await call.landed();
        continue;
      }
      const past = await this.#past(up);
      const gate = up.filter((item) => !isBeingRead(item, past, beganAt));
      const again = (item: Item): string | undefined =>
        readBefore(item, past.offers) ?? askedAgain(item, past, { beganAt, proof: call.proof });
      const read = this.#onlyPulled ? [] : gate.filter((item) => again(item) !== undefined);
      if (read.length > 0) {
        const records = read.flatMap((item) => readRecords([item], id, `${again(item)}, calling ${call.on}`));
        await context.store.append(log, records);
        continue;
      }
      if (gate.length === 0) return undefined;

      const open = gate.filter((item) => item.state === 'open');
      // A new offer must mark repeated notifications. The text of an earlier refusal lacks these marks, and is therefore not
      // reused.
      const known = open.some((item) => item.offers > 0) ? undefined : earlierText(gate, past, made);
      const shown = known === undefined || open.length > 0 ? await this.#parts.frames.ofGate(gate) : undefined;
      const composed = known ?? (shown === undefined ? '' : this.#text(shown.view, gate, made));
      const ids = gate.map((item) => item.id);
      const paused = gate.some((item) => item.notification.action === 'pause');
      const states = statesOf(gate);
      const text = call.known === undefined ? composed : call.known({ text: composed, ids, states, paused });
      if (text === undefined) return undefined;
      const drafts: Draft[] = [];
      let lease: OfferedRecord | undefined;
      if (open.length > 0 && shown) {
        const items = shown.view.items.filter((item) => item.ids.some((each) => open.some((o) => o.id === each)));
        lease = leaseOf(lessee, {
          at: 'forced',
          on: call.on,
          view: { ...shown.view, items, text },
          ids: open.map((item) => item.id),
        });
        drafts.push(lease);
      }
      drafts.push(...this.#refused(gate, past, { ...call, made, text: known === undefined ? text : undefined }));
      if (drafts.length > 0 && (await context.store.append(log, drafts)).kind !== 'appended') continue;
      if (lease) fault('offer.appended');
      const on = { items: gate, contact: this.#parts.contact, explains: shown?.explains ?? false };
      return { text, ids, states, repeated: lease === undefined, ...(lease ? { offer: offerOf(lessee, lease, on) } : {}) };
    }
    const up = await this.up();
    if (up.length === 0) return undefined;
    // Without a record that these interrupts were shown to the model, the text must not show them.
    const text = this.#text({ format: formatOf(this.#parts.recipient), items: [], text: '' }, up, made);
    return { text, ids: up.map((item) => item.id), repeated: false };
  }

  /** Reopens the interrupts whose refusal the host dropped. The refused call ran, so its result does not contain the refusal. */
  async ran(results: readonly CallResult[]): Promise<void> {
    if (results.length === 0) return;
    const { context, log, id } = this.#parts.recipient;
    const up = (await this.up()).filter((item) => item.state === 'closed');
    if (up.length === 0) return;
    const past = await this.#past(up);
    const texts = past.refusals.flatMap(({ text }) => text ?? []);
    const ran = new Set(results.filter(({ contains }) => !texts.some(contains)).map(({ call }) => call));
    const dropped = up.filter((item) =>
      past.offers.some(({ body, seq }) => {
        if (body.carrier !== item.carrier || body.at_point !== 'forced') return false;
        return refusalsOf(item, past).some((refusal) => refusal.seq > seq && refusal.call !== undefined && ran.has(refusal.call));
      }),
    );
    const carriers = new Set(dropped.flatMap(({ carrier }) => carrier ?? []));
    if (carriers.size === 0) return;
    await context.store.append(
      log,
      [...carriers].map((carrier) => ({ type: 'carrier_released', conversation: id, carrier, reason: 'unproven' }) as const),
    );
  }

  /**
   * Records that a model request contained everything that was delivered before. The interrupts among these notifications count
   * as read, except pauses. Does nothing if only `get_notifications` proves a reading.
   */
  async answered(at: ContactPoint): Promise<void> {
    if (this.#onlyPulled) return;
    const { context, log, id } = this.#parts.recipient;
    const seen = (await this.up()).filter((item) => item.state === 'closed' && item.notification.action !== 'pause');
    if (seen.length > 0) await context.store.append(log, readRecords(seen, id, at));
  }

  /**
   * Whether only `get_notifications` proves that the model has read a message, because the conversation's view shows no messages.
   */
  get #onlyPulled(): boolean {
    return isSignal(formatOf(this.#parts.recipient)) && pullName(this.#parts.recipient) !== false;
  }

  /** The command with which a person lifts a pause of this conversation. */
  get lift(): string {
    return liftOf(this.#parts.recipient.context.store, this.#parts.recipient);
  }

  /** Returns how the pauses among these interrupts end: the command that lifts them, and when they expire. */
  pausedBy(gate: readonly Item[]): { readonly lift: string | undefined; readonly until: string | undefined } {
    const pauses = gate.filter((item) => item.notification.action === 'pause');
    return {
      lift: pauses.length === 0 ? undefined : this.lift,
      until: pausedUntil(pauses, this.#parts.recipient.context.store.now()),
    };
  }

  #text(view: SentView, gate: readonly Item[], made: boolean): string {
    return gateText(view.format, { view, pulls: pullName(this.#parts.recipient), ...this.pausedBy(gate), made });
  }

  /**
   * Returns the record of this refusal, or an empty list. After the first 100 refusals, one record counts up to 100 refusals, so
   * that an agent in a loop does not fill the log.
   */
  #refused(
    gate: readonly Item[],
    past: Past,
    { on, call, made, text }: Pick<RefusedCall, 'on' | 'call'> & { made: boolean; text: string | undefined },
  ): Draft[] {
    const { context, id } = this.#parts.recipient;
    const most = gate.reduce((sofar, item) => Math.max(sofar, refusalsOf(item, past).length), 0);
    this.#unrecorded += 1;
    if (most >= RENEWING_REFUSALS && this.#unrecorded < REFUSALS_A_RECORD && text === undefined) return [];
    const times = this.#unrecorded;
    this.#unrecorded = 0;
    const held = gate.filter((item) => item.state === 'offered').map((item) => item.id);
    return [
      {
        type: 'gate_refused',
        conversation: id,
        ids: gate.map((item) => item.id),
        on,
        clockAt: context.store.now(),
        ...(times > 1 ? { times } : {}),
        ...(made ? { made } : {}),
        ...(held.length > 0 ? { shows: held } : {}),
        ...defined({ call, text }),
      },
    ];
  }

  /** Returns the refusals and the offers of these interrupts in this conversation, oldest first. */
  async #past(gate: readonly Item[]): Promise<Past> {
    const { context, log, id } = this.#parts.recipient;
    const seqs = [...new Set(gate.flatMap((item) => item.history))];
    const records = await context.store.read({ log, seqs, types: ['gate_refused', 'carrier_offered'], conversation: id });
    return {
      refusals: records.flatMap(({ seq, at, body }) => (isType(body, 'gate_refused') ? [{ ...refusedIn(body, at), seq }] : [])),
      offers: records.flatMap(({ seq, body }) => (isType(body, 'carrier_offered') ? [{ seq, body }] : [])),
    };
  }
}

const isOwnOffer = ({ state, owner }: Item, context: Context): boolean => state === 'offered' && isSame(owner, context.owner);

/** The command that lifts the pauses of a conversation. Empty if no other process can open the store. */
export const liftOf = (
  store: Pick<Store, 'private'>,
  { log, id }: { readonly log: LogKey; readonly id: ConversationId },
): string => (store.private ? '' : `earpiece resume ${id === 'main' ? log : `${log}#${id}`}`);

type Refused = GateRefusedRecord & { readonly clockAt: number; readonly seq: number };
/** Drops the text of a refusal from before 0.1.0. Such a text wrongly says that reading lifts a pause. */
const refusedIn = ({ text, ...body }: GateRefusedRecord, at: number): Omit<Refused, 'seq'> => ({
  ...body,
  clockAt: body.clockAt ?? at,
  ...(text === undefined || body.clockAt === undefined ? {} : { text }),
});
type Past = {
  readonly refusals: readonly Refused[];
  readonly offers: readonly { readonly seq: number; readonly body: OfferedRecord }[];
};

const refusalsOf = (item: Item, { refusals }: Past): readonly Refused[] => refusals.filter(({ ids }) => ids.includes(item.id));

/**
 * Describes the proof that the agent has read the interrupt: the agent began another call long enough after a refusal. Undefined
 * if there is no such call.
 */
function askedAgain(
  item: Item,
  past: Past,
  { beganAt, proof }: { readonly beganAt: number; readonly proof: Proof | undefined },
): string | undefined {
  if (item.notification.action === 'pause' || item.state !== 'closed') return undefined;
  // A refusal before the last offer proves nothing. The interrupt was offered again because the model had not read that refusal.
  const offered = past.offers.findLast(({ body }) => body.carrier === item.carrier)?.seq ?? 0;
  // The refusals are sorted by time, because an early refusal is recorded only when the store answers, possibly after a newer
  // refusal.
  const refusals = refusalsOf(item, past)
    .filter(({ seq }) => seq > offered)
    .toSorted((a, b) => a.clockAt - b.clockAt);
  const [first, last] = [refusals[0], refusals.at(-1)];
  if (first === undefined && proof === 'transcript' && item.observed) {
    const waited = beganAt - (item.closedAt ?? beganAt);
    return waited < ASKED_AGAIN_MS ? undefined : `asked again ${seconds(waited)} after a tool's result that shows the interrupt`;
  }
  if (first === undefined || last === undefined || beganAt - last.clockAt < ASKED_AGAIN_MS) return undefined;
  const isProven = proof === undefined || (proof === 'transcript' && item.observed);
  if (!isProven && beganAt - first.clockAt < UNPROVEN_MS) return undefined;
  const count = refusals.reduce((sum, { times = 1 }) => sum + times, 0);
  return `asked again ${seconds(beganAt - last.clockAt)} after the last of ${count} refusal${count === 1 ? '' : 's'}`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/**
 * Whether an unconfirmed answer of `get_notifications` shows the interrupt, and was made long enough before the call began.
 * Without this check, the second of a client's two gateways would refuse a call because of an interrupt that the first gateway
 * has just shown.
 */
const isBeingRead = (item: Item, { offers }: Past, beganAt: number): boolean =>
  item.notification.action !== 'pause' &&
  item.state === 'offered' &&
  offers.some(
    ({ body: { reads, carrier, clockAt } }) =>
      reads && carrier === item.carrier && clockAt !== undefined && beganAt - clockAt >= ASKED_AGAIN_MS,
  );

/** Returns the text that an earlier call got for the same interrupts, if there was such a call. `made`: see `RefusedCall`. */
function earlierText(gate: readonly Item[], { refusals }: Past, made: boolean): string | undefined {
  const keyOf = (ids: readonly NotificationId[]): string => ids.toSorted().join(' ');
  const key = keyOf(gate.map((item) => item.id));
  return refusals.findLast((each) => each.text !== undefined && (each.made ?? false) === made && keyOf(each.ids) === key)?.text;
}
