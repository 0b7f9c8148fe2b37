/**
 * Reads and writes the tables of a schema for a move. The version in `meta` says that the tables have a mark, so that no other
 * process opens them. Triggers refuse the writes of processes that opened the tables before.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import type { Presence, Progress, Withheld } from '../../core/ports.ts';
import { isSignOfWork, type Stored } from '../../core/records.ts';
import { PageItems, needsOf } from '../moving/items.ts';
import { FROZEN } from '../moving/marks.ts';
import {
  type Cursor,
  type End,
  FIRST_PAGE,
  type Found,
  type Mark,
  nextLimit,
  PAGE,
  PATIENCE_MS,
  type RecordPage,
  type Row,
} from '../moving/port.ts';
import { bodyFrom, unreadable } from '../moving/readable.ts';
import { isHousekeeping } from '../retention.ts';
import { addressOf } from './address.ts';
import { whatOf } from './append.ts';
import { bind, putPresence, withhold } from './conversations.ts';
import { Database, type Query } from './database.ts';
import { loadDriver } from './driver.ts';
import { putItemsOfLogs, removeItems, touchedInLogs } from './items.ts';
import { markIn, migrate, MOVING, VERSION, versionOf } from './migrations.ts';
import { setSetting } from './settings.ts';
import { fromColumn, toColumn, toColumnOrNull } from './text.ts';
import { FROZEN_CODE } from './trouble.ts';
import { verify } from './verify.ts';

const TABLES = ['records', 'items', 'conversations', 'bindings', 'withheld', 'settings', 'logs', 'meta'];
const WAIT = { withinMs: PATIENCE_MS };
const LONG = { withinMs: 24 * 3_600_000 };
/** The lock with which only one move at a time works on the tables. */
const LOCK = ['move'];

export async function openPostgresEnd(url: string): Promise<End> {
  const address = addressOf(url);
  return new PostgresEnd(new Database(await loadDriver(), address, 2));
}

