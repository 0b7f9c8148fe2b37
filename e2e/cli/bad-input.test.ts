/** Runs each row of `bad-input.ts`. `--update` updates `docs/bad-input.md`. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { openStore } from '../../src/stores/index.ts';
import { APPLICATION_ID } from '../../src/stores/sqlite/migrations.ts';
import { CLI } from '../built.ts';
import { EVERYTHING, RawClient } from '../gateway/raw-client.ts';
import { proves, verifies } from '../verifies.ts';
import { badInputPage } from './bad-input-page.ts';
import { BAD_FRAMES, BAD_INPUT, type FrameRow, type Given, type Row } from './bad-input.ts';
import { Running, Shell } from './shell.ts';

const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
const isRoot = process.getuid?.() === 0;
/** File permissions do not apply to root, so this user runs the rows about permissions. */
const NOBODY = 65_534;
const NO_ENTRY = 54_321;

/** Whether root can become another user: on Linux, if every user may enter the folders of Node and of this repository. */
const canBecome =
  process.platform === 'linux' &&
  [CLI, process.execPath].every((file) => above(file).every((folder) => statSync(folder).mode & 0o001));

/**
 * Whether this user cannot run the row. Rows about permissions need a user without root's rights. Only root can become a user
 * without an account.
 */
function cannotBe(given: Given | undefined): boolean {
  if (given === 'a user without home') return !isRoot || !canBecome;
  return isRoot && !canBecome && /rights|unreadable/u.test(given ?? '');
}

function above(file: string): string[] {
  const folder = dirname(realpathSync(file));
  return folder === dirname(folder) ? [folder] : [folder, ...above(folder)];
}

type Prepared = {
  /** Values for names in braces, such as `{folder}`, in the texts of the row. */
  readonly words?: Readonly<Record<string, string>>;
  /** A command that runs the command of the row, such as `env`. */
  readonly wrap?: readonly string[];
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A file that must not change. */
  readonly untouched?: string;
  readonly after?: () => Promise<void> | void;
};

const as = (uid: number): readonly string[] =>
  isRoot ? ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'] : [];

const PREPARE: Readonly<Record<Given, (shell: Shell) => Promise<Prepared> | Prepared>> = {
  'a folder without rights': (shell) => {
    mkdirSync(join(shell.folder, 'closed'));
    return withoutRights(shell, 'closed', 0o555);
  },
  'a folder without any rights': (shell) => {
    mkdirSync(join(shell.folder, 'closed'));
    writeFileSync(join(shell.folder, 'closed/x.db'), '');
    return withoutRights(shell, 'closed', 0o000);
  },
  'a state folder without rights': (shell) => {
    rmSync(join(shell.folder, 'state/earpiece'), { recursive: true, force: true });
    mkdirSync(join(shell.folder, 'state/earpiece'), { recursive: true });
    return withoutRights(shell, 'state/earpiece', 0o555);
  },
  'an unreadable earpiece.toml': (shell) => withoutRights(shell, 'earpiece.toml', 0o000),
  'an unreadable subscriber': (shell) => withoutRights(shell, 'build.toml', 0o000),
  'a folder of subscribers without rights': (shell) => withoutRights(shell, '.earpiece/subscribers', 0o000),
  'a user without home': () => ({ wrap: ['env', '-u', 'HOME', ...as(NO_ENTRY)], uid: NO_ENTRY }),
  'a truncated database': (shell) => {
    copyFileSync(shell.db, join(shell.folder, 'cut.db'));
    truncateSync(join(shell.folder, 'cut.db'), 6_000);
    return { untouched: 'cut.db' };
  },
  'a damaged database': (shell) => {
    const bytes = readFileSync(shell.db);
    bytes.fill(0xaa, 5_000, 25_000);
    writeFileSync(join(shell.folder, 'damaged.db'), bytes);
    return { untouched: 'damaged.db' };
  },
  'the database of another program': (shell) => {
    database(join(shell.folder, 'other.db'), 'CREATE TABLE contacts (name)');
    return { untouched: 'other.db' };
  },
  'a database of a newer Earpiece': (shell) => {
    const sql = `CREATE TABLE records (x); PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 9001`;
    database(join(shell.folder, 'newer.db'), sql);
    return { untouched: 'newer.db' };
  },
  'links in a circle': (shell) => {
    symlinkSync('square', join(shell.folder, 'circle'));
    symlinkSync('circle', join(shell.folder, 'square'));
    return {};
  },
  'a full disk': (shell) => {
    const full = join(shell.folder, 'full.db');
    keep(full);
    return {
      // With a limit of the file size, writes fail as on a full disk. Setting the limit needs no root rights.
      wrap: ['/bin/sh', '-c', `trap '' XFSZ; ulimit -f 512; exec "$@"`, 'sh'],
      after: () => stillThere(full),
    };
  },
  'a locked database': (shell) => {
    const holder = new DatabaseSync(shell.db);
    holder.exec('BEGIN IMMEDIATE');
    return {
      after: () => {
        holder.exec('ROLLBACK');
        holder.close();
      },
    };
  },
  'a backup that exists': (shell) => {
    writeFileSync(join(shell.folder, 'copy.db'), 'precious');
    return { untouched: 'copy.db' };
  },
  // The system never assigns port 2 by itself, so nobody listens there. Any other port may be in use by now.
  'a port where nobody listens': () => ({ words: { port: '2' } }),
  'a port in use': async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { words: { port: String((server.address() as AddressInfo).port) }, after: () => void server.close() };
  },
};

