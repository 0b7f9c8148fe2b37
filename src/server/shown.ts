/** Converts the store's data to the types of the API. */
import { formatAddress, logOf, parseAddress, splitLog, type LogKey } from '../core/address.ts';
import { asListed, endOf, holdsGate } from '../core/clocks.ts';
import { EarpieceError } from '../core/errors.ts';
import type {
  AgentSummary,
  ConversationSummary,
  Doing,
  Effect,
  Force,
  Held,
  NotificationView,
  QueuedReply,
} from '../wire/api.ts';
import { ANYONE, type Item } from '../core/items.ts';
import { formatKind, LEVELS, type Level } from '../core/notification.ts';
import type { AgentOverview, Presence } from '../core/ports.ts';
import { isType } from '../core/records.ts';
import { isPaused, receiptOf, type Inbox, type Queued } from '../inbox/index.ts';

export async function agentSummary(inbox: Inbox, overview: AgentOverview): Promise<AgentSummary> {
  const { log, open, oldestOpenAt, paused, last } = overview;
  const presence = overview.presence.filter((known) => inbox.wasConversation(known));
  const now = inbox.store.now();
  const gates = overview.gated ? await inbox.gates(log) : [];
  const conversations = presence.map((known) => conversationSummary(inbox, known, { now, gates }));
  const active = conversations.some((each) => each.active);
  const doing = active ? doingOf(overview) : NOTHING;
  return {
    log,
    ...splitLog(log),
    open,
    oldestOpenAt: oldestOpenAt ?? null,
    active,
    paused,
    held: await heldOf(inbox, log, { gates, conversations }),
    asksSince: asks(inbox, overview, conversations) && doing.kind === 'nothing' ? (oldestOpenAt ?? null) : null,
    failedAt: active && last?.type === 'agent_failed' ? last.at : null,
    doing,
    lastContactAt: presence[0]?.seenAt ?? null,
    hosts: [...new Set(presence.flatMap(({ host }) => host ?? []))],
    conversations,
  };
}

/**
 * Finds the interrupt that refuses calls. If the agent has active conversations, only interrupts of these conversations and
 * interrupts that no conversation has taken are considered.
 */
async function heldOf(
  inbox: Inbox,
  log: LogKey,
  { gates: all, conversations }: { readonly gates: readonly Item[]; readonly conversations: readonly ConversationSummary[] },
): Promise<Held | null> {
  const active = conversations.filter((each) => each.active).map(({ conversation }) => conversation);
  const holder = (item: Item): string => item.takenBy ?? item.audience;
  const gates = all.filter((item) => holder(item) === ANYONE || active.length === 0 || active.includes(holder(item)));
  const item = gates.find(({ notification }) => notification.action === 'pause') ?? gates[0];
  if (item === undefined) return null;
  const { id, notification: n } = item;
  const refusals = await inbox.store.read({ log, seqs: item.history.slice(-MAX_HISTORY), types: ['gate_refused'] });
  return {
    id,
    kind: formatKind(n.kind),
    action: n.action ?? null,
    about: n.message.slice(0, ABOUT_CHARS).toWellFormed(),
    by: n.origin?.person ?? n.origin?.agent ?? null,
    since: item.at,
    until: n.expiresAt ?? null,
    conversation: holder(item) === ANYONE ? null : holder(item),
    refused: refusals.reduce((sum, { body }) => (isType(body, 'gate_refused') && !body.made ? sum + (body.times ?? 1) : sum), 0),
  };
}
const MAX_HISTORY = 300;
const ABOUT_CHARS = 200;

/**
 * Whether the agent waits for a person's consent before it wakes. Only Earpiece's own agent is considered, because the records of
 * other agents do not show when they are idle.
 */
function asks({ policies }: Inbox, { log, open, paused }: AgentOverview, conversations: readonly ConversationSummary[]): boolean {
  if (paused || !conversations.some(({ active, host }) => active && host === 'earpiece')) return false;
  const { wake } = policies.policy(splitLog(log).project);
  return LEVELS.some((level) => open[level] > 0 && wake[level] === 'ask');
}

const NOTHING: Doing = { kind: 'nothing', what: null, since: null, conversation: null };
/**
 * Describes the agent's current work from its newest record. A `tool_call_request` means that the call runs. A carrier on a
 * result means that the call has ended.
 */
function doingOf({ last }: AgentOverview): Doing {
  if (last === undefined) return NOTHING;
  const of = (kind: Doing['kind']): Doing => ({
    kind,
    what: kind === 'thinking' ? null : (last.what ?? null),
    since: last.at,
    conversation: last.conversation ?? null,
  });
  switch (last.type) {
    case 'tool_call_request':
      return of('tool');
    case 'carrier_offered':
    case 'carrier_confirmed':
      return last.what === undefined ? NOTHING : of('nothing');
    case 'turn_start':
    case 'chat_request':
    case 'tool_call_response':
      return of('thinking');
    default:
      return NOTHING;
  }
}

