import { EarpieceError } from './errors.ts';

/** The name of a log: `project/agent` for an agent, or `project/*` for the project's own log. */
export type LogKey = string & { readonly __brand: 'LogKey' };
/** The name of a conversation of one agent, such as the host's session id, or `main`. */
export type ConversationId = string & { readonly __brand: 'ConversationId' };

/**
 * The address of a notification, in one of three forms:
 * - `project/agent`: for the first conversation of the agent that can deliver the notification.
 * - `project/agent#conversation`: for this conversation.
 * - `project/*`: every conversation that is active in the project gets its own copy. An interrupt also reaches conversations that
 *   begin while the interrupt is open.
 */
export type Address =
  | { readonly kind: 'agent'; readonly project: string; readonly agent: string }
  | { readonly kind: 'conversation'; readonly project: string; readonly agent: string; readonly conversation: ConversationId }
  | { readonly kind: 'project'; readonly project: string };

/** The conversation of an agent whose host gives no session id: one per agent, never one per process. */
export const MAIN = 'main' as ConversationId;

const MAX_NAME = 128;
// oxlint-disable-next-line no-control-regex -- names with control characters are refused
const FORBIDDEN = /[/#*\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

export function parseAddress(text: string): Address {
  const refuse = (why: string): never => {
    throw new EarpieceError(
      'bad_address',
      `address ${shown(text)}: ${why}; write project/agent, project/agent#conversation or project/*`,
    );
  };
  if (typeof text !== 'string') return refuse('is not a text');
  if (text === '') return refuse('is empty');
  const slash = text.indexOf('/');
  if (slash < 0) return refuse('has no "/" between project and agent');
  const project = text.slice(0, slash);
  const rest = text.slice(slash + 1);
  const problem = (what: string, name: string): string | undefined => nameProblem(name) && `the ${what} ${nameProblem(name)}`;
  const bad = problem('project', project);
  if (bad) return refuse(bad);
  if (rest === '*') return { kind: 'project', project };
  const hash = rest.indexOf('#');
  const agent = hash < 0 ? rest : rest.slice(0, hash);
  const badAgent = problem('agent', agent);
  if (badAgent) return refuse(badAgent);
  if (hash < 0) return { kind: 'agent', project, agent };
  const conversation = rest.slice(hash + 1);
  const badConversation = problem('conversation', conversation);
  if (badConversation) return refuse(badConversation);
  return { kind: 'conversation', project, agent, conversation: conversation as ConversationId };
}

/**
 * Returns the given value as an error shows it: a text is quoted and cut to 80 characters. A caller in JavaScript may give any
 * value.
 */
function shown(given: unknown): string {
  if (typeof given === 'object' && given !== null) return 'an object';
  const text = String(given);
  const cut = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return typeof given === 'string' ? JSON.stringify(cut) : cut;
}

export function formatAddress(address: Address): string {
  switch (address.kind) {
    case 'project':
      return `${address.project}/*`;
    case 'agent':
      return `${address.project}/${address.agent}`;
    case 'conversation':
      return `${address.project}/${address.agent}#${address.conversation}`;
  }
}

/** Returns the log of an address. For a fan-out (`project/*`), returns the project's own log, which records the fan-out. */
export function logOf(address: Address): LogKey {
  return `${address.project}/${address.kind === 'project' ? '*' : address.agent}` as LogKey;
}

export function logKey(project: string, agent: string): LogKey {
  for (const [what, name] of [
    ['project', project],
    ['agent', agent],
  ] as const)
    if (typeof name !== 'string') throw new EarpieceError('bad_address', `${what} ${shown(name)} is not a text; give its name`);
  return logOf(parseAddress(`${project}/${agent}`));
}

export function splitLog(log: LogKey): { project: string; agent: string } {
  const slash = log.indexOf('/');
  return { project: log.slice(0, slash), agent: log.slice(slash + 1) };
}

export function conversationId(raw: string): ConversationId {
  const problem = nameProblem(raw);
  if (problem) throw new EarpieceError('bad_address', `conversation ${shown(raw)} ${problem}; choose another name`);
  return raw as ConversationId;
}

/**
 * Makes a valid name from free text (a folder, a session id). Each character that is not allowed becomes `-`. A name is cut to
 * 128 characters. An empty name becomes `unnamed`.
 */
export function nameFrom(raw: string): string {
  const clean = raw.trim().replaceAll(new RegExp(FORBIDDEN, 'gu'), '-').slice(0, MAX_NAME).trim();
  return clean === '' ? 'unnamed' : clean;
}

function nameProblem(name: string): string | undefined {
  if (typeof name !== 'string') return 'is not a text';
  if (name === '') return 'is empty';
  if (name.length > MAX_NAME) return `is ${name.length} characters long, at most ${MAX_NAME} are allowed`;
  if (name !== name.trim()) return 'begins or ends with a space';
  const found = FORBIDDEN.exec(name);
  if (found) return `contains ${JSON.stringify(found[0])}, which is not allowed`;
  return undefined;
}
