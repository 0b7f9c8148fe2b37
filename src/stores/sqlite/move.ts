/**
 * Reads and writes a database file for a move. A marked file has another application id, so that no other process opens it.
 * Triggers refuse the writes of processes that opened the file before.
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { settle, touches } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
import type { Presence, Progress, Withheld } from '../../core/ports.ts';
import type { Draft, Stored } from '../../core/records.ts';
import { FROZEN } from '../moving/marks.ts';
import { bodyFrom, unreadable } from '../moving/readable.ts';
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
  SKIPPED,
} from '../moving/port.ts';
import { write } from './append.ts';
import { Database } from './database.ts';
import { realPath } from './files.ts';
import { ItemIndex } from './item-index.ts';
import { Logs } from './logs.ts';
import { APPLICATION_ID, MOVING_ID, VERSION } from './migrations.ts';
import { namedBy } from './refusals.ts';
import { Turns } from './turns.ts';
import { usersOf } from './users.ts';
import { verify } from './verify.ts';

const TABLES = ['records', 'items', 'loose', 'conversations', 'bindings', 'withheld', 'settings', 'logs', 'meta'];
const CHANGES = ['INSERT', 'UPDATE', 'DELETE'];

/** Opens an SQLite file as the source or the target of a migration. `option`: the option that named the path, for errors. */
export const openSqliteEnd = (path: string, option: string): End => new SqliteEnd(resolve(path), option);

class SqliteEnd implements End {
  readonly engine = 'sqlite';
  readonly name: string;
  readonly address: string;
  readonly #path: string;
  readonly #option: string;
  readonly #turns: Turns;
  /**
   * The numbers of logs. These numbers need no correction after a rollback, because a failed transaction ends the work of this
   * process.
   */
  readonly #numbers = new Map<LogKey, number>();
  #db: Database | undefined;

  constructor(path: string, option: string) {
    this.#path = path;
    this.#option = option;
    this.name = `sqlite ${path}`;
    this.address = `sqlite:${path}`;
    this.#turns = new Turns(path, PATIENCE_MS);
  }

