/**
 * Tests a laptop that sleeps for three hours while a pull request is followed: a suspended process, and a clock that has moved.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { looker } from '../../src/sources/follow/index.ts';
import { Shell } from '../cli/shell.ts';
import { verifies } from '../verifies.ts';
import { GitHub } from './github.ts';

const HOURS_3 = 3 * 3_600_000;

/** Returns a module that sets the wall clock of its process ahead by the number of ms that a file contains. */
const CLOCK = (file: string): string => `import { readFileSync } from 'node:fs';
const real = Date.now;
Date.now = () => real() + Number(readFileSync(${JSON.stringify(file)}, 'utf8'));`;

verifies(
  'follow:pace',
  'after three hours of sleep the next check runs at once, and a network that is still down is not reported',
  async () => {
    await using github = await GitHub.start();
    await using shell = new Shell();
    const clock = join(shell.folder, 'clock');
    const ahead = (ms: number): void => writeFileSync(clock, String(ms));
    ahead(0);
    writeFileSync(join(shell.folder, 'clock.mjs'), CLOCK(clock));
    const env = {
      ...github.env,
      GH_CONFIG_DIR: join(shell.folder, 'gh'),
      NODE_OPTIONS: `--import=${join(shell.folder, 'clock.mjs')}`,
    };
    const ear = await shell.open();
    const listed = async (): Promise<Record<string, unknown>> => (await shell.json(['following'], { env }))[0] ?? {};
    const open = async (): Promise<readonly string[]> =>
      (await ear.open('shop/coder')).map(({ notification: { message } }) => message);
    const until = async (isSo: (row: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> => {
      for (;;) {
        const row = await listed();
        if (isSo(row)) return row;
        await pause(100);
      }
    };
    github.job(71, 'test', undefined);
    await shell.says(['follow', 'pr', 'http://github.localhost/acme/shop/pull/12', '--to', 'coder', '--keep'], { env });
    await until(({ says }) => says === '1 of 1 checks run');
    const pid = (await looker(ear.store, 'shop', ear.isAlive))?.pid ?? 0;
    try {
      process.kill(pid, 'SIGSTOP');
      ahead(HOURS_3);
      github.job(71, 'test', 'failure', [' FAIL  cart.test.ts > rounds', 'AssertionError: expected 3 to be 4']);
      expect(await listed()).toMatchObject({ state: 'waits', says: 'the next check is late; last seen: 1 of 1 checks run' });
      expect(await open()).toEqual([]);
      // The machine wakes before its network works.
      github.mood = { kind: 'silent' };
      process.kill(pid, 'SIGCONT');
      const { says } = await until(({ failures }) => failures === 1);
      expect(says).toMatch(/^gh got no answer from github\.localhost: .*; next check in 1 min\)$/u);
      expect(await open()).toEqual([]);
      github.mood = { kind: 'well' };
      ahead(HOURS_3 + 60_000);
      await until(({ state }) => state === 'follows');
      expect(await open()).toEqual([
        'acme/shop#12: check "test" failed in step "Run tests": cart.test.ts > rounds: AssertionError: expected 3 to be 4',
      ]);
      // The sleep has caused no additional checks.
      expect(github.asked.filter(({ path }) => path.endsWith('/pulls/12'))).toHaveLength(2);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  },
  120_000,
);