class PostgresEnd implements End {
  readonly engine = 'postgres';
  readonly name: string;
  readonly address: string;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    this.name = db.address.name;
    this.address = db.address.shown;
  }

  async find(): Promise<Found> {
    const [meta] = await this.#read(
      "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'meta'",
      this.#db.address.schema,
    );
    if (meta === undefined) {
      await versionOf(this.#query, this.#db);
      return { kind: 'none' };
    }
    const [row] = await this.#read<{ value: string }>("SELECT value FROM @meta WHERE key = 'version'");
    if (row?.value === MOVING) return { kind: 'marked', mark: await markIn(this.#query) };
    const version = await versionOf(this.#query, this.#db);
    if (version > VERSION)
      throw new EarpieceError(
        'store_refused',
        `${this.name} was written by a newer version of Earpiece (schema ${version}; this version knows schema ${VERSION}): migrate the database with that version`,
      );
    // The tables are migrated to this version before they are read.
    await migrate(this.#db);
    const counts = ['records', 'conversations', 'bindings', 'withheld', 'settings'].map(
      (table) => `SELECT '${table}' AS name, count(*) AS n FROM @${table}`,
    );
    const rows = (await this.#read<{ name: string; n: number }>(counts.join(' UNION ALL '))).filter(({ n }) => n > 0);
    if (rows.length === 0) return { kind: 'store' };
    return { kind: 'store', holds: rows.map(({ name, n }) => `${n.toLocaleString('en')} ${name}`).join(', ') };
  }

  freeze(mark: Mark): Promise<void> {
    return this.#change(async (query) => {
      await dropTriggers(query);
      await setMark(query, mark);
      await query(
        `CREATE OR REPLACE FUNCTION @refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION '${FROZEN}' USING ERRCODE = '${FROZEN_CODE}'; END $$`,
      );
      for (const table of TABLES)
        await query(
          `CREATE TRIGGER move BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON @${table}
           FOR EACH STATEMENT EXECUTE FUNCTION @refuse()`,
        );
    });
  }

  thaw(): Promise<void> {
    return this.#change(async (query) => {
      await dropTriggers(query);
      await query('DROP FUNCTION IF EXISTS @refuse()');
      await removeMark(query);
    });
  }

  async begin(mark: Mark): Promise<void> {
    await migrate(this.#db);
    await this.#change(async (query) => {
      await query("DELETE FROM @meta WHERE key = 'secret'");
      await query('DELETE FROM @logs');
      await query("SELECT setval('@positions', 1, false)");
      await setMark(query, mark);
    });
  }

  async cursor(): Promise<Cursor | undefined> {
    const [row] = await this.#read<{ value: string }>("SELECT value FROM @meta WHERE key = 'move_cursor'");
    return row === undefined ? undefined : (JSON.parse(row.value) as Cursor);
  }

  take({ records, cursor }: RecordPage): Promise<void> {
    return this.#change(async (query) => {
      const items = new PageItems();
      const needs = needsOf(records);
      const pairs = (kind: 'ids' | 'carriers'): [string, string][] =>
        needs.flatMap((need) => [...need[kind]].map((name): [string, string] => [need.log, name]));
      for (const { log, item } of await touchedInLogs(query, pairs('ids'), pairs('carriers'))) items.know(log as LogKey, item);
      const effects = records.map((record) => items.apply(record));
      await insertRecords(query, records, effects);
      for (const { log, item } of items.gone.values()) await removeItems(query, log, [item]);
      await putItemsOfLogs(
        query,
        [...items.changed.values()].map(({ log, item }) => {
          const into = item.outcome === 'folded' ? item.group?.[0] : undefined;
          return { log, item, source: into === undefined ? null : (items.seqOf(log, into) ?? null) };
        }),
      );
      fault('move.written');
      await setMeta(query, 'move_cursor', JSON.stringify(cursor));
    });
  }

  takeRows(rows: readonly Row[]): Promise<void> {
    return this.#change(async (query) => {
      for (const row of rows) await putRow(query, row);
    });
  }

  takeHead(head: number): Promise<void> {
    return this.#change(async (query) => {
      const newest = 'greatest($1::bigint, (SELECT max(seq) FROM @records))';
      await query(`SELECT setval('@positions', greatest(${newest}, 1), ${newest} > 0)`, head);
    });
  }

  release(): Promise<void> {
    return this.#change(removeMark);
  }

  discard(): Promise<void> {
    return this.#change(async (query) => {
      await query(`DROP SCHEMA "${this.#db.address.schema}" CASCADE`);
    });
  }

  async count(after?: Cursor): Promise<number> {
    const [row] = await this.#db.read<{ n: number }>(LONG, 'SELECT count(*) AS n FROM @records WHERE seq > $1', after?.seq ?? 0);
    return row?.n ?? 0;
  }

  /**
   * Takes `head` from the records and not from the sequence. The sequence may be higher, because a refused writer used up a
   * position without storing a record.
   */
  async bounds(): Promise<{ first: number; head: number }> {
    const [row] = await this.#read<{ first: number | null; head: number | null }>(
      'SELECT max(seq) AS head, min(seq) AS first FROM @records',
    );
    return { first: row?.first ?? 0, head: row?.head ?? 0 };
  }

  async *records(after: Cursor | undefined): AsyncIterable<RecordPage> {
    let cursor = after ?? { seq: 0, copied: 0 };
    let limit = FIRST_PAGE;
    for (;;) {
      const rows = await this.#read<{ seq: number; log: LogKey; at: number; clock: number | null; body: string }>(
        'SELECT seq, log, at, clock, body FROM @records WHERE seq > $1 ORDER BY seq LIMIT $2',
        cursor.seq,
        limit,
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      limit = nextLimit(rows);
      cursor = { seq: last.seq, copied: cursor.copied + rows.length };
      const records = rows.map(({ seq, log, at, clock, body }): Stored => ({
        seq,
        log,
        at,
        ...(clock === null ? {} : { clock }),
        body: bodyFrom(body, this.name, `record ${seq} of ${log}`),
      }));
      yield { records, cursor };
    }
  }

  async *rows(): AsyncIterable<readonly Row[]> {
    for (const { table, key, rowOf } of ROWS) {
      let after: readonly unknown[] = [];
      for (;;) {
        const where = after.length === 0 ? '' : `WHERE (${key.join(', ')}) > (${key.map((_, n) => `$${n + 1}`).join(', ')})`;
        const found: Columns[] = await this.#read(
          `SELECT * FROM @${table} ${where} ORDER BY ${key.join(', ')} LIMIT ${PAGE}`,
          ...after,
        );
        const last = found.at(-1);
        if (last === undefined) break;
        yield found.map((row) => rowOf(row, (text, what) => bodyFrom(text, this.name, what)));
        after = key.map((column) => last[column]);
      }
    }
    const [secret] = await this.#read<{ value: string }>("SELECT value FROM @meta WHERE key = 'secret'");
    if (secret !== undefined) yield [{ kind: 'secret', value: secret.value }];
  }

  async verify(options: Progress = {}): Promise<readonly string[]> {
    try {
      return await this.#db.snapshot(LONG, (query) => verify(query, this.#db.address.schema, options.onProgress));
    } catch (error) {
      if (error instanceof SyntaxError) throw unreadable(this.name, 'a record', error.message);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#db.end();
  }

  async users(): Promise<readonly string[]> {
    const listeners = await this.#read<{ machine: string }>(
      `SELECT coalesce(host(client_addr), 'the machine of the server') AS machine FROM pg_catalog.pg_stat_activity
       WHERE datname = current_database() AND query = $1`,
      `LISTEN "${this.#db.channel}"`,
    );
    return listeners.map(({ machine }) => `a program on ${machine}`);
  }

  readonly #query: Query = (text, ...values) => this.#read(text, ...values);

  #read<R = Columns>(text: string, ...values: readonly unknown[]): Promise<R[]> {
    return this.#db.read<R>(WAIT, text, ...values);
  }

  async #change(work: (query: Query) => Promise<unknown>): Promise<void> {
    await this.#db.write(WAIT, LOCK, work);
  }
}