/** `gates`: the interrupts that keep a gate of the agent up. */
export function conversationSummary(
  inbox: Inbox,
  known: Presence,
  { now, gates }: { readonly now: number; readonly gates: readonly Item[] },
): ConversationSummary {
  return {
    conversation: known.conversation,
    address: `${known.log}#${known.conversation}`,
    purpose: known.purpose ?? null,
    host: known.host ?? null,
    hostVersion: known.hostVersion ?? null,
    folder: known.folder ?? null,
    active: inbox.isActive(known, now),
    paused: isPaused(gates, known.conversation),
    startedAt: known.startedAt,
    seenAt: known.seenAt,
    carriedAt: known.carriedAt ?? null,
    endedAt: known.endedAt ?? null,
    passedTo: known.passedTo ?? null,
    turns: known.turns,
    carriers: Object.entries(known.carriers).map(([name, at]) => ({ name, at })),
    points: [...new Set(Object.values(known.points ?? {}).flat())],
    pulls: known.pulls,
    force: forceOf(known, inbox.isActive(known, now)),
  };
}

function forceOf(known: Presence, active: boolean): Force {
  if (!active) return 'waits';
  if (known.host === 'earpiece') return 'aborts_stream';
  const carriers = Object.keys(known.carriers);
  // A hook, a plugin and the adapter for the AI SDK can refuse each call, and report the contact point `forced`.
  if (carriers.some((carrier) => carrier === 'hook' || known.points?.[carrier]?.includes('forced'))) return 'refuses_next_call';
  return carriers.some((carrier) => carrier.startsWith('gateway')) ? 'refuses_wrapped_call' : 'next_contact';
}

/** Describes the effect of an interrupt on one conversation. */
export function effectOf(known: Presence | undefined, address: string, active: boolean, action: string): Effect {
  const force = known === undefined ? 'waits' : forceOf(known, active);
  return { address, host: known?.host ?? null, force, says: known === undefined ? unseen(action) : SAYS[force](action) };
}

const HOLDS = '; the pause holds until a person resumes the agent';
const unseen = (action: string): string =>
  `the agent has not made contact yet, and reads this at its first contact${action === 'pause' ? HOLDS : ''}`;

const SAYS: Readonly<Record<Force, (action: string) => string>> = {
  aborts_stream: (action) =>
    action === 'resume'
      ? 'the agent continues now'
      : action === 'pause'
        ? 'the agent finishes its turn, then waits until a person resumes the agent'
        : 'the model’s answer and the running tools are aborted',
  refuses_next_call: (action) =>
    action === 'resume'
      ? 'the agent’s tools run again'
      : action === 'pause'
        ? 'every tool call is refused, even calls of built-in tools, until a person resumes the agent'
        : 'the agent’s next tool call is refused, even a call of a built-in tool, until the agent has read this',
  refuses_wrapped_call: (action) =>
    action === 'resume'
      ? 'the agent’s wrapped tools run again'
      : action === 'pause'
        ? 'calls of wrapped tools are refused until a person resumes the agent; built-in tools still run'
        : 'the next call of a wrapped tool is refused until the agent has read this; built-in tools still run',
  next_contact: (action) => `the agent reads this with the next message or tool result${action === 'pause' ? HOLDS : ''}`,
  waits: (action) => `the agent is not active, and reads this at its next contact${action === 'pause' ? HOLDS : ''}`,
};

/** Converts an item. `now` is the time of the server's clock, in epoch ms: an item past its end is shown as expired. */
export function notificationView(log: LogKey, kept: Item, now: number): NotificationView {
  const item = asListed(kept, now);
  const { notification: n } = item;
  return {
    log,
    conversation: item.audience === ANYONE ? null : item.audience,
    id: item.id,
    kind: formatKind(n.kind),
    level: n.level,
    message: n.message,
    data: n.data ?? null,
    action: n.action ?? null,
    instruction: n.instruction ?? null,
    key: n.key ?? null,
    about: n.about ?? null,
    purpose: n.purpose ?? null,
    deliver: n.deliver ?? null,
    person: n.origin?.person ?? null,
    sender: n.origin?.agent ?? null,
    subscriber: n.subscriber?.id ?? null,
    requeues: n.requeues ?? null,
    count: item.count,
    seq: item.seq,
    at: item.at,
    lastAt: item.lastAt,
    expiresAt: endOf(item, now) ?? null,
    state: item.state,
    receipt: receiptOf(item),
    markedBy: item.markedBy ?? null,
    outcome: item.outcome ?? null,
    closedAt: item.closedAt ?? null,
    gate: holdsGate(item, now),
    offers: item.offers,
    takenBy: item.takenBy ?? null,
    carrier: item.carrier ?? null,
  };
}

export const queuedReply = (queued: Queued, loweredTo: Level | null = null): QueuedReply => ({
  kind: queued.kind,
  id: queued.id,
  into: queued.kind === 'folded' ? queued.into : null,
  to: queued.to,
  loweredTo,
});

/** Checks the parts of a path, and returns the log of the agent. */
export function agentIn(project: string, agent: string): LogKey {
  const address = parseAddress(`${project}/${agent}`);
  if (address.kind !== 'agent') parseAddress('');
  return formatAddress(address) as LogKey;
}

/** Returns the log of an address that names one agent, or one of its conversations. */
export function agentOf(text: string): LogKey {
  const address = parseAddress(text);
  if (address.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `${formatAddress(address)} is a whole project; name one agent: ${address.project}/<agent>`,
    );
  return logOf(address);
}
