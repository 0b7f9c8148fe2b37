/**
 * Tests real agents in a home that `earpiece install` has set up: their notifications, the doctor's report, and the leftovers of
 * uninstall.
 */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { HOOK_HOSTS, PLUGIN_HOSTS } from '../../src/hosts/index.ts';
import { proves } from '../verifies.ts';
import { entry } from './earpiece.ts';
import { binaryOf, clientNames, type ClientName } from './pins.ts';
import { told } from './told.ts';
import { run } from './run.ts';

const agentOf = (client: ClientName): string => [...HOOK_HOSTS, ...PLUGIN_HOSTS].find(({ name }) => name === client)?.agent ?? '';

const environmentOf = (home: string, client: ClientName): NodeJS.ProcessEnv => ({
  PATH: [path.dirname(binaryOf(client)), path.dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
  HOME: home,
  XDG_CONFIG_HOME: path.join(home, '.config'),
  XDG_CACHE_HOME: path.join(home, '.cache'),
  XDG_DATA_HOME: path.join(home, '.local/share'),
  XDG_STATE_HOME: path.join(home, '.local/state'),
});

function earpiece(
  home: string,
  client: ClientName,
  ...args: readonly string[]
): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    cwd: path.join(home, 'work'),
    env: environmentOf(home, client),
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { code: status, stdout, stderr };
}

type Found = { readonly what: string; readonly value: string; readonly ok: boolean };

const doctor = (home: string, client: ClientName): readonly Found[] =>
  earpiece(home, client, 'doctor', '--json')
    .stdout.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Found)
    .filter(({ what }) => what === client);

/** Returns the texts of the settings files that exist, by path. */
const settingsIn = (home: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [
      '.claude/settings.json',
      '.claude.json',
      '.codex/hooks.json',
      '.codex/config.toml',
      '.gemini/settings.json',
      '.qwen/settings.json',
    ]
      .concat('.config/opencode/opencode.json', '.config/opencode/plugins/earpiece.js', '.pi/agent/extensions/earpiece.js')
      .filter((file) => fs.existsSync(path.join(home, file)))
      .map((file) => [file, fs.readFileSync(path.join(home, file), 'utf8')]),
  );

/** Agents write to these files while the agents run. The test writes the trust of Codex. */
const OWN_WRITES: ReadonlySet<string> = new Set([
  '.claude.json',
  '.codex/config.toml',
  '.gemini/settings.json',
  '.config/opencode/opencode.json',
]);

describe.for(clientNames)('%s after earpiece install', (client) => {
  proves('hosts:installed');
  test('reads a notification with its built-in tools, and the doctor reports no problem', async () => {
    let before: Readonly<Record<string, string>> = {};
    using seen = await run(client, {
      script: [
        { calls: [{ shell: 'echo one' }] },
        { calls: [{ shell: 'echo two' }] },
        { calls: [{ shell: 'echo three' }] },
        { text: 'ALL-DONE' },
      ],
      onPrepared(home) {
        before = settingsIn(home);
        const { code, stdout, stderr } = earpiece(home, client, 'install', client, '--yes');
        expect({ code, stderr, stdout: code === 0 ? '' : stdout }).toEqual({ code: 0, stderr: '', stdout: '' });
      },
      onToolStep({ step, home }) {
        if (step === 0)
          expect(earpiece(home, client, 'send', '--to', agentOf(client), 'WORD-00 the build ended')).toMatchObject({ code: 0 });
      },
    });
    expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
    expect(told(seen, 'WORD-00')).toBe(1);

    const { home } = seen;
    if (client === 'codex') {
      expect(doctor(home, client)).toMatchObject([{ ok: false, value: expect.stringContaining('are not trusted') as string }]);
      await trustHooks(home);
    }
    expect(doctor(home, client)).toMatchObject([{ ok: true }]);

    expect(earpiece(home, client, 'uninstall', client, '--yes')).toMatchObject({ code: 0, stderr: '' });
    const after = settingsIn(home);
    for (const [file, text] of Object.entries(before)) if (!OWN_WRITES.has(file)) expect(after[file]).toBe(text);
    expect(Object.values(after).filter((text) => text.includes(entry))).toEqual([]);
  });
});

/** Writes the setting that Codex writes when its user chooses "Trust all and continue". */
async function trustHooks(home: string): Promise<void> {
  const child = spawn(binaryOf('codex'), ['app-server'], {
    cwd: path.join(home, 'work'),
    env: environmentOf(home, 'codex'),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    const frames = [
      { id: 0, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } },
      { method: 'initialized' },
      { id: 1, method: 'hooks/list', params: { cwds: [path.join(home, 'work')] } },
    ];
    child.stdin.write(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
    for await (const line of createInterface({ input: child.stdout })) {
      const frame = JSON.parse(line) as { id?: number; result?: { data: { hooks: { key: string; currentHash: string }[] }[] } };
      if (frame.id !== 1) continue;
      const tables = frame.result?.data.flatMap(({ hooks }) => hooks) ?? [];
      const lines = tables.map(
        ({ key, currentHash }) => `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"\n`,
      );
      fs.appendFileSync(path.join(home, '.codex/config.toml'), `\n${lines.join('\n')}`);
      return;
    }
  } finally {
    child.kill();
  }
}
