/**
 * The package as its users get it: packed, unpacked with its dependencies only, on a supported Node and on a Node that is too
 * old.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMPILED } from './compiled.ts';
import { RawClient } from './gateway/raw-client.ts';
import type { Step } from './loaded.ts';
import { dependencies, installPacked, link } from './packed.ts';
import { proves } from './verifies.ts';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  bin: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  dependencies: Record<string, string>;
  files: readonly string[];
  scripts: Readonly<Record<string, string>>;
};
const subpaths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
const specifiers = subpaths.map((path) => path.replace('.', 'earpiece'));

const folder = mkdtempSync(join(tmpdir(), 'earpiece-package-'));
const app = join(folder, 'app');
const installed = join(app, 'node_modules/earpiece');
const cli = join(installed, manifest.bin['earpiece'] ?? '');

beforeAll(() => installPacked(folder), 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs Node in the app that has the package installed, without Earpiece's variables and with a separate home. */
function node(
  args: readonly string[],
  command = process.execPath,
  more: Readonly<Record<string, string>> = {},
): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: app,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'] ?? '',
      ...COMPILED,
      HOME: folder,
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      ...more,
    },
  });
  return { code: status, stdout, stderr };
}

test('the types of each subpath resolve as its code does', () => {
  const tarball = join(folder, `earpiece-${manifest.version}.tgz`);
  const { status, stdout } = spawnSync(join(bin, 'attw'), ['--profile', 'esm-only', tarball], { cwd: root, encoding: 'utf8' });
  expect(status, stdout).toBe(0);
});

test('these tests run on a Node that the package supports', () => {
  expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(24);
});

test('the package contains the built files, and no source, test or path of the build machine', () => {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  expect(new Set(paths.map((path) => path.slice(installed.length + 1).split('/')[0]))).toEqual(
    new Set([...manifest.files.filter((name) => !name.startsWith('!')), 'LICENSE', 'README.md', 'package.json']),
  );
  expect(existsSync(join(installed, 'dist/console/index.html'))).toBe(true);
  expect(paths.filter((path) => /\.(?:test|config)\.|arbitraries|fast-check/u.test(path))).toEqual([]);
  expect(paths.filter((path) => readFileSync(path, 'utf8').includes(root))).toEqual([]);
});

test('npm runs no script of the package when a project installs the tarball, and asks for no permission', () => {
  const { scripts = {} } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { scripts?: object };
  const atInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  expect(Object.keys(scripts).filter((name) => atInstall.some((event) => name.endsWith(event)))).toEqual([]);
});

test('npm install and npm ci build a clone, also if no dependency has changed', () => {
  const clone = join(folder, 'clone');
  mkdirSync(clone);
  const scripts = Object.fromEntries(Object.entries(manifest.scripts).map(([name, script]) => [name, `echo RAN ${script}`]));
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ name: 'clone', version: '1.0.0', scripts }));
  const npm = (...args: readonly string[]): string =>
    execFileSync('npm', [...args, '--foreground-scripts', '--offline'], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
  for (const command of ['install', 'install', 'ci']) expect(npm(command), command).toMatch(/^RAN node scripts\/build.ts$/m);
});

