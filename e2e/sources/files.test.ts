/** Tests the events about files that other programs change, on a real disk. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

import { filesSource, hashOf, type FilesOptions, type FilesSource } from '../../src/sources/files/index.ts';
import { proves } from '../verifies.ts';
import { recorder, type Recorder } from './recorder.ts';

type World = {
  readonly root: string;
  readonly source: FilesSource;
  readonly seen: Recorder;
  readonly put: (path: string, text: string) => void;
  readonly at: (path: string) => string;
  /** Returns and clears the events of every change to the disk up to now. */
  readonly told: () => Promise<string[]>;
};

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function world(options: Partial<FilesOptions> & { readonly files?: Readonly<Record<string, string>> } = {}): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-files-')));
  const seen = recorder();
  const at = (path: string): string => join(root, path);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  put('sentinel', '0');
  for (const [path, text] of Object.entries(options.files ?? {})) put(path, text);
  const source = filesSource({
    emitter: seen,
    subject: 'shop/coder#main',
    root,
    debounceMs: 20,
    onTrouble: seen.onTrouble,
    ...options,
  });
  ends.push(async () => {
    await source.stop();
    rmSync(root, { recursive: true, force: true });
  });
  let round = 0;
  const told = async (): Promise<string[]> => {
    // The watcher reports in order and checks doubtful files twice: after three rounds every earlier change is reported.
    for (let i = 0; i < 3; i++) {
      const from = seen.events.length;
      await source.noteRead('sentinel');
      put('sentinel', `${++round}`);
      await seen.until('file.changed sentinel', from);
    }
    const lines = seen.lines().filter((line) => !line.endsWith(' sentinel'));
    seen.events.length = 0;
    return lines;
  };
  return { root, source, seen, put, at, told };
}