  async find(): Promise<Found> {
    if ((statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) === 0) return { kind: 'none' };
    return this.#read((db) => {
      const { user_version: version = 0 } = db.get<{ user_version: number }>('PRAGMA user_version') ?? {};
      if (version > VERSION)
        throw new EarpieceError(
          'store_refused',
          `${this.name} was written by a newer version of Earpiece (schema ${version}; this version knows schema ${VERSION}): migrate the database with that version`,
        );
      const text = metaOf(db, 'move');
      if (text !== undefined) return { kind: 'marked', mark: JSON.parse(text) as Mark };
      const rows = ['records', 'conversations', 'bindings', 'withheld', 'settings'].flatMap((table) => {
        const { n = 0 } = db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`) ?? {};
        return n === 0 ? [] : [`${n.toLocaleString('en')} ${table}`];
      });
      return { kind: 'store', ...(rows.length === 0 ? {} : { holds: rows.join(', ') }) };
    });
  }

  async freeze(mark: Mark): Promise<void> {
    await this.#change((db) => {
      dropTriggers(db);
      setMark(db, mark);
      for (const table of TABLES)
        for (const change of CHANGES)
          db.run(
            `CREATE TRIGGER move_${table}_${change.toLowerCase()} BEFORE ${change} ON ${table} BEGIN SELECT RAISE(ABORT, '${FROZEN}'); END`,
          );
    });
  }

  async thaw(): Promise<void> {
    await this.#change((db) => {
      dropTriggers(db);
      removeMark(db);
    });
  }

  async begin(mark: Mark): Promise<void> {
    await this.#change((db) => {
      db.run("DELETE FROM meta WHERE key = 'secret'");
      db.run('DELETE FROM logs');
      setMark(db, mark);
    });
  }

  async cursor(): Promise<Cursor | undefined> {
    const text = await this.#read((db) => metaOf(db, 'move_cursor'));
    return text === undefined ? undefined : (JSON.parse(text) as Cursor);
  }

  async take({ records, cursor }: RecordPage): Promise<void> {
    await this.#change((db) => {
      const index = new ItemIndex(db);
      const logs = new Logs(db);
      for (const { seq, log, at, clock, body } of records) {
        const number = this.#numbers.get(log) ?? logs.numberFor(log);
        this.#numbers.set(log, number);
        const place = { seq, at, ...(clock === undefined ? {} : { clock }) };
        const found = index.touched(number, touches(body));
        const settled = settle(body, place, found, true);
        const items = settled.kind === 'settled' ? settled.items : [];
        write(db, index, { number, ...place }, { body, text: JSON.stringify(body) }, { found, items });
      }
      fault('move.written');
      setMeta(db, 'move_cursor', JSON.stringify(cursor));
    });
  }

  async takeRows(rows: readonly Row[]): Promise<void> {
    await this.#change((db) => {
      const logs = new Logs(db);
      for (const row of rows) putRow(db, logs, row);
    });
  }

  async takeHead(head: number): Promise<void> {
    await this.#change((db) => {
      const last = db.get<{ seq: number; at: number; log: number }>('SELECT seq, at, log FROM records ORDER BY seq DESC LIMIT 1');
      // The file gives the next record the position after its newest record, but readers of the source may have seen a higher
      // position.
      if (last === undefined || last.seq >= head) return;
      const body: Draft = { type: SKIPPED };
      const place = { number: last.log, seq: head, at: last.at };
      write(db, new ItemIndex(db), place, { body, text: JSON.stringify(body) }, { found: [], items: [] });
    });
  }

  async release(): Promise<void> {
    await this.thaw();
  }

  async discard(): Promise<void> {
    this.#release();
    const path = realPath(this.#path);
    for (const side of ['', '-wal', '-shm']) rmSync(`${path}${side}`, { force: true });
  }

  async count(after?: Cursor): Promise<number> {
    const row = await this.#read((db) =>
      db.get<{ n: number }>('SELECT count(*) AS n FROM records WHERE seq > ?', after?.seq ?? 0),
    );
    return row?.n ?? 0;
  }

  async bounds(): Promise<{ first: number; head: number }> {
    const row = await this.#read((db) =>
      db.get<{ first: number | null; head: number | null }>('SELECT min(seq) AS first, max(seq) AS head FROM records'),
    );
    return { first: row?.first ?? 0, head: row?.head ?? 0 };
  }

  async *records(after: Cursor | undefined): AsyncIterable<RecordPage> {
    const keys = new Map(
      (await this.#read((db) => db.all<{ id: number; key: LogKey }>('SELECT id, key FROM logs'))).map(({ id, key }) => [id, key]),
    );
    let cursor = after ?? { seq: 0, copied: 0 };
    let limit = FIRST_PAGE;
    for (;;) {
      const rows = await this.#read((db) =>
        db.all<{ seq: number; log: number; at: number; clock: number | null; body: string }>(
          'SELECT seq, log, at, clock, body FROM records WHERE seq > ? ORDER BY seq LIMIT ?',
          cursor.seq,
          limit,
        ),
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      limit = nextLimit(rows);
      const records = rows.map(({ seq, log: number, at, clock, body: text }): Stored => {
        const log = keys.get(number);
        if (log === undefined) throw unreadable(this.name, `record ${seq}`, `its log ${number} has no name`);
        return { seq, log, at, ...(clock === null ? {} : { clock }), body: bodyFrom(text, this.name, `record ${seq} of ${log}`) };
      });
      cursor = { seq: last.seq, copied: cursor.copied + rows.length };
      yield { records, cursor };
    }
  }

  async *rows(): AsyncIterable<readonly Row[]> {
    for (const { table, key, columns, rowOf } of ROWS) {
      let after: readonly unknown[] = [];
      for (;;) {
        const where = after.length === 0 ? '' : `WHERE (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
        const from = table === 'settings' ? 'settings t' : `${table} t JOIN logs l ON l.id = t.log`;
        const sql = `SELECT ${columns}, ${key.map((column, n) => `${column} AS k${n}`).join(', ')} FROM ${from} ${where} ORDER BY ${key.join(', ')} LIMIT ${PAGE}`;
        const given = after as readonly string[];
        const found = await this.#read((db) => db.all<Columns>(sql, ...given));
        const last = found.at(-1);
        if (last === undefined) break;
        yield found.map((row) => rowOf(row, (text, what) => bodyFrom(text, this.name, what)));
        after = key.map((_, n) => last[`k${n}`]);
      }
    }
    const secret = await this.#read((db) => metaOf(db, 'secret'));
    if (secret !== undefined) yield [{ kind: 'secret', value: secret }];
  }

  async verify(options: Progress = {}): Promise<readonly string[]> {
    try {
      return await this.#read((db) => db.reading(() => verify(db, options.onProgress)));
    } catch (error) {
      if (error instanceof SyntaxError) throw unreadable(this.name, 'a record', error.message);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#turns.end();
    this.#release();
  }

  users(): Promise<readonly string[]> {
    this.#release();
    return Promise.resolve(existsSync(this.#path) ? usersOf(this.#path) : []);
  }

  #release(): void {
    this.#db?.close();
    this.#db = undefined;
  }

  #open(): Database {
    this.#db ??= new Database({ path: this.#path, moving: true, report: () => {} });
    return this.#db;
  }

  #read<T>(work: (db: Database) => T): Promise<T> {
    return this.#named(this.#turns.read(() => work(this.#open()), {}));
  }

  #change<T>(work: (db: Database) => T): Promise<T> {
    const write = this.#turns.write(() => {
      const db = this.#open();
      db.follow(true);
      return db.write(() => work(db));
    }, {});
    return this.#named(write);
  }

  #named<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw namedBy(error, this.#option);
    });
  }
}

