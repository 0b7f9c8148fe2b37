/** Gathers the facts for `verdictOf`: the conversations, the filters, the gates, and the item's records. */
import { splitLog, type ConversationId, type LogKey } from '../../core/address.ts';
import { causeIn, reasonIn, type EndCause } from '../../core/cause.ts';
import { sayReason } from '../../core/verdict/reason.ts';
import { endOf, isExpired } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import { filterOf } from '../../core/filter.ts';
import { ANYONE, type Item } from '../../core/items.ts';
import type { Presence } from '../../core/ports.ts';
import { isByAgent, isType, type Owner, type Stored } from '../../core/records.ts';
import type { Absence, KnownConversation, RodeOn, VerdictFacts } from '../../core/verdict/facts.ts';
import type { Context } from '../context.ts';
import { gatesOf } from '../conversation/gates.ts';
import { mutesOf } from '../producing/mutes.ts';
import { overBecause, wasConversation } from '../presence/presence.ts';
import { EXPIRY } from '../housekeeping/sweep.ts';

/** Returns whether the reader may see an item or a conversation. Not every reader may see all conversations of the agent. */
export type Reader = {
  readonly item: (item: Item) => boolean;
  readonly conversation: (conversation: ConversationId) => boolean;
};

const ALL: Reader = { item: () => true, conversation: () => true };

type Story = {
  readonly item: Item;
  /** The records about the item, oldest first. */
  readonly records: readonly Stored[];
  readonly decisions: VerdictFacts['decisions'];
};

export async function factsOf(
  context: Context,
  log: LogKey,
  { item, records, decisions }: Story,
  reader: Reader = ALL,
): Promise<VerdictFacts> {
  const { project } = splitLog(log);
  const policy = context.policies.policy(project);
  const now = context.store.now();
  const mutes = await mutesOf(context, log);
  const withFile = <C extends EndCause | undefined>(cause: C): C => {
    const origin = cause?.kind === 'setting' ? context.policies.decidedBy?.(project, cause.key) : undefined;
    return origin === undefined ? cause : { ...cause, ...origin };
  };
  const gates = (await gatesOf(context, log)).filter((gate) => reader.item(gate));
  const known = (await context.store.presence({ log })).filter(
    (presence) =>
      (item.audience === ANYONE || presence.conversation === item.audience) &&
      reader.conversation(presence.conversation) &&
      wasConversation(context, presence),
  );
  const closed = records.findLast(({ body }) => isType(body, 'notification_closed') || isType(body, 'carrier_redacted'));
  const reads = records.flatMap(({ body }) => (isType(body, 'notification_read') ? [body] : []));
  const read = reads.findLast(isByAgent) ?? reads.at(-1);
  const wrongClock = await hiddenBy(context, item, known, now);
  return {
    log,
    item,
    now,
    ...defined({ wrongClock }),
    ...gateExpired(item, records, { now, ownIsWrong: wrongClock?.own === true }),
    conversations: await Promise.all(known.map((presence) => knownOf(context, presence, { now, reader }))),
    decisions,
    filter: withFile(filterOf(item.notification, policy, mutes, now)),
    gates,
    refusals: refusalsIn(records, false),
    withheld: refusalsIn(records, true),
    rodeOn: await rodeOn(context, item, records),
    readBy: read?.by ?? null,
    markedRead: read !== undefined && !isByAgent(read),
    closed: closed === undefined ? null : closedBy(closed, withFile),
  };
}

/**
 * Returns the time at which a delivered interrupt expired, if it held its gate up until then. Undefined if this process's clock
 * is known to be wrong.
 */
function gateExpired(
  item: Item,
  records: readonly Stored[],
  { now, ownIsWrong }: { readonly now: number; readonly ownIsWrong: boolean },
): Pick<VerdictFacts, 'gateExpired'> {
  if (item.state !== 'closed' || ownIsWrong || !isExpired(item, now)) return {};
  const lowered = records.some(({ body }) => isType(body, 'gate_lifted') && body.by === EXPIRY);
  const at = item.gate || lowered ? endOf(item, now) : undefined;
  return at === undefined ? {} : { gateExpired: at };
}

/** Returns how many calls the gate refused. With `made`, returns how many results the gate withheld. */
const refusalsIn = (records: readonly Stored[], made: boolean): number =>
  records.reduce(
    (sum, { body }) => (isType(body, 'gate_refused') && (body.made ?? false) === made ? sum + (body.times ?? 1) : sum),
    0,
  );

