/**
 * Makes the tool with which an agent leaves a note for itself. The note is delivered once at its chosen time, even after a
 * restart. A note belongs to its conversation. With `persist_cross_session`, the note belongs to the agent, so a later
 * conversation of the agent can get the note.
 */
import { defined, withoutNulls } from '../core/defined.ts';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import type { EventInput, Severity } from '../core/event.ts';
import type { Json } from '../core/json.ts';
import type { Deliver } from '../core/notification.ts';
import type { Conversation } from '../inbox/index.ts';
import { say } from '../inbox/producing/say.ts';
import { parseWhen, type When } from '../sources/timers/index.ts';
import type { Tool, ToolOutcome } from '../handles/tool.ts';
import type { Agent } from './agent.ts';
import { NEXT } from './notes.ts';

const PREFIX = {
  discovery: 'DISCOVERY',
  warning: 'WARN',
  checkpoint: 'CHECKPOINT',
  reminder: 'REMINDER',
  context: 'NOTE',
} as const;
type Category = keyof typeof PREFIX;

const SEVERITY = { low: 'debug', normal: 'info', high: 'warning', critical: 'error' } as const satisfies Record<string, Severity>;
type Priority = keyof typeof SEVERITY;

/** The values of `deliver_at`, each with the value of a subscriber's `inject_at` for the same moment. */
const MOMENTS = {
  immediate: { deliver: 'now', injectAt: 'immediate' },
  next_turn: { deliver: 'next_cycle', injectAt: 'turn_start' },
  after_tool: { deliver: 'after_tool', injectAt: 'after_tool' },
} as const satisfies Record<string, { deliver: Deliver; injectAt: string }>;

const MESSAGE_CHARS = 4_000;
const DAY_MS = 86_400_000;
/** A time in milliseconds that means "never". */
const NEVER_MS = 1_000 * 365 * DAY_MS;
const TIMEOUT_MS = 5_000;

