/**
 * Handles a moment of a coding agent's work, independent of the host's formats. The hook command, the MCP server and the plugin
 * bridges call `attend`. The notifications in an answer are leased, so that no other carrier of the conversation takes them.
 */
import { logKey, parseAddress, type LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { levelRank } from '../core/notification.ts';
import type { Presence } from '../core/ports.ts';
import type { ContactPoint, OfferedRecord } from '../core/records.ts';
import { instructionsOf, SUBAGENT_REFUSED } from '../core/views/wording.ts';
import {
  begin,
  conversationOfSession,
  isSame,
  isSignal,
  PRESENCE_EVERY_MS,
  worktreeOf,
  type Conversation,
  type Inbox,
  type Offer,
  type OfferOptions,
  type RefusedCall,
} from '../inbox/index.ts';
import { became } from '../talk/index.ts';
import { observe, openUnproven } from './evidence.ts';
import type { Host } from './host.ts';
import type { Answer, Attended, Caller, Moment } from './moment.ts';
import { passesGate } from './own-tools.ts';
import { noteState } from './terminal-state.ts';

export type Place = {
  readonly inbox: Inbox;
  readonly project: string;
  /** An address or an agent's name from the caller, which overrides the host's own name. */
  readonly given?: string | undefined;
  /** The state file of the Earpiece terminal in which the host runs. */
  readonly terminal?: string | undefined;
  /**
   * Throws if the caller must not act for the conversation with this address. `known` is the presence of a known conversation.
   * Default: the caller may act for each conversation.
   */
  readonly mayAct?: (address: string, known: Presence | undefined) => void;
};

/** The maximum number of consecutive times that a turn is held. Most hosts also have a limit. */
const MAX_HOLDS = 3;
/** How long a new session waits for deliveries in flight to the previous session. */
const INHERIT_WITHIN_MS = 1_500;
const INHERIT_AGAIN_MS = 50;

/**
 * Makes the answer to one event of a host: text for the agent, a refusal, or nothing. `known`: the conversation of the session,
 * if the caller already has it from an earlier moment.
 */
export async function attend(place: Place, host: Host, caller: Caller, moment: Moment, known?: Conversation): Promise<Attended> {
  const conversation = known ?? (await conversationOf(place, host, caller));
  if (caller.subagent === undefined) await (moment.kind === 'session_start' ? openUnproven : observe)(conversation, host, caller);
  const attended = await answerOf(conversation, host, caller, moment);
  if (place.terminal !== undefined && caller.subagent === undefined)
    noteState(place.terminal, moment, attended.answer.kind === 'hold', conversation);
  return attended;
}

async function answerOf(conversation: Conversation, host: Host, caller: Caller, moment: Moment): Promise<Attended> {
  switch (moment.kind) {
    case 'session_start':
      return caller.subagent === undefined ? starts(conversation, host, caller) : NOTHING;
    case 'prompt':
      if (caller.subagent !== undefined) return NOTHING;
      await shows(conversation, caller);
      await takesOver(conversation, caller);
      return offers(conversation, host, { at: 'turn_start', on: 'prompt' });
    case 'before_tool':
      if (passesGate(moment.tool)) return NOTHING;
      await isThere(conversation, caller);
      if (caller.subagent !== undefined) return refusesSubagent(conversation);
      return beforeTool(conversation, host, moment, caller);
    case 'after_tool':
      if (caller.subagent !== undefined) return NOTHING;
      await isThere(conversation, caller);
      await conversation.ran(moment.results ?? []);
      if (moment.takesNoText) return NOTHING;
      return offers(conversation, host, { at: 'tool_result', on: moment.tool, tools: [moment.tool] });
    case 'asked':
      if (caller.subagent === undefined) await conversation.answered('cycle_start');
      return NOTHING;
    case 'batch_end':
      if (caller.subagent !== undefined) return NOTHING;
      await isThere(conversation, caller);
      await conversation.ran(moment.results ?? []);
      return offers(conversation, host, { at: 'tool_batch_end', on: moment.tools.join(',') || 'tools', tools: moment.tools });
    case 'turn_end': {
      if (caller.subagent !== undefined) return NOTHING;
      await isThere(conversation, caller);
      const held = await holds(conversation, host, moment.held);
      if (held.answer.kind === 'nothing') await became(conversation.inbox, conversation.log, 'idle');
      return held;
    }
    case 'session_end':
      if (caller.subagent !== undefined) return NOTHING;
      await conversation.ended();
      await became(conversation.inbox, conversation.log, 'done');
      return NOTHING;
    default:
      return moment satisfies never;
  }
}

/** Returns the conversation of a session, and keeps the recorded fact that its model can call `get_notifications`. */
export async function conversationOf(place: Place, host: Host, caller: Caller): Promise<Conversation> {
  const { inbox } = place;
  const id = conversationOfSession(caller.session);
  // The session may have changed its folder since it began. The binding of the process still names the same agent.
  const isShared = host.manySessions === true || caller.shared === true;
  const bound = caller.process === undefined || isShared ? undefined : await inbox.store.binding(caller.process);
  const log = bound?.conversation === id ? bound.log : logOfHost(place, host);
  const [known] = await inbox.store.presence({ log, conversation: id });
  place.mayAct?.(`${log}#${id}`, known);
  return inbox.conversation(
    { log, conversation: id },
    {
      host: host.agent,
      carrier: 'hook',
      points: host.points,
      folder: worktreeOf(caller.folder),
      ...(known?.pulls ? { pulls: true } : {}),
      ...defined({ process: caller.process }),
      ...(isShared ? { shared: true } : {}),
    },
  );
}

export function logOfHost({ project, given }: Pick<Place, 'project' | 'given'>, host: Pick<Host, 'agent'>): LogKey {
  if (given === undefined || given === '') return logKey(project, host.agent);
  const address = parseAddress(given.includes('/') ? given : `${project}/${given}`);
  return address.kind === 'project' ? logKey(project, host.agent) : logKey(address.project, address.agent);
}

async function starts(conversation: Conversation, host: Host, caller: Caller): Promise<Attended> {
  await shows(conversation, caller);
  await takesOver(conversation, caller);
  if (host.startsWithoutText === true || isSignal(conversation.policy().view)) return NOTHING;
  const mark = await conversation.inbox.mark(conversation.log);
  const told = async (): Promise<void> => conversation.seen({ told: true, mark });
  return { answer: { kind: 'tell', text: instructionsOf(mark) }, confirm: told, release: async () => {} };
}

/**
 * Records that the host's process shows this session from now on. The session then continues the previous session of the process.
 */
async function shows({ inbox, log, id, options }: Conversation, { process }: Caller): Promise<void> {
  if (process === undefined || options.shared) return;
  const bound = await inbox.store.binding(process);
  if (bound?.log === log && bound.conversation === id) return;
  await inbox.bind(process, { log, conversation: id });
}

/** Inherits the unread notifications of earlier sessions. Tries again while a delivery to an earlier session is in flight. */
async function takesOver(conversation: Conversation, { nested, folder }: Caller): Promise<void> {
  const until = performance.now() + INHERIT_WITHIN_MS;
  for (;;) {
    const { waits } = await begin(conversation, { folder: worktreeOf(folder), ...(nested ? { nested } : {}) });
    if (!waits || performance.now() > until) return;
    await new Promise((resolve) => setTimeout(resolve, INHERIT_AGAIN_MS));
  }
}

/**
 * Records that the session is active. If its start was not reported, for example because the hooks were installed later, the
 * session begins now.
 */
async function isThere(conversation: Conversation, caller: Caller): Promise<void> {
  const known = await conversation.presence();
  if (known !== undefined && known.pending !== true && conversation.inbox.isActive(known)) {
    if (Math.abs(conversation.inbox.store.now() - known.seenAt) >= PRESENCE_EVERY_MS) await conversation.seen();
    else conversation.wasSeen(known.carriers.hook ?? Number.NEGATIVE_INFINITY);
    return;
  }
  if (known !== undefined && (await isElsewhere(conversation, known, caller))) return;
  if (caller.subagent === undefined) await shows(conversation, caller);
  await takesOver(conversation, caller);
}

/**
 * Whether the caller's process belongs to another session, and this session was in a different process before. For example,
 * Codex's shared server finishes a turn of a closed terminal. The turn then seems to come from the only other terminal.
 */
async function isElsewhere({ inbox, log, id }: Conversation, known: Presence, { process }: Caller): Promise<boolean> {
  if (process === undefined || known.process === undefined || isSame(known.process, process)) return false;
  const bound = await inbox.store.binding(process);
  return bound !== undefined && (bound.log !== log || bound.conversation !== id);
}

async function offers(
  conversation: Conversation,
  host: Host,
  { at, on, tools }: { readonly at: ContactPoint; readonly on: string; readonly tools?: readonly string[] },
): Promise<Attended> {
  if (isSignal(conversation.policy().view)) {
    await conversation.answered(at);
    const { text, waiting } = await conversation.signal({ at });
    return waiting ? { ...NOTHING, answer: { kind: 'tell', text } } : NOTHING;
  }
  const offer = await conversation.offer({ at, on, ...roomOf(host), ...defined({ tools }) });
  return offer === undefined ? NOTHING : leased(offer, { kind: 'tell', text: offer.view.text });
}

async function beforeTool(
  conversation: Conversation,
  host: Host,
  { tool, call, carries = false }: Extract<Moment, { kind: 'before_tool' }>,
  { transcript }: Caller,
): Promise<Attended> {
  // If this moment carries notifications, Earpiece does not learn of the end of the batch. So only the transcript can prove that
  // the model has read a refusal.
  const given = carries && host.proof === 'request' ? 'transcript' : host.proof;
  const proof = given === 'transcript' && (host.transcript === undefined || transcript === undefined) ? undefined : given;
  const refused = await refuses(conversation, { on: tool, call, proof });
  if (refused.answer.kind !== 'nothing' || !carries) return refused;
  // The host adds the text to the results of this batch. So this moment does not prove another request to the model.
  return offers(conversation, host, { at: 'tool_result', on: tool });
}

async function refuses(conversation: Conversation, call: RefusedCall): Promise<Attended> {
  // A hook can refuse a call but cannot withhold its result, so hooks ignore `policy.interrupt`.
  const refusal = await conversation.refuse(call);
  if (refusal === undefined) return NOTHING;
  const answer: Answer = { kind: 'deny', text: refusal.text };
  return refusal.offer === undefined ? { ...NOTHING, answer } : leased(refusal.offer, answer);
}

/**
 * Denies a sub-agent's call while the gate is up, also if `policy.interrupt` is `after` (see `refuses`). The text leaves out the
 * interrupt, which the main agent reads in its own context.
 */
async function refusesSubagent(conversation: Conversation): Promise<Attended> {
  const gate = await conversation.gate();
  if (gate.length === 0) return NOTHING;
  return { ...NOTHING, answer: { kind: 'deny', text: SUBAGENT_REFUSED } };
}

/**
 * Holds the turn if a due notification must not wait for the next prompt. Such a notification has the level error or above, or
 * its moment is the end of the turn or of a cycle.
 */
async function holds(conversation: Conversation, host: Host, held: boolean | undefined): Promise<Attended> {
  if (isSignal(conversation.policy().view)) return NOTHING;
  const taken = new Set(
    (await conversation.decisions({ at: 'turn_end' })).flatMap(({ kind, id }) => (kind === 'take' ? [id] : [])),
  );
  if (taken.size === 0) return NOTHING;
  const { store } = conversation.inbox;
  const items = await store.items(conversation.log, { kind: 'open', conversation: conversation.id });
  const urgent = items.some(
    ({ id, notification: { level, deliver } }) =>
      taken.has(id) && (levelRank(level) >= levelRank('error') || deliver === 'turn_end' || deliver === 'cycle_end'),
  );
  if (!urgent) return NOTHING;
  // If the host does not report holds, the record of each hold names its turn.
  const facts = held === undefined ? { turn: (await conversation.presence())?.turns ?? 0 } : undefined;
  if (held !== false && (await holdsInARow(conversation, facts?.turn)) >= MAX_HOLDS) return NOTHING;
  const offer = await conversation.offer({ at: 'turn_end', on: 'turn end', ...roomOf(host), ...defined({ facts }) });
  return offer === undefined ? NOTHING : leased(offer, { kind: 'hold', text: offer.view.text });
}

/** Returns the number of holds since the last other carrier, at most `MAX_HOLDS`. With `turn`: only the holds of that turn. */
async function holdsInARow({ inbox, log, id }: Conversation, turn: number | undefined): Promise<number> {
  const offered = await inbox.store.read({
    log,
    conversation: id,
    types: ['carrier_offered'],
    newestFirst: true,
    limit: MAX_HOLDS,
  });
  const other = offered.findIndex(({ body }) => {
    const { at_point, facts } = body as OfferedRecord & { readonly facts?: { readonly turn?: number } };
    return at_point !== 'turn_end' || (turn !== undefined && facts?.turn !== turn);
  });
  return other === -1 ? offered.length : other;
}

const roomOf = ({ maxChars, inBytes = false }: Host): Pick<OfferOptions, 'maxChars' | 'inBytes'> => ({ maxChars, inBytes });

const leased = (offer: Offer, answer: Answer): Attended => ({
  answer,
  carrier: offer.carrier,
  confirm: async () => void (await offer.confirm()),
  release: () => offer.release('write_error'),
  reopen: () => offer.reopen(),
});

const NOTHING: Attended = { answer: { kind: 'nothing' }, confirm: async () => {}, release: async () => {} };