describe('a file that the agent has read', () => {
  proves('sources:files');

  it('gives a warning with both hashes when another program changes the file', async () => {
    const { source, seen, put, at } = world({ files: { 'src/cart.ts': 'one', 'src/other.ts': 'one' } });
    await source.start();
    await source.noteRead('src/cart.ts', 'one');
    put('src/other.ts', 'two');
    put('src/cart.ts', 'two');
    expect(await seen.until('file.changed src/cart.ts')).toMatchObject({
      source: 'files',
      subject: 'shop/coder#main',
      severity: 'warning',
      data: { path: 'src/cart.ts', change: 'changed', previous_hash: hashOf('one'), current_hash: hashOf('two') },
      about: `file:${at('src/cart.ts')}`,
      key: 'src/cart.ts',
      message: '`src/cart.ts` changed outside',
    });
    expect(seen.lines()).toEqual(['file.changed src/cart.ts']);
    expect(source.about('src/cart.ts')).toBe(`file:${at('src/cart.ts')}`);
  });

  it('gives an event when the file is deleted, returns unchanged, or returns with other content', async () => {
    const { source, seen, put, at, told } = world({ files: { a: 'one' } });
    await source.start();
    await source.noteRead('a');
    rmSync(at('a'));
    expect(await seen.until('file.deleted a')).toMatchObject({
      severity: 'warning',
      data: { change: 'deleted', previous_hash: hashOf('one') },
      message: '`a` was deleted by another program',
    });
    expect(await told()).toEqual(['file.deleted a']);
    put('a', 'one');
    expect(await seen.until('file.restored a')).toMatchObject({
      severity: 'debug',
      key: 'a',
      message: '`a` has its earlier content again',
    });
    expect(await told()).toEqual(['file.restored a']);
    rmSync(at('a'));
    expect(await told()).toEqual(['file.deleted a']);
    put('a', 'two');
    expect(await told()).toEqual(['file.changed a']);
  });

  it('gives an event when a missing file appears', async () => {
    const { source, put, told } = world();
    await source.start();
    await source.noteRead('new/a');
    put('new/a', 'one');
    expect(await told()).toEqual(['file.created new/a']);
  });

  it.each<[how: string, save: (w: World) => void]>([
    ['written in place', ({ put }) => put('a', 'two')],
    [
      'written beside and renamed over it',
      ({ at, put }) => {
        put('.a.tmp', 'two');
        renameSync(at('.a.tmp'), at('a'));
      },
    ],
    [
      'truncated, then written in pieces',
      ({ at }) => {
        writeFileSync(at('a'), '');
        appendFileSync(at('a'), 't');
        appendFileSync(at('a'), 'wo');
      },
    ],
    [
      'renamed away as a backup, then created',
      ({ at, put }) => {
        renameSync(at('a'), at('a~'));
        put('a', 'two');
        rmSync(at('a~'));
      },
    ],
    [
      'deleted, then created',
      ({ at, put }) => {
        rmSync(at('a'));
        put('a', 'two');
      },
    ],
    [
      'written five times',
      ({ put }) => {
        for (const text of ['x', 'y', '', 'z', 'two']) put('a', text);
      },
    ],
  ])('%s is one change, also the next time', async (_, save) => {
    const here = world({ files: { a: 'one' } });
    await here.source.start();
    await here.source.noteRead('a', 'one');
    save(here);
    expect(await here.told()).toEqual(['file.changed a']);
    here.put('a', 'one');
    expect(await here.told()).toEqual(['file.restored a']);
    save(here);
    expect(await here.told()).toEqual(['file.changed a']);
  });

  it('counts neither as deleted nor as emptied while a slow editor saves', async () => {
    const { source, seen, put, at, told } = world({ files: { a: '1', b: '1' }, debounceMs: 200 });
    await source.start();
    for (const path of ['a', 'b', 'sentinel']) await source.noteRead(path);
    rmSync(at('a'));
    put('b', '');
    put('sentinel', 'first');
    // When the event of `sentinel` arrives, the watcher has checked both files once.
    await seen.until('file.changed sentinel');
    put('a', '2');
    put('b', '2');
    expect((await told()).toSorted()).toEqual(['file.changed a', 'file.changed b']);
    put('b', '');
    expect(await told()).toEqual(['file.changed b']);
  });

  it('gives no event for a touch, the same content again or a change that is undone at once', async () => {
    const { source, put, at, told } = world({ files: { a: 'one' } });
    await source.start();
    await source.noteRead('a');
    utimesSync(at('a'), 1, 1);
    expect(await told()).toEqual([]);
    put('a', 'one');
    expect(await told()).toEqual([]);
    put('a', 'two');
    put('a', 'one');
    expect(await told()).toEqual([]);
    // An equal size and time do not prove that the content is unchanged.
    utimesSync(at('a'), 1, 1);
    expect(await told()).toEqual([]);
    put('a', 'two');
    utimesSync(at('a'), 1, 1);
    expect(await told()).toEqual(['file.changed a']);
  });

  it('gives an event for each new content; the first content again withdraws all reports', async () => {
    const { source, put, told } = world({ files: { a: '1' } });
    await source.start();
    await source.noteRead('a');
    const lines: string[] = [];
    for (const text of ['2', '3', '3', '1']) {
      put('a', text);
      lines.push(...(await told()));
    }
    expect(lines).toEqual(['file.changed a', 'file.changed a', 'file.restored a']);
  });

  it('gives no event for a content that the agent has read again', async () => {
    const { source, put, told, at } = world({ files: { a: '1' } });
    await source.start();
    await source.noteRead('a');
    put('a', '2');
    expect(await told()).toEqual(['file.changed a']);
    await source.noteRead('a', '2');
    expect(source.known()[at('a')]).toBe(hashOf('2'));
    put('a', '2');
    expect(await told()).toEqual([]);
    put('a', '3');
    expect(await told()).toEqual(['file.changed a']);
  });

  it('gives an event if the file changed before the read was noted', async () => {
    const { source, put, told } = world({ files: { a: '1' } });
    await source.start();
    put('a', '2');
    await source.noteRead('a', '1');
    expect(await told()).toEqual(['file.changed a']);
  });

  it('gives an event for a read before the start, and for a change during a stop', async () => {
    const { source, put, seen } = world({ files: { a: '1', b: '1' } });
    await source.noteRead('a');
    await source.noteRead('b');
    put('a', '2');
    await source.start();
    await seen.until('file.changed a');
    await source.stop();
    put('b', '2');
    expect(seen.lines()).toEqual(['file.changed a']);
    await source.start();
    await seen.until('file.changed b');
    expect(seen.lines()).toEqual(['file.changed a', 'file.changed b']);
  });

  it('gives events also in folders that are removed and created again, and outside of the root', async () => {
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-elsewhere-')));
    ends.push(async () => rmSync(elsewhere, { recursive: true }));
    writeFileSync(join(elsewhere, 'x'), '1');
    const { source, put, at, told, seen } = world({ files: { 'src/deep/a': '1', 'src/b': '1' } });
    await source.start();
    for (const path of ['src/deep/a', 'src/b', join(elsewhere, 'x')]) await source.noteRead(path);
    rmSync(at('src'), { recursive: true });
    expect((await told()).toSorted()).toEqual(['file.deleted src/b', 'file.deleted src/deep/a']);
    put('src/deep/a', '2');
    put('src/b', '1');
    expect((await told()).toSorted()).toEqual(['file.changed src/deep/a', 'file.restored src/b']);
    put('src/deep/a', '3');
    writeFileSync(join(elsewhere, 'x'), '2');
    await seen.until(`file.changed ${join(elsewhere, 'x')}`);
    expect((await told()).toSorted()).toEqual([`file.changed ${join(elsewhere, 'x')}`, 'file.changed src/deep/a'].toSorted());
  });

  it('gives an event behind a link, when the target is written or replaced, or the link gets another target', async () => {
    const { source, put, at, told } = world({ files: { 'real/a': '1', 'real/b': '9' } });
    symlinkSync(at('real/a'), at('link'));
    symlinkSync(at('real'), at('folder'));
    symlinkSync(at('nowhere'), at('dangling'));
    await source.start();
    for (const path of ['link', 'folder/b', 'dangling']) await source.noteRead(path);
    put('real/a', '2');
    expect(await told()).toEqual(['file.changed link']);
    put('real/.a', '3');
    renameSync(at('real/.a'), at('real/a'));
    expect(await told()).toEqual(['file.changed link']);
    rmSync(at('link'));
    symlinkSync(at('real/b'), at('link'));
    expect(await told()).toEqual(['file.changed link']);
    put('real/b', '8');
    expect((await told()).toSorted()).toEqual(['file.changed folder/b', 'file.changed link']);
  });

  it('gives events also if the file is huge or binary; an unreadable file is reported', async () => {
    const { source, at, told, seen, put } = world();
    const huge = Buffer.alloc(17 * 1_048_576, 1);
    writeFileSync(at('huge'), huge);
    writeFileSync(at('binary'), Buffer.from([0, 255, 128, 10]));
    execFileSync('mkfifo', [at('pipe')]);
    mkdirSync(at('folder'));
    await source.start();
    for (const path of ['huge', 'binary', 'pipe', 'folder', '/proc/uptime', '/dev/zero']) await source.noteRead(path);
    await source.noteRead('huge', huge);
    expect(source.known()[at('huge')]).toMatch(/^stat:17825792:/);
    expect(await told()).toEqual([]);
    huge[3] = 2;
    writeFileSync(at('huge'), huge);
    expect(await told()).toEqual(['file.changed huge']);
    writeFileSync(at('binary'), Buffer.from([0, 255, 129, 10]));
    expect(await told()).toEqual(['file.changed binary']);
    rmSync(at('binary'));
    mkdirSync(at('binary'));
    put('folder/x', '');
    expect(await told()).toEqual(['file.deleted binary']);
    // The tester may have the right to read everything, but a link to itself is unreadable for every user.
    symlinkSync(at('loop'), at('loop'));
    await source.noteRead('loop');
    expect(seen.troubles).toEqual([
      `files: ${at('loop')} cannot be read (ELOOP); changes are reported when the file can be read`,
    ]);
  });

  it('has a name that cannot break out of its line, and a key of at most 256 characters', async () => {
    const name = 'a`\n\u001b[31m\u2028😀\ud800'.toWellFormed();
    const { source, put, seen } = world({ files: { [name]: '1', [`${'d/'.repeat(150)}x`]: '1' } });
    await source.start();
    await source.noteRead(name);
    await source.noteRead(`${'d/'.repeat(150)}x`);
    put(name, '2');
    put(`${'d/'.repeat(150)}x`, '2');
    await seen.count(2);
    const [odd, long] = seen.events.toSorted((a, b) => (a.key?.length ?? 0) - (b.key?.length ?? 0));
    expect(odd?.message).toBe('`a\\u0060\\u000a\\u001b[31m\\u2028😀\ufffd` changed outside');
    expect(long?.key?.length).toBeLessThanOrEqual(256);
    expect(long?.data['path']).toBe(`${'d/'.repeat(150)}x`);
  });
});