export const notifySelf = (agent: () => Agent): Tool => ({
  name: 'notify_self',
  description:
    'Leaves a note for yourself that comes back later: a discovery, a warning, a checkpoint, a reminder, context. Not for facts already in the conversation. ' +
    'With persist_cross_session (use sparingly) your next conversation gets the note. withdraw alone removes the note with that key.',
  timeoutMs: TIMEOUT_MS,
  inputSchema: {
    type: 'object',
    properties: {
      message: { type: 'string', description: `At most ${MESSAGE_CHARS.toLocaleString('en')} characters.` },
      category: { type: 'string', enum: Object.keys(PREFIX), description: 'Default context.' },
      priority: { type: 'string', enum: Object.keys(SEVERITY), description: 'Default normal.' },
      deliver_at: {
        anyOf: [
          {
            type: 'string',
            description:
              'immediate, next_turn (the default: before your next step), after_tool, or a time such as "in 10m" or "at 15:30".',
          },
          { type: 'object', properties: { after_turns: { type: 'integer' } }, required: ['after_turns'] },
          { type: 'object', properties: { after_tool: { type: 'string' } }, required: ['after_tool'] },
          { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
        ],
      },
      persist_cross_session: { type: 'boolean', description: 'Default false: the note ends with this conversation.' },
      expires_in: {
        type: 'string',
        description: 'Such as "2h"; default 24h, from the delivery time. "0": never.',
      },
      key: { type: 'string', description: 'A note with the same key is replaced.' },
      withdraw: { type: 'string', description: 'The key of a note to remove.' },
    },
    additionalProperties: false,
  },
  async execute(args): Promise<ToolOutcome> {
    try {
      const given = withoutNulls(args as Readonly<Record<string, Json>>) as Readonly<Record<string, Json>>;
      checkNames(given);
      if (given['withdraw'] !== undefined) return await takeBack(agent(), given);
      return await leave(agent(), given);
    } catch (error) {
      if (!(error instanceof EarpieceError)) throw error;
      return { content: error.message, isError: true, failure: { type: 'bad_arguments', message: error.message } };
    }
  },
});

const NAMES = ['message', 'category', 'priority', 'deliver_at', 'persist_cross_session', 'expires_in', 'key', 'withdraw'];

function checkNames(given: Readonly<Record<string, Json>>): void {
  for (const name of Object.keys(given)) {
    if (NAMES.includes(name)) continue;
    const near = didYouMean(name, NAMES);
    throw new EarpieceError(
      'bad_argument',
      `there is no argument ${JSON.stringify(name)}${near === undefined ? '' : `, did you mean ${near}?`}; the arguments are ${NAMES.join(', ')}`,
    );
  }
}

async function leave(agent: Agent, given: Readonly<Record<string, Json>>): Promise<ToolOutcome> {
  const { inbox, conversation, emitter } = agent;
  const now = inbox.store.now();
  const { message, persist_cross_session: persist = false, key } = given;
  if (typeof message !== 'string' || message.trim() === '') throw bad('message', message, 'needs a text that is not blank');
  if (message.length > MESSAGE_CHARS)
    throw new EarpieceError(
      'bad_argument',
      `message must have at most ${MESSAGE_CHARS} characters, got ${message.length}: write the text to a file and note its path`,
    );
  const category = oneOf<Category>('category', given['category'] ?? 'context', PREFIX);
  const priority = oneOf<Priority>('priority', given['priority'] ?? 'normal', SEVERITY);
  if (typeof persist !== 'boolean') throw bad('persist_cross_session', persist, 'must be true or false');
  const { deliver, injectAt, said } = await momentOf(given['deliver_at'] ?? 'next_turn', { now, timeZone: inbox.timeZone });
  const dueInMs = typeof deliver === 'object' && 'at' in deliver ? Math.max(0, deliver.at - now) : 0;
  const lastsMs = await expiryOf(given['expires_in'], { now, timeZone: inbox.timeZone });

  const prefix = `[${priority === 'high' || priority === 'critical' ? '!' : ''}${PREFIX[category]}]`;
  const event: EventInput & { id: string } = {
    id: inbox.ids.make('note'),
    type: category === 'reminder' ? 'agent.self.remind' : 'agent.self.notify',
    source: 'agent',
    // A persisted note with a time, a tool or a number of turns is delivered to the conversation that is active at that moment.
    // Other persisted notes wait for the next conversation.
    subject: !persist ? conversation.address : typeof deliver === 'object' ? conversation.log : `${conversation.log}#${NEXT}`,
    severity: SEVERITY[priority],
    message,
    data: {
      message,
      category,
      priority,
      deliver_at: said,
      ...defined({ inject_at: injectAt }),
      persist_cross_session: persist,
      conversation: conversation.id,
    },
    deliver,
    ttlMs: lastsMs,
    origin: { agent: conversation.log, tool: 'notify_self', depth: 0 },
    ...(key === undefined ? {} : { key: keyOf('key', key, conversation, persist), supersede: true }),
  };
  const kept = await say(event, { inbox, emitter, now, plainly: `${prefix} ${message}` });
  if (kept.kind === 'skipped')
    return {
      content: `The note was not kept: ${kept.because}`,
      isError: true,
      failure: { type: 'not_kept', message: kept.because },
    };
  return {
    content: JSON.stringify({
      status: 'kept',
      id: kept.ids[0],
      category,
      priority,
      deliver_at: said,
      persist_cross_session: persist,
      expires_at: lastsMs >= NEVER_MS ? 'never' : new Date(now + dueInMs + lastsMs).toISOString(),
      ...defined({ key }),
    }),
  };
}

async function takeBack({ inbox, conversation }: Agent, given: Readonly<Record<string, Json>>): Promise<ToolOutcome> {
  const others = Object.keys(given).filter((name) => name !== 'withdraw');
  if (others.length > 0)
    throw new EarpieceError(
      'bad_argument',
      `withdraw removes a note and takes no other argument; leave out ${others.join(', ')}`,
    );
  const taken: string[] = [];
  for (const persist of [false, true]) {
    const key = keyOf('withdraw', given['withdraw'], conversation, persist);
    for (const { id, result } of await inbox.withdraw(conversation.log, { key }, { by: 'notify_self', reason: 'taken back' }))
      if (result === 'withdrawn' || result === 'maybe_seen') taken.push(id);
  }
  return {
    content: JSON.stringify({
      status: taken.length > 0 ? 'withdrawn' : 'nothing',
      withdrawn: taken.length,
      ...(taken.length > 0 ? {} : { why: `no note with the key ${JSON.stringify(given['withdraw'])} waits for delivery` }),
    }),
  };
}

const KEY_CHARS = 80;

/**
 * Returns the key of a note. `name` is the argument that contains the key. The key of a note of one conversation contains that
 * conversation. The key of a persisted note contains no conversation, so that a later conversation can replace or withdraw the
 * note.
 */
function keyOf(name: 'key' | 'withdraw', key: Json | undefined, { id }: Conversation, persist: boolean): string {
  if (typeof key !== 'string' || key.trim() === '' || key.length > KEY_CHARS)
    throw bad(name, key, `must be a text of 1 to ${KEY_CHARS} characters`);
  return persist ? `self:${key}` : `self:${id}:${key}`;
}

async function momentOf(
  given: Json,
  here: { readonly now: number; readonly timeZone: string },
): Promise<{ readonly deliver: Deliver; readonly said: Json; readonly injectAt?: string }> {
  if (typeof given === 'string') {
    const moment = Object.hasOwn(MOMENTS, given) ? MOMENTS[given as keyof typeof MOMENTS] : undefined;
    if (moment !== undefined) return { ...moment, said: given };
    return whenOf(given, given, here);
  }
  if (typeof given === 'object' && given !== null && !Array.isArray(given) && Object.keys(given).length === 1) {
    const { after_turns: turns, after_tool: tool, at } = given as Readonly<Record<string, Json>>;
    if (typeof turns === 'number') {
      if (!Number.isInteger(turns) || turns < 1 || turns > 1_000)
        throw bad('deliver_at.after_turns', turns, 'must be a whole number from 1 to 1,000');
      return { deliver: { afterTurns: turns }, said: given };
    }
    if (typeof at === 'string') return whenOf(at, given, here);
    if (typeof tool === 'string') {
      if (!/^\S{1,256}$/.test(tool)) throw bad('deliver_at.after_tool', tool, 'must be the name of a tool');
      return { deliver: { afterTool: tool }, said: given };
    }
  }
  throw bad('deliver_at', given, WHENS);
}

const WHENS = `must be one of ${Object.keys(MOMENTS).join(', ')}, {"after_turns": n}, {"after_tool": name} or {"at": a time such as "in 10m" or "2026-05-01T10:00"}`;

async function whenOf(
  text: string,
  said: Json,
  here: { readonly now: number; readonly timeZone: string },
): Promise<{ readonly deliver: Deliver; readonly said: Json }> {
  let when: When;
  try {
    when = await parseWhen(text, here);
  } catch (error) {
    throw new EarpieceError('bad_argument', `deliver_at ${show(said)} ${WHENS}: ${(error as Error).message}`, { cause: error });
  }
  return { deliver: when, said };
}

/** Returns how long the note stays open after its due time, in milliseconds. */
async function expiryOf(given: Json | undefined, here: { readonly now: number; readonly timeZone: string }): Promise<number> {
  if (given === undefined) return DAY_MS;
  if (given === 0 || given === '0') return NEVER_MS;
  const text = typeof given === 'string' && /^\s*\d+(?:\.\d+)?\s*[a-z]+\s*$/iu.test(given) ? `in ${given.trim()}` : undefined;
  const when = text === undefined ? undefined : await parseWhen(text, here).catch(() => undefined);
  if (when === undefined || !('at' in when))
    throw bad('expires_in', given, 'must be a time such as "30m", "2h" or "7 days", or "0" for never');
  return when.at - here.now;
}

function oneOf<T extends string>(name: string, value: Json, known: Readonly<Record<T, unknown>>): T {
  if (typeof value === 'string' && Object.hasOwn(known, value)) return value as T;
  throw bad(name, value, `must be one of ${Object.keys(known).join(', ')}`);
}

const bad = (name: string, value: Json | undefined, allowed: string): EarpieceError =>
  new EarpieceError('bad_argument', `${name} ${show(value)} ${allowed}`);

function show(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'is missing:';
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}
