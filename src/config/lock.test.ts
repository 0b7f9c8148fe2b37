import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lock } from './lock.ts';

describe('the lock of a file', () => {
  let file: string;
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-lock-'));
    file = join(folder, 'trust.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('waits longer than a second for a process that still has the lock', () => {
    writeFileSync(`${file}.lock`, 'another process');
    const began = performance.now();
    spawn(process.execPath, ['-e', `setTimeout(() => fs.rmSync(${JSON.stringify(`${file}.lock`)}), 1_500)`], { stdio: 'ignore' });
    const letGo = lock(file);
    expect(performance.now() - began).toBeGreaterThan(1_500);
    expect(existsSync(`${file}.lock`)).toBe(true);
    letGo();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it('a process whose stale lock was taken over does not release the lock of the other process', () => {
    const letGo = lock(file);
    utimesSync(`${file}.lock`, 0, 0);
    const otherLetsGo = lock(file);
    letGo();
    expect(existsSync(`${file}.lock`)).toBe(true);
    otherLetsGo();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });
});