describe("the agent's own writes", () => {
  it('cause no event, with each of the methods that record them', async () => {
    proves('sources:files');
    const { source, put, at, told } = world({ files: { a: '1', b: '1', c: '1' } });
    await source.start();
    for (const path of ['a', 'b', 'c']) await source.noteRead(path);
    put('a', '2');
    await source.noteWrite('a');
    put('b', '2');
    await source.noteWrite('b', '2');
    const result = await source.withOwnWrite(['c', 'new/d'], async () => {
      put('c', '2');
      await new Promise((resolve) => setTimeout(resolve, 60));
      put('c', '3');
      put('new/d', '1');
      return 'done';
    });
    expect(result).toBe('done');
    expect(await told()).toEqual([]);
    await source.withOwnWrite('a', () => rmSync(at('a')));
    expect(await told()).toEqual([]);
    for (const path of ['a', 'b', 'c', 'new/d']) put(path, 'theirs');
    expect((await told()).toSorted()).toEqual(['file.changed b', 'file.changed c', 'file.changed new/d', 'file.created a']);
  });

  it('do not hide changes of others right before or after them', async () => {
    const { source, put, told, seen } = world({ files: { a: '1' }, debounceMs: 1_000 });
    await source.start();
    await source.noteRead('a');
    put('a', 'theirs');
    await source.withOwnWrite('a', () => put('a', 'theirs and mine'));
    await seen.until('file.changed a');
    put('a', 'theirs again');
    await source.stop();
    expect(seen.lines()).toEqual(['file.changed a', 'file.changed a']);
    expect(seen.events.map(({ data }) => data['current_hash'])).toEqual([hashOf('theirs'), hashOf('theirs again')]);
    void told;
  });

  it('count as known content, even if they fail or overlap', async () => {
    const { source, put, told } = world({ files: { a: '1' } });
    await source.start();
    await source.noteRead('a');
    await expect(
      source.withOwnWrite('a', () => {
        put('a', 'half');
        throw new Error('disk full');
      }),
    ).rejects.toThrow('disk full');
    expect(await told()).toEqual([]);
    const gate = Promise.withResolvers<void>();
    const slow = source.withOwnWrite('a', async () => {
      await gate.promise;
      put('a', 'slow');
    });
    await source.withOwnWrite('a', () => put('a', 'quick'));
    put('a', 'still under way');
    expect(await told()).toEqual([]);
    gate.resolve();
    await slow;
    expect(await told()).toEqual([]);
  });
});

