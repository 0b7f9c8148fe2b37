/** Tests two PID namespaces that have the same host name and share one database, like a container or a sandboxed shell. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { selfOwner, systemProcesses } from '../../src/inbox/index.ts';
import { openEarpiece } from '../../src/library/index.ts';
import { proves } from '../verifies.ts';

const APART = ['-Urpf', '--mount-proc'];
const canBeApart = (): boolean => {
  try {
    execFileSync('unshare', [...APART, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-namespaces-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(!canBeApart())(
  'an agent in another PID namespace does not count as dead: its lease lasts, and no conversation inherits from it',
  async () => {
    proves('presence:active');
    const db = join(folder, 'e.db');
    await using ear = await openEarpiece({ db, cwd: '/', env: { HOME: '/nowhere', EARPIECE_PROJECT: 'shop' } });
    const coder = ear.conversation('coder#outside');
    await ear.queue('coder#outside', { id: 'leased', message: 'x' });
    const offer = await coder.offer();
    expect(offer?.ids).toEqual(['leased']);
    await ear.queue('coder#outside', { id: 'open', message: 'y' });

    const script = [join(import.meta.dirname, 'namespace.ts'), db, JSON.stringify(selfOwner())];
    const { stdout } = await promisify(execFile)('unshare', [...APART, process.execPath, ...script]);
    const there = JSON.parse(stdout) as Record<string, unknown>;
    expect(there).toMatchObject({
      seesTheProcess: false,
      alive: null,
      active: ['shop/coder#beside', 'shop/coder#outside'],
      offered: [],
    });
    expect(there['machine']).toMatch(/^\S+ pid:\[\d+\]$/u);
    expect(there['machine']).not.toBe(systemProcesses.machine);
    expect(await offer?.confirm()).toBe('confirmed');
    expect((await ear.waiting('coder')).map(({ id }) => id)).toEqual(['open']);
  },
);