function closedBy({ at, body }: Stored, withFile: (cause: EndCause | undefined) => EndCause | undefined): VerdictFacts['closed'] {
  if (isType(body, 'carrier_redacted')) return { at, by: 'provider', reason: body.reason };
  if (!isType(body, 'notification_closed')) return null;
  return {
    at,
    by: body.by,
    reason: body.outcome === 'withdrawn' ? reasonIn(body) : sayReason(body),
    ...defined({ cause: withFile(causeIn(body)) }),
  };
}

async function knownOf(
  context: Context,
  presence: Presence,
  { now, reader }: { readonly now: number; readonly reader: Reader },
): Promise<KnownConversation> {
  const heir = presence.passedTo?.conversation;
  const carriers = Object.keys(presence.carriers);
  return {
    conversation: presence.conversation,
    host: presence.host ?? null,
    purpose: presence.purpose ?? null,
    lastContactAt: presence.seenAt,
    absence: absenceOf(context, presence, now),
    wrappedOnly: carriers.length > 0 && carriers.every((carrier) => carrier.startsWith('gateway')),
    ...((await isTerminalUnknown(context, presence)) ? { terminalUnknown: true } : {}),
    ...(heir === undefined || !reader.conversation(heir) ? {} : { passedTo: heir }),
  };
}

/**
 * Whether this is a session of Codex's shared server whose terminal is unknown. A session with a known terminal is bound to the
 * process of that terminal.
 */
async function isTerminalUnknown({ store }: Context, presence: Presence): Promise<boolean> {
  const { log, conversation, host, shared, process, carriers } = presence;
  if (host !== 'codex' || !shared || process === undefined || carriers['hook'] === undefined) return false;
  const bound = await store.binding(process);
  return bound?.log !== log || bound.conversation !== conversation;
}

function absenceOf(context: Context, presence: Presence, now: number): Absence | null {
  const why = overBecause(context, presence, now);
  return why === 'died' ? 'process_gone' : (why ?? null);
}

/** The maximum number of calls before a tool result that are searched for the call with this result. */
const CALLS = 200;

/**
 * Returns the last carrier that took the notification. An answer of `get_notifications` that only shows the notification again
 * does not count.
 */
async function rodeOn(context: Context, { id }: Item, records: readonly Stored[]): Promise<RodeOn | null> {
  const carrier = records.findLast(({ body }) =>
    isType(body, 'carrier_offered')
      ? body.ids.includes(id) || body.summarizes?.includes(id)
      : isType(body, 'tool_call_response') || isType(body, 'chat_request'),
  );
  if (carrier === undefined) return null;
  const { body, log, seq } = carrier;
  if (isType(body, 'carrier_offered')) {
    // A refusal is appended together with its offer.
    const refusal = records.find((record) => record.seq > seq && isType(record.body, 'gate_refused'))?.body;
    const made = body.at_point === 'forced' && refusal !== undefined && isType(refusal, 'gate_refused') && refusal.made;
    return { point: body.at_point, name: body.on ?? null, ...(made ? { made } : {}) };
  }
  if (isType(body, 'chat_request')) return { point: body.source === 'system' ? 'forced' : 'turn_start', name: null };
  if (!isType(body, 'tool_call_response')) return null;
  const calls = await context.store.read({ log, types: ['tool_call_request'], upTo: seq, newestFirst: true, limit: CALLS });
  const call = calls.find((each) => isType(each.body, 'tool_call_request') && each.body.id === body.id)?.body;
  return { point: 'tool_result', name: call !== undefined && isType(call, 'tool_call_request') ? call.name : null };
}

/** Returns the wrong clock that hides an open item: the clock of this process, or of a gateway of the item's conversations. */
async function hiddenBy(
  context: Context,
  item: Item,
  known: readonly Presence[],
  now: number,
): Promise<VerdictFacts['wrongClock'] | undefined> {
  if ((item.state !== 'open' && !item.gate) || item.notification.expiresAt == null) return undefined;
  const carries = ({ pid, machine }: Owner): boolean =>
    known.some(({ connections = {} }) =>
      Object.values(connections).some((owner) => owner.pid === pid && owner.machine === machine),
    );
  const found = (await context.witnesses.wrong()).find(
    ({ owner, own, offByMs }) => isExpired(item, own ? now : now + offByMs) && (own || carries(owner)),
  );
  return found && { pid: found.owner.pid, machine: found.owner.machine, offByMs: found.offByMs, own: found.own };
}
