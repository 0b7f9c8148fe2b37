/**
 * Compares queueing with the raw driver of a database server: four processes with two clients each, one write at a time per
 * client.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { openStore } from '../../src/stores/open.ts';
import { percentile, versus } from '../rounds.ts';
import type { Measured, RunOptions } from '../row.ts';
import { start } from '../scale/engines.ts';
import { NO_LIMIT } from './ours.ts';
import { race } from './race.ts';

const PROCESSES = 4;
/** The work is done in processes that start for each round. Their own report gives the processor time. */
const CHILDREN = { ours: [], theirs: [] };
const STREAM = 'RAW';

export async function openAt(url: string, own: Partial<Policy> = {}): Promise<Inbox> {
  const policy: Policy = { ...DEFAULT_POLICY, ...NO_LIMIT, ...own };
  return new Inbox({ store: await openStore(url), policies: { policy: () => policy } });
}

type Raw = { readonly write: (which: number, n: number) => Promise<unknown>; readonly close: () => Promise<unknown> };

/** Opens the raw driver: one row with a unique id in one table, or one message on a subject that must be new. */
export async function openRawAt(url: string, number: string, body: string): Promise<Raw> {
  const id = (which: number, n: number): string => `${process.pid}-${number}-${which}-${n}`;
  if (url.startsWith('nats:')) {
    const nc = await connect({ servers: new URL(url).host });
    const stream = jetstream(nc);
    const create = { expect: { lastSubjectSequence: 0 } };
    return { write: (which, n) => stream.publish(`raw.${id(which, n)}`, body, create), close: () => nc.close() };
  }
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  return {
    write: (which, n) =>
      pool.query({ name: 'insert', text: 'INSERT INTO raw (id, body) VALUES ($1, $2)', values: [id(which, n), body] }),
    close: () => pool.end(),
  };
}

async function prepareRaw(url: string): Promise<void> {
  if (url.startsWith('nats:')) {
    const nc = await connect({ servers: new URL(url).host });
    await (await jetstreamManager(nc)).streams.add({ name: STREAM, subjects: ['raw.>'] });
    await nc.close();
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'CREATE TABLE raw (seq bigserial PRIMARY KEY, id text UNIQUE NOT NULL, at timestamptz DEFAULT now(), body text)',
  );
  await client.end();
}

export async function queueOnEngine(engine: 'postgres' | 'nats', { quick, folder }: RunOptions): Promise<Measured> {
  const server = await start(engine, folder);
  try {
    return await compared(server.url, quick);
  } finally {
    await server.remove();
  }
}

async function compared(url: string, quick: boolean): Promise<Measured> {
  await prepareRaw(url);
  const forMs = quick ? 300 : 2_000;
  const tails = { queue: [] as number[], insert: [] as number[] };
  const costs = { queue: [] as number[], insert: [] as number[] };
  const side = async (how: 'queue' | 'insert'): Promise<number> => {
    const { took, cpuUs } = await race(
      'engine-client.ts',
      Array.from({ length: PROCESSES }, (_, n) => [how, url, String(n), String(forMs)]),
    );
    tails[how].push(percentile(took, 99));
    costs[how].push(cpuUs);
    return (took.length / forMs) * 1_000;
  };
  const measured = await versus({
    ours: () => side('queue'),
    theirs: () => side('insert'),
    unit: '/s',
    rounds: quick ? 1 : 5,
    pids: CHILDREN,
  });
  return {
    ...measured,
    figures: {
      ...measured.figures,
      'CPU, ours': { value: percentile(costs.queue, 50), unit: 'us' },
      'CPU, theirs': { value: percentile(costs.insert, 50), unit: 'us' },
      p99: { value: percentile(tails.queue, 50), unit: 'ms' },
      'their p99': { value: percentile(tails.insert, 50), unit: 'ms' },
    },
  };
}
