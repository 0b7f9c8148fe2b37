/**
 * Tests hooks whose surroundings change: another Node, a cleaned cache of npx, an upgrade in place. The tests show which
 * notifications the hooks deliver afterwards, and the doctor's findings.
 */
import { execFile, type ExecFileException } from 'node:child_process';
import { constants, copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clonedInto } from '../cloned.ts';
import { installInto, startRegistryOf, upgrade, UPGRADED } from '../in-place.ts';
import { proves } from '../verifies.ts';
import { Home, type Ran } from './home.ts';

const SETTINGS = '.claude/settings.json';
const OLD = `--import "data:text/javascript,${encodeURIComponent("Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })")}"`;

/** A home with an installation as `npm install -g` makes it. */
class Installed extends Home {
  readonly prefix = join(this.folder, 'prefix');
  readonly package = join(this.prefix, 'lib/node_modules/earpiece');
  readonly node = join(this.folder, 'nodes/24/bin/node');
  readonly entry: string;

  constructor() {
    super('claude');
    this.entry = installInto(this.package);
    mkdirSync(dirname(this.node), { recursive: true });
    copyFileSync(process.execPath, this.node, constants.COPYFILE_FICLONE);
  }

  /** Puts a `node` on the PATH. */
  nodeOnPath(options = ''): void {
    this.command('node', `exec '${process.execPath}' ${options} "$@"`);
  }

  earpiece(node: string, ...args: readonly string[]): Promise<Ran> {
    return ran(this, [node, this.entry, ...args]);
  }
}

/** Runs the command asynchronously, because this process also serves the registry. */
function ran(
  home: Home,
  [command = '', ...args]: readonly string[],
  { input = '', ...more }: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd: home.project, env: home.env(more), timeout: 120_000 };
    const child = execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    child.stdin?.on('error', () => {}).end(input);
  });
}

/** Runs the hook of an event with the command of the settings. */
function hook(home: Home, event: string, more: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const { hooks } = JSON.parse(home.read(SETTINGS)) as {
    hooks: Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>;
  };
  const line = hooks[event]?.[0]?.hooks.find(({ command }) => command !== undefined)?.command ?? '';
  const input = JSON.stringify({ hook_event_name: event, session_id: 'session-1', cwd: home.project, prompt: 'x' });
  return ran(home, ['/bin/sh', '-c', line], { ...more, input });
}

/** Starts a registry that closes each connection, as if the network were broken. */
async function deadRegistry(): Promise<AsyncDisposable & { readonly url: string; asked(): number }> {
  let asked = 0;
  const server = createServer((socket) => {
    asked++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const heard = (word: string): unknown => ({ code: 0, stdout: expect.stringContaining(word) as string, stderr: '' });
const OK = { code: 0, stderr: '' };

/** Returns the findings about Claude Code. */
const about = ({ stdout }: Ran): readonly unknown[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly what: string })
    .filter(({ what }) => what === 'claude');

const red = (...words: readonly string[]): readonly unknown[] =>
  words.map((word) => ({ ok: false, value: expect.stringContaining(word) as string, advice: 'earpiece install claude' }));

describe('hooks after a switch of Node', () => {
  proves('hosts:lasting');

  it('start the node of the PATH if their node no longer exists; doctor reports that, and a new installation repairs the path', async () => {
    using home = new Installed();
    expect(await home.earpiece(home.node, 'install', 'claude', '--yes')).toMatchObject(OK);
    expect(home.read(SETTINGS)).toContain(home.node);
    rmSync(dirname(dirname(home.node)), { recursive: true });
    home.nodeOnPath();
    await hook(home, 'SessionStart');
    expect(await home.earpiece(process.execPath, 'send', '--to', 'claude-code', 'WORD-1')).toMatchObject(OK);
    expect(await hook(home, 'UserPromptSubmit')).toEqual(heard('WORD-1'));
    expect(about(await home.earpiece(process.execPath, 'doctor', '--json'))).toMatchObject(
      red(`the hooks start a Node that does not exist: ${home.node}`),
    );
    expect(await home.earpiece(process.execPath, 'install', 'claude', '--yes')).toMatchObject(OK);
    expect(home.read(SETTINGS)).not.toContain(home.node);
    expect(about(await home.earpiece(process.execPath, 'doctor', '--json'))).toMatchObject([{ ok: true }]);
  });

  it('report in one line that the node of the PATH is too old, and let the agent continue', async () => {
    using home = new Installed();
    expect(await home.earpiece(home.node, 'install', 'claude', '--yes')).toMatchObject(OK);
    rmSync(home.node);
    home.nodeOnPath(OLD);
    for (const event of ['SessionStart', 'PreToolUse', 'Stop'])
      expect(await hook(home, event)).toEqual({
        code: 0,
        stdout: '',
        stderr: expect.stringMatching(/^earpiece needs Node >= 24, but this is [^\n]*\n$/u) as string,
      });
    expect(about(await home.earpiece(process.execPath, 'doctor', '--json'))).toMatchObject(
      red(`the hooks start a Node that does not exist: ${home.node}`),
    );
  });

  it('report in one line that Earpiece was removed together with its Node, as a version manager does', async () => {
    using home = new Installed();
    expect(await home.earpiece(home.node, 'install', 'claude', '--yes')).toMatchObject(OK);
    const other = join(home.folder, 'other');
    renameSync(home.package, other);
    rmSync(home.node);
    home.nodeOnPath();
    expect(await hook(home, 'PreToolUse')).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^earpiece: its files or its Node no longer exist[^\n]*npx earpiece install\n$/u) as string,
    });
    const now = join(other, 'dist/cli/main.js');
    expect(about(await ran(home, [process.execPath, now, 'doctor', '--json']))).toMatchObject(
      red('the hooks start a Node', 'the hooks start an Earpiece'),
    );
    expect(await ran(home, [process.execPath, now, 'install', 'claude', '--yes'])).toMatchObject(OK);
    expect(about(await ran(home, [process.execPath, now, 'doctor', '--json']))).toMatchObject([{ ok: true }]);
  });
});