test('a command, a gateway and its store thread each load only a few files', () => {
  const list = join(folder, 'loaded');
  const loads = (...args: readonly string[]): { files: number; thread: number; kb: number } => {
    rmSync(list, { force: true });
    const env = { NODE_OPTIONS: `--import ${root}/e2e/loaded.ts`, EARPIECE_TEST_LOADED: list };
    const { code } = node([cli, ...args], process.execPath, env);
    expect(code).toBe(0);
    const steps = readFileSync(list, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Step);
    const ours = steps.filter(({ url }) => url?.includes('node_modules/earpiece/'));
    const imports = ours.filter(({ url = '' }) => /^import .*"node:/mu.test(readFileSync(new URL(url), 'utf8')));
    expect(imports.map(({ url }) => url)).toEqual([]);
    const own = ours.filter(({ main }) => main);
    const bytes = own.reduce((sum, { bytes: of = 0 }) => sum + of, 0);
    return { files: own.length, thread: ours.length - own.length, kb: bytes / 1_000 };
  };
  const atMost = (most: number): unknown => expect.toSatisfy((is: number) => is <= most);
  expect(loads('--help')).toEqual({ files: atMost(5), thread: 0, kb: atMost(58) });
  expect(loads('send', '--to', 'shop/coder', 'x')).toEqual({ files: atMost(6), thread: 0, kb: atMost(524) });
  expect(loads('inbox')).toEqual({ files: atMost(6), thread: 0, kb: atMost(524) });
  expect(loads('gateway', '--url', 'http://127.0.0.1:9/')).toEqual({ files: atMost(13), thread: 1, kb: atMost(624) });
});

test('every entry file has a subpath, and the files of every subpath exist', () => {
  const entries = readdirSync(join(root, 'src/entries')).map((file) => `./${file.replace('.ts', '')}`);
  expect(subpaths.toSorted()).toEqual(['.', ...entries].toSorted());
  for (const path of subpaths) {
    const target = manifest.exports[path] as { types: string; default: string };
    expect(existsSync(join(installed, target.types)), target.types).toBe(true);
    expect(existsSync(join(installed, target.default)), target.default).toBe(true);
  }
});

test.each(specifiers)('%s can be imported and required, with its dependencies only', (specifier) => {
  proves('package:subpaths');
  const imported = node(['--input-type=module', '-e', `console.log(Object.keys(await import('${specifier}')).length > 0)`]);
  expect(imported).toEqual({ code: 0, stdout: 'true\n', stderr: '' });
  const required = node(['--input-type=commonjs', '-e', `console.log(Object.keys(require('${specifier}')).length > 0)`]);
  expect(required).toEqual({ code: 0, stdout: 'true\n', stderr: '' });
});

test.each(['nodenext', 'bundler'])('every subpath has strict types with moduleResolution %s', (moduleResolution) => {
  proves('package:subpaths');
  const lines = specifiers.map((specifier, i) => `import * as m${i} from '${specifier}';\nexport const all${i}: object = m${i};`);
  writeFileSync(join(app, 'all.mts'), lines.join('\n'));
  // The server's types use the types of Hono, which need the types of the DOM.
  const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')], lib: ['esnext', 'dom'], target: 'es2024' };
  const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution;
  // No optional peer is installed here, because the declarations must not need the types of these packages.
  const compilerOptions = { strict: true, noEmit: true, module, moduleResolution, skipLibCheck: false, ...types };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['all.mts'] }));
  const { stdout } = node([join(bin, 'tsc'), '-p', '.']);
  expect(stdout).toBe('');
});

test('a model of the AI SDK matches the types of earpiece/agent', () => {
  const peer = join(app, 'node_modules/@ai-sdk/provider');
  mkdirSync(dirname(peer), { recursive: true });
  symlinkSync(join(root, 'node_modules/@ai-sdk/provider'), peer);
  writeFileSync(
    join(app, 'model.mts'),
    `import { openModel, type AgentOptions } from 'earpiece/agent';
import type { LanguageModelV4 } from '@ai-sdk/provider';
export const model: LanguageModelV4 = await openModel('openai:x', {});
export const ours: AgentOptions['model'] = model;
`,
  );
  const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')], lib: ['esnext'], target: 'es2024' };
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', skipLibCheck: true, ...types };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['model.mts'] }));
  expect(node([join(bin, 'tsc'), '-p', '.']).stdout).toBe('');
  rmSync(peer);
});

test('templates render in the packaged worker, with its bounds', () => {
  const tried = (id: string, template: string): string => {
    const output = `[output]\ntemplate = "${id}.toon.j2"\n`;
    writeFileSync(join(app, `${id}.toml`), `[subscriber]\nid = "${id}"\nname = "x"\n[events]\ntypes = ["x.made"]\n${output}`);
    writeFileSync(join(app, `${id}.toon.j2`), template);
    return node([cli, 'subscribers', 'test', `${id}.toml`, 'event.json']).stdout;
  };
  writeFileSync(
    join(app, 'event.json'),
    '{ "type": "x.made", "severity": "error", "data": { "rows": [{ "a": 1 }, { "a": 2 }] } }',
  );
  expect(tried('rows', '{{ event.payload.rows|toon_encode }}')).toContain('error: [2]{a}:');
  expect(tried('huge', '{{ "a" * 1000000000 }}')).toContain('needs more than 64 MB of memory');
});

test('the error about a missing driver names the command for a project, a global installation and npx', () => {
  const command = (entry: string, db: string): string =>
    node([entry, 'inbox', '--db', db]).stderr.split('not installed: ')[1] ?? '';
  const nats = '@nats-io/transport-node @nats-io/jetstream';
  const places = {
    app: ['npm install pg\n', `npm install ${nats}\n`],
    'global/lib': ['npm install --global pg\n', `npm install --global ${nats}\n`],
    '_npx/a1': ['npx -p earpiece -p pg earpiece …\n', `npx -p earpiece -p ${nats.replace(' ', ' -p ')} earpiece …\n`],
  };
  for (const [place, commands] of Object.entries(places)) {
    const copy = join(folder, place, 'node_modules/earpiece');
    if (place !== 'app') {
      cpSync(installed, copy, { recursive: true });
      for (const name of Object.keys(dependencies)) link(join(folder, place), name);
    }
    const entry = join(copy, manifest.bin['earpiece'] ?? '');
    expect([command(entry, 'postgres://127.0.0.1/x'), command(entry, 'nats://127.0.0.1/x')], place).toEqual(commands);
  }
});

