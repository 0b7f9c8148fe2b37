import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOG } from '../../src/stores/contract/drafts.ts';
import { openSqliteStore } from '../../src/stores/index.ts';
import { type Child, runScript } from './child.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-full-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Whether this process may mount a file system. In a container, even root may lack this right. */
const canMount = ((): boolean => {
  const probe = mkdtempSync(join(tmpdir(), 'earpiece-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe], { stdio: 'ignore' });
    execFileSync('umount', [probe], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
})();

/** Queues until the first refusal, makes room and continues. Returns the acknowledged ids and the refusals. */
async function fillAndGoOn(child: Child, makeRoom: () => void): Promise<{ acknowledged: string[]; refusals: string[] }> {
  const acknowledged: string[] = [];
  const refusals: string[] = [];
  const queue = async (id: string): Promise<boolean> => {
    child.tell(id);
    const line = (await child.line()) ?? 'ended';
    if (line === `ok ${id}`) acknowledged.push(id);
    else refusals.push(line);
    return line === `ok ${id}`;
  };
  expect(await child.line()).toBe('open');
  let n = 0;
  while (await queue(`a${n++}`)) if (n > 5000) throw new Error('the disk never got full');
  for (let i = 0; i < 3; i++) await queue(`still-full-${i}`);
  makeRoom();
  for (let i = 0; i < 20; i++) expect(await queue(`b${i}`)).toBe(true);
  return { acknowledged, refusals };
}

async function expectAll(path: string, acknowledged: readonly string[]): Promise<void> {
  const store = await openSqliteStore({ path });
  expect((await store.items(LOG, { kind: 'open' })).map((item) => item.id)).toEqual(acknowledged);
  expect(await store.verify()).toEqual([]);
  await store.close();
}

it('at a limit on file sizes, writes are refused with store_full, nothing is lost, and a higher limit lets them continue', async () => {
  const path = join(folder, 'limited.db');
  const child = runScript('writer', [path], { before: ['prlimit', '--fsize=400000:unlimited'] });
  const { acknowledged, refusals } = await fillAndGoOn(child, () =>
    execFileSync('prlimit', ['--pid', String(child.process.pid), '--fsize=unlimited:unlimited']),
  );
  expect(acknowledged.length).toBeGreaterThan(20);
  expect(new Set(refusals)).toEqual(
    new Set([
      `store_full (retryable) the database ${path} cannot be written (disk I/O error): the disk is full, a quota is reached, or the disk fails, but no acknowledged record is lost; free some space, or check the disk`,
    ]),
  );
  expect(await child.ended()).toMatchObject({ code: 0, stderr: '' });
  await expectAll(path, acknowledged);
});

it.skipIf(!canMount)(
  'on a full disk, writes are refused with store_full, nothing is lost, and more room lets them continue (needs the right to mount)',
  async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
    try {
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(900_000));
      const path = join(disk, 'e.db');
      const child = runScript('writer', [path]);
      const { acknowledged, refusals } = await fillAndGoOn(child, () => rmSync(join(disk, 'ballast')));
      expect(refusals.length).toBe(4);
      for (const refusal of refusals) expect(refusal).toMatch(/^store_full \(retryable\) the database .* the disk is full/);
      expect(await child.ended()).toMatchObject({ code: 0, stderr: '' });
      await expectAll(path, acknowledged);
    } finally {
      execFileSync('umount', [disk]);
    }
  },
);
