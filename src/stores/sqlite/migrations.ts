/**
 * The migrations of the schema, as a list of steps. Rules:
 * - A released step never changes. New steps are added at the end.
 * - Within a major version, steps only add tables, indexes, or columns that are nullable or have a default. So an older Earpiece
 *   can still read and write a file that a newer Earpiece has migrated. Any other change needs a new major version.
 * - `user_version` is `MAJOR * 1000 + number of steps`. `application_id` marks the file as Earpiece's.
 *
 * `golden/schema.sql` is the result of all steps.
 */
export const MAJOR = 1;

/** "EARP" */
export const APPLICATION_ID = 0x45_41_52_50;
/** "EARM": the id of a file with the mark of a move. Releases that do not know the mark refuse such a file too. */
export const MOVING_ID = 0x45_41_52_4d;

export const STEPS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE logs (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, project TEXT NOT NULL);

  -- seq is the rowid without AUTOINCREMENT (one page less a write): the newest record is never deleted, so none is used twice.
  -- notification: the id that this record queues. Such a record is found by its id and by its items, all others by
  -- records_of_log: a record is in one index only, which spares a queue a page (3 of its 20 us beside the sync).
  CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    log INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    conversation TEXT,
    notification TEXT,
    body TEXT NOT NULL
  );
  CREATE INDEX records_of_log ON records (log, seq) WHERE notification IS NULL;
  CREATE UNIQUE INDEX records_notification ON records (log, notification) WHERE notification IS NOT NULL;

  -- One row an item; phase 0: open or offered, 1: delivered or summarized and unread, 2: closed otherwise. The phase leads the
  -- key so that the open set lies together, and what is queued or closed now touches neighbours, however long the log is.
  -- The notification is in the record at seq (or source, when it was folded); state is the rest of the item as JSON, NULL as
  -- long as only its queue record has touched it.
  CREATE TABLE items (
    log INTEGER NOT NULL,
    phase INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    audience TEXT NOT NULL,
    level INTEGER NOT NULL,
    gate INTEGER NOT NULL,
    key TEXT,
    carrier TEXT,
    taken_by TEXT,
    closed_at INTEGER,
    source INTEGER,
    state TEXT,
    PRIMARY KEY (log, phase, seq, audience)
  ) WITHOUT ROWID;
  CREATE INDEX items_gate ON items (log, seq) WHERE gate = 1;
  CREATE INDEX items_key ON items (log, key, seq) WHERE phase = 0 AND key IS NOT NULL;
  CREATE INDEX items_carrier ON items (carrier) WHERE carrier IS NOT NULL;
  CREATE INDEX items_source ON items (source) WHERE source IS NOT NULL;

  -- Housekeeping records that changed no item, for retention.
  CREATE TABLE loose (log INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (log, seq)) WITHOUT ROWID;

  CREATE TABLE conversations (
    log INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    ended_at INTEGER,
    presence TEXT NOT NULL,
    PRIMARY KEY (log, conversation)
  ) WITHOUT ROWID;

  CREATE TABLE bindings (
    machine TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    log INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (machine, pid, started_at)
  ) WITHOUT ROWID;

  CREATE TABLE withheld (
    log INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    until INTEGER NOT NULL,
    tool TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (log, conversation, id)
  );
  `,
  `
  -- The time on the writer's own clock, if that is behind at.
  ALTER TABLE records ADD COLUMN clock INTEGER;
  `,
  `
  -- Items closed in a period, for lists and charts. Queueing a notification does not write to this index.
  CREATE INDEX items_closed ON items (log, closed_at, seq) WHERE closed_at IS NOT NULL;
  `,
];

export const VERSION = MAJOR * 1000 + STEPS.length;
