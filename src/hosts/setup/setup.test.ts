/**
 * Tests the settings of each agent after an installation, a second installation, an installation by a newer version, and an
 * uninstall. No process is started.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import {
  changes,
  install,
  installBook,
  partsOfLine,
  planInstall,
  planUninstall,
  SETUPS,
  uninstall,
  type Ours,
  type Place,
} from './index.ts';
import { fetching, isOurHook, isOurServer, programOf, shellLine } from './ours.ts';

const OURS: Ours = { node: '/opt/node/bin/node', entry: '/opt/earpiece/dist/cli/main.js' };
const NEWER: Ours = { node: '/opt/node-26/bin/node', entry: '/opt/earpiece-2/dist/cli/main.js', db: "/data/it's.db" };

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'earpiece-setups-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const place = (scope: Place['scope'] = 'user'): Place => ({
  env: {},
  home: folder,
  project: join(folder, 'shop'),
  scope,
  system: folder,
});
const book = () => installBook({ env: { XDG_STATE_HOME: join(folder, 'state') }, home: folder });

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

const all = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.startsWith('state') && statSync(join(folder, path)).isFile())
      .toSorted()
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );

const folders = (): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('state') && statSync(join(folder, path)).isDirectory())
    .toSorted();

/** Typical contents of files that an installation changes. */
const THERE: Readonly<Record<string, string>> = {
  '.claude/settings.json': '{\n  // mine\n  "hooks": { "Stop": [], },\n}\n',
  '.claude.json': '{"numStartups": 12, "mcpServers": {"files": {"command": "files"}}}',
  '.codex/hooks.json': '{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }] } }',
  '.codex/config.toml': '# mine\r\nmodel = "gpt-5.5" # the large one\r\n\r\n[mcp_servers.files]\r\ncommand = "files"\r\n',
  '.gemini/settings.json': '{ "mcpServers": {}, "ui": { "theme": "Dracula" } }\n',
  '.qwen/settings.json': '{\n\t"$version": 4\n}',
  '.config/opencode/opencode.jsonc': '{\n  "mcp": { /* none */ }\n}\n',
  '.pi/agent/settings.json': '{}',
};

async function put(name: string, ours: Ours, at = place()): Promise<number> {
  const setup = SETUPS.find((each) => each.name === name);
  if (setup === undefined) throw new Error(`no setup ${name}`);
  const plans = planInstall(setup, at, ours, book());
  expect(plans.flatMap(({ problem }) => problem ?? [])).toEqual([]);
  for (const plan of plans) await install(plan, book());
  return plans.filter(changes).length;
}

async function takeOut(name: string, at = place()): Promise<void> {
  const setup = SETUPS.find((each) => each.name === name);
  if (setup === undefined) throw new Error(`no setup ${name}`);
  for (const plan of planUninstall(setup, [at], OURS, book())) await uninstall(plan, book());
}

describe.each(SETUPS.map(({ name }) => name))('%s', (name) => {
  proves('hosts:install', 'hosts:uninstall');

  it.each([
    ['without settings', {}],
    ['with settings of a person', THERE],
  ])(
    '%s: a second installation changes nothing, a newer version replaces the entries, and an uninstall restores the bytes',
    async (_case, files) => {
      for (const [file, text] of Object.entries(files)) write(file, text);
      const before = all();
      const foldersBefore = folders();
      expect(await put(name, OURS)).toBeGreaterThan(0);
      const installed = all();
      expect(await put(name, OURS)).toBe(0);
      expect(all()).toEqual(installed);
      expect(await put(name, NEWER)).toBeGreaterThan(0);
      expect(Object.values(all()).filter((text) => text.includes(OURS.entry))).toEqual([]);
      expect(Object.values(all()).some((text) => text.includes(NEWER.entry))).toBe(true);
      await takeOut(name);
      expect(all()).toEqual(before);
      expect(folders()).toEqual(foldersBefore);
      expect(installBook({ env: { XDG_STATE_HOME: join(folder, 'state') }, home: folder }).list()).toEqual([]);
    },
  );

  it('an installation in a project changes only files of the project and `.claude.json`, and is undone', async () => {
    mkdirSync(join(folder, 'shop'));
    expect(await put(name, OURS, place('project'))).toBeGreaterThan(0);
    expect(Object.keys(all()).filter((file) => !file.startsWith('shop/') && file !== '.claude.json')).toEqual([]);
    await takeOut(name, place('project'));
    expect(all()).toEqual({});
    expect(folders()).toEqual(['shop']);
  });
});