describe('an earlier read', () => {
  it('is reported as stale when a later read differs without a known change', async () => {
    proves('sources:files');
    const first = world({ files: { a: '1', b: '1', c: '1' } });
    await first.source.start();
    for (const path of ['a', 'b', 'c']) await first.source.noteRead(path);
    const known = first.source.known();
    await first.source.stop();
    first.put('a', '2');
    first.put('c', '2');

    const seen = recorder();
    const source = filesSource({ emitter: seen, subject: 'shop/coder#main', root: first.root, known, debounceMs: 20 });
    ends.push(() => source.stop());
    await source.start();
    // `noteRead` resolves after it has emitted the event, so the event precedes the read's result.
    await source.noteRead('a', '2');
    expect(seen.events).toMatchObject([
      {
        type: 'source.stale',
        severity: 'warning',
        data: { path: 'a', previous_hash: hashOf('1'), current_hash: hashOf('2') },
        message: '`a` has changed since it was last read',
      },
    ]);
    // The event has no `about`. With `about`, its notification would close as known, because the agent has just read the file.
    expect(seen.events[0]?.about).toBeUndefined();
    await source.noteRead('b', '1');
    await source.noteRead('a', '2');
    first.put('b', '2');
    await seen.until('file.changed b');
    // A change without a watching process becomes an event at the next read. A later change becomes an event at once.
    expect(seen.lines()).toEqual(['source.stale a', 'file.changed b']);
    first.put('c', '3');
    await seen.until('file.changed c');
    await source.noteRead('c', '3');
    expect(seen.lines()).toEqual(['source.stale a', 'file.changed b', 'file.changed c']);
  });
});

