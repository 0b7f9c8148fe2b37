/** What every command starts from: the options of all commands, the open log, and where a notification goes by default. */
import { parseAddress, formatAddress, type Address, type ConversationId, type LogKey } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import { parseDuration } from '../config/index.ts';
import { openEarpiece, type Earpiece } from '../earpiece.ts';
import { complain } from './terminal.ts';

export type GlobalOptions = { readonly db?: string; readonly json?: boolean };

/** Runs `work` with the open log and closes it, whatever happens. */
export async function withEarpiece<T>(options: GlobalOptions, work: (ear: Earpiece) => Promise<T>): Promise<T> {
  await using ear = await openEarpiece({
    ...(options.db === undefined ? {} : { flags: { db: options.db } }),
    onProblem: complain,
  });
  return await work(ear);
}

/** `project/agent`, `agent` (of this project), `project/*`; without any, everyone who is active in this project. */
export function addressFrom(ear: Earpiece, text: string | undefined): Address {
  const given = text ?? ear.config.address;
  if (given === undefined) return { kind: 'project', project: ear.project };
  return parseAddress(given.includes('/') ? given : `${ear.project}/${given}`);
}

/** The agent's log and, where it was named, the conversation. A whole project is no one agent. */
export function agentFrom(ear: Earpiece, text: string): { log: LogKey; conversation?: ConversationId } {
  const address = addressFrom(ear, text);
  if (address.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `address ${JSON.stringify(formatAddress(address))} is a whole project; this command works on one agent: ${address.project}/<agent>`,
    );
  const log = `${address.project}/${address.agent}` as LogKey;
  return address.kind === 'conversation' ? { log, conversation: address.conversation } : { log };
}

/** The logs that a command without an address looks at: those of this project, or all. */
export async function logsFrom(
  ear: Earpiece,
  text: string | undefined,
  all: boolean,
): Promise<{ logs: readonly LogKey[]; conversation?: ConversationId }> {
  if (text !== undefined && !text.endsWith('/*')) {
    const { log, conversation } = agentFrom(ear, text);
    return { logs: [log], ...(conversation === undefined ? {} : { conversation }) };
  }
  const project = text === undefined ? ear.project : text.slice(0, -2);
  const overview = await ear.store.overview(all ? undefined : project);
  return { logs: overview.map((o) => o.log) };
}

export function durationOption(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new EarpieceError(
      'bad_argument',
      `${option} ${JSON.stringify(text)} is not a duration; write 250ms, 30s, 10m, 2h or 3d`,
    );
  return ms;
}

export function countOption(option: string, text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1 || n > 1_000_000)
    throw new EarpieceError('bad_argument', `${option} ${JSON.stringify(text)} is not a whole number from 1 to 1000000`);
  return n;
}

/** A signal that aborts when the user or the system asks the process to end. */
export function untilStopped(): AbortSignal & { readonly stopped: boolean } {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal as AbortSignal & { readonly stopped: boolean };
}
