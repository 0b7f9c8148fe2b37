/** Chooses the conversation that `chat` and `run` continue, or begins a new conversation. */
import { formatAddress, logOf, type ConversationId, type LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Presence } from '../../core/ports.ts';
import type { Draft } from '../../core/records.ts';
import type { LoadedInbox } from '../../loaded-inbox.ts';
import { addressFrom } from '../context.ts';
import { mayRead } from '../may-read.ts';

export type Wish = {
  /** `agent`, `project/agent` or `project/agent#conversation`. */
  readonly as?: string;
  /**
   * The id of the conversation to continue. `true` means the conversation that `as` names, otherwise the most recently active
   * conversation. A conversation that a running process uses is chosen only if there is no other conversation.
   */
  readonly resume?: string | true;
  /** The id of the conversation to fork. `true` means the most recently active conversation. */
  readonly fork?: string | true;
  /** The number of turns to fork, counted from the first turn. Default: all. */
  readonly turns?: number;
  /** The prefix of a new conversation's name: `chat` or `run`. */
  readonly kind: string;
};

export type Choice = {
  readonly address: string;
  readonly log: LogKey;
  readonly conversation: string;
  /** Whether `as` names the conversation. If so, the same command continues this conversation the next time. */
  readonly named: boolean;
  /** Whether the conversation already has a request to the model, or is a fork. */
  readonly goesOn: boolean;
  /**
   * Whether this process may continue an unfinished turn. False for a fork, because the unfinished turn belongs to the original
   * conversation.
   */
  readonly resumes: boolean;
  /** The settings that are stored with the conversation; empty for a new conversation. */
  readonly begun: Begun;
};

export type Begun = {
  readonly model?: string;
  readonly system?: string;
  readonly purpose?: string;
  /** Whether the agent has the tools for tasks. */
  readonly tasks?: boolean;
};

/** The agent's name if neither an option nor the configuration names an agent. */
const AGENT = 'agent';

export async function chooseConversation(ear: LoadedInbox, wish: Wish): Promise<Choice> {
  const { log, named } = agentOf(ear, wish.as);
  if (wish.fork !== undefined && wish.resume !== undefined)
    throw new EarpieceError(
      'bad_argument',
      'give either --resume (continues a conversation) or --fork (begins a copy of a conversation), got both',
    );
  if (wish.turns !== undefined && wish.fork === undefined)
    throw new EarpieceError('bad_argument', `--turns ${wish.turns} works only with --fork; add --fork`);
  const continues =
    wish.resume !== undefined || wish.fork !== undefined || (named !== undefined && (await isKnown(ear, log, named)));
  // A command of an agent may start another agent, but may not continue the conversation of another agent.
  if (continues) mayRead({ log }, 'to continue a conversation of');
  const conversation =
    wish.fork === undefined ? await idOf(ear, log, named, wish.resume, wish.kind) : await forkOf(ear, log, named, wish);
  const goesOn = wish.fork !== undefined || (await hasRequests(ear, log, conversation));
  if (typeof wish.resume === 'string' && !goesOn) throw await unknown(ear, log, wish.resume, 'resume');
  return {
    address: `${log}#${conversation}`,
    log,
    conversation,
    named: named !== undefined,
    goesOn,
    resumes: goesOn && wish.fork === undefined,
    begun: await begunWith(ear, log, conversation),
  };
}

async function forkOf(ear: LoadedInbox, log: LogKey, named: string | undefined, { fork, turns, kind }: Wish): Promise<string> {
  const from = typeof fork === 'string' ? fork.slice(fork.lastIndexOf('#') + 1) : await newestOf(ear, log, 'fork');
  if (!(await hasRequests(ear, log, from))) throw await unknown(ear, log, from, 'fork');
  const upTo = turns === undefined ? undefined : await endOfTurn(ear, log, from, turns);
  const to = named ?? (await newId(ear, log, kind));
  return (await ear.fork({ log, id: from as ConversationId }, { to, ...defined({ upTo }) })).conversation;
}

/**
 * Returns the last position of the conversation's n-th turn; undefined if the n-th turn is the last turn. Throws `bad_argument`
 * if the conversation has fewer turns.
 */
async function endOfTurn(ear: LoadedInbox, log: LogKey, conversation: string, turns: number): Promise<number | undefined> {
  const begins: number[] = [];
  for await (const { seq } of ear.transcript({ log, id: conversation as ConversationId }, { types: ['turn_start'] }))
    begins.push(seq);
  if (turns > begins.length)
    throw new EarpieceError(
      'bad_argument',
      `--turns must be at most ${begins.length}, the number of turns of ${log}#${conversation}, got ${turns}`,
    );
  const next = begins[turns];
  return next === undefined ? undefined : next - 1;
}

