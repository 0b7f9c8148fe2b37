/**
 * Makes the schema in steps, by the rules of the SQLite store: a released step never changes, and within a major version steps
 * only add. `version` in `meta` is `MAJOR * 1000 + number of steps`. `golden/schema.sql` is the result of all steps.
 *
 * The key of each large table begins with `log`, and each statement of an append names one log.
 */
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { SIGNS_OF_WORK } from '../../core/records.ts';
import { DONE, OPEN, UNREAD } from '../item-row.ts';
import { markedError } from '../moving/marks.ts';
import type { Mark } from '../moving/port.ts';
import type { Database, Query } from './database.ts';
import { PAGE } from './page.ts';
import { POSITIONS } from './positions.ts';

/** 2: positions come from a sequence, so an earlier release must not write. */
const MAJOR = 2;

export const STEPS: readonly string[] = [
  `
  CREATE TABLE @settings (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);

  -- The newest position and time. Whoever appends holds this row from the position to the commit: positions become visible in
  -- their order.
  CREATE TABLE @head (one boolean PRIMARY KEY DEFAULT true CHECK (one), seq bigint NOT NULL, at bigint NOT NULL) WITH (fillfactor = 10);
  INSERT INTO @head (seq, at) VALUES (0, 0);

  CREATE TABLE @logs (log text COLLATE "C" PRIMARY KEY);

  -- work: the record shows the work of its agent; what: the name in it. loose: a housekeeping record that changed no item.
  CREATE TABLE @records (
    log text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    clock bigint,
    type text COLLATE "C" NOT NULL,
    conversation text COLLATE "C",
    what text,
    loose boolean NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (log, seq)
  );
  CREATE INDEX records_seq ON @records (seq);
  CREATE INDEX records_work ON @records (log, seq) WHERE type IN (${SIGNS_OF_WORK.map((type) => `'${type}'`).join(', ')});
  CREATE INDEX records_loose ON @records (log, at) WHERE loose;

  -- One row an item; phase ${OPEN}: open or offered, ${UNREAD}: delivered or summarized and unread, ${DONE}: closed otherwise. source:
  -- the position of the notification that it was folded into. state is the rest of the item as JSON, NULL as long as only its queue
  -- record has touched it. The notification is also in its record: a join would cost each reader more than the space.
  CREATE TABLE @items (
    log text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    audience text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    clock bigint,
    phase smallint NOT NULL,
    level smallint NOT NULL,
    gate boolean NOT NULL,
    key text COLLATE "C",
    carrier text COLLATE "C",
    taken_by text COLLATE "C",
    closed_at bigint,
    source bigint,
    notification text NOT NULL,
    state text,
    PRIMARY KEY (log, seq, audience)
  );
  CREATE INDEX items_id ON @items (log, id);
  CREATE INDEX items_open ON @items (log, seq, audience) WHERE phase = ${OPEN};
  CREATE INDEX items_unread ON @items (log, seq, audience) WHERE phase = ${UNREAD};
  CREATE INDEX items_gate ON @items (log, seq) WHERE gate;
  CREATE INDEX items_key ON @items (log, key, seq) WHERE phase = ${OPEN} AND key IS NOT NULL;
  CREATE INDEX items_carrier ON @items (log, carrier) WHERE carrier IS NOT NULL;
  CREATE INDEX items_closed ON @items (log, closed_at, seq) WHERE closed_at IS NOT NULL;
  CREATE INDEX items_source ON @items (log, source) WHERE source IS NOT NULL;

  CREATE TABLE @conversations (
    log text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seen_at bigint NOT NULL,
    ended_at bigint,
    presence text NOT NULL,
    PRIMARY KEY (log, conversation)
  );

  CREATE TABLE @bindings (
    machine text COLLATE "C" NOT NULL,
    pid bigint NOT NULL,
    started_at text COLLATE "C" NOT NULL,
    log text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (machine, pid, started_at)
  );

  CREATE TABLE @withheld (
    log text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    until bigint NOT NULL,
    tool text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (log, conversation, id)
  );
  `,
  POSITIONS,
  PAGE,
];

export const VERSION = MAJOR * 1000 + STEPS.length;
/** The value of `version` in tables with the mark of a move. No release opens such tables as a store. */
export const MOVING = 'moving';
/** The oldest supported server. Older servers lack `pg_current_xact_id` and `pg_xact_status` with 64-bit numbers. */
const LEAST_SERVER = 130_000;

/** Makes the tables, or migrates them to this version. */
export async function migrate(db: Database): Promise<void> {
  if ((await versionOf((text, ...values) => db.read(undefined, text, ...values), db)) >= VERSION) return;
  fault('migrate.begun');
  await db.write(undefined, ['migrate'], async (query) => {
    // Another process may have migrated the tables first.
    const version = await versionOf(query, db);
    if (version >= VERSION) return;
    if (version === 0) {
      await query(`CREATE SCHEMA IF NOT EXISTS "${db.address.schema}"`);
      await query('CREATE TABLE @meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)');
    }
    for (const step of STEPS.slice(version % 1000)) {
      await query(step);
      fault('migrate.step');
    }
    await query(
      `INSERT INTO @meta (key, value) VALUES ('version', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      String(VERSION),
    );
  });
  fault('migrate.committed');
}

/**
 * Returns the version of the tables. 0 if there are no tables. Throws `store_refused` if the server is older than PostgreSQL 13.
 * Also throws `store_refused` if the tables have the mark of a move, belong to another program, or have a newer major version.
 */
export async function versionOf(query: Query, { address: { name, schema } }: Database): Promise<number> {
  const [found] = await query<{ server: string; meta: boolean }>(
    // `to_regclass` is not used, because the server's cache may lack a table that another process has just made.
    `SELECT current_setting('server_version_num') AS server,
     EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'meta') AS meta`,
    schema,
  );
  if (Number(found?.server) < LEAST_SERVER)
    throw new EarpieceError(
      'store_refused',
      `${name} runs PostgreSQL ${Math.floor(Number(found?.server) / 10_000)}: update the server to 13 or newer`,
    );
  if (found?.meta !== true) return 0;
  const [row] = await query<{ value: string }>("SELECT value FROM @meta WHERE key = 'version'");
  if (row?.value === MOVING) throw markedError(name, await markIn(query));
  const version = Number(row?.value);
  if (!Number.isInteger(version))
    throw new EarpieceError(
      'store_refused',
      `${name}: the schema ${schema} belongs to another program: name another schema with ?schema=name`,
    );
  if (Math.floor(version / 1000) > MAJOR)
    throw new EarpieceError(
      'store_refused',
      `${name} was written by a newer version of Earpiece (schema ${Math.floor(version / 1000)}; this version knows schema ${MAJOR}). Update Earpiece on this machine, or name another schema with ?schema=name`,
    );
  return version;
}

export async function markIn(query: Query): Promise<Mark> {
  const [row] = await query<{ value: string }>("SELECT value FROM @meta WHERE key = 'move'");
  return JSON.parse(row?.value ?? '{}') as Mark;
}