describe('globs', () => {
  it('report changes of unread and new files with level info', async () => {
    proves('sources:files');
    const { source, seen, put, at, told } = world({
      globs: ['src/**', '!**/*.snap'],
      files: {
        'src/a': '1',
        'src/deep/b': '1',
        'src/c': '1',
        'lib/x': '1',
        'src/x.snap': '1',
        '.gitignore': 'out/\n',
        'src/out/o': '1',
      },
    });
    await source.start();
    await source.noteRead('src/c');
    put('lib/x', '2');
    put('src/x.snap', '2');
    put('src/out/o', '2');
    put('src/node_modules/m', '1');
    put('src/.a.swp', '1');
    expect(await told()).toEqual([]);
    put('src/a', '2');
    put('src/c', '2');
    put('src/new/n', '1');
    rmSync(at('src/deep'), { recursive: true });
    await seen.count(4);
    expect(seen.events.map(({ type, severity, key }) => `${severity} ${type} ${key}`).toSorted()).toEqual([
      'info file.changed src/a',
      'info file.created src/new/n',
      'info file.deleted src/deep/b',
      'warning file.changed src/c',
    ]);
    expect(seen.events.find(({ key }) => key === 'src/a')?.data).toEqual({
      path: 'src/a',
      change: 'changed',
      previous_hash: hashOf('1'),
      current_hash: hashOf('2'),
    });
    await told();
    put('src/a', '1');
    put('src/deep/b', '1');
    rmSync(at('src/new/n'));
    expect((await told()).toSorted()).toEqual(['file.restored src/a', 'file.restored src/deep/b', 'file.restored src/new/n']);
    put('.gitignore', 'out/\na\n');
    expect(await told()).toEqual([]);
    put('src/a', '3');
    expect(await told()).toEqual([]);
  });

  it('report files also if the root does not exist yet, or disappears and returns', async () => {
    const { source, seen, root } = world({ globs: ['*.md'] });
    rmSync(root, { recursive: true });
    await source.start();
    expect(seen.troubles).toEqual([`files: ${root} does not exist; files in this folder are reported when they appear`]);
    mkdirSync(root);
    writeFileSync(join(root, 'a.md'), '1');
    await seen.until('file.created a.md');
    rmSync(root, { recursive: true });
    await seen.until('file.restored a.md');
    mkdirSync(root);
    writeFileSync(join(root, 'a.md'), '2');
    await seen.until('file.created a.md', 2);
  });

  it('report files behind links to folders once, at their real place', async () => {
    const { source, seen, put, at, told } = world({ globs: ['**'], files: { 'd/x': '1', 'e/y': '1' } });
    symlinkSync('..', at('d/loop'));
    symlinkSync(at('.'), at('d/whole'));
    symlinkSync('../e', at('d/e'));
    symlinkSync('self', at('self'));
    await source.start();
    put('d/x', '2');
    put('e/y', '2');
    put('e/z', '2');
    expect((await told()).toSorted()).toEqual(['file.changed d/x', 'file.changed e/y', 'file.created e/z']);
    // A file that is read through such a link is watched at the path of the read.
    await source.noteRead('d/e/y');
    put('e/y', '3');
    expect((await told()).toSorted()).toEqual(['file.changed d/e/y', 'file.changed e/y']);
    expect(seen.troubles).toEqual([]);
  });

  it('print one line for files above the limit, and for an invalid glob', async () => {
    const { source, seen } = world({ globs: ['*.md', '../x'], maxFiles: 2, files: { 'a.md': '', 'b.md': '', 'c.md': '' } });
    await source.start();
    expect(seen.troubles).toEqual([
      'files: the glob "../x" leads out of the folder; write a path below the folder; this glob is ignored',
      'files: the globs match more than 2 files, so only some are watched; use narrower globs',
    ]);
  });
});