const isKnown = async (ear: LoadedInbox, log: LogKey, conversation: string): Promise<boolean> =>
  (await ear.store.presence({ log })).some((presence) => presence.conversation === conversation);

async function hasRequests(ear: LoadedInbox, log: LogKey, conversation: string): Promise<boolean> {
  for await (const _ of ear.transcript({ log, id: conversation as ConversationId }, { types: ['chat_request'] })) return true;
  return false;
}

/**
 * Makes the record of a conversation's settings. A conversation keeps its settings unless an option changes them, because a
 * changed system prompt would invalidate the prompt cache.
 */
export const begunRecord = (begun: Begun): Draft => ({ type: 'config_delta', delta: begun });

async function begunWith(ear: LoadedInbox, log: LogKey, conversation: string): Promise<Begun> {
  const begun: Begun = {};
  for await (const { body } of ear.transcript({ log, id: conversation as ConversationId }, { types: ['config_delta'] }))
    Object.assign(begun, (body as unknown as { delta?: Begun }).delta);
  return begun;
}

function agentOf(ear: LoadedInbox, as: string | undefined): { log: LogKey; named?: string } {
  const address = addressFrom(ear, as);
  // `--as` must name an agent, because a whole project can only receive notifications.
  if (address.kind === 'project') {
    if (as !== undefined)
      throw new EarpieceError(
        'bad_address',
        `--as ${JSON.stringify(formatAddress(address))} is a whole project; write ${address.project}/<agent>`,
      );
    return { log: `${address.project}/${AGENT}` as LogKey };
  }
  // An address in the environment names the agent that runs this command. That agent's conversation must not be used here.
  return { log: logOf(address), ...(as !== undefined && address.kind === 'conversation' ? { named: address.conversation } : {}) };
}

async function idOf(
  ear: LoadedInbox,
  log: LogKey,
  named: string | undefined,
  resume: Wish['resume'],
  kind: string,
): Promise<string> {
  if (typeof resume === 'string') {
    const id = resume.slice(resume.lastIndexOf('#') + 1);
    if (named !== undefined && named !== id)
      throw new EarpieceError(
        'bad_argument',
        `--as names the conversation ${named}, but --resume names ${id}; leave one of the options out`,
      );
    return id;
  }
  if (named !== undefined) return named;
  return resume === undefined ? newId(ear, log, kind) : newestOf(ear, log, 'resume');
}

async function newestOf(ear: LoadedInbox, log: LogKey, option: 'resume' | 'fork'): Promise<string> {
  const all = await conversationsOf(ear, log);
  // A conversation that another process runs can be forked, but not continued.
  const newest = (option === 'resume' ? all.find((presence) => !isHeld(ear, presence)) : undefined) ?? all[0];
  if (newest === undefined)
    throw new EarpieceError(
      'not_found',
      `${log} has no conversation to ${option}; without --${option}, a new conversation begins`,
    );
  return newest.conversation;
}

/** Lists the conversations of Earpiece's agent, the most recently active first. */
async function conversationsOf(ear: LoadedInbox, log: LogKey): Promise<readonly Presence[]> {
  return (await ear.store.presence({ log })).filter(({ host }) => host === 'earpiece').toSorted((a, b) => b.seenAt - a.seenAt);
}

const isHeld = (ear: LoadedInbox, { endedAt, process }: Presence): boolean =>
  endedAt === undefined && process !== undefined && ear.isAlive(process) === true;

async function newId(ear: LoadedInbox, log: LogKey, kind: string): Promise<string> {
  const now = new Date();
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const id = `${kind}-${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
  const taken = new Set((await ear.store.presence({ log })).map(({ conversation }): string => conversation));
  for (let n = 1; ; n++) {
    const free = n === 1 ? id : `${id}-${n}`;
    if (!taken.has(free)) return free;
  }
}

async function unknown(ear: LoadedInbox, log: LogKey, resume: string, option: 'resume' | 'fork'): Promise<EarpieceError> {
  const there = (await conversationsOf(ear, log)).slice(0, 5).map(({ conversation }) => conversation);
  return new EarpieceError(
    'not_found',
    `${log} has no conversation ${JSON.stringify(resume.slice(0, 80))}; ${there.length === 0 ? `without --${option}, a new conversation begins` : `the newest conversations are ${there.join(', ')}`}`,
  );
}
