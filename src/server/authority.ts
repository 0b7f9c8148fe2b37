/** Checks the permissions of a principal, for every route. A refusal says what the token may do. */
import { formatAddress, logOf, parseAddress, splitLog, type Address, type LogKey } from '../core/address.ts';
import { levelRank, LIMITS, type Level, type NotificationInput, type Origin } from '../core/notification.ts';
import { keyOfSender } from '../core/senders.ts';
import { ANYONE, type Item } from '../core/items.ts';
import type { Stored } from '../core/records.ts';
import { ProblemError } from './problems.ts';
import type { Principal } from './tokens.ts';

/** The target of a request. An empty scope means everything in the store. */
export type Scope = {
  readonly project?: string | undefined;
  readonly log?: LogKey | undefined;
  readonly conversation?: string | undefined;
};

/** The highest level that agents and send-only tokens may claim. */
export const MAX_LEVEL: Level = 'error';

export function mustBeAdmin(who: Principal, what: string): void {
  if (who.kind !== 'admin') throw refused(who, what);
}

export function mustRead(who: Principal, scope: Scope): void {
  if (!mayRead(who, scope)) throw refused(who, `reading ${described(scope)}`);
}

/** Throws unless the principal may act as a person: send messages, stop agents, withdraw and requeue notifications. */
export function mustLead(who: Principal, scope: Scope): void {
  const { project } = whole(scope);
  if (who.kind === 'admin' || (who.kind === 'project' && project === who.project)) return;
  throw refused(who, `changing ${described(scope)}`);
}

/** Throws unless the principal may mark notifications as read. An agent's token may mark its agent's notifications. */
export function mustMarkRead(who: Principal, scope: Scope): void {
  if (who.kind === 'agent' ? !mayRead(who, scope) : !mayLead(who, scope)) throw refused(who, `reading for ${described(scope)}`);
}

/** Returns the requested scope. The default scope of a token for one project or agent is everything that the token may see. */
export function scopeOf(
  who: Principal,
  asked: { log?: string | undefined; project?: string | undefined; conversation?: string | undefined },
): Scope {
  const own = who.kind === 'agent' ? agentOf(who) : undefined;
  // Without a log, an agent's token means the agent's own log, so another project is refused here.
  if (own !== undefined && asked.log === undefined && asked.project !== undefined && asked.project !== who.project)
    throw refused(who, `reading ${described({ project: asked.project })}`);
  const text = asked.log ?? own;
  const log = text === undefined ? undefined : logOf(parseAddress(text));
  const project = asked.project ?? (log === undefined ? (who.project ?? undefined) : splitLog(log).project);
  if (log !== undefined && project !== splitLog(log).project)
    throw new ProblemError(
      'bad_argument',
      `log ${JSON.stringify(log)} is not in project ${JSON.stringify(project)}; send log or project, not both`,
    );
  const conversation = asked.conversation ?? who.conversation ?? undefined;
  const scope = { project, log, conversation };
  mustRead(who, scope);
  return scope;
}

export function mayRead(who: Principal, scope: Scope): boolean {
  const { project, log, conversation } = whole(scope);
  switch (who.kind) {
    case 'admin':
      return true;
    case 'project':
      return project === who.project;
    case 'agent':
      return log === agentOf(who) && (who.conversation === null || conversation === who.conversation);
    case 'send':
      return false;
    default:
      return who.kind satisfies never;
  }
}

const mayLead = (who: Principal, scope: Scope): boolean =>
  who.kind === 'admin' || (who.kind === 'project' && whole(scope).project === who.project);

/** Whether the principal may see a record of a readable log. An agent's token for one conversation sees no other conversation. */
export function maySee(who: Principal, record: Stored): boolean {
  const { project, agent } = splitLog(record.log);
  if (who.kind === 'admin') return true;
  if (who.kind === 'send' || project !== who.project) return false;
  if (who.kind === 'project') return true;
  return agent === who.agent && (who.conversation === null || concerns(record, who.conversation));
}

