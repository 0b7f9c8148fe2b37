/**
 * Tests the texts that a model reads when others change files and repositories, through the sources, the bus, the shipped
 * subscribers and a carrier.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

import type { Emitted, Emitter } from '../../src/core/event.ts';
import type { ContactPoint } from '../../src/core/records.ts';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { filesSource, type FilesSource } from '../../src/sources/files/index.ts';
import { gitSource } from '../../src/sources/git/index.ts';
import { proves } from '../verifies.ts';

const AGENT = 'shop/coder#main';
const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Stage = {
  readonly files: FilesSource;
  readonly put: (path: string, text: string) => void;
  readonly git: (...args: string[]) => string;
  /** Resolves when this many events of that type, counted from the start, are durable. */
  readonly emitted: (type: string, count?: number) => Promise<void>;
  /** Makes the source of the next process, with the state that this process has stored. */
  readonly again: (known: Readonly<Record<string, string>>) => Promise<FilesSource>;
  /** The text of the next carrier. `knows` lists the facts that the result in that carrier shows. */
  readonly read: (knows?: readonly string[], at?: ContactPoint) => Promise<string>;
};

async function stage(paths: Readonly<Record<string, string>>): Promise<Stage> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-told-')));
  const root = join(home, 'shop');
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  mkdirSync(root);
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  git('init', '-q', '-b', 'main');
  for (const [path, text] of Object.entries(paths)) put(path, text);
  git('add', '.');
  git('commit', '-qm', 'one');

  const troubles: string[] = [];
  const ear = await openLoadedInbox({
    db: join(home, 'e.db'),
    cwd: root,
    env: { HOME: home },
    onProblem: (line) => troubles.push(line),
  });
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  const emitter: Emitter = {
    emit: async (event): Promise<Emitted> => {
      const emitted = await ear.bus.emit(event);
      counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
      for (const look of waiting) look();
      return emitted;
    },
  };
  const options = { emitter, subject: AGENT, root, debounceMs: 30, onTrouble: (line: string) => troubles.push(line) };
  const sources = [filesSource(options), gitSource(options)] as const;
  await Promise.all(sources.map((source) => source.start()));
  ends.push(async () => {
    await Promise.all(sources.map((source) => source.stop()));
    await ear.close();
    rmSync(home, { recursive: true, force: true });
    expect(troubles).toEqual([]);
  });
  const conversation = ear.conversation(AGENT);
  return {
    files: sources[0],
    put,
    git,
    emitted: (type, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if ((counts.get(type) ?? 0) < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    again: async (known) => {
      const files = filesSource({ ...options, known });
      await files.start();
      ends.push(() => files.stop());
      return files;
    },
    read: async (knows = [], at = 'tool_batch_end') => {
      const result = { type: 'tool_call_response', id: 'c', content: '', is_error: false };
      const carried = await conversation.carry(result, {
        at,
        known: Object.fromEntries(knows.map((about) => [about, ear.store.now()])),
      });
      return carried.view?.items.map((item) => item.text).join('\n') ?? '';
    },
  };
}

it('a change of a read file is notified once; a new read of the file prevents the notification, and a restored file withdraws it', async () => {
  proves('sources:files');
  const { files, put, emitted, read } = await stage({ 'src/cart.ts': '1', 'src/b.ts': '1' });
  await files.noteRead('src/cart.ts');
  put('src/cart.ts', '2');
  await emitted('file.changed');
  expect(await read()).toContain('src/cart.ts');
  expect(await read()).toBe('');

  put('src/cart.ts', '3');
  await emitted('file.changed', 2);
  await files.noteRead('src/cart.ts', '3');
  expect(await read([files.about('src/cart.ts')])).toBe('');

  put('src/cart.ts', '4');
  await emitted('file.changed', 3);
  put('src/cart.ts', '3');
  await emitted('file.restored');
  expect(await read()).toBe('');
});

it('the result of a read whose content differs from the last read says so', async () => {
  proves('sources:files');
  const { files, put, read, again } = await stage({ 'src/cart.ts': '1' });
  await files.noteRead('src/cart.ts');
  await files.stop();
  put('src/cart.ts', '2');
  const later = await again(files.known());
  // The tool `read_file` calls `noteRead` and `about` in this way. `about` says that the result shows the file, but the result
  // does not say that the file has changed since the last read.
  await later.noteRead('src/cart.ts', '2');
  expect(await read([later.about('src/cart.ts')])).toMatch(
    /^source warning: source_stale: src\/cart\.ts changed since last read/,
  );
  expect(await read()).toBe('');
});

it('a conflict that ended before the next carrier is not notified', async () => {
  proves('sources:git');
  const { put, git, emitted, read } = await stage({ a: 'one\n' });
  git('checkout', '-qb', 'side');
  put('a', 'side\n');
  git('commit', '-qam', 'side');
  git('checkout', '-q', 'main');
  put('a', 'main\n');
  git('commit', '-qam', 'main');
  const merge = (): void => {
    try {
      git('merge', 'side');
    } catch {
      // Git fails, because the merge has a conflict.
    }
  };
  merge();
  await emitted('git.conflict');
  git('merge', '--abort');
  await emitted('git.conflict_resolved');
  expect(await read()).not.toContain('conflict');
  merge();
  await emitted('git.conflict', 2);
  expect(await read()).toMatch(/conflict.*\ba\b/);
});

it('a checkout that changes 500 read files is one line, and an undone checkout is no line', async () => {
  proves('sources:files', 'sources:git', 'bus:storms-taken-back');
  const paths = Array.from({ length: 500 }, (_, i) => `src/d${i % 20}/f${i}.ts`);
  const { files, put, git, emitted, read } = await stage(Object.fromEntries(paths.map((path) => [path, 'one'])));
  git('branch', 'first');
  for (const path of paths) put(path, `two ${path}`);
  git('commit', '-qam', 'two');
  for (const path of paths) await files.noteRead(path);
  git('checkout', '-q', 'first');
  await Promise.all([emitted('file.changed', 500), emitted('git.branch_switched')]);
  const lines = (await read()).split('\n');
  // The texts of the templates do not matter here.
  expect(lines.filter((line) => /^\S/.test(line)).map((line) => line.split(' ')[0])).toEqual(['file', 'git']);
  expect(lines.find((line) => line.startsWith('git'))).toContain('first');
  expect(lines.find((line) => line.includes('more'))).toContain('480');
  expect(await read()).toBe('');

  git('checkout', '-q', 'main');
  await emitted('file.restored', 500);
  git('checkout', '-q', 'first');
  await emitted('file.changed', 1_000);
  git('checkout', '-q', 'main');
  await emitted('file.restored', 1_000);
  expect(await read()).not.toMatch(/^file /m);
});
