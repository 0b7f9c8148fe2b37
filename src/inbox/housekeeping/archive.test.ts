/** Tests an archive while other processes archive, prune and forget at the worst moments. */
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { archivedIn, filesIn } from '../../../e2e/cli/archived.ts';
import { proves } from '../../../e2e/verifies.ts';
import type { LogKey } from '../../core/address.ts';
import { armFaults, ARCHIVE_FAULT_POINTS } from '../../core/faults.ts';
import type { Store } from '../../core/ports.ts';
import { closed, LOG, queued } from '../../stores/contract/drafts.ts';
import { memoryStore } from '../../stores/index.ts';
import { archive } from './archive.ts';
import { removeArchived } from './archive-folder.ts';

describe('an archive', () => {
  proves('log:archive');
  let root: string;
  let now: number;
  let store: Store;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'earpiece-archive-'));
    now = 1_000_000;
    store = memoryStore({ clock: { now: () => (now += 10) } });
  });
  afterEach(() => {
    armFaults(undefined);
    rmSync(root, { recursive: true, force: true });
  });

  const add = async (from: number, count: number, log: LogKey = LOG): Promise<void> => {
    const ids = Array.from({ length: count }, (_, n) => `n${from + n}`);
    await store.append(log, [...ids.map((id) => queued(id)), closed(ids, 'withdrawn')]);
  };
  const seqs = (): readonly number[] => archivedIn(root).map(({ seq }) => seq);
  const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, n) => n + 1);
  const prune = async (): Promise<void> => void (await store.prune(now));
  /** Returns the store as another process sees it, with a step of a third process before or after one call. */
  const interrupted = (call: 'read' | 'swapSetting', nth: number, step: () => Promise<unknown>, when = 'before'): Store => {
    let calls = 0;
    return new Proxy(store, {
      get: (of, name) => {
        const method = Reflect.get(of, name) as unknown;
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]): Promise<unknown> => {
          const isNow = name === call && ++calls === nth;
          if (isNow && when === 'before') await step();
          const result: unknown = await Reflect.apply(method, of, args);
          if (isNow && when === 'after') await step();
          return result;
        };
      },
    });
  };
  const forget = async (): Promise<void> => {
    const appended = await store.append(LOG, [{ type: 'agent_forgotten', by: 'me' }]);
    if (appended.kind !== 'appended') throw new Error(appended.kind);
    await store.erase(LOG, appended.records[0]?.seq ?? 0);
    await removeArchived(store, root, LOG);
  };

  it('continues where it ended, and begins another file when a file is full', async () => {
    await add(0, 2_499);
    expect(await archive(store, root, { fileBytes: 1 })).toMatchObject({ records: 2_500, files: 3 });
    expect(filesIn(root).map((name) => name.split('/').at(-1))).toEqual([
      '1-1000.jsonl.gz',
      '1001-2000.jsonl.gz',
      '2001-2500.jsonl.gz',
    ]);
    expect(await archive(store, root)).toMatchObject({ records: 0, files: 0 });
    await prune();
    await add(5_000, 1);
    expect(await archive(store, root)).toMatchObject({ records: 2, files: 1 });
    expect(seqs()).toEqual(upTo(2_502));
  });

  it.each(ARCHIVE_FAULT_POINTS)(
    'holds each record once after a process stopped at %s, although more records were appended',
    async (point) => {
      await add(0, 5);
      armFaults((at) => {
        if (at === point) throw new Error('stopped');
      });
      await expect(archive(store, root)).rejects.toThrow('stopped');
      armFaults(undefined);
      await add(10, 5);
      await archive(store, root);
      await prune();
      await archive(store, root);
      expect(seqs()).toEqual(upTo(12));
    },
  );

  it.each([1, 2, 3, 4])(
    'keeps the files of a faster process that archived and pruned before read %i of a slower process',
    async (nth) => {
      await add(0, 2_499);
      const slow = interrupted('read', nth, async () => {
        await archive(store, root);
        await prune();
      });
      await archive(slow, root);
      expect(seqs()).toEqual(upTo(2_500));
      expect(readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
  );

  it.each([1, 2, 3])('holds each record once if another process archives before swap %i', async (nth) => {
    await add(0, 5);
    const slow = interrupted('swapSetting', nth, async () => {
      await add(10, 5);
      await archive(store, root);
      await prune();
    });
    await archive(slow, root);
    await archive(store, root);
    expect(seqs()).toEqual(upTo(12));
  });

  it.each(['swapSetting 1', 'swapSetting 2', 'swapSetting 3', 'read 2', 'read 3'])(
    'has no text of an agent that is forgotten before %s',
    async (moment) => {
      await add(0, 5);
      const [call, nth] = moment.split(' ') as ['read' | 'swapSetting', string];
      // The folder may be removed while its file is renamed. Then the next archive is complete.
      await archive(interrupted(call, Number(nth), forget), root).catch((error: Error) =>
        expect(error.message).toContain('ENOENT'),
      );
      await archive(store, root);
      expect(archivedIn(root).map(({ type }) => type)).toEqual(['agent_forgotten']);
    },
  );

  it('has no text that a slow process read before the agent was forgotten, even if another process archives the agent again', async () => {
    await add(0, 5);
    const forgetAndBegin = async (): Promise<void> => {
      await forget();
      armFaults(() => {
        throw new Error('stopped');
      });
      await archive(store, root).catch(() => {});
      armFaults(undefined);
    };
    await archive(interrupted('read', 2, forgetAndBegin, 'after'), root);
    expect(archivedIn(root).map(({ type }) => type)).toEqual(['agent_forgotten']);
  });

  it('removes the unfinished files of a killed process after a day', async () => {
    await add(0, 5);
    const { folder } = await archive(store, root);
    const place = join(folder, 'shop/coder');
    for (const name of ['old.tmp', 'new.tmp']) writeFileSync(join(place, name), '');
    const longAgo = Date.now() / 1_000 - 25 * 3_600;
    utimesSync(join(place, 'old.tmp'), longAgo, longAgo);
    await add(10, 1);
    await archive(store, root);
    expect(readdirSync(place).toSorted()).toEqual(['1-6.jsonl.gz', '7-8.jsonl.gz', 'new.tmp']);
  });

  it('writes each log below its own folder, whatever its name is', async () => {
    const names = [
      '..',
      '.',
      'coder',
      'Coder',
      'CODER',
      '~',
      '-rf',
      '..\\x',
      'a b',
      'é',
      'e\u0301',
      'x'.repeat(128),
      '漢'.repeat(128),
    ];
    for (const [n, name] of names.entries()) {
      await add(n * 10, 1, `shop/${name}` as LogKey);
      await add(n * 10, 1, `${name}/coder` as LogKey);
    }
    const { files, folder } = await archive(store, root);
    expect(files).toBe(names.length * 2);
    expect(filesIn(root)).toHaveLength(files);
    expect(readdirSync(root)).toEqual([folder.split('/').at(-1)]);
    for (const file of filesIn(root)) expect(file.split('/'), file).toHaveLength(4);
    for (const part of filesIn(root).flatMap((file) => file.split('/'))) expect(part).toMatch(/^[\w~][\w.~-]*$/u);
    const places = new Set(filesIn(root).map((file) => dirname(file).toLowerCase()));
    expect(places.size).toBe(files);
  });

  it('keeps the records of two databases apart, and refuses to write over a file after a backup was restored', async () => {
    await add(0, 5);
    await archive(store, root);
    const other = memoryStore();
    await other.append(LOG, [queued('other')]);
    await archive(other, root);
    expect(readdirSync(root)).toHaveLength(2);
    // A restored backup has an older position.
    await store.setSetting(`archived ${LOG}`, { after: 0 });
    await expect(archive(store, root)).rejects.toThrow(/nothing was removed: .*1-6\.jsonl\.gz already exists/u);
  });
});