/** Whether a record concerns this conversation. A record may concern one conversation, several, or the whole agent. */
export function concerns({ body }: Stored, conversation: string): boolean {
  const { audience } = body as { readonly audience?: readonly string[] };
  if (body.conversation !== undefined) return body.conversation === conversation;
  return audience === undefined || audience.length === 0 || audience.includes(conversation);
}

export const maySeeItem = (who: Principal, item: Item): boolean =>
  who.kind !== 'agent' ||
  who.conversation === null ||
  item.audience === who.conversation ||
  (item.audience === ANYONE && (item.takenBy === undefined || item.takenBy === who.conversation));

/**
 * Returns the notification in the form that this principal may queue, or throws. With an agent's or a send-only token, the level
 * is at most `MAX_LEVEL` and the key gets a prefix. With an agent's token, the origin names that agent. With a send-only token, the
 * origin names the token, so that no later notification of another sender counts as a repetition.
 */
export function mustQueue(who: Principal, to: Address, input: NotificationInput): NotificationInput {
  if (who.kind === 'admin') return input;
  if (to.project !== who.project) throw refused(who, `queueing for ${formatAddress(to)}`);
  if (who.kind === 'project') return input;
  if (input.action !== undefined) throw refused(who, `the action ${input.action}`);
  if (input.origin?.person !== undefined) throw refused(who, 'naming a person as the sender');
  const own = who.kind === 'agent' ? agentOf(who) : null;
  const token: NotificationInput['origin'] & Pick<Origin, 'token'> = { ...input.origin, token: who.account };
  if (input.origin?.agent !== undefined && ![own, who.agent].includes(input.origin.agent))
    throw refused(who, `naming as the sender the agent ${JSON.stringify(input.origin.agent.slice(0, 80))}`);
  return {
    ...input,
    level: lowered(input.level ?? 'info'),
    // An invalid key stays unchanged, so that the error shows the text that the client sent.
    ...(input.key === undefined || input.key.trim() === '' || input.key.length > LIMITS.keyChars
      ? {}
      : { key: ownKey(who, input.key) }),
    // A notification of an agent is at least one hop away from its cause.
    ...(own === null
      ? { origin: token }
      : { origin: { ...input.origin, depth: Math.max(1, input.origin?.depth ?? 1), agent: own } }),
  };
}

/** Returns the agent of an agent's token, as the origin of a notification names an agent. */
export const agentOf = ({ project, agent }: Principal): string => `${project}/${agent}`;

/**
 * Adds a prefix to a key that an agent's token or a send-only token sets. The prefix keeps these tokens from changing the counts
 * of other producers' notifications, and from replacing or withdrawing them.
 */
const ownKey = (who: Principal, key: string): string => keyOfSender(key, senderOf(who));

/** Returns the source of the events of a token. */
export const senderOf = ({ id }: Principal): string => `token/${id}`;

export const lowered = (level: Level): Level => (levelRank(level) > levelRank(MAX_LEVEL) ? MAX_LEVEL : level);

const whole = ({ project, log, conversation }: Scope): Scope => ({
  project: log === undefined ? project : splitLog(log).project,
  log,
  conversation,
});

function described(scope: Scope): string {
  const { project, log, conversation } = whole(scope);
  if (log !== undefined) return conversation === undefined ? log : `${log}#${conversation}`;
  return project === undefined ? 'every project' : `project ${project}`;
}

function refused(who: Principal, what: string): ProblemError {
  return new ProblemError('forbidden', `${what} exceeds the rights of ${allows(who)}; use another token`);
}

function allows(who: Principal): string {
  const name = `the ${who.kind} token ${JSON.stringify(who.name)}`;
  switch (who.kind) {
    case 'admin':
      return name;
    case 'project':
      return `${name}, which is for project ${who.project}`;
    case 'agent':
      return `${name}, which is for ${who.project}/${who.agent}${who.conversation === null ? '' : `#${who.conversation}`}`;
    case 'send':
      return `${name}, which only queues notifications and events in project ${who.project}, at most at ${MAX_LEVEL}`;
    default:
      return who.kind satisfies never;
  }
}
