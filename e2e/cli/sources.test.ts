import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trustBook } from '../../src/config/index.ts';
import { SOURCES } from '../../src/sources/table.ts';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

describe('sources', () => {
  proves('cli:commands');

  const states = async (shell: Shell): Promise<Record<string, unknown>> =>
    Object.fromEntries((await shell.json(['sources'])).map(({ name, on, because }) => [name, because ?? on]));

  it('lists each source with its events, where it runs and whether it is on', async () => {
    await using shell = new Shell();
    const all = await shell.json(['sources']);
    expect(all.map((each) => each['name'])).toEqual(Object.keys(SOURCES));
    expect(all.find((each) => each['name'] === 'processes')).toEqual({
      name: 'processes',
      what: 'earpiece run-and-tell',
      runs: 'command',
      on: true,
      because: null,
      emits: ['process.ended', 'process.failed'],
    });
    expect(await shell.says(['sources'])).toMatch(/^name +state +runs in +sees +events\n/u);
    expect(await states(shell)).toMatchObject({
      files: 'no repository',
      git: 'no repository',
      budget: 'no agent.budget',
      webhooks: 'no webhooks.<name>',
      timers: true,
    });
  });

  it('follows the configuration of the project', async () => {
    await using shell = new Shell(`
[sources.git]
enable = false
[agent.budget]
tokens = 1000
[webhooks.ci]
kind = "github"
to = "coder"
secret_env = "S"
`);
    mkdirSync(join(shell.folder, '.git'));
    expect(await states(shell)).toMatchObject({
      files: true,
      git: 'sources.git.enable = false',
      budget: 'tokens',
      webhooks: 'no webhooks.<name>',
    });
    trustBook({ env: shell.env() }).trust(join(shell.folder, 'earpiece.toml'));
    expect(await states(shell)).toMatchObject({ webhooks: 'ci' });
  });
});