/** Gives the folder to a user without root's rights, and removes the user's permissions at one place. */
function withoutRights(shell: Shell, name: string, mode: number): Prepared {
  const closed = join(shell.folder, name);
  chmodSync(closed, mode);
  if (isRoot) {
    chownSync(shell.folder, NOBODY, NOBODY);
    for (const each of readdirSync(shell.folder, { recursive: true, encoding: 'utf8' }))
      chownSync(join(shell.folder, each), NOBODY, NOBODY);
  }
  return { wrap: as(NOBODY), ...(isRoot ? { uid: NOBODY } : {}), after: () => chmodSync(closed, 0o755) };
}

function database(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

/** A database with one notification. Each row gets a copy. */
const KEPT = mkdtempSync(join(tmpdir(), 'earpiece-kept-'));
beforeAll(async () => {
  await using ear = await openLoadedInbox({ db: join(KEPT, 'kept.db'), cwd: KEPT, env: { HOME: KEPT } });
  await ear.queue('shop/keeper', { id: 'keep', message: 'what was queued before' });
});
afterAll(() => rmSync(KEPT, { recursive: true, force: true }));

const keep = (db: string): void => copyFileSync(join(KEPT, 'kept.db'), db);

/** Returns the ids of all waiting notifications, even if the configuration cannot be read. */
async function waiting(db: string): Promise<readonly string[]> {
  const store = await openStore(db);
  const logs = await store.overview();
  const items = await Promise.all(logs.map(({ log }) => store.items(log, { kind: 'open' })));
  await store.close();
  return items.flat().map((item) => item.id);
}

async function stillThere(db: string): Promise<void> {
  expect(await waiting(db)).toEqual(['keep']);
}

async function doRow(row: Row): Promise<void> {
  await using shell = new Shell();
  keep(shell.db);
  for (const [name, text] of Object.entries(row.files ?? {})) {
    mkdirSync(dirname(join(shell.folder, name)), { recursive: true });
    // If the file begins with a table, the project's name must precede the table. Otherwise the name would belong to that table.
    const project = name === 'earpiece.toml' && typeof text === 'string' && text.startsWith('[') ? 'project = "shop"\n' : '';
    writeFileSync(join(shell.folder, name), typeof text === 'string' ? `${project}${text}` : text);
  }
  const given = row.given === undefined ? {} : await PREPARE[row.given](shell);
  const before = given.untouched === undefined ? undefined : readFileSync(join(shell.folder, given.untouched));
  const words = (text: string): string => {
    const known = {
      folder: shell.folder,
      db: shell.db,
      user: given.uid === NOBODY ? 'nobody' : userInfo().username,
      ...given.words,
    };
    return Object.entries(known).reduce((all, [name, value]) => all.replaceAll(`{${name}}`, value), text);
  };

  const [command = '', ...args] = [...(given.wrap ?? []), process.execPath, CLI, ...row.args.map(words)];
  const child = spawn(command, args, { cwd: shell.folder, env: shell.env({ ...row.env, ...given.env }), stdio: 'pipe' });
  child.stdin.on('error', () => {});
  // A gateway's client stays connected until the gateway ends, or until the expected output has arrived.
  if (row.args[0] !== 'gateway') child.stdin.end(row.stdin?.bytes ?? '');
  const running = new Running(child);
  if (row.client !== undefined) {
    child.stdin.write(row.client);
    await running.shows(words(row.stdout ?? ''));
    child.stdin.end();
  }
  const { code, stdout, stderr } = await running.ended;
  await given.after?.();

  expect({ code, stdout, stderr }).toEqual({ code: row.code, stdout: words(row.stdout ?? ''), stderr: words(row.stderr) });
  expect(stdout + stderr).not.toMatch(/\n\s+at .*:\d+/u);
  if (before !== undefined) expect(readFileSync(join(shell.folder, given.untouched as string)).equals(before)).toBe(true);
  const left = await waiting(shell.db);
  if (row.code === 0) expect(left).toContain('keep');
  else expect(left).toEqual(['keep']);
}

describe.each(Object.entries(BAD_INPUT))('%s', (_title, rows) => {
  proves('cli:bad-input', 'cli:exit-codes', 'store:refuses');
  for (const row of rows) {
    it.skipIf(cannotBe(row.given)).concurrent(row.what, () => doRow(row), 120_000);
  }
});

describe('input from a client to the gateway', () => {
  proves('cli:bad-input', 'gateway:fuzz');

  it('each line gets the answer that the table names; client, gateway and server continue', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder#main', {
      id: 'keep',
      message: 'what was queued before',
      deliver: { at: Date.now() + 3_600_000 },
    });
    const args = [CLI, 'gateway', '--as', 'coder', '--', process.execPath, ...EVERYTHING];
    await using client = new RawClient(args, shell.env({ EARPIECE_PROJECT: 'shop' }));
    await client.initialize();
    await client.said('Starting default (STDIO) server');
    let told = client.stderr.join('').length;
    for (const [n, row] of BAD_FRAMES.entries()) {
      const answers = await answersTo(client, row, `next-${n}`);
      expect({
        what: row.what,
        answers: answers.map((answer, i) => (row.answers[i] === '{server}' ? serverSaid(answer) : answer)),
      }).toEqual({
        what: row.what,
        answers: row.answers,
      });
      const said = client.stderr.join('').slice(told);
      told += said.length;
      expect({ what: row.what, said }).toEqual({ what: row.what, said: row.stderr ?? '' });
    }
    expect((await ear.open('shop/coder')).map((item) => [item.id, item.offers])).toEqual([['keep', 0]]);
  }, 120_000);
});