async function insertRecords(query: Query, records: readonly Stored[], effects: readonly boolean[]): Promise<void> {
  await query('INSERT INTO @logs (log) SELECT * FROM unnest($1::text[]) ON CONFLICT DO NOTHING', [
    ...new Set(records.map(({ log }) => log)),
  ]);
  await query(
    `INSERT INTO @records (log, seq, at, clock, type, conversation, what, loose, body)
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[])`,
    records.map(({ log }) => log),
    records.map(({ seq }) => seq),
    records.map(({ at }) => at),
    records.map(({ clock }) => clock ?? null),
    records.map(({ body }) => toColumn(body.type)),
    records.map(({ body }) => toColumnOrNull(body.conversation)),
    records.map(({ body }) => (isSignOfWork(body) ? toColumnOrNull(whatOf(body)) : null)),
    records.map(({ body }, n) => effects[n] !== true && isHousekeeping(body)),
    records.map(({ body }) => JSON.stringify(body)),
  );
}

type Columns = Readonly<Record<string, unknown>>;
type Parse = (text: string, what: string) => unknown;
type Kind = {
  readonly table: string;
  readonly key: readonly string[];
  readonly rowOf: (row: Columns, parse: Parse) => Row;
};

const text = (column: unknown): string => fromColumn(String(column));

const ROWS: readonly Kind[] = [
  {
    table: 'conversations',
    key: ['log', 'conversation'],
    rowOf: ({ log, presence }, parse) => ({
      kind: 'presence',
      presence: parse(String(presence), `a conversation of ${String(log)}`) as Presence,
    }),
  },
  {
    table: 'bindings',
    key: ['machine', 'pid', 'started_at'],
    rowOf: ({ machine, pid, started_at: startedAt, log, conversation, at }) => ({
      kind: 'binding',
      host: { machine: text(machine), pid: Number(pid), startedAt: text(startedAt) },
      log: log as LogKey,
      conversation: text(conversation) as ConversationId,
      at: Number(at),
    }),
  },
  {
    table: 'withheld',
    key: ['log', 'conversation', 'id'],
    rowOf: ({ log, conversation, id, at, until, tool, body }) => ({
      kind: 'withheld',
      held: {
        log,
        conversation: text(conversation),
        id: text(id),
        at,
        until,
        tool: text(tool),
        body: text(body),
      } as Withheld,
    }),
  },
  {
    table: 'settings',
    key: ['key'],
    rowOf: ({ key, value }, parse) => ({
      kind: 'setting',
      key: text(key),
      value: parse(String(value), `the setting ${String(key)}`) as Json,
    }),
  },
];

async function putRow(query: Query, row: Row): Promise<unknown> {
  switch (row.kind) {
    case 'presence': {
      const { presence } = row;
      await query('INSERT INTO @logs (log) VALUES ($1) ON CONFLICT DO NOTHING', presence.log);
      return putPresence(query, presence);
    }
    case 'binding':
      return bind(query, row.host, row, row.at);
    case 'withheld':
      return withhold(query, row.held);
    case 'setting':
      return setSetting(query, row.key, row.value);
    case 'secret':
      return setMeta(query, 'secret', row.value);
  }
}

const setMeta = (query: Query, key: string, value: string): Promise<unknown> =>
  query('INSERT INTO @meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value', key, value);

async function setMark(query: Query, mark: Mark): Promise<void> {
  await query(
    `INSERT INTO @meta (key, value) SELECT 'move_version', value FROM @meta WHERE key = 'version' AND value <> $1
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    MOVING,
  );
  await setMeta(query, 'version', MOVING);
  await setMeta(query, 'move', JSON.stringify(mark));
}

async function removeMark(query: Query): Promise<void> {
  await query(
    "UPDATE @meta SET value = coalesce((SELECT value FROM @meta WHERE key = 'move_version'), value) WHERE key = 'version'",
  );
  await query("DELETE FROM @meta WHERE key IN ('move', 'move_cursor', 'move_version')");
}

async function dropTriggers(query: Query): Promise<void> {
  for (const table of TABLES) await query(`DROP TRIGGER IF EXISTS move ON @${table}`);
}