describe('hooks after the cache of npx was cleaned', () => {
  proves('hosts:lasting');
  proves('hosts:cloned');

  it('fetch Earpiece again, and never a package of the project; npx restores the folder', { timeout: 300_000 }, async () => {
    using home = new Installed();
    await using registry = await startRegistryOf(home.package, home.folder);
    home.nodeOnPath();
    const npm = {
      npm_config_registry: registry.url,
      npm_config_ignore_scripts: 'true',
      npm_config_update_notifier: 'false',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
    };
    const npx = (...args: readonly string[]): Promise<Ran> => ran(home, ['npx', '-y', 'earpiece', ...args], npm);
    expect(await npx('install', 'claude', '--yes')).toMatchObject({ code: 0 });
    expect(home.read(SETTINGS)).toContain('/.npm/_npx/');
    await hook(home, 'SessionStart', npm);
    expect((await npx('send', '--to', 'claude-code', 'WORD-1')).code).toBe(0);
    rmSync(join(home.home, '.npm/_npx'), { recursive: true });
    const fromClone = clonedInto(home.project, registry.version);
    expect(await hook(home, 'UserPromptSubmit', npm)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('WORD-1') as string,
    });
    const { mcpServers } = JSON.parse(home.read('.claude.json')) as {
      mcpServers: { earpiece: { command: string; args: readonly string[] } };
    };
    const { command, args } = mcpServers.earpiece;
    expect(await ran(home, [command, ...args.slice(0, -1), '--version'], npm)).toMatchObject({ stdout: `${registry.version}\n` });
    expect(fromClone()).toEqual([]);
    for (const name of ['node_modules', 'package.json', '.npmrc']) rmSync(join(home.project, name), { recursive: true });

    // Without a network, the hook does not delay its agent, because npx tries only once.
    rmSync(join(home.home, '.npm'), { recursive: true });
    await using dead = await deadRegistry();
    expect((await hook(home, 'UserPromptSubmit', { ...npm, npm_config_registry: dead.url })).code).not.toBe(2);
    expect(dead.asked()).toBe(1);
    expect(about(await npx('doctor', '--json'))).toMatchObject([{ ok: true }]);
  });
});

describe('hooks after an upgrade in place', () => {
  proves('hosts:lasting');

  it('run the new version, and the doctor reports no problem', async () => {
    using home = new Installed();
    home.nodeOnPath();
    expect(await home.earpiece(process.execPath, 'install', 'claude', '--yes')).toMatchObject(OK);
    await hook(home, 'SessionStart');
    upgrade(home.package);
    expect((await home.earpiece(process.execPath, '--version')).stdout).toBe(`${UPGRADED}\n`);
    expect(await home.earpiece(process.execPath, 'send', '--to', 'claude-code', 'WORD-1')).toMatchObject(OK);
    expect(await hook(home, 'UserPromptSubmit')).toEqual(heard('WORD-1'));
    expect(about(await home.earpiece(process.execPath, 'doctor', '--json'))).toMatchObject([{ ok: true }]);
    expect((await home.earpiece(process.execPath, 'install', 'claude', '--yes')).stdout).toContain('nothing to change');
  });
});
