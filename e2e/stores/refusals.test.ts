import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOG, queued, said } from '../../src/stores/contract/drafts.ts';
import { fileOf } from '../../src/stores/open.ts';
import { openSqliteStore, openStore, type SqliteOptions } from '../../src/stores/index.ts';
import { APPLICATION_ID, VERSION } from '../../src/stores/sqlite/migrations.ts';
import { runScript } from './child.ts';
import { proves } from '../verifies.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-refusals-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const NAME_ANOTHER = 'name another file with --db or EARPIECE_DB';

type Row = {
  readonly name: string;
  /** Prepares the path. */
  readonly given: (path: string) => void;
  readonly options?: Omit<SqliteOptions, 'path'>;
  readonly code: string;
  readonly says: (path: string) => string;
};
const rows: readonly Row[] = [
  {
    name: 'a folder',
    given: (path) => mkdirSync(path),
    code: 'store_refused',
    says: (path) => `${path} is a folder, not a database: name a file in that folder, e.g. ${path}/earpiece.db`,
  },
  {
    name: 'a folder that is a file',
    given: (path) => {
      writeFileSync(join(path, '..', 'file'), '');
      symlinkSync('file/e.db', path);
    },
    code: 'store_refused',
    says: (path) =>
      `cannot read and write ${path} as user ${userInfo().username}: a part of the path is a file (ENOTDIR); solve this problem, or ${NAME_ANOTHER}`,
  },
  {
    name: 'a device',
    given: (path) => symlinkSync('/dev/null', path),
    code: 'store_refused',
    says: (path) => `${path} is not a regular file: ${NAME_ANOTHER}`,
  },
  {
    name: 'a text file',
    given: (path) => writeFileSync(path, 'Dear diary, '.repeat(100)),
    code: 'store_corrupt',
    says: (path) =>
      `${path} is not an SQLite database (file is not a database): name another file with --db or EARPIECE_DB, or move this file away`,
  },
  {
    name: 'the database of another program',
    given: (path) => new DatabaseSync(path).exec('CREATE TABLE theirs (a)'),
    code: 'store_refused',
    says: (path) => `${path} is the SQLite database of another program: ${NAME_ANOTHER}`,
  },
  {
    name: 'the database of another program that says so',
    given: (path) => new DatabaseSync(path).exec('PRAGMA application_id = 77'),
    code: 'store_refused',
    says: (path) => `${path} is the SQLite database of another program: ${NAME_ANOTHER}`,
  },
  {
    name: 'a schema of a later major',
    given: (path) => new DatabaseSync(path).exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 2001`),
    code: 'store_refused',
    says: (path) =>
      `${path} was written by a newer version of Earpiece (schema 2; this version knows schema 1). Update Earpiece on this machine, or ${NAME_ANOTHER}`,
  },
  {
    name: 'an old SQLite',
    given: () => {},
    options: { sqliteVersion: '3.51.2' },
    code: 'store_refused',
    says: () =>
      `this Node (${process.version}) bundles SQLite 3.51.2, in which several processes can damage one database: 3.51.3 or newer is needed; use the newest Node 24`,
  },
  {
    name: 'NFS by its number',
    given: () => {},
    options: { probe: () => ({ type: 0x69_69 }) },
    code: 'store_refused',
    says: (path) =>
      `${path} is on nfs, a network file system where SQLite's locks do not work: name a file on a local disk with --db or EARPIECE_DB`,
  },
  {
    name: 'sshfs by its name',
    given: () => {},
    options: { probe: () => ({ type: 0x65_73_55_46, name: 'fuse.sshfs', mountedAt: '/home/me/far' }) },
    code: 'store_refused',
    says: (path) =>
      `${path} is on fuse.sshfs (mounted at /home/me/far), a network file system where SQLite's locks do not work: name a file on a local disk with --db or EARPIECE_DB`,
  },
];

it.each(rows)('the store refuses $name, and says what to do', async ({ given, options, code, says }) => {
  proves('store:refuses');
  const path = join(folder, 'e.db');
  given(path);
  const before = existsSync(path) ? statSync(path).size : undefined;
  await expect(openSqliteStore({ path, ...options })).rejects.toMatchObject({ code, message: says(path) });
  expect(existsSync(path) ? statSync(path).size : undefined).toBe(before);
});