test('the shipped subscribers are found and valid', () => {
  proves('bus:shipped');
  const { code, stdout, stderr } = node([cli, 'subscribers', 'check']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(
    `${realpathSync(installed)}/subscribers is fine: ${readdirSync(join(root, 'subscribers')).filter((file) => file.endsWith('.toml')).length} subscribers\n`,
  );
});

test('the command runs and prints its version', () => {
  expect(node([cli, '--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  expect(readFileSync(cli, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
});

test("the README's commands install Earpiece into an agent, and the message reaches that agent", () => {
  const home = join(folder, 'readme');
  mkdirSync(join(home, '.claude'), { recursive: true });
  const link = join(app, 'node_modules/.bin/earpiece');
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(cli, link);
  const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`, HOME: home };
  const sh = (line: string, input = ''): string => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: app, encoding: 'utf8', env, input });
    expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: '' });
    return stdout;
  };
  /** Runs a line of the README, followed by the words of `more`. */
  const typed = (words: string, more = ''): string => {
    const [line = ''] = new RegExp(`^npx ${words}[^#\\n]*`, 'mu').exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
    return sh(`${line.replace('npx', 'npx --no --offline')} ${more}`);
  };
  typed('earpiece install', '--yes');
  const { hooks } = JSON.parse(readFileSync(join(home, '.claude/settings.json'), 'utf8')) as {
    hooks: Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>;
  };
  const hook = (event: string): string =>
    sh(hooks[event]?.[0]?.hooks[0]?.command ?? '', JSON.stringify({ hook_event_name: event, session_id: 's1', cwd: app }));
  hook('SessionStart');
  expect(typed('earpiece send')).toContain('queued for app/claude-code');
  expect(hook('UserPromptSubmit')).toContain('the build ended');
  expect(typed('earpiece help')).toContain('run-and-tell');
});

test("the README's commands make the command of a clone available in every folder, without Node in the PATH", () => {
  const [, words = ''] = /^alias earpiece="([^"]+)"/mu.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  const { status, stdout } = spawnSync('sh', ['-c', `set -- ${words}; cd '${app}'; "$@" --version`], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: folder },
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${manifest.version}\n` });
});

describe.each(oldNodes())('on $name', ({ command, args, version }) => {
  proves('package:old-node');
  const line = new RegExp(
    String.raw`^earpiece needs Node >= 24, but this is v?${version.replaceAll('.', String.raw`\.`)}\b[^\n]*\n$`,
    'u',
  );

  test.each(specifiers)('%s names the needed Node in one line', (specifier) => {
    const { code, stdout, stderr } = node(
      [...args, '--input-type=module', '-e', `import '${specifier}'; console.log('on')`],
      command,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(line);
  });

  test('the command also names the needed Node in one line', () => {
    const { code, stdout, stderr } = node([...args, cli, 'send', 'hello'], command);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr).toContain(`npx node@24 ${cli}\n`);
  });
});

describe('a process whose installation is replaced or removed while it runs', () => {
  proves('package:replaced');
  const ECHO = join(root, 'e2e/delivery/echo-server.ts');
  const LOADED = { NODE_OPTIONS: `--import ${root}/e2e/loaded.ts` };

  /** Returns a separate installation, and an environment in which each process reports the modules that it loads. */
  function another(name: string): { home: string; entry: string; env: Record<string, string>; loaded: () => string } {
    const home = join(folder, name);
    cpSync(app, home, { recursive: true, verbatimSymlinks: true });
    const list = join(home, 'loaded');
    const env = { EARPIECE_DB: join(home, 'e.db'), XDG_STATE_HOME: join(home, 'state'), EARPIECE_TEST_LOADED: list };
    const entry = join(home, 'node_modules/earpiece', manifest.bin['earpiece'] ?? '');
    return { home, entry, env, loaded: () => (existsSync(list) ? readFileSync(list, 'utf8') : '') };
  }

  const later = ['events', 'tasks'].map((name) => expect.stringContaining(`chunks/${name}-`));

  async function gatewayOf({ entry, env }: ReturnType<typeof another>): Promise<RawClient> {
    const client = new RawClient([entry, 'gateway', '--as', 'shop/coder#m', '--', process.execPath, ECHO], { ...env, ...LOADED });
    await client.initialize();
    return client;
  }

  async function echo(client: RawClient, id: number): Promise<string> {
    client.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"t"}}}`);
    return client.answer(id);
  }

  /** From another installation, emits an event with a template and queues a notification without a template. */
  function tell({ EARPIECE_DB = '' }: Record<string, string>): void {
    const event = node([cli, 'run-and-tell', '--to', 'shop/coder', '--', 'sh', '-c', 'exit 2'], process.execPath, {
      EARPIECE_DB,
    });
    expect(event.code).toBe(2);
    expect(node([cli, 'send', '--to', 'shop/coder', 'plain words'], process.execPath, { EARPIECE_DB }).code).toBe(0);
  }

  /**
   * Removes the files that an upgrade would replace: the chunks, whose names contain hashes of their content, and the
   * subscribers.
   */
  const replace = (home: string): void => {
    for (const part of ['dist/chunks', 'subscribers']) rmSync(join(home, 'node_modules/earpiece', part), { recursive: true });
  };

  test('a gateway has loaded everything that it needs', { timeout: 120_000 }, async () => {
    const place = another('replaced');
    await using client = await gatewayOf(place);
    for (const each of later) await expect.poll(place.loaded, { timeout: 60_000 }).toEqual(each);
    await echo(client, 1);
    replace(place.home);
    tell(place.env);
    const answer = await echo(client, 2);
    expect(answer).toContain('plain words');
    expect(answer).toContain('exit 2');
    expect(client.stderr.join('')).not.toContain('Cannot find module');
  });

  test(
    'if all files are gone, one line reports that, and notifications arrive without their template',
    { timeout: 120_000 },
    async () => {
      const place = another('removed');
      await using client = await gatewayOf(place);
      await echo(client, 1);
      rmSync(join(place.home, 'node_modules'), { recursive: true });
      tell(place.env);
      const answer = await echo(client, 2);
      expect(answer).toContain('plain words');
      expect(answer).toContain('its template failed');
      await client.said('Earpiece was upgraded or removed while this process was running; restart the process');
      expect(client.stderr.join('')).not.toContain('Cannot find module');
    },
  );

  test('a server answers, and its subscribers get events', { timeout: 120_000 }, async () => {
    const place = another('served');
    tell(place.env);
    const env = { ...process.env, ...place.env, ...LOADED };
    const server = new RawClient([place.entry, 'serve', '--json', '--port', '0'], env);
    try {
      const { url } = JSON.parse(await server.line((line) => line.includes('"url"'))) as { url: string };
      const made = node([cli, 'token', 'create', '--json', '--kind', 'admin', '--name', 'x'], process.execPath, {
        EARPIECE_DB: place.env['EARPIECE_DB'] ?? '',
      });
      const { token } = JSON.parse(made.stdout) as { token: string };
      const ask = (path: string, body?: object): Promise<Response> =>
        fetch(`${url}${path}`, {
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/cloudevents+json' },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
      // The server loads this chunk last, so it has loaded everything that it needs.
      await expect.poll(place.loaded, { timeout: 60_000 }).toContain('chunks/why-');
      const listed = (await (await ask('/api/notifications?log=shop/coder')).json()) as { items: { id: string }[] };
      replace(place.home);
      expect((await ask(`/api/notifications/${listed.items[0]?.id}`)).status).toBe(200);
      const event = { specversion: '1.0', id: 'e1', type: 'alert.firing', source: 'ci', subject: 'shop/coder', data: {} };
      expect(await (await ask('/api/events', event)).text()).toContain('"kind":"queued"');
      expect(server.stderr.join('')).toBe('');
    } finally {
      server.process.kill();
    }
  });
});

/**
 * Returns commands that run as an old Node. The first command is this Node, which reports an old version, so each machine has at
 * least one. The other commands are the installed Nodes below version 24.
 */
function oldNodes(): readonly { name: string; command: string; args: readonly string[]; version: string }[] {
  const pretend =
    "for (const [key, value] of [['versions', { ...process.versions, node: '20.0.0' }], ['version', 'v20.0.0']]) Object.defineProperty(process, key, { value })";
  const pretender = {
    name: 'a Node that says it is 20.0.0',
    command: process.execPath,
    args: ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`],
    version: '20.0.0',
  };
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  const found = [...new Set(places)]
    .filter((place) => !place.includes('node_modules') && existsSync(join(place, 'node')))
    .map((place) => join(place, 'node'))
    .map((command) => ({ command, version: execFileSync(command, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim() }))
    .filter(({ version }) => Number(version.split('.')[0]) < 24);
  const real = [...new Map(found.map((old) => [old.version, old])).values()];
  return [pretender, ...real.map(({ command, version }) => ({ name: `Node ${version}`, command, args: [], version }))];
}