describe('many changes at once', () => {
  it('a git checkout of 500 files gives one event for each file', async () => {
    proves('sources:files');
    const files = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`src/d${i % 20}/f${i}.ts`, `one ${i}`]));
    const { source, seen, root, put, told } = world({ files, debounceMs: 100 });
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: root, encoding: 'utf8' });
    git('init', '-q', '-b', 'main');
    git('add', 'src');
    git('commit', '-qm', 'one');
    git('checkout', '-qb', 'other');
    for (const path of Object.keys(files)) put(path, `two ${path}`);
    git('commit', '-qam', 'two');
    git('checkout', '-q', 'main');
    await source.start();
    for (const path of Object.keys(files)) await source.noteRead(path);
    git('checkout', '-q', 'other');
    await seen.count(500);
    expect(new Set(seen.lines())).toEqual(new Set(Object.keys(files).map((path) => `file.changed ${path}`)));
    await told();
    git('checkout', '-q', 'main');
    await seen.count(500);
    expect(new Set(seen.lines())).toEqual(new Set(Object.keys(files).map((path) => `file.restored ${path}`)));
  });
});

describe('the end of a source', () => {
  it('leaves nothing behind that would keep its process alive', async () => {
    proves('sources:files', 'sources:git');
    const { root, put } = world({ files: { a: '1', 'deep/b': '1' } });
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: root });
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('commit', '-qm', 'one');
    git('config', 'remote.origin.url', join(root, '.git'));
    put('deep/c', '1');
    const child = fileURLToPath(new URL('watch-and-stop.ts', import.meta.url));
    const out = execFileSync(process.execPath, [child, root], { encoding: 'utf8', timeout: 20_000 });
    const { lines, troubles } = JSON.parse(out) as { lines: string[]; troubles: string[] };
    expect(troubles).toEqual([]);
    expect(lines).toEqual(expect.arrayContaining(['file.changed a', 'git.branch_switched theirs', 'file.deleted a']));
    expect(lines).toHaveLength(3);
  });

  it('emits every change that the source has seen before stop() resolves', async () => {
    const { source, seen, put } = world({ files: { a: '1', b: '1' }, debounceMs: 60_000 });
    await source.start();
    await source.noteRead('a');
    put('a', '2');
    let told = false;
    seen.before = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      told = true;
    };
    await source.stop();
    expect([told, seen.lines()]).toEqual([true, ['file.changed a']]);
  });

  it('prints one line if the emitter fails, and reports the lost change the next time', async () => {
    const { source, seen, put } = world({ files: { a: '1', b: '1' } });
    await source.start();
    for (const path of ['a', 'b']) await source.noteRead(path);
    seen.before = () => {
      throw new Error('the store is away\n  at somewhere');
    };
    put('a', '2');
    put('b', '2');
    await expect.poll(() => seen.troubles).toEqual(['files: an event was lost: the store is away']);
    await source.stop();
    expect(seen.events).toEqual([]);
    seen.before = () => {};
    await source.start();
    await seen.count(2);
    expect(seen.lines().toSorted()).toEqual(['file.changed a', 'file.changed b']);
  });
});