it('the store reports a damaged file, and says how to continue', async () => {
  const path = join(folder, 'e.db');
  const store = await openSqliteStore({ path });
  for (let i = 0; i < 100; i++) await store.append(LOG, [queued(`n${i}`, { message: 'x'.repeat(500) })]);
  await store.close();
  const { size } = statSync(path);
  writeFileSync(path, Buffer.alloc(size - 4096, 0xa5), { flag: 'r+' });
  // The first page is whole, so the file still looks like a database of Earpiece.
  const whole = join(folder, 'whole.db');
  await (await openSqliteStore({ path: whole })).close();
  writeFileSync(path, Buffer.concat([readFileSync(whole).subarray(0, 4096), readFileSync(path).subarray(4096)]));
  const readDamaged = async (): Promise<void> => {
    const opened = await openSqliteStore({ path });
    await opened.read({}).finally(() => opened.close());
  };
  await expect(readDamaged()).rejects.toMatchObject({
    code: 'store_corrupt',
    message: `the database ${path} is damaged (database disk image is malformed): move the file away with its -wal and -shm files, or restore a backup; \`sqlite3 ${path} .recover\` may save the readable data`,
  });
});

describe('a store and the rights of its user', () => {
  /** `chmod` does not bind root, so another user runs the refused command. */
  const nobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const NOBODY = 'nobody';
  const name = process.getuid?.() === 0 ? NOBODY : userInfo().username;
  const firstLine = async (path: string): Promise<string | undefined> => {
    const child = runScript('writer', [path], { before: nobody, cwd: '/' });
    const line = await child.line();
    await child.ended();
    return line;
  };
  beforeEach(() => {
    chmodSync(folder, 0o755);
  });

  it('a folder without the right to write is refused', async () => {
    const locked = join(folder, 'locked');
    mkdirSync(locked, { mode: 0o555 });
    const path = join(locked, 'e.db');
    expect(await firstLine(path)).toBe(
      `store_refused cannot read and write ${path} as user ${name}: permission denied (EACCES); solve this problem, or ${NAME_ANOTHER}`,
    );
    expect(await firstLine(join(locked, 'new', 'e.db'))).toBe(
      `store_refused cannot make the folder ${join(locked, 'new')} as user ${name}: permission denied (EACCES); solve this problem, or ${NAME_ANOTHER}`,
    );
  });

  it('a file in a folder that this user may not enter is refused', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o000 });
    const path = join(closed, 'e.db');
    expect(await firstLine(path)).toBe(
      `store_refused cannot read ${path} as user ${name}: permission denied (EACCES); solve this problem, or ${NAME_ANOTHER}`,
    );
    chmodSync(closed, 0o755);
  });

  it('a file without the right to write, or to read, is refused', async () => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const path = join(open, 'e.db');
    await (await openSqliteStore({ path })).close();
    for (const mode of [0o444, 0o000]) {
      chmodSync(path, mode);
      expect(await firstLine(path)).toBe(
        `store_refused cannot read and write ${path} as user ${name}: permission denied (EACCES); solve this problem, or ${NAME_ANOTHER}`,
      );
    }
  });

  it('a user with the rights opens the file', async () => {
    const theirs = join(folder, 'theirs');
    mkdirSync(theirs);
    if (nobody.length > 0) chownSync(theirs, 65534, 65534);
    expect(await firstLine(join(theirs, 'e.db'))).toBe('open');
  });

  it('folders and files are created for this user only, with any umask', async () => {
    proves('store:private');
    const before = process.umask(0);
    try {
      const path = join(folder, 'deep', 'er', 'e.db');
      const store = await openSqliteStore({ path });
      await store.append(LOG, [said('secret')]);
      const mode = (of: string): string => (statSync(of).mode & 0o777).toString(8);
      expect([path, `${path}-wal`, `${path}-shm`].map(mode)).toEqual(['600', '600', '600']);
      expect([join(folder, 'deep'), join(folder, 'deep', 'er')].map(mode)).toEqual(['700', '700']);
      await store.backup(join(folder, 'copy.db'));
      expect(mode(join(folder, 'copy.db'))).toBe('600');
      await store.close();
    } finally {
      process.umask(before);
    }
  });
});

