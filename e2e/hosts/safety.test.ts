import { existsSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { find } from '../model/find.ts';
import { processesOf } from './processes.ts';
import { run } from './run.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('a run has none of the outer environment, no network beyond the machine, and leaves no process behind', async () => {
  vi.stubEnv('EARPIECE_TEST_SECRET', 'SECRET-WORD');
  using seen = await run('codex', {
    script: [
      { calls: [{ shell: 'env; curl -sS http://somewhere.example/ 2>&1; setsid sleep 300 >/dev/null 2>&1 & echo ENV-SHOWN' }] },
      { text: 'ALL-DONE' },
    ],
    graceMs: 200,
  });
  expect(find(seen.main, 'ENV-SHOWN').places.some((place) => place.result)).toBe(true);
  expect(find(seen.main, `\nHOME=${seen.home}\n`).inLast).toBe(1);
  expect(find(seen.main, 'SECRET-WORD').inLast).toBe(0);
  expect(seen.egress.map(({ target }) => target)).toContain('somewhere.example/');
  // So soon after the client has ended, another process of the client may still be running.
  expect(seen.leftovers.map(({ command }) => command)).toContain('sleep 300');
  expect(processesOf(seen.home)).toEqual([]);
});

test('an error in a tool step ends the run at once, and the home of the run is removed', async () => {
  let home = '';
  const failing = run('codex', {
    script: [{ calls: [{ shell: 'true' }] }],
    onToolStep(event) {
      home = event.home;
      throw new Error('the step failed');
    },
  });
  await expect(failing).rejects.toThrow('the step failed');
  expect(existsSync(home)).toBe(false);
  expect(processesOf(home)).toEqual([]);
});

test('a hanging client is ended', async () => {
  using seen = await run('codex', { script: [{ calls: [{ shell: 'sleep 300' }] }], timeoutMs: 3000 });
  expect(seen.timedOut).toBe(true);
  expect(processesOf(seen.home)).toEqual([]);
});

test('if a client is missing, the error says how to install it', async () => {
  vi.stubEnv('EARPIECE_HOSTS_CACHE', '/nowhere');
  await expect(run('codex', { script: [] })).rejects.toThrow(
    'codex is not installed: @openai/codex@0.169.0 was not found in /nowhere/codex-0.169.0. ' +
      'Run `node scripts/hosts.ts setup codex` (or `npm run test:hosts`, which does), ' +
      'or let EARPIECE_HOSTS_CACHE name a folder that has it.',
  );
});
