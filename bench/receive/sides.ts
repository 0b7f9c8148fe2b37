/**
 * Defines the programs that queue in one process and receive in another process. Each job or notification contains the time of
 * its sending, in nanoseconds of the machine's monotonic clock.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { toLog } from '../../src/inbox/index.ts';
import { openAt } from '../log/engine.ts';
import { AGENT } from '../log/ours.ts';
import { folderOf, type PeerName } from '../peers/pins.ts';

export type Sender = { readonly send: (since: string) => Promise<unknown>; readonly close: () => Promise<unknown> };
export type Receiver = { readonly close: () => Promise<unknown> };
export type Side = {
  readonly sender: (url: string) => Promise<Sender>;
  /** Calls `on` for each received job. Each peer gets up to 10 jobs at once. Earpiece gets one carrier after the other. */
  readonly receiver: (url: string, on: (since: string) => void) => Promise<Receiver>;
};

const NAME = 'bench';
type Data = { readonly since: string };

async function load<T>(peer: PeerName): Promise<T> {
  const from = createRequire(path.join(folderOf(peer), 'package.json'));
  return (await import(pathToFileURL(from.resolve(peer)).href)) as T;
}

/**
 * A policy with which each notification has its own line, like a job. Equal notifications are not merged, and no limit keeps a
 * notification for a later carrier.
 */
const SINGLE = { coalesceMs: { '*': 0 }, maxItems: 1_000_000, maxTokens: 1_000_000_000 };

/** Earpiece: the agent's conversation offers and confirms each notification, so each is delivered once. */
const earpiece: Side = {
  sender: async (url) => {
    const inbox = await openAt(url, SINGLE);
    return {
      send: (since) => inbox.queue(AGENT, { kind: 'tool.stopped', message: 'Background tests ended', data: { since } }),
      close: () => inbox.close(),
    };
  },
  receiver: async (url, on) => {
    const inbox = await openAt(url, SINGLE);
    const log = toLog(AGENT);
    const conversation = inbox.conversation(`${AGENT}#main`);
    const stop = new AbortController();
    const after = (await inbox.store.read({ newestFirst: true, limit: 1 }))[0]?.seq ?? 0;
    const received = new Set<string>();
    const ended = (async () => {
      for await (const { body } of inbox.watch({ log, after, signal: stop.signal })) {
        // An earlier offer may already have contained this notification.
        if (body.type !== 'system_notification_queued' || received.delete(String(body['id']))) continue;
        const offer = await conversation.offer({ at: 'tool_result' });
        await offer?.confirm();
        for (const id of offer?.ids ?? []) if (id !== body['id']) received.add(id);
        for (const [, since = ''] of offer?.view.text.matchAll(/"since":"(\d+)"/gu) ?? []) on(since);
      }
    })();
    return {
      close: async () => {
        stop.abort();
        await ended;
        await inbox.close();
      },
    };
  },
};

type PgBossModule = {
  readonly PgBoss: new (options: object) => {
    on(event: 'error', listener: (error: Error) => void): unknown;
    start(): Promise<unknown>;
    stop(options: object): Promise<unknown>;
    createQueue(name: string, options: object): Promise<unknown>;
    send(name: string, data: Data): Promise<unknown>;
    work(name: string, options: object, on: (jobs: { readonly data: Data }[]) => Promise<void>): Promise<unknown>;
  };
};

async function boss(url: string) {
  const { PgBoss } = await load<PgBossModule>('pg-boss');
  const boss = new PgBoss({ connectionString: url, useListenNotify: true });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(NAME, { notify: true });
  return boss;
}

/** pg-boss, which listens to notifications of PostgreSQL, because its polls are slower. */
const pgBoss: Side = {
  sender: async (url) => {
    const queue = await boss(url);
    return { send: (since) => queue.send(NAME, { since }), close: () => queue.stop({ graceful: false }) };
  },
  receiver: async (url, on) => {
    const queue = await boss(url);
    await queue.work(NAME, { batchSize: 10, pollingIntervalSeconds: 0.5 }, async (jobs) =>
      jobs.forEach(({ data }) => on(data.since)),
    );
    return { close: () => queue.stop({ graceful: false }) };
  },
};

type GraphileModule = {
  readonly Logger: new (make: () => () => void) => unknown;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(name: string, data: Data): Promise<unknown>;
    release(): Promise<void>;
  }>;
  readonly run: (options: object) => Promise<{ stop(): Promise<void> }>;
};

/** graphile-worker, which listens to notifications of PostgreSQL by default. */
const graphileWorker: Side = {
  sender: async (connectionString) => {
    const utils = await (await load<GraphileModule>('graphile-worker')).makeWorkerUtils({ connectionString });
    return { send: (since) => utils.addJob(NAME, { since }), close: () => utils.release() };
  },
  receiver: async (connectionString, on) => {
    const { Logger, run } = await load<GraphileModule>('graphile-worker');
    const runner = await run({
      connectionString,
      logger: new Logger(() => () => undefined),
      noHandleSignals: true,
      concurrency: 10,
      taskList: { [NAME]: async ({ since }: Data) => on(since) },
    });
    return { close: () => runner.stop() };
  },
};

type BullModule = {
  readonly Queue: new (
    name: string,
    options: object,
  ) => { add(name: string, data: Data): Promise<unknown>; close(): Promise<void> };
  readonly Worker: new (
    name: string,
    on: (job: { readonly data: Data }) => Promise<void>,
    options: object,
  ) => { waitUntilReady(): Promise<unknown>; close(): Promise<void> };
};

const redisAt = (url: string): object => ({ host: '127.0.0.1', port: Number(new URL(url).port), maxRetriesPerRequest: null });

/** BullMQ on Redis. */
const bullmq: Side = {
  sender: async (url) => {
    const { Queue } = await load<BullModule>('bullmq');
    const queue = new Queue(NAME, { connection: redisAt(url) });
    return { send: (since) => queue.add(NAME, { since }), close: () => queue.close() };
  },
  receiver: async (url, on) => {
    const { Worker } = await load<BullModule>('bullmq');
    const worker = new Worker(NAME, async ({ data }) => on(data.since), { connection: redisAt(url), concurrency: 10 });
    await worker.waitUntilReady();
    return { close: () => worker.close() };
  },
};

export const SIDES = { earpiece, 'pg-boss': pgBoss, 'graphile-worker': graphileWorker, bullmq } as const;
export type SideName = keyof typeof SIDES;
