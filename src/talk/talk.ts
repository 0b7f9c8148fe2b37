/**
 * Sends messages between agents of one project. A message is a notification in the sender's name. A message never interrupts, and
 * the receiver need not obey. The depth of a message grows with each reply, so that two agents do not wake each other forever.
 */
import { conversationId, formatAddress, logOf, parseAddress, splitLog, type LogKey } from '../core/address.ts';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import { kindNameFrom, type NotificationId } from '../core/notification.ts';
import { TELL_TOOL } from '../core/teller.ts';
import type { Presence } from '../core/ports.ts';
import type { Conversation, Logs } from '../inbox/index.ts';
import { rememberedAgents } from '../inbox/forgotten.ts';
import { askedAbout, type State } from './waiting.ts';

export const SAYABLE = ['info', 'warning', 'error'] as const;
export type Sayable = (typeof SAYABLE)[number];
export const MESSAGE_CHARS = 4_000;
/**
 * The maximum depth of a message. The first message of a chain has depth 1. The depth of a reply is the depth of the answered
 * message plus 1.
 */
export const MAX_DEPTH = 8;

export type Message = {
  /** `agent`, `project/agent` or `project/agent#conversation`. */
  readonly to: string;
  readonly message: string;
  readonly level?: Sayable;
  /** The id of the message that this message answers. */
  readonly replyTo?: string;
};

export type Said = { readonly id: string; readonly to: string; readonly active: boolean };

/**
 * Queues a message for another agent of the same project, or for another conversation of the same agent. Throws an
 * `EarpieceError` whose message is written for the model.
 */
export async function tell(from: Conversation, { to, message, level = 'info', replyTo }: Message): Promise<Said> {
  const { inbox } = from;
  const address = await addressOf(from, to);
  const [project, sender] = [splitLog(from.log).project, splitLog(from.log).agent];
  const cause = replyTo === undefined ? undefined : await answered(from, replyTo);
  const depth = (cause?.depth ?? 0) + 1;
  if (depth > MAX_DEPTH)
    throw new EarpieceError(
      'bad_argument',
      `this chain already has ${MAX_DEPTH} messages, the maximum; decide without asking, or ask a person`,
    );
  const queued = await inbox.queue(address, {
    message,
    level,
    kind: { source: 'agent', name: kindNameFrom(sender) },
    origin: { agent: from.log, tool: TELL_TOOL, depth, ...(cause === undefined ? {} : { cause: cause.id }) },
  });
  const there = await inbox.store.presence({ project });
  return {
    id: queued.id,
    to: address,
    active: there.some((p) => isOf(p, address) && inbox.isActive(p)),
  };
}

/** Lists the first 50 agents of the sender's project, in the order of their names. The sender may be among them. */
export async function colleagues(of: Conversation): Promise<readonly Colleague[]> {
  const { inbox, log } = of;
  const { project } = splitLog(log);
  const all = await rememberedAgents(inbox.store, { project, limit: AGENTS });
  const now = inbox.store.now();
  return all
    .filter((each) => splitLog(each.log).agent !== '*')
    .map((each) => {
      const active = each.presence.filter((p) => inbox.isActive(p));
      const [latest] = each.presence;
      return {
        agent: splitLog(each.log).agent,
        ...(each.log === log ? { you: true as const } : {}),
        sessions: active.length,
        ...(each.paused ? { paused: true as const } : {}),
        ...(latest === undefined ? {} : { seen_s_ago: Math.max(0, Math.round((now - latest.seenAt) / 1_000)) }),
      };
    });
}

export type Colleague = {
  readonly agent: string;
  readonly you?: true;
  /** The number of the agent's active sessions. */
  readonly sessions: number;
  readonly paused?: true;
  readonly seen_s_ago?: number;
};

const AGENTS = 50;

/**
 * Notifies `from` when the agent's turn ends (`idle`) or its session ends (`done`). If the agent has no active session, `now` is
 * true, and no notification follows.
 */
export async function tellWhen(
  from: Conversation,
  to: string,
  state: State,
): Promise<{ readonly agent: string; readonly now: boolean }> {
  const { inbox } = from;
  const log = logOf(parseAddress(await addressOf(from, to)));
  const there = await inbox.store.presence({ log });
  if (!there.some((p) => inbox.isActive(p))) return { agent: splitLog(log).agent, now: true };
  await askedAbout(inbox, log, { by: from.address, state, at: inbox.store.now() });
  return { agent: splitLog(log).agent, now: false };
}

async function addressOf(from: Conversation, to: string): Promise<string> {
  const { project } = splitLog(from.log);
  const address = parseAddress(to.includes('/') ? to : `${project}/${to}`);
  const shown = JSON.stringify(to.slice(0, 80));
  if (address.kind === 'project')
    throw new EarpieceError('bad_address', `${shown} is a whole project; name one agent (list_agents has the names)`);
  if (address.project !== project)
    throw new EarpieceError('not_trusted', `${shown} belongs to another project; you can reach only agents of ${project}`);
  const log = logOf(address);
  const itself = log === from.log && (address.kind !== 'conversation' || address.conversation === from.id);
  if (itself && (address.kind === 'conversation' || !(await hasSiblings(from))))
    throw new EarpieceError('bad_argument', `${shown} is you; list_agents shows the other agents`);
  await checkKnown(from.inbox, log, project, { shown });
  return formatAddress(address);
}

/**
 * Throws `not_found` for an agent that was never seen and has no records. `names`: the tool or the command that lists the agents.
 */
export async function checkKnown(
  inbox: Logs,
  log: LogKey,
  project: string,
  { shown, names: lists = 'list_agents' }: { readonly shown: string; readonly names?: string },
): Promise<void> {
  if ((await inbox.store.presence({ log })).length > 0 || (await inbox.store.read({ log, limit: 1 })).length > 0) return;
  const names = (await rememberedAgents(inbox.store, { project, limit: AGENTS })).map((each) => splitLog(each.log).agent);
  const near = didYouMean(splitLog(log).agent, names);
  throw new EarpieceError(
    'not_found',
    `no agent ${shown} has been seen in ${project}${near === undefined ? `; ${lists} has the names` : `; did you mean ${near}?`}`,
  );
}

const hasSiblings = async ({ inbox, log, id }: Conversation): Promise<boolean> =>
  (await inbox.store.presence({ log })).some((p) => p.conversation !== id && inbox.isActive(p));

/**
 * Finds the answered message in the log of the conversation's agent. The message may have been sent to another conversation of
 * this agent, because a fork or an heir answers messages that the earlier conversation got.
 */
async function answered(from: Conversation, id: string): Promise<{ readonly id: string; readonly depth: number }> {
  const [item] = await from.inbox.store.items(from.log, { kind: 'ids', ids: [id as NotificationId] });
  if (item === undefined)
    throw new EarpieceError(
      'not_found',
      `reply_to ${JSON.stringify(id.slice(0, 80))} is not a message that you received; leave reply_to out`,
    );
  return { id, depth: item.notification.origin?.depth ?? 0 };
}

function isOf(p: Presence, address: string): boolean {
  const { log, conversation } = p;
  const parsed = parseAddress(address);
  if (parsed.kind === 'project' || logOf(parsed) !== log) return false;
  return parsed.kind !== 'conversation' || conversationId(parsed.conversation) === conversation;
}
