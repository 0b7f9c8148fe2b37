CREATE TABLE bindings (
    machine TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    log INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (machine, pid, started_at)
  ) WITHOUT ROWID;
CREATE TABLE conversations (
    log INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    ended_at INTEGER,
    presence TEXT NOT NULL,
    PRIMARY KEY (log, conversation)
  ) WITHOUT ROWID;
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
CREATE TABLE logs (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, project TEXT NOT NULL);
CREATE TABLE loose (log INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (log, seq)) WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    log INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    conversation TEXT,
    notification TEXT,
    body TEXT NOT NULL
  , clock INTEGER);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
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
CREATE INDEX items_carrier ON items (carrier) WHERE carrier IS NOT NULL;
CREATE INDEX items_closed ON items (log, closed_at, seq) WHERE closed_at IS NOT NULL;
CREATE INDEX items_gate ON items (log, seq) WHERE gate = 1;
CREATE INDEX items_key ON items (log, key, seq) WHERE phase = 0 AND key IS NOT NULL;
CREATE INDEX items_source ON items (source) WHERE source IS NOT NULL;
CREATE UNIQUE INDEX records_notification ON records (log, notification) WHERE notification IS NOT NULL;
CREATE INDEX records_of_log ON records (log, seq) WHERE notification IS NULL;