describe('servers in TOML', () => {
  proves('hosts:install', 'hosts:uninstall');

  it("are added next to a person's entries, and removed with later additions to these servers", async () => {
    write('.codex/config.toml', THERE['.codex/config.toml'] ?? '');
    await put('codex', OURS);
    const text = readFileSync(join(folder, '.codex/config.toml'), 'utf8');
    expect(parse(text)).toMatchObject({ mcp_servers: { files: { command: 'files' }, earpiece: { command: OURS.node } } });
    write('.codex/config.toml', `${text}startup_timeout_sec = 20\r\n\r\n[profiles.x]\r\nmodel = "y"\r\n`);
    await takeOut('codex');
    expect(readFileSync(join(folder, '.codex/config.toml'), 'utf8')).toBe(
      `${THERE['.codex/config.toml']}\r\n[profiles.x]\r\nmodel = "y"\r\n`,
    );
  });

  it('servers of another program with the same name are not changed', () => {
    write('.codex/config.toml', '[mcp_servers.earpiece]\ncommand = "other"\n');
    const codex = SETUPS.find(({ name }) => name === 'codex');
    if (codex === undefined) throw new Error('no setup');
    const problems = planInstall(codex, place(), OURS, book()).flatMap(({ problem }) => problem ?? []);
    expect(problems).toEqual([
      expect.stringContaining('has another MCP server named "earpiece", which starts other; rename that server'),
    ]);
  });

  it('settings that are not TOML are reported', () => {
    write('.codex/config.toml', 'model = \n');
    const codex = SETUPS.find(({ name }) => name === 'codex');
    if (codex === undefined) throw new Error('no setup');
    expect(planInstall(codex, place(), OURS, book()).flatMap(({ problem }) => problem ?? [])[0]).toMatch(
      /config\.toml:1:\d+: is not valid TOML/u,
    );
  });
});

describe('settings that turn hooks off', () => {
  proves('hosts:doctor');
  it.each([
    ['claude', 'etc/claude-code/managed-settings.json', '{ "allowManagedHooksOnly": true }', 'ask the administrator'],
    [
      'claude',
      'Library/Application Support/ClaudeCode/managed-settings.json',
      '{ "disableAllHooks": true }',
      'ask the administrator',
    ],
    ['codex', '.codex/config.toml', '[features]\nhooks = false\n', 'remove this entry from'],
    ['gemini', '.gemini/settings.json', '{ "hooksConfig": { "enabled": false } }', 'remove this entry from'],
    ['qwen', 'shop/.qwen/settings.json', '{ "disableAllHooks": true }', 'remove this entry from'],
  ])('%s: %s', (name, file, text, advice) => {
    const setup = SETUPS.find((each) => each.name === name);
    expect(setup?.switchedOff(place())).toEqual([]);
    write(file, text);
    expect(setup?.switchedOff(place())).toEqual([
      { why: expect.stringContaining(file) as string, advice: expect.stringContaining(advice) as string },
    ]);
  });
});

describe('a command line of Earpiece', () => {
  it.each([
    ['an installed package', OURS, ['/opt/node/bin/node', '/opt/earpiece/dist/cli/main.js']],
    ['a database', { ...OURS, db: "/data/it's.db" }, ['/opt/node/bin/node', '/opt/earpiece/dist/cli/main.js', "/data/it's.db"]],
    ['folders with spaces', { node: '/my node/node', entry: '/my ear/cli/main.js' }, ['/my node/node', '/my ear/cli/main.js']],
    [
      'the cache of npx',
      { ...OURS, fetched: fetching('1.2.3', '/my home') },
      ['/opt/node/bin/node', '/opt/earpiece/dist/cli/main.js'],
    ],
  ] as [string, Ours, string[]][])('is recognized with its start and database: %s', (_case, ours, parts) => {
    const line = shellLine(ours, ['hook', 'claude']);
    expect(isOurHook({ command: line }, 'claude')).toBe(true);
    expect(isOurHook({ command: line }, 'codex')).toBe(false);
    expect(Object.values(partsOfLine(line))).toEqual(parts);
    const { command, args } = programOf(ours, ['mcp']);
    expect(isOurServer([command, ...args])).toBe(true);
  });

  it.each([
    'earpiece hook claude',
    'npx -y earpiece@1.0.0 hook claude',
    'EARPIECE_DB=/tmp/x.db earpiece hook claude',
    'docker exec dev earpiece hook claude',
    'earpiece hook claude | tee -a /tmp/hooks.log',
    '~/bin/log.sh earpiece hook claude',
    `sh -c '${shellLine(OURS, ['hook', 'claude']).replaceAll("'", '"')}'`,
    'myearpiece-hook claude',
    'earpiece hook claude-two',
    'echo earpiece',
  ])('a line that a person wrote is not recognized: %s', (command) => expect(isOurHook({ command }, 'claude')).toBe(false));
});

it('nothing is written outside of the home and the project', () => {
  for (const setup of SETUPS) for (const { file } of setup.parts(place(), OURS)) expect(file.startsWith(folder)).toBe(true);
  expect(existsSync(join(folder, 'state'))).toBe(false);
});
