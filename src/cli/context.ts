/** Opens the inbox for commands, and parses the options and addresses that several commands share. */
import { lstatSync } from 'node:fs';
import { formatAddress, logOf, parseAddress, type Address, type ConversationId, type LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import { loadConfig, parseDuration, type Config, type Flags } from '../config/index.ts';
import type { LoadedInbox } from '../loaded-inbox.ts';
import { openInbox, openInboxWith, type UserInbox } from '../user-inbox.ts';
import { insideAgent, notAPerson, type InsideAgent } from '../inbox/index.ts';
import { fileOf } from '../stores/open.ts';
import type { GlobalOptions } from './command-line.ts';
import { complain } from './terminal.ts';

export type { GlobalOptions };

/** The option of commands that can ask a running server; see `remote.ts`. */
export const SERVER_OPTION = [
  '--server <url>',
  'ask this server instead of the database; EARPIECE_TOKEN holds the token',
] as const satisfies readonly [string, string];

/** `archive` replaces the setting `archive` for one command. */
type DatabaseOptions = GlobalOptions & { readonly archive?: string };

type Work<T, Ear = UserInbox> = (ear: Ear) => Promise<T>;

/** Opens the inbox, runs `work` with it, and closes the inbox even after an error. */
export async function withInbox<T>(options: DatabaseOptions, work: Work<T>): Promise<T> {
  await using ear = await openInbox({ ...flagsOf(options), onProblem: complain });
  return await work(ear);
}

/** Runs `work` with the opened inbox and a loaded bus, for a command that uses the bus for more than emitting events. */
export async function withLoadedInbox<T>(
  options: GlobalOptions,
  work: Work<T, LoadedInbox>,
  how: { readonly thread?: boolean } = {},
): Promise<T> {
  const { openLoadedInbox } = await import('../loaded-inbox.ts');
  await using ear = await openLoadedInbox({ ...flagsOf(options), ...how, onProblem: complain });
  return await work(ear);
}

/**
 * Runs `work` with the opened inbox, for a command that reads or changes existing data. If no database exists, the inbox is empty
 * and no database is created. Throws `not_found` if `--db` names a missing database.
 */
export async function readInbox<T>(options: GlobalOptions, work: Work<T>): Promise<T> {
  const config = configOf(options);
  await using ear = await openInboxWith(config, { ...flagsOf(options), ...readOnly(options, config), onProblem: complain });
  return await work(ear);
}

/**
 * Runs `work` with an empty inbox in memory if the database does not exist and `text` addresses a whole project. No agent is
 * active in this inbox, so `work` fails if it needs an active agent, before the caller makes the database and its folders.
 */
export async function tryFirst(options: GlobalOptions, text: string | undefined, work: Work<unknown>): Promise<void> {
  const config = configOf(options);
  const file = fileOf(config.db);
  if (file === undefined || file === '' || !isAbsent(file) || addressIn(config, text).kind !== 'project') return;
  await using ear = await openInboxWith(config, { ...flagsOf(options), db: 'memory:' });
  await work(ear);
}

/**
 * Runs `work` with the opened inbox. Creates the default database if that database is missing. Throws `not_found` if `--db`
 * names a missing database.
 */
export async function withNamedDatabase<T>(options: GlobalOptions, work: Work<T>): Promise<T> {
  checkNamed(options);
  return withInbox(options, work);
}

/** Throws `not_found` if `--db` names a database that does not exist. */
export function checkNamed(options: GlobalOptions): void {
  if (options.db !== undefined) missingDatabase(options, configOf(options));
}

/**
 * Returns the database for a command that must not create a database: an empty database in memory replaces a missing database.
 * Throws `not_found` if `--db` names a missing database.
 */
export const readOnly = (options: GlobalOptions, config = configOf(options)): { readonly db?: string } =>
  missingDatabase(options, config) === undefined ? {} : { db: 'memory:' };

/**
 * Runs `work` with the opened inbox, for a command about the database itself. Throws `not_found` if the database does not
 * exist.
 */
export async function withDatabase<T>(options: DatabaseOptions, work: Work<T>): Promise<T> {
  const missing = missingDatabase(options, configOf(options));
  if (missing === undefined) return withInbox(options, work);
  throw new EarpieceError(
    'not_found',
    `there is no database ${missing} yet; to create the database, run earpiece send, gateway or serve`,
  );
}

/**
 * Returns the path of a database that does not exist yet; undefined if the database exists, or is not a file. Throws
 * `not_found` if `--db` names a missing database.
 */
export function missingDatabase({ db }: GlobalOptions, config: Config): string | undefined {
  const file = fileOf(config.db);
  // For a database URL without a path, such as `sqlite:`, the store throws the error.
  if (file === undefined || file === '' || !isAbsent(file)) return undefined;
  if (db === undefined) return file;
  throw new EarpieceError(
    'not_found',
    `--db ${JSON.stringify(db)}: there is no database ${file}; correct the path, or leave --db out for the database of this user`,
  );
}

/** Whether the file does not exist. Returns false for a file that cannot be examined, so that the store reports the reason. */
function isAbsent(file: string): boolean {
  try {
    lstatSync(file);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

const flagsOf = ({ db, archive }: DatabaseOptions): { readonly flags?: Flags } =>
  db === undefined && archive === undefined ? {} : { flags: defined({ db, archive }) };

const configOf = (options: DatabaseOptions): Config => loadConfig({ cwd: process.cwd(), env: process.env, ...flagsOf(options) });

/** Returns the agent whose tool runs this command; undefined if no agent runs the command. */
export const speaker = (): InsideAgent | undefined => insideAgent({ env: process.env });

/** Throws `not_trusted` if an agent runs this command. `what`: see `notAPerson`. */
export function onlyAPerson(what: string): void {
  const inside = speaker();
  if (inside !== undefined) throw notAPerson(what, inside);
}

/** Throws `not_trusted` in a shell where `EARPIECE_ADDRESS` names an agent, because an agent must not lift its own interrupts. */
export function notInItsShell(what: string): void {
  const address = process.env['EARPIECE_ADDRESS']?.trim() ?? '';
  // A whole project in EARPIECE_ADDRESS is only a default receiver, and not the address of an agent.
  if (address === '' || address.endsWith('*')) return;
  throw new EarpieceError(
    'not_trusted',
    `this shell belongs to the agent ${JSON.stringify(address.slice(0, 80))} (EARPIECE_ADDRESS), which is not allowed ${what}; let a person run this command in a shell without this variable`,
  );
}

/**
 * Parses an address: `project/agent` or `agent` (of this project), each also with `#conversation`, or `project/*`. Default: the
 * configured address, otherwise all active agents of this project.
 */
export const addressFrom = (ear: UserInbox, text: string | undefined): Address => addressIn(ear.config, text);

/** Parses an address as `addressFrom` does, before the inbox is opened. */
export function addressIn({ project, address }: Pick<Config, 'project' | 'address'>, text: string | undefined): Address {
  const given = text ?? address;
  if (given === undefined) return { kind: 'project', project };
  return parseAddress(given.includes('/') ? given : `${project}/${given}`);
}

/**
 * Returns the agent's log, and the conversation if the address names a conversation. Throws `bad_address` for a whole project.
 */
export function agentFrom(ear: UserInbox, text: string): { log: LogKey; conversation?: ConversationId } {
  const address = addressFrom(ear, text);
  if (address.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `address ${JSON.stringify(formatAddress(address))} is a whole project; this command works on one agent: ${address.project}/<agent>`,
    );
  const log = logOf(address);
  return address.kind === 'conversation' ? { log, conversation: address.conversation } : { log };
}

/** The logs that a command is about. An empty scope means the whole store. */
export type Scope = { readonly log?: LogKey; readonly project?: string; readonly conversation?: ConversationId };

export const scopeFrom = (ear: UserInbox, text: string | undefined, all: boolean): Scope => scopeIn(ear.config, text, all);

/**
 * Returns the scope that `text` names. Without `text`, the scope is this project, or with `all` the whole store. Works before the
 * inbox is opened.
 */
export function scopeIn(config: Pick<Config, 'project' | 'address'>, text: string | undefined, all: boolean): Scope {
  if (all) {
    if (text === undefined) return {};
    throw new EarpieceError('bad_argument', `give either an address (${JSON.stringify(text)}) or --all, got both`);
  }
  if (text === undefined) return { project: config.project };
  const address = addressIn(config, text);
  if (address.kind === 'project') return { project: address.project };
  return address.kind === 'conversation' ? { log: logOf(address), conversation: address.conversation } : { log: logOf(address) };
}

export async function logsIn(ear: UserInbox, { log, project }: Scope): Promise<readonly LogKey[]> {
  return log === undefined ? (await ear.store.overview(project)).map((each) => each.log) : [log];
}

/**
 * Finds the logs that contain this id: several, if the notification was sent to several agents. Throws `not_found` if no log
 * contains the id.
 */
export async function logsWith(ear: UserInbox, id: string, address: string | undefined): Promise<readonly LogKey[]> {
  const asked = await logsIn(ear, address === undefined ? {} : scopeFrom(ear, address, false));
  const holding: LogKey[] = [];
  for (const log of asked) if ((await ear.store.items(log, { kind: 'ids', ids: [id as never] })).length > 0) holding.push(log);
  if (holding.length === 0)
    throw new EarpieceError(
      'not_found',
      `there is no notification ${JSON.stringify(id.slice(0, 80))}${address === undefined ? '' : ` for ${JSON.stringify(address)}`}; earpiece log --all lists the existing notifications`,
    );
  return holding;
}

/** Names the option `--to` after an error of a command that notifies a whole project in which no conversation is active. */
export function withOptionTo(error: unknown): never {
  if (!(error instanceof EarpieceError) || error.code !== 'nobody_there') throw error;
  throw new EarpieceError(error.code, `${error.message} (--to names the agent)`, {
    data: error.data,
    cause: error,
  });
}

/**
 * Parses the duration of an option, and returns milliseconds. `before` is a prefix of the duration in the same word, such as
 * `in:`. `or` is a word that the caller accepts in place of a duration.
 */
export function durationOption(option: string, text: string, { before = '', or }: { before?: string; or?: string } = {}): number {
  const ms = text.startsWith(before) ? parseDuration(text.slice(before.length)) : undefined;
  if (ms === undefined)
    throw new EarpieceError(
      'bad_argument',
      `${option} ${JSON.stringify(text.slice(0, 80))} is not ${before === '' ? 'a duration' : `${before}<duration>`}; write 250ms, 30s, 10m, 2h${or === undefined ? ' or 3d' : `, 3d or ${or}`}`,
    );
  return ms;
}

/** Returns the name in `--as` without blanks around it. Throws `bad_argument` for a blank name. `what`: what the person does. */
export function personOption(as: string | undefined, what: string): string | undefined {
  const name = as?.trim();
  if (name === '')
    throw new EarpieceError('bad_argument', `--as ${JSON.stringify(as)} is not a name; write the name of the person who ${what}`);
  return name;
}

export function countOption(option: string, text: string, { min = 1, max = 1_000_000, before = '' } = {}): number {
  const digits = text.startsWith(before) ? text.slice(before.length) : '';
  const n = /^\d{1,9}$/.test(digits) ? Number(digits) : Number.NaN;
  if (!(n >= min && n <= max))
    throw new EarpieceError(
      'bad_argument',
      `${option} ${JSON.stringify(text.slice(0, 80))} is not ${before === '' ? '' : `${before}<n>, where n is `}a whole number from ${min} to ${max}`,
    );
  return n;
}

/** Returns a signal that aborts when the user or the system asks the process to end. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
