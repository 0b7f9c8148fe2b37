/** Tests a database file that is deleted, replaced or truncated while processes use it. */
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closed, LOG } from '../../src/stores/contract/drafts.ts';
import { openSqliteStore } from '../../src/stores/index.ts';
import { proves } from '../verifies.ts';
import { runScript, type Child } from './child.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-half-'));
  path = join(folder, 'e.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function writer(): Promise<Child> {
  const child = runScript('writer', [path]);
  expect(await child.line()).toBe('open');
  return child;
}

/** Queues a notification. Retries as long as the answer says that a retry can help. */
async function acknowledged(child: Child, id: string): Promise<string> {
  for (;;) {
    child.tell(id);
    const line = await child.line();
    if (line === `ok ${id}`) return id;
    expect(line).toMatch(/^store_unavailable \(retryable\) /u);
  }
}

/** Ends the children one after the other, and returns their stderr. */
async function end(children: readonly Child[]): Promise<string[]> {
  const said: string[] = [];
  for (const child of children) {
    const { code, signal, stderr } = await child.ended();
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    said.push(stderr);
  }
  return said;
}

async function kept(): Promise<{ ids: string[]; problems: readonly string[] }> {
  const store = await openSqliteStore({ path });
  const ids = (await store.items(LOG, { kind: 'open' })).map(({ id }) => id as string);
  const problems = await store.verify();
  await store.close();
  return { ids, problems };
}

const remove = (sides: readonly string[]): void => sides.forEach((side) => rmSync(`${path}${side}`));