/** Sends the frame and then a correct call. Returns the answers to the frame, and checks that the call succeeds. */
async function answersTo(client: RawClient, { frame, answers }: FrameRow, next: string): Promise<string[]> {
  const from = client.lines.length;
  const input = client.process.stdin;
  if (input === null) throw new Error('it has no stdin');
  input.write(frame.bytes);
  input.write(
    `\n${JSON.stringify({ jsonrpc: '2.0', id: next, method: 'tools/call', params: { name: 'echo', arguments: { message: next } } })}\n`,
  );
  const after = await client.line((line) => line.includes(`"id":"${next}"`));
  expect((JSON.parse(after) as { result: unknown }).result).toEqual({ content: [{ type: 'text', text: `Echo: ${next}` }] });
  const got = (): string[] => client.lines.slice(from).filter((line) => line !== after && line.includes('"id"'));
  // The gateway's own answers may arrive after the answer to the next call.
  if (got().length < answers.length) await client.line(() => got().length >= answers.length);
  return got();
}

/** Returns `{server}` for an answer of the server, and an answer of the gateway unchanged. */
function serverSaid(answer: string): string {
  const { result, error } = JSON.parse(answer) as { result?: unknown; error?: { data?: { server?: string } } };
  return (result ?? error) !== undefined && error?.data?.server === undefined ? '{server}' : answer;
}

verifies('cli:bad-input', 'docs/bad-input.md has the content of the table, which has at least 50 rows', async () => {
  expect(Object.values(BAD_INPUT).flat().length + BAD_FRAMES.length).toBeGreaterThanOrEqual(50);
  await expect(badInputPage()).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/bad-input.md'));
});
