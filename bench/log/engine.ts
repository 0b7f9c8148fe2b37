/**
 * Compares `inbox.queue` with the raw driver of a database server. The driver writes the same rows or the same message. Four
 * processes with two clients each write at the same time, and each client writes one notification at a time.
 */
import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { Inbox, toLog } from '../../src/inbox/index.ts';
import { memoryStore } from '../../src/stores/index.ts';
import { bodyText } from '../../src/stores/nats/body.ts';
import { openStore } from '../../src/stores/open.ts';
import { percentile, versus } from '../rounds.ts';
import type { Measured, RunOptions } from '../row.ts';
import { start } from '../scale/engines.ts';
import { AGENT, data, message, NO_LIMIT } from './ours.ts';
import { race } from './race.ts';

const PROCESSES = 4;
/**
 * The number of writes of each client before the measurement. These writes compile the code, as in a server that runs for
 * hours.
 */
const WARM = 2_000;
/** No process ids: new processes start for each round, and report their own processor time. */
const CHILDREN = { ours: [], theirs: [] };
const STREAM = 'RAW';
const SAME = 'same';
/** `same`: the rows or the message that `queue` writes. `one`: one row in a table that a user would make by hand. */
type Written = 'same' | 'one';
export type How = 'queue' | Written;

export async function openAt(url: string, own: Partial<Policy> = {}): Promise<Inbox> {
  const policy: Policy = { ...DEFAULT_POLICY, ...NO_LIMIT, ...own };
  return new Inbox({ store: await openStore(url), policies: { policy: () => policy } });
}

export type Raw = { readonly write: (which: number, n: number) => Promise<unknown>; readonly close: () => Promise<unknown> };

/** Opens the raw driver. Each message of JetStream has a subject that must be new. Each row has a unique id. */
export async function openRawAt(url: string, what: Written, number: string): Promise<Raw> {
  const id = (which: number, n: number): string => `${process.pid}-${number}-${which}-${n}`;
  const { record, notification } = await textsOfOne();
  if (url.startsWith('nats:')) {
    const nc = await connect({ servers: new URL(url).host });
    const stream = jetstream(nc);
    const body = bodyText({ tx: randomUUID(), at: Date.now() }, [{ text: record }]);
    const create = { expect: { lastSubjectSequence: 0 } };
    return { write: (which, n) => stream.publish(`raw.${id(which, n)}`, body, create), close: () => nc.close() };
  }
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const write: Raw['write'] =
    what === 'one'
      ? (which, n) =>
          pool.query({ name: 'one', text: 'INSERT INTO raw (id, body) VALUES ($1, $2)', values: [id(which, n), record] })
      : (which, n) =>
          pool.query({
            name: 'same',
            text: SAME_ROWS,
            values: [agentOf(number, which, n), Date.now(), record, n, id(which, n), notification],
          });
  return { write, close: () => pool.end() };
}

/**
 * Returns the agent for a write of a client. Each client begins with a new agent, and takes the next new agent after 500
 * notifications. If an agent had a log from an earlier round, the process would first read that log.
 */
export const agentOf = (number: string, which: number, n: number): string =>
  `${AGENT}-${process.pid}-${number}-${which}-${Math.floor(n / 500)}`;

/** Inserts the rows that `queue` writes, a record and an open item, without any checks. */
const SAME_ROWS = `
  WITH r AS (
    INSERT INTO ${SAME}.records (log, seq, at, type, loose, body, token)
    VALUES ($1, nextval('${SAME}.positions'), $2, 'system_notification_queued', false, $3, $4) RETURNING seq)
  INSERT INTO ${SAME}.items (log, seq, audience, id, at, phase, level, gate, notification)
  SELECT $1, r.seq, '', $5, $2, 0, 0, false, $6 FROM r RETURNING seq`;

/** Returns the texts that `queue` writes for one notification. */
async function textsOfOne(): Promise<{ readonly record: string; readonly notification: string }> {
  const store = memoryStore();
  const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } });
  await inbox.queue(AGENT, { kind: 'tool.stopped', message: message(1), data: data(1) });
  const [record] = await store.read({});
  const [item] = await store.items(toLog(AGENT), { kind: 'open' });
  await inbox.close();
  return { record: JSON.stringify(record?.body), notification: JSON.stringify(item?.notification) };
}

async function prepareRaw(url: string): Promise<void> {
  if (url.startsWith('nats:')) {
    const nc = await connect({ servers: new URL(url).host });
    await (await jetstreamManager(nc)).streams.add({ name: STREAM, subjects: ['raw.>'] });
    await nc.close();
    return;
  }
  await (await openStore(`${url}${url.includes('?') ? '&' : '?'}schema=${SAME}`)).close();
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
  const warm = quick ? 20 : WARM;
  const tails = { queue: [] as number[], same: [] as number[], one: [] as number[] };
  const costs = { queue: [] as number[], same: [] as number[], one: [] as number[] };
  const side = async (how: How): Promise<number> => {
    const { took, cpuUs } = await race(
      'engine-client.ts',
      Array.from({ length: PROCESSES }, (_, n) => [how, url, String(n), String(forMs), String(warm)]),
    );
    tails[how].push(percentile(took, 99));
    costs[how].push(cpuUs);
    return (took.length / forMs) * 1_000;
  };
  const measured = await versus({
    ours: () => side('queue'),
    theirs: () => side('same'),
    ...(url.startsWith('nats:') ? {} : { beside: { 'one row': () => side('one') } }),
    unit: '/s',
    rounds: quick ? 1 : 5,
    pids: CHILDREN,
  });
  return {
    ...measured,
    figures: {
      ...measured.figures,
      'CPU, ours': { value: percentile(costs.queue, 50), unit: 'us' },
      'CPU, theirs': { value: percentile(costs.same, 50), unit: 'us' },
      p99: { value: percentile(tails.queue, 50), unit: 'ms' },
      'their p99': { value: percentile(tails.same, 50), unit: 'ms' },
    },
    ...noteOf(measured),
  };
}

function noteOf({ figures }: Measured): Pick<Measured, 'note'> {
  const [ratio, rate] = [figures['against one row'], figures['one row']];
  if (ratio === undefined || rate === undefined) return {};
  return { note: `${ratio.value.toFixed(2)} of the raw driver's insert of one row (${rate.value.toFixed(0)}/s)` };
}
