/**
 * Decides for whom a command reads or asks for notifications. The reader is the agent of this shell. Otherwise, the reader is a
 * person, who reads the notifications of agents.
 */
import { parseAddress, type Address, type ConversationId, type LogKey } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Store } from '../core/ports.ts';
import type { Config, Env } from '../config/index.ts';
import { defined } from '../core/defined.ts';
import { identify, type Identity, type Inbox, type Processes } from '../inbox/index.ts';
import { addressIn, speaker } from './context.ts';

export type Reader = { readonly log: LogKey; readonly conversation: ConversationId; readonly host?: Identity['host'] };

export type ReaderQuestion = {
  readonly project: string;
  readonly env: Env;
  /** The `address` of the configuration. This address names an agent, but does not prove that an agent runs this shell. */
  readonly address?: string | undefined;
  readonly processes?: Processes;
};

/**
 * Returns the conversation whose agent runs this shell, according to `EARPIECE_ADDRESS` or to a known host among the ancestors.
 * Returns undefined if a person runs this shell.
 */
export async function readerOf(
  ear: { readonly store: Pick<Store, 'binding'> },
  question: ReaderQuestion,
): Promise<Reader | undefined> {
  const { project, address, processes } = question;
  // A whole project can only receive, so it is not the address of an agent.
  const own = (text: string | undefined): string | undefined =>
    text?.trim().endsWith('*') ? undefined : text?.trim() || undefined;
  const told = own(question.env['EARPIECE_ADDRESS']);
  const common = {
    project,
    env: { ...question.env, EARPIECE_ADDRESS: undefined },
    ...defined({ processes }),
  };
  if (told === undefined && (await identify(common, ear.store)).host === undefined) return undefined;
  return identify({ ...common, given: told ?? own(address) }, ear.store);
}

/**
 * Returns the receiver of the notifications that a command in this shell asks for. The receiver is `to`, otherwise the configured
 * agent, otherwise the agent of this shell, otherwise the whole project. Works before the log is opened.
 */
export async function receiverOf(
  config: Pick<Config, 'project' | 'address'>,
  to: string | undefined,
  at: Pick<ReaderQuestion, 'env' | 'processes'> = { env: process.env },
): Promise<Address> {
  const address = addressIn(config, to);
  if (to !== undefined || address.kind !== 'project') return address;
  const reader = await readerOf(WITHOUT_BINDINGS, { project: config.project, ...at });
  return reader === undefined ? address : parseAddress(reader.log);
}

/**
 * Returns the agent in whose shell this command runs, as `project/agent`, or as "an agent" if its name is not known. The agent's
 * limits apply to the command. Returns undefined if a person runs this shell.
 */
export async function agentHere(
  { project }: Pick<Config, 'project'>,
  at: Pick<ReaderQuestion, 'env' | 'processes'> = { env: process.env },
): Promise<string | undefined> {
  const inside = speaker();
  if (inside !== undefined) return inside.log || 'an agent';
  return (await readerOf(WITHOUT_BINDINGS, { project, ...at }))?.log;
}

/** A binding names only the conversation of an agent, so the agent is known without a binding. */
const WITHOUT_BINDINGS = { store: { binding: () => Promise.resolve(undefined) } };

/**
 * Returns the conversation that a person means by an address. If the address names no conversation, the result is the agent's
 * only active conversation, or `#main` if no conversation is active. Throws `bad_address` for a whole project, and if several
 * conversations are active.
 */
export async function conversationOf(ear: Inbox, address: string): Promise<Reader> {
  const parsed = parseAddress(address);
  if (parsed.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `address ${JSON.stringify(address)} is a whole project; name one agent: ${parsed.project}/<agent>`,
    );
  const log = `${parsed.project}/${parsed.agent}` as LogKey;
  if (parsed.kind === 'conversation') return { log, conversation: parsed.conversation };
  const there = (await ear.active({ log })).map((presence) => presence.conversation);
  if (there.length > 1)
    throw new EarpieceError(
      'bad_address',
      `${log} has ${there.length} active conversations; name one conversation: ${there.map((conversation) => `${log}#${conversation}`).join(', ')}`,
    );
  return { log, conversation: there[0] ?? ('main' as ConversationId) };
}
