/**
 * Opens Mastra's notification storage as Mastra's agents use it, in one file, with the journal mode and the synchronous setting
 * of Earpiece's store. Only the functions that the bench calls are declared here, with the types of
 * `@mastra/core/notifications`.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { folderOf, isInstalled, pins } from './pins.ts';

export type MastraNotification = {
  readonly threadId: string;
  readonly agentId: string;
  readonly resourceId: string;
  readonly source: string;
  readonly kind: string;
  readonly priority: 'low' | 'medium' | 'high' | 'urgent';
  readonly summary: string;
  readonly payload?: unknown;
  readonly sourceId?: string;
  readonly coalesceKey?: string;
  readonly deliverAt?: Date;
};
export type MastraRecord = { readonly id: string; readonly status: string; readonly coalescedCount?: number };

/** Makes a notification of one thread, about as large as Earpiece's notifications. */
export const mastraNotification = (summary: string, payload: unknown): MastraNotification => ({
  threadId: 'agent',
  agentId: 'agent',
  resourceId: 'bench',
  source: 'tool',
  kind: 'stopped',
  priority: 'medium',
  summary,
  payload,
});

export interface MastraStorage {
  init(): Promise<void>;
  createNotification(input: MastraNotification): Promise<MastraRecord>;
  listDueNotifications(input: { now: Date; limit: number }): Promise<MastraRecord[]>;
  updateNotificationsStatus(input: { threadId: string; ids: string[]; status: 'delivered' }): Promise<MastraRecord[]>;
}

export type Mastra = {
  readonly storage: MastraStorage;
  /**
   * Adds pending rows with coalescing keys. This function skips the search for each key, which would take a minute for thousands
   * of rows. The result is the same.
   */
  fill(rows: Iterable<MastraNotification & { readonly coalesceKey: string }>): Promise<void>;
  /** Runs Mastra's dispatcher, and returns the number of deliveries. The model's side (signal, transcript) takes no time here. */
  deliverDue(): Promise<number>;
  close(): void;
};

type Dispatch = (input: { mastra: unknown; storage: MastraStorage; limit: number }) => Promise<{
  delivered: readonly unknown[];
  failed: readonly { error: string }[];
}>;
type Client = { execute(sql: string): Promise<unknown>; close(): void };

/** Opens `file`, and makes it if it does not exist. The pragmas take effect because the client has only this connection. */
export async function openMastra(file: string): Promise<Mastra> {
  if (!isInstalled('mastra'))
    throw new Error(`${pins.mastra[0]} is not installed in ${folderOf('mastra')}: run \`node scripts/peers.ts mastra\``);
  process.env['MASTRA_TELEMETRY_DISABLED'] = '1';
  const [{ NotificationsLibSQL }, { dispatchDueNotifications }, { createClient }] = await Promise.all([
    load<{ NotificationsLibSQL: new (config: { client: Client }) => MastraStorage }>('@mastra/libsql'),
    load<{ dispatchDueNotifications: Dispatch }>('@mastra/core/storage'),
    load<{ createClient: (config: { url: string; concurrency: number; timeout: number }) => Client }>('@libsql/client'),
  ]);
  const client = createClient({ url: `file:${file}`, concurrency: 1, timeout: 5000 });
  await client.execute('PRAGMA journal_mode=WAL');
  await client.execute('PRAGMA synchronous=FULL');
  const storage = new NotificationsLibSQL({ client });
  await storage.init();
  return {
    storage,
    fill: async (rows) => {
      for (const { coalesceKey, ...row } of rows) await storage.createNotification({ ...row, sourceId: coalesceKey });
      await client.execute('UPDATE mastra_notifications SET "coalesceKey" = "sourceId", "sourceId" = NULL');
    },
    deliverDue: async () => {
      const { delivered, failed } = await dispatchDueNotifications({ mastra: silentMastra, storage, limit: 100 });
      if (failed[0]) throw new Error(`Mastra's dispatcher failed: ${failed[0].error}`);
      return delivered.length;
    },
    close: () => client.close(),
  };
}

/** A minimal host for the dispatcher: an agent that takes each signal at once and writes no transcript. */
const silentMastra = {
  getAgentById: async () => ({
    sendSignal: (signal: unknown) => ({ accepted: Promise.resolve(), persisted: Promise.resolve(), signal }),
  }),
  getLogger: () => undefined,
};

function load<T>(name: string): Promise<T> {
  const from = createRequire(path.join(folderOf('mastra'), 'package.json'));
  return import(pathToFileURL(from.resolve(name)).href) as Promise<T>;
}
