/**
 * Tests a real Claude Code with the plugin of the package: from its folder, together with an installation, and from its
 * marketplace.
 */
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { fetching } from '../../src/hosts/setup/ours.ts';
import { PACKAGE } from '../built.ts';
import { clonedInto } from '../cloned.ts';
import { startRegistryOf } from '../in-place.ts';
import type { Script } from '../model/script.ts';
import { proves } from '../verifies.ts';
import { earpiece, entry } from './earpiece.ts';
import { binaryOf } from './pins.ts';
import { processesOf } from './processes.ts';
import { run, type Run, type RunOptions } from './run.ts';
import { told } from './told.ts';

const MARKETPLACE = path.join(PACKAGE, 'claude-plugin');
const PLUGIN = path.join(MARKETPLACE, 'earpiece');
const AGENT = 'work/claude-code';
const databaseIn = (home: string): string => path.join(home, '.local/state/earpiece/earpiece.db');
const binIn = (home: string): string => path.join(home, 'bin');

const environment = (home: string): Record<string, string> => ({
  PATH: [binIn(home), path.dirname(binaryOf('claude')), path.dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
  HOME: home,
  XDG_CONFIG_HOME: path.join(home, '.config'),
  XDG_CACHE_HOME: path.join(home, '.cache'),
  XDG_STATE_HOME: path.join(home, '.local/state'),
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
});

function ran(home: string, command: string, ...args: readonly string[]): { code: number | null; stdout: string } {
  const { status, stdout } = spawnSync(command, args, {
    cwd: path.join(home, 'work'),
    env: environment(home),
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { code: status, stdout };
}

/** Puts the command on the PATH, as `npm install -g earpiece` does. */
function onPath(home: string): void {
  fs.mkdirSync(binIn(home));
  fs.writeFileSync(path.join(binIn(home), 'earpiece'), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`, {
    mode: 0o755,
  });
}

const doctor = (home: string): readonly unknown[] =>
  ran(home, process.execPath, entry, 'doctor', '--json')
    .stdout.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly what: string })
    .filter(({ what }) => what === 'claude');

const SCRIPT: Script = [
  { calls: [{ shell: 'touch one' }, { shell: 'false' }] },
  { calls: [{ shell: 'touch two' }] },
  { calls: [{ shell: 'touch refused' }] },
  { calls: [{ shell: 'touch four' }] },
  { text: 'ALL-DONE' },
];

/** Runs an agent with built-in tools only, with a notification while the tools run, and a pause. */
async function hears(
  options: Pick<RunOptions, 'args' | 'env' | 'ownServers' | 'onPrepared'>,
  after: (seen: Run) => void,
): Promise<void> {
  using seen = await run('claude', {
    script: SCRIPT,
    ...options,
    async onToolStep({ step, home }) {
      const database = databaseIn(home);
      if (step === 1) await earpiece(home, database, 'send', '--to', AGENT, 'WORD-INFO the build ended');
      if (step === 2)
        await earpiece(home, database, 'send', '--to', AGENT, 'WORD-PAUSE wait', '--action', 'pause', '--level', 'critical');
      if (step === 3) await earpiece(home, database, 'resume', AGENT);
    },
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  expect([told(seen, 'WORD-INFO'), told(seen, 'WORD-PAUSE')]).toEqual([1, 1]);
  const files = fs.readdirSync(path.join(seen.home, 'work'));
  expect(files).toEqual(expect.arrayContaining(['one', 'two', 'four']));
  expect(files).not.toContain('refused');
  after(seen);
}

test('loaded from its folder, the plugin delivers each notification once, and a pause denies the next call', async () => {
  proves('hosts:claude-plugin');
  await hears({ args: ['--plugin-dir', PLUGIN] }, () => {});
});

test("the plugin's server answers at the end of each batch", async () => {
  proves('hosts:claude-plugin');
  let servers: readonly string[] = [];
  using seen = await run('claude', {
    script: [...Array.from({ length: 6 }, (_, n) => ({ calls: [{ shell: `touch ${n}` }] })), { text: 'ALL-DONE' }],
    args: ['--plugin-dir', PLUGIN],
    ownServers: true,
    onToolStep({ step, home }) {
      const marks = path.join(home, '.local/state/earpiece/quiet');
      const isServed = (): boolean => fs.existsSync(marks) && fs.readdirSync(marks).some((name) => name.endsWith('.server'));
      if (step === 5)
        servers = processesOf(home).flatMap(({ command }) => (command.endsWith('main.js mcp') && isServed() ? [command] : []));
    },
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  expect(servers).toHaveLength(1);
});

test('if the plugin and the hooks of earpiece install are both active, each notification still arrives once', async () => {
  proves('hosts:claude-plugin');
  await hears(
    {
      args: ['--plugin-dir', PLUGIN],
      onPrepared(home) {
        expect(ran(home, process.execPath, entry, 'install', 'claude', '--yes').code).toBe(0);
      },
    },
    () => {},
  );
});

test('installed from the marketplace, the plugin finds the command on the PATH, and doctor finds the plugin', async () => {
  proves('hosts:claude-plugin');
  let home = '';
  const env: Record<string, string> = {};
  await hears(
    {
      env,
      onPrepared(prepared) {
        home = prepared;
        env['PATH'] = environment(home)['PATH'] ?? '';
        onPath(home);
        expect(ran(home, 'claude', 'plugin', 'marketplace', 'add', MARKETPLACE)).toMatchObject({ code: 0 });
        expect(ran(home, 'claude', 'plugin', 'install', 'earpiece@earpiece')).toMatchObject({ code: 0 });
        expect(doctor(home)).toMatchObject([{ ok: true, value: expect.stringContaining('in the plugin earpiece@earpiece') }]);
      },
    },
    () => {
      const install = (): number | null => ran(home, process.execPath, entry, 'install', 'claude', '--yes').code;
      const ofPlugin = { ok: true, value: expect.stringContaining('in the plugin earpiece@earpiece') };
      // Beside the plugin, an installation adds no second copy.
      expect([install(), doctor(home)]).toMatchObject([0, [ofPlugin]]);
      expect(ran(home, 'claude', 'plugin', 'uninstall', 'earpiece@earpiece').code).toBe(0);
      expect(install()).toBe(0);
      expect(ran(home, 'claude', 'plugin', 'install', 'earpiece@earpiece').code).toBe(0);
      expect(install()).toBe(8);
      expect(doctor(home)).toMatchObject([
        {
          ok: false,
          value: expect.stringContaining('installed twice: in ~/.claude/settings.json and in the plugin earpiece@earpiece'),
        },
      ]);
      expect(ran(home, 'claude', 'plugin', 'uninstall', 'earpiece@earpiece').code).toBe(0);
      expect(doctor(home)).toMatchObject([{ ok: true }]);
    },
  );
});

test('in a cloned repository with its own earpiece and its own registry, only the Earpiece of the user runs', async () => {
  proves('hosts:cloned');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-registry-'));
  await using registry = await startRegistryOf(PACKAGE, folder);
  let fromClone: () => readonly string[] = () => ['nothing was cloned'];
  using seen = await run('claude', {
    ownServers: true,
    script: [...['one', 'two', 'three'].map((id) => ({ calls: [{ shell: `touch ${id}` }] })), { text: 'ALL-DONE' }],
    async onPrepared(home) {
      fs.writeFileSync(path.join(home, '.npmrc'), `registry=${registry.url}\nignore-scripts=true\nupdate-notifier=false\n`);
      // The plugin is copied without the command line, as from its repository.
      const marketplace = path.join(folder, 'marketplace');
      fs.cpSync(MARKETPLACE, marketplace, { recursive: true });
      expect(ran(home, 'claude', 'plugin', 'marketplace', 'add', marketplace)).toMatchObject({ code: 0 });
      expect(ran(home, 'claude', 'plugin', 'install', 'earpiece@earpiece')).toMatchObject({ code: 0 });
      const work = path.join(home, 'work');
      fromClone = clonedInto(work, registry.version);
      // npx installs the package now, because an installation may take longer than a hook's time limit on a busy machine. The
      // call is asynchronous, because this process also serves the registry.
      const args = [...fetching(registry.version, home), '--version'];
      expect(await promisify(execFile)('npx', args, { cwd: work, env: environment(home) })).toMatchObject({
        stdout: `${registry.version}\n`,
      });
    },
    async onToolStep({ step, home }) {
      if (step === 1) await earpiece(home, databaseIn(home), 'send', '--to', AGENT, 'WORD-INFO the build ended');
    },
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  expect({ told: told(seen, 'WORD-INFO'), ran: fromClone() }).toEqual({ told: 1, ran: [] });
  fs.rmSync(folder, { recursive: true });
});