it('the store works with a file that a newer Earpiece of the same major has migrated', async () => {
  const path = join(folder, 'e.db');
  await (await openSqliteStore({ path })).close();
  const newer = new DatabaseSync(path);
  newer.exec(`
    ALTER TABLE records ADD COLUMN of_the_future TEXT DEFAULT 'x';
    ALTER TABLE items ADD COLUMN of_the_future INTEGER NOT NULL DEFAULT 7;
    CREATE TABLE of_the_future (a);
    PRAGMA user_version = ${VERSION + 3};
  `);
  newer.close();
  const store = await openSqliteStore({ path });
  await store.append(LOG, [queued('a')]);
  expect(await store.items(LOG, { kind: 'open' })).toHaveLength(1);
  expect(await store.verify()).toEqual([]);
  await store.close();
  const after = new DatabaseSync(path);
  expect(after.prepare('PRAGMA user_version').get()).toEqual({ user_version: VERSION + 3 });
  after.close();
});

describe('openStore', () => {
  it.each([
    ['', 'the database has no name: give a path, sqlite:<path>, memory:, postgres://… or nats://…'],
    ['sqlite:', '"sqlite:" names no file: write sqlite:/path/to/earpiece.db'],
    ['sqlite://host/e.db', '"sqlite://host/e.db" names no file: write sqlite:/path/to/earpiece.db'],
    ['nats://127.0.0.1:4222?replicas=2', 'replicas "2": must be 1, 3 or 5'],
    [
      'sqlit:/tmp/e.db',
      '"sqlit:/tmp/e.db" must name a store: did you mean sqlite:; give a path, sqlite:<path>, memory:, postgres://… or nats://…',
    ],
    [
      'redis://x',
      '"redis://x" must name a store: "redis:" is unknown; give a path, sqlite:<path>, memory:, postgres://… or nats://…',
    ],
  ])('refuses %j', async (url, message) => {
    await expect(openStore(url)).rejects.toMatchObject({ code: 'bad_argument', message });
  });

  it.each([
    ['POSTGRES://ear:secret@host/db', 'POSTGRES', 'postgres'],
    [' postgres://ear:secret@host/db', ' postgres', 'postgres'],
    ['Postgresql:/ear:secret@host/db', 'Postgresql', 'postgresql'],
    ['NATS://ear:sec/r@et@host/db', 'NATS', 'nats'],
  ])(
    'refuses %j, also as a path below a folder; the error hides the password, and no folder is made',
    async (url, shown, scheme) => {
      const message = `"${shown}://…@host/db" must name a store: write ${scheme}:// in small letters, without spaces; give a path, sqlite:<path>, memory:, postgres://… or nats://…`;
      for (const given of [url, join(folder, url)])
        await expect(openStore(given)).rejects.toMatchObject({ code: 'bad_argument', message });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('refuses a URL with one slash, and the error hides the password', async () => {
    await expect(openStore('postgres:/ear:secret@127.0.0.1:1/db')).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(/^the URL of the PostgreSQL database cannot be read: /u) as string,
    });
  });

  it('accepts the path of a Windows drive, and a folder whose name ends with a colon', () => {
    mkdirSync(join(folder, 'data:'));
    for (const path of ['C:\\x', 'C:/x', join(folder, 'data:/e.db')]) expect(fileOf(path)).toBe(path);
  });

  it('accepts a path, a sqlite: or file: URL, and memory:', async () => {
    const path = join(folder, 'e.db');
    for (const url of [path, `sqlite:${path}`, `sqlite://${path}`, `file://${path}`]) {
      const store = await openStore(url);
      expect(store.name).toBe(`sqlite ${path}`);
      await store.close();
    }
    expect((await openStore('memory:')).name).toBe('memory');
  });
});
