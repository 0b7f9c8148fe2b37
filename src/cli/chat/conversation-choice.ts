/** Which conversation `chat` and `run` write: a new one, or one to go on with. */
import { formatAddress, logOf, type LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Presence } from '../../core/ports.ts';
import type { Draft } from '../../core/records.ts';
import type { Earpiece } from '../../earpiece.ts';
import { addressFrom } from '../context.ts';

export type Wish = {
  /** `agent`, `project/agent` or `project/agent#conversation`. */
  readonly as?: string;
  /** True: the one that was seen last. */
  readonly resume?: string | true;
  /** What a new one is called after: `chat`, `run`. */
  readonly kind: string;
};

export type Choice = {
  readonly address: string;
  readonly log: LogKey;
  readonly conversation: string;
  /** Named by whoever began it: the same command goes on with it. */
  readonly named: boolean;
  /** It has records. */
  readonly goesOn: boolean;
  /** What it was begun with; empty for a new one. */
  readonly begun: Begun;
};

export type Begun = {
  readonly model?: string;
  readonly system?: string;
  /** Whether it has the tools for tasks. */
  readonly tasks?: boolean;
};

/** Our agent where nobody says which. */
const AGENT = 'agent';

export async function chooseConversation(ear: Earpiece, { as, resume, kind }: Wish): Promise<Choice> {
  const { log, named } = agentOf(ear, as);
  const conversation = await idOf(ear, log, named, resume, kind);
  const goesOn =
    (await ear.store.read({ log, conversation: conversation as never, types: ['chat_request'], limit: 1 })).length > 0;
  if (typeof resume === 'string' && !goesOn) throw await unknown(ear, log, resume);
  return {
    address: `${log}#${conversation}`,
    log,
    conversation,
    named: named !== undefined,
    goesOn,
    begun: await begunWith(ear, log, conversation),
  };
}

/** What a conversation is begun with stays with it: another system text would change the prompt from its first byte. */
export const begunRecord = (begun: Begun): Draft => ({ type: 'config_delta', delta: begun });

async function begunWith(ear: Earpiece, log: LogKey, conversation: string): Promise<Begun> {
  const deltas = await ear.store.read({ log, conversation: conversation as never, types: ['config_delta'] });
  return Object.assign({}, ...deltas.map(({ body }) => (body as unknown as { delta?: Begun }).delta ?? {})) as Begun;
}

function agentOf(ear: Earpiece, as: string | undefined): { log: LogKey; named?: string } {
  const address = addressFrom(ear, as);
  // A whole project is where to send to; here somebody is to be it.
  if (address.kind === 'project') {
    if (as !== undefined)
      throw new EarpieceError(
        'bad_address',
        `--as ${JSON.stringify(formatAddress(address))} is a whole project; an agent is ${address.project}/<agent>`,
      );
    return { log: `${address.project}/${AGENT}` as LogKey };
  }
  // What the environment calls an address is the agent around this process; its conversation is its own.
  return { log: logOf(address), ...(as !== undefined && address.kind === 'conversation' ? { named: address.conversation } : {}) };
}

async function idOf(
  ear: Earpiece,
  log: LogKey,
  named: string | undefined,
  resume: Wish['resume'],
  kind: string,
): Promise<string> {
  if (typeof resume === 'string') {
    const id = resume.slice(resume.lastIndexOf('#') + 1);
    if (named !== undefined && named !== id)
      throw new EarpieceError('bad_argument', `--as names the conversation ${named}, --resume another: ${id}`);
    return id;
  }
  if (named !== undefined) return named;
  if (resume === undefined) return newId(ear, log, kind);
  const newest =
    (await conversationsOf(ear, log)).find((presence) => !isHeld(ear, presence)) ?? (await conversationsOf(ear, log))[0];
  if (newest === undefined)
    throw new EarpieceError('not_found', `${log} has no conversation to go on with; without --resume a new one begins`);
  return newest.conversation;
}

/** Conversations that an agent of ours led, the one seen last first. */
async function conversationsOf(ear: Earpiece, log: LogKey): Promise<readonly Presence[]> {
  return (await ear.store.presence({ log })).filter(({ host }) => host === 'earpiece').toSorted((a, b) => b.seenAt - a.seenAt);
}

const isHeld = (ear: Earpiece, { endedAt, process }: Presence): boolean =>
  endedAt === undefined && process !== undefined && ear.isAlive(process) === true;

async function newId(ear: Earpiece, log: LogKey, kind: string): Promise<string> {
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

async function unknown(ear: Earpiece, log: LogKey, resume: string): Promise<EarpieceError> {
  const there = (await conversationsOf(ear, log)).slice(0, 5).map(({ conversation }) => conversation);
  return new EarpieceError(
    'not_found',
    `${log} has no conversation ${JSON.stringify(resume.slice(0, 80))}${there.length === 0 ? '' : `; there are ${there.join(', ')}`}`,
  );
}