type Columns = Readonly<Record<string, unknown>>;
type Parse = (text: string, what: string) => unknown;
type Kind = {
  readonly table: string;
  readonly columns: string;
  readonly key: readonly string[];
  readonly rowOf: (row: Columns, parse: Parse) => Row;
};

const ROWS: readonly Kind[] = [
  {
    table: 'conversations',
    columns: 'l.key AS log, t.presence',
    key: ['t.log', 't.conversation'],
    rowOf: (row, parse) => ({
      kind: 'presence',
      presence: parse(String(row['presence']), `a conversation of ${String(row['log'])}`) as Presence,
    }),
  },
  {
    table: 'bindings',
    columns: 'l.key AS log, t.machine, t.pid, t.started_at, t.conversation, t.at',
    key: ['t.machine', 't.pid', 't.started_at'],
    rowOf: ({ machine, pid, started_at: startedAt, log, conversation, at }) =>
      ({ kind: 'binding', host: { machine, pid, startedAt }, log, conversation, at }) as Row,
  },
  {
    table: 'withheld',
    columns: 'l.key AS log, t.conversation, t.id, t.at, t.until, t.tool, t.body',
    key: ['t.log', 't.conversation', 't.id'],
    rowOf: ({ log, conversation, id, at, until, tool, body }) => ({
      kind: 'withheld',
      held: { log, conversation, id, at, until, tool, body } as Withheld,
    }),
  },
  {
    table: 'settings',
    columns: 't.key, t.value',
    key: ['t.key'],
    rowOf: ({ key, value }, parse) => ({
      kind: 'setting',
      key: String(key),
      value: parse(String(value), `the setting ${JSON.stringify(key)}`) as Json,
    }),
  },
];

function putRow(db: Database, logs: Logs, row: Row): void {
  switch (row.kind) {
    case 'presence': {
      const { presence } = row;
      db.run(
        'INSERT OR REPLACE INTO conversations (log, conversation, seen_at, ended_at, presence) VALUES (?, ?, ?, ?, ?)',
        logs.numberFor(presence.log),
        presence.conversation,
        presence.seenAt,
        presence.endedAt ?? null,
        JSON.stringify(presence),
      );
      return;
    }
    case 'binding':
      db.run(
        'INSERT OR REPLACE INTO bindings (machine, pid, started_at, log, conversation, at) VALUES (?, ?, ?, ?, ?, ?)',
        row.host.machine,
        row.host.pid,
        row.host.startedAt,
        logs.numberFor(row.log),
        row.conversation,
        row.at,
      );
      return;
    case 'withheld': {
      const { log, conversation, id, at, until, tool, body } = row.held;
      db.run(
        'INSERT OR REPLACE INTO withheld (log, conversation, id, at, until, tool, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
        logs.numberFor(log),
        conversation,
        id,
        at,
        until,
        tool,
        body,
      );
      return;
    }
    case 'setting':
      db.run('INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)', row.key, JSON.stringify(row.value));
      return;
    case 'secret':
      setMeta(db, 'secret', row.value);
  }
}

const metaOf = (db: Database, key: string): string | undefined =>
  db.get<{ value: string }>('SELECT value FROM meta WHERE key = ?', key)?.value;

const setMeta = (db: Database, key: string, value: string): void =>
  void db.run('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', key, value);

function setMark(db: Database, mark: Mark): void {
  db.run(`PRAGMA application_id = ${MOVING_ID}`);
  setMeta(db, 'move', JSON.stringify(mark));
}

function removeMark(db: Database): void {
  db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.run("DELETE FROM meta WHERE key IN ('move', 'move_cursor')");
}

function dropTriggers(db: Database): void {
  for (const table of TABLES)
    for (const change of CHANGES) db.run(`DROP TRIGGER IF EXISTS move_${table}_${change.toLowerCase()}`);
}
