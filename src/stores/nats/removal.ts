/**
 * Removes old records by retention, single records, and all records of an agent. Before single messages are deleted, a row for
 * the log lists the removed records, so that a reader ignores those messages.
 */
import { randomUUID } from 'node:crypto';
import type { LogKey } from '../../core/address.ts';
import type { Erased } from '../../core/ports.ts';
import { eraseLog, pruneLog } from '../memory-log.ts';
import { fault } from '../../core/faults.ts';
import type { Conversations } from './conversations.ts';
import { inTurns } from './in-turns.ts';
import type { Cut, Logs } from './logs.ts';
import type { Server } from './server.ts';
import { type Settings } from './settings.ts';
import type { Tables } from './tables.ts';
import type { View } from './view.ts';

export type Removing = {
  readonly server: Server;
  readonly tables: Tables;
  readonly logs: Logs;
  readonly settings: Settings;
  readonly conversations: Conversations;
};

/**
 * The approximate maximum number of notifications that one step of a prune removes. The server needs about a millisecond for each
 * record.
 */
const CHUNK = 500;

/** Removes one chunk of a log's old records. Removes nothing if no old records are left. The newest record of the store stays. */
export async function pruneOne(
  of: Removing,
  log: LogKey,
  before: number,
): Promise<{ readonly records: number; readonly items: number }> {
  return of.logs.exclusive(log, async (refresh) => {
    const view = await refresh();
    fault('prune.begun');
    const head = await of.server.lastSeq(of.server.logs);
    const gone = new Set<number>();
    const items = pruneLog(view.log, { before, head, removed: gone, most: CHUNK });
    if (gone.size === 0 && view.void.size === 0) return { records: 0, items };
    // The view no longer has these records, although their messages still exist, so the log is read again.
    of.logs.forget(log);
    await remove(of, view, [...gone]);
    fault('prune.committed');
    return { records: gone.size, items };
  });
}

export const removeRecords = (of: Removing, log: LogKey, seqs: readonly number[]): Promise<void> =>
  of.logs.exclusive(log, async (refresh) => {
    const view = await refresh();
    of.logs.forget(log);
    await remove(of, view, seqs);
  });

/**
 * Removes these records and the void messages. If their positions do not fit into one row, removes the records in several rounds.
 */
async function remove({ server, tables, logs }: Removing, view: View, seqs: readonly number[]): Promise<void> {
  const row = logs.cutOf(view.log.key);
  let left: readonly number[] = [...view.void, ...seqs];
  do {
    let listed: ReadonlySet<number> = new Set();
    await tables.change<Cut>(row, randomUUID(), (known) => {
      // The row may also list records of another process's incomplete removal. These records stay listed.
      listed = new Set([...new Set([...(known?.removed ?? []), ...left])].slice(0, MOST_LISTED));
      return { removed: [...listed], upTo: Math.max(known?.upTo ?? 0, view.decided) };
    });
    await inTurns([...listed], (seq) => server.remove(server.logs, seq));
    // The messages are deleted, so their positions leave the list. The changed row makes every process read the log again.
    await tables.change<Cut>(row, randomUUID(), (known) => ({
      removed: (known?.removed ?? []).filter((seq) => !listed.has(seq)),
      upTo: known?.upTo ?? 0,
    }));
    left = left.filter((seq) => !listed.has(seq));
  } while (left.length > 0);
}

/** The maximum number of listed records, because the row must fit into one message. */
const MOST_LISTED = 50_000;

/** Removes one agent's data: its records below a position in one step, and then its settings and rows. */
export async function eraseAgent(of: Removing, log: LogKey, before: number): Promise<Erased> {
  const { server, tables, logs, conversations } = of;
  return logs.exclusive(log, async (refresh) => {
    const view = await refresh();
    logs.forget(log);
    const records = view.log.records.filter(({ seq }) => seq < before).length;
    const notifications = eraseLog(view.log, before);
    const cut = (): Promise<unknown> =>
      tables.change<Cut>(logs.cutOf(log), randomUUID(), (known) => ({
        removed: known?.removed ?? [],
        upTo: Math.max(known?.upTo ?? 0, Math.min(view.decided, before - 1)),
      }));
    // A store that refuses writes refuses this row too, and then nothing is removed.
    await cut();
    for (const seq of view.void) await server.remove(server.logs, seq);
    if (before > 0) await server.purge(server.logs, logs.subjects(log).all, before);
    await cut();
    const settings = (await of.settings.all()).filter(
      ({ value: { key, value } }) =>
        key.endsWith(` ${log}`) || key.includes(` ${log}#`) || (typeof value === 'string' && value.startsWith(`${log}#`)),
    );
    for (const { subject, seq } of settings) await tables.drop(subject, seq);
    return { records, notifications, ...(await conversations.erase(log)), settings: settings.length };
  });
}
