/** Tests `kill -9` in the middle of an installation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Home } from './home.ts';

const SETTINGS = '.claude/settings.json';
const KILLS = 6;

it('an install that is killed leaves the old or the new file, and uninstall restores the bytes', async () => {
  proves('hosts:install', 'hosts:uninstall');
  using home = new Home('claude');
  const text = `{\n${Array.from({ length: 2_000 }, (_, i) => `  "key${i}": ${i}`).join(',\n')}\n}\n`;
  home.write(SETTINGS, text);
  const file = join(home.home, SETTINGS);
  const started = performance.now();
  expect(home.run(['install', 'claude', '--yes'])).toMatchObject({ code: 0 });
  const took = performance.now() - started;
  const installed = home.read(SETTINGS);
  expect(home.run(['uninstall', '--yes'])).toMatchObject({ code: 0 });
  const ends = new Set<string>();
  for (let i = 0; i < KILLS; i++) {
    const { kill, ended } = home.begin(['install', 'claude', '--yes']);
    // Half of the kills happen right after the file has changed, and the others at different times during the installation.
    const until = performance.now() + (i % 2 === 0 ? took : (took * (i + 1)) / KILLS);
    while (performance.now() < until && (i % 2 !== 0 || readFileSync(file, 'utf8') === text))
      await new Promise((resolve) => setImmediate(resolve));
    kill();
    await ended;
    const left = home.read(SETTINGS);
    expect([text, installed]).toContain(left);
    ends.add(left === text ? 'old' : 'new');
    expect(home.run(['uninstall', '--yes'])).toMatchObject({ code: 0 });
    expect(home.read(SETTINGS)).toBe(text);
  }
  expect(ends.has('new')).toBe(true);
});