describe.each([
  ['-wal', ['-wal']],
  ['-shm', ['-shm']],
  ['-wal and -shm', ['-wal', '-shm']],
])('%s deleted under two processes', (what, sides) => {
  proves('store:half-deleted');

  it.each([
    ['the first to open ends first', (a: Child, b: Child, c: Child) => [a, b, c]],
    ['the last to open ends first', (a: Child, b: Child, c: Child) => [c, b, a]],
  ])('keeps every acknowledged record, including the records of a new process: %s', async (_, order) => {
    const [a, b] = [await writer(), await writer()];
    const acks: string[] = [];
    for (const [child, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const)
      for (let i = 0; i < 3; i++) acks.push(await acknowledged(child, `${name}${i}`));
    remove(sides);
    const c = await writer();
    for (let i = 0; i < 3; i++)
      for (const [child, name] of [
        [c, 'c-after'],
        [a, 'a-after'],
        [b, 'b-after'],
      ] as const)
        acks.push(await acknowledged(child, `${name}${i}`));
    const said = await end(order(a, b, c));
    expect(await kept()).toEqual({ ids: expect.arrayContaining(acks), problems: [] });
    const line = new RegExp(`EarpieceWarning: ${path}${sides[0]}.* deleted while the database is in use. Nothing was lost`, 'u');
    expect(said.filter((text) => line.test(text))).toHaveLength(2);
    expect(what).not.toBe('');
  });

  it('loses nothing if the processes end after the deletion', async () => {
    const [a, b] = [await writer(), await writer()];
    const acks = [await acknowledged(a, 'a'), await acknowledged(b, 'b')];
    remove(sides);
    await end([a, b]);
    expect(await kept()).toEqual({ ids: acks, problems: [] });
  });

  it('a new process waits for a stopped process, and names the reason why it wrote nothing', async () => {
    const a = await writer();
    const ack = await acknowledged(a, 'a');
    a.process.kill('SIGSTOP');
    remove(sides);
    const c = runScript('writer', [path]);
    expect(await c.line()).toBe(
      `store_unavailable (retryable) ${sides.map((side) => `${path}${side}`).join(' and ')} ${sides.length === 1 ? 'was' : 'were'} deleted while a program uses the database. Nothing was written. Try again: the program restores the file within a second of its next use; if that fails, stop the program (\`fuser ${path}\`)`,
    );
    a.process.kill('SIGCONT');
    const more = [await acknowledged(a, 'a2'), await acknowledged(await writer(), 'c')];
    await end([a]);
    expect((await kept()).ids).toEqual(expect.arrayContaining([ack, ...more]));
  });
});

describe.each([
  ['alone', ['']],
  ['with its -wal', ['', '-wal']],
  ['with its -shm', ['', '-shm']],
  ['with both', ['', '-wal', '-shm']],
])('the main file deleted %s', (_what, sides) => {
  proves('store:half-deleted');

  it('leads to a new file with all later notifications, and the processes report that the file is new', async () => {
    const [a, b] = [await writer(), await writer()];
    await acknowledged(a, 'a');
    remove(sides);
    const c = await writer();
    const acks = [await acknowledged(c, 'c'), await acknowledged(a, 'a-after'), await acknowledged(b, 'b-after')];
    const said = await end([a, b, c]);
    const { ids, problems } = await kept();
    expect({ ids: ids.toSorted(), problems }).toEqual({ ids: acks.toSorted(), problems: [] });
    for (const text of said.slice(0, 2))
      expect(text).toMatch(
        /EarpieceWarning: .*e\.db was (?:deleted or moved away, and a new database is created at the path|replaced, and the new file is used from now on)\. Open notifications stay in the old file/u,
      );
    // The companion files of the deleted file are kept under another name.
    const left = readdirSync(folder).filter((name) => name.includes('.left-'));
    expect(left.map((name) => name.slice(-4)).toSorted()).toEqual(['-shm', '-wal'].filter((side) => !sides.includes(side)));
  });
});

describe('a file that another program changed', () => {
  proves('store:half-deleted');

  it.each(['-wal', '-shm'])('with %s replaced gets no more writes, and the new file stays intact', async (side) => {
    const a = await writer();
    await acknowledged(a, 'a');
    rmSync(`${path}${side}`);
    writeFileSync(`${path}${side}`, 'of another program');
    a.tell('lost');
    expect(await a.line()).toBe(
      `store_unavailable ${path}${side} was replaced while this process (${a.process.pid}) uses the database. This process writes nothing more to the database: restart the process`,
    );
    await end([a]);
    expect(statSync(`${path}${side}`).size).toBe('of another program'.length);
  });

  it.each([0, 50, 4_096])(
    'that is cut to %i bytes while a process uses it: the next write of the process reports the truncation',
    async (bytes) => {
      // The last process that closes moves all pages into the main file.
      const before = await writer();
      for (let i = 0; i < 3; i++) await acknowledged(before, `before${i}`);
      await end([before]);
      const a = await writer();
      await acknowledged(a, 'a');
      truncateSync(path, bytes);
      a.tell('lost');
      expect(await a.line()).toMatch(/^store_corrupt the database .*e\.db .* truncated/u);
      await a.ended();
    },
  );

  it.each([100, 4_096, 20_000])('that is cut to %i bytes while no process uses it is reported as truncated', async (bytes) => {
    const a = await writer();
    for (let i = 0; i < 3; i++) await acknowledged(a, `a${i}`);
    await end([a]);
    truncateSync(path, bytes);
    const c = runScript('writer', [path]);
    expect(await c.line()).toMatch(
      new RegExp(
        `^store_corrupt the database ${path} has ${bytes} of \\d+ bytes: the file was truncated. Stop the programs that use the database`,
        'u',
      ),
    );
    await c.ended();
  });

  it.each([
    ['half', (size: number) => size / 2],
    ['a quarter', (size: number) => size / 4],
    ['half of the first page', () => 2_048],
  ])(
    'that is cut to %s while others use it gives each process the same error, and no process fills it with zeros',
    async (_, cutTo) => {
      const before = await writer();
      for (let i = 0; i < 12; i++) await acknowledged(before, `before${i}`);
      await end([before]);
      const a = await writer();
      await acknowledged(a, 'a');
      const whole = statSync(path).size;
      const bytes = Math.floor(cutTo(whole) / 512) * 512;
      truncateSync(path, bytes);
      const line = new RegExp(
        `^store_corrupt the database ${path} has ${bytes} of \\d+ bytes: the file was truncated\\. Stop`,
        'u',
      );
      const refused: (string | undefined)[] = [];
      for (const child of [runScript('writer', [path]), runScript('writer', [path])]) {
        refused.push(await child.line());
        await child.ended();
      }
      a.tell('lost');
      refused.push(await a.line());
      await a.ended();
      const later = runScript('writer', [path]);
      refused.push(await later.line());
      await later.ended();
      expect(refused[0]).toMatch(line);
      expect(new Set(refused).size).toBe(1);
      expect(statSync(path).size).toBe(bytes);
    },
  );

  it('that is cut after kill -9 is reported as truncated, with and without the -shm', async () => {
    const before = await writer();
    for (let i = 0; i < 12; i++) await acknowledged(before, `before${i}`);
    await end([before]);
    const a = await writer();
    await acknowledged(a, 'a');
    a.process.kill('SIGKILL');
    await a.ended();
    truncateSync(path, 40_960);
    for (const sides of [[], ['-shm']]) {
      remove(sides);
      const c = runScript('writer', [path]);
      expect(await c.line()).toMatch(/^store_corrupt the database .* has 40960 of \d+ bytes: the file was truncated/u);
      await c.ended();
    }
  });
});

describe('a file whose pages are in the -wal is whole', () => {
  proves('store:half-deleted');

  it.each([
    ['all in the -wal', []],
    ['all in the -wal of a killed process', ['kill']],
    ['all in the -wal of a killed process, without the -shm', ['kill', '-shm']],
  ])('%s', async (_, what) => {
    const a = await writer();
    const acks: string[] = [];
    for (let i = 0; i < 40; i++) acks.push(await acknowledged(a, `a${i}`));
    expect(statSync(path).size).toBe(4_096);
    if (what.includes('kill')) {
      a.process.kill('SIGKILL');
      await a.ended();
    }
    remove(what.filter((side) => side !== 'kill'));
    const c = await writer();
    acks.push(await acknowledged(c, 'c'));
    await end(what.includes('kill') ? [c] : [c, a]);
    expect((await kept()).ids).toEqual(acks);
  });

  it('also while it grows past a checkpoint, shrinks, and is opened repeatedly', async () => {
    const a = await writer();
    const store = await openSqliteStore({ path });
    const open = async (): Promise<void> => {
      const other = await openSqliteStore({ path });
      await other.append(LOG, []);
      await other.close();
    };
    // SQLite moves the -wal into the main file after 1,000 pages, with about 300 of these notifications.
    for (let i = 0; i < 700; i++) {
      await acknowledged(a, `a${i}`);
      await open();
    }
    expect(statSync(path).size).toBeGreaterThan(4_096 * 1_000);
    const copy = join(folder, 'copy.db');
    await store.backup(copy);
    for (let i = 0; i < 600; i++) await store.append(LOG, [closed([`a${i}`], 'withdrawn')]);
    await store.prune(Date.now() + 1);
    const { before, after } = await store.compact();
    expect(after).toBeLessThan(before);
    await open();
    await acknowledged(a, 'after');
    await store.close();
    await end([a]);
    await open();
    const backup = await openSqliteStore({ path: copy });
    expect(await backup.verify()).toEqual([]);
    await backup.close();
  }, 60_000);
});
