/** Tests `earpiece install --wrap`, which puts one gateway before an agent's servers, and the removal of this gateway. */
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { jsonAt, removeJson } from '../../src/config/edit-json.ts';
import { proves } from '../verifies.ts';
import { Home } from './home.ts';

const SERVER = join(import.meta.dirname, 'env-server.ts');
const server = (extra: object = {}) => ({ command: process.execPath, args: [SERVER], ...extra });
const SECRET = 'sk-not-for-others-1';
const OTHER = 'sk-not-for-others-2';

type Kind = { readonly file: string; readonly path: string; readonly text: string; readonly list: string };
const STATE = '.local/state/earpiece/wrapped';
const INSTALLED = '.local/state/earpiece/installed';
const SERVERS = {
  files: server({ env: { API_KEY: SECRET } }),
  search: server({ env: { API_KEY: OTHER } }),
  web: { type: 'http', url: 'https://example.com/mcp' },
};
const KINDS: Readonly<Record<string, Kind>> = {
  claude: {
    file: '.claude.json',
    path: 'mcpServers',
    text: `{\n  "numStartups": 3, // kept\n  "mcpServers": ${JSON.stringify(SERVERS, null, 4)}\n}\n`,
    list: `${STATE}/claude.json`,
  },
  gemini: {
    file: '.gemini/settings.json',
    path: 'mcpServers',
    text: JSON.stringify({ theme: 'x', mcpServers: { ...SERVERS, strict: server({ excludeTools: ['rm'] }) } }),
    list: `${STATE}/gemini.json`,
  },
  qwen: {
    file: '.qwen/settings.json',
    path: 'mcpServers',
    text: JSON.stringify({ mcpServers: SERVERS }, null, 2),
    list: `${STATE}/qwen.json`,
  },
  opencode: {
    file: '.config/opencode/opencode.json',
    path: 'mcp',
    text: JSON.stringify({
      mcp: {
        files: { type: 'local', command: [process.execPath, SERVER], environment: { API_KEY: SECRET } },
        search: { type: 'local', command: [process.execPath, SERVER], environment: { API_KEY: OTHER } },
        off: { type: 'local', command: ['nothing'], enabled: false },
        web: { type: 'remote', url: 'https://example.com/mcp' },
      },
    }),
    list: `${STATE}/opencode.json`,
  },
};

/** Returns the settings after a person has deleted the gateway's entry. */
function withoutGateway(text: string, path: string): string {
  const edited = removeJson(text, [path, 'servers'], 'settings');
  if (edited.kind === 'problem') throw new Error(edited.problem.message);
  return edited.text;
}

describe.each(Object.entries(KINDS))('%s', (agent, { file, path, text, list }) => {
  proves('hosts:wrap');

  it('gets one gateway in front of its servers, keeps its secrets in place, and has its old bytes after uninstall', async () => {
    using home = new Home(agent);
    home.write(file, text, 0o600);
    const before = home.snapshot();
    const line = home.run(['gateway', '--print', agent, '--all']);
    expect(line).toMatchObject({ code: 0, stderr: expect.stringContaining('web stays unchanged') as string });
    expect(line.stdout).toMatch(
      new RegExp(`one gateway in front of files, search\\.[^]*main\\.[jt]s install ${agent} --wrap\n[^]*uninstall ${agent}`),
    );
    expect(home.snapshot()).toEqual(before);
    const { code, stdout, stderr } = home.run(['install', agent, '--wrap', '--yes']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/web stays unchanged: this server is reached over HTTP/u);
    if (agent === 'gemini') expect(stdout).toMatch(/strict stays unchanged: a gateway cannot preserve the setting excludeTools/u);
    expect(stdout).not.toContain(SECRET);

    const servers = jsonAt(home.read(file), [path]) as Record<string, Entry>;
    expect(Object.keys(servers)).not.toContain('files');
    expect(Object.keys(servers)).toEqual(expect.arrayContaining(['web', 'servers', 'earpiece']));
    expect(home.read(list)).not.toContain('sk-not');
    expect(statSync(join(home.home, list)).mode & 0o077).toBe(0);
    const entry = servers['servers'] as Entry;
    const words = [entry.command, entry.args ?? []].flat();
    expect(words.join(' ')).not.toContain('sk-not');

    const client = await connected(home, words, entry.env ?? entry.environment ?? {});
    try {
      // A server that starts late is listed later.
      const names = async () => (await client.listTools()).tools.map(({ name }) => name);
      await expect.poll(names, { timeout: 20_000 }).toEqual(expect.arrayContaining(['files__env', 'search__env']));
      const envOf = async (tool: string): Promise<string> => JSON.stringify(await client.callTool({ name: tool, arguments: {} }));
      const [files, search] = [await envOf('files__env'), await envOf('search__env')];
      expect([files.includes(SECRET), files.includes(OTHER)]).toEqual([true, false]);
      expect([search.includes(SECRET), search.includes(OTHER)]).toEqual([false, true]);
    } finally {
      await client.close();
    }

    expect(home.run(['gateway', '--print', agent, '--all'])).toMatchObject({ code: 2 });
    expect(home.run(['install', agent, '--yes']).stdout).toContain('nothing to change');
    expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect(home.snapshot()).toEqual(before);
    expect(home.has(list)).toBe(false);
  });

  it('has exactly its servers, settings and values after uninstall, even if the file was changed in between', () => {
    using home = new Home(agent);
    const local = { ...(jsonAt(text, [path, 'files']) as object), description: 'my files' };
    const servers = { ...(jsonAt(text, [path]) as object), described: local, on: { ...local, enabled: true } };
    home.write(file, JSON.stringify({ [path]: servers }));
    home.run(['install', agent, '--wrap', '--yes']);
    home.write(file, home.read(file).replace('{', '{ "mine": 1,'));
    expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 0 });
    expect(jsonAt(home.read(file), [path])).toEqual(servers);
    expect(jsonAt(home.read(file), ['mine'])).toBe(1);
  });

  it('says which servers are lost, and keeps the earlier file, if the gateway and the list were deleted by hand', () => {
    using home = new Home(agent);
    home.write(file, text, 0o600);
    expect(home.run(['install', agent, '--wrap', '--yes']).code).toBe(0);
    rmSync(join(home.home, list));
    home.write(file, withoutGateway(home.read(file), path));
    const { code, stdout } = home.run(['uninstall', agent, '--yes']);
    expect(code).toBe(0);
    expect(stdout).toContain(`${join(home.home, list)} no longer exist; missing: files, search; the file from before the`);
    const kept = /is kept as (\S+\.kept)/u.exec(stdout)?.[1] ?? '';
    expect(readFileSync(kept, 'utf8')).toBe(text);
    expect(stdout).toContain('read the line above that begins with !');
    expect(stdout).not.toContain('are restored');
    expect(home.run(['uninstall', agent, '--yes']).stdout).toMatch(/^nothing of Earpiece is installed/u);
    expect(readFileSync(kept, 'utf8')).toBe(text);
  });

  it('does not make a deleted settings file again, and keeps the earlier file', () => {
    using home = new Home(agent);
    home.write(file, text, 0o600);
    expect(home.run(['install', agent, '--wrap', '--yes']).code).toBe(0);
    rmSync(join(home.home, file));
    const { code, stdout } = home.run(['uninstall', agent, '--yes']);
    expect(code).toBe(0);
    expect(home.has(file)).toBe(false);
    const line = /! (\S+) no longer exists, so there is nothing to remove; the file from before .* is kept as (\S+\.kept)/u;
    const [, gone, kept = ''] = line.exec(stdout) ?? [];
    expect(gone).toBe(join(home.home, file));
    expect(readFileSync(kept, 'utf8')).toBe(text);
  });

  it('has its gateway with the values of the servers after install, if the gateway was deleted by hand', () => {
    using home = new Home(agent);
    home.write(file, text, 0o600);
    expect(home.run(['install', agent, '--wrap', '--yes']).code).toBe(0);
    const wrapped = home.read(file);
    home.write(file, withoutGateway(wrapped, path));
    const { code, stdout } = home.run(['install', agent, '--yes']);
    expect(code).toBe(0);
    expect(stdout).toContain('is changed: one gateway in front of files, search');
    expect(jsonAt(home.read(file), [path])).toEqual(jsonAt(wrapped, [path]));
  });

  it('has its servers after uninstall, even if the file was changed and the list of the servers is lost', () => {
    using home = new Home(agent);
    home.write(file, text);
    home.run(['install', agent, '--wrap', '--yes']);
    rmSync(join(home.home, list));
    home.write(file, home.read(file).replace('{', '{ "mine": 1,').replace(OTHER, 'sk-renewed'));
    const again = home.run(['install', agent, '--yes']);
    expect(again.code).toBe(8);
    expect(again.stdout).toContain(`${join(home.home, list)}, is missing, damaged or incomplete; restore this list, or run`);
    expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect(jsonAt(home.read(file), [path])).toEqual(jsonAt(text.replace(OTHER, 'sk-renewed'), [path]));
    expect(jsonAt(home.read(file), ['mine'])).toBe(1);
  });

  it.each(['{"mcp', '', '{}', '[]', '{"mcpServers":{}}', 'one', 'bare', 'null'])(
    'has its servers after uninstall, even if the file was changed and the list of the servers is damaged: %s',
    (damage) => {
      using home = new Home(agent);
      home.write(file, text);
      home.run(['install', agent, '--wrap', '--yes']);
      const damaged = damagedBy(damage, home.read(list));
      home.write(list, damaged);
      home.write(file, home.read(file).replace('{', '{ "mine": 1,').replace(OTHER, 'sk-renewed'));
      if (damage !== 'one') {
        const again = home.run(['install', agent, '--wrap', '--yes']);
        expect(again).toMatchObject({ code: 8, stderr: '' });
        expect(again.stdout).toContain('is missing, damaged or incomplete; restore this list, or run');
        expect(home.read(list)).toBe(damaged);
      }
      expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 0, stderr: '' });
      expect(jsonAt(home.read(file), [path])).toEqual(jsonAt(text.replace(OTHER, 'sk-renewed'), [path]));
      expect(jsonAt(home.read(file), ['mine'])).toBe(1);
      expect(home.has(list)).toBe(false);
    },
  );

  it.each(['{"mcp', '', 'one', 'bare'])(
    'keeps its gateway and its list at uninstall if the list is damaged and the earlier settings are lost: %s',
    (damage) => {
      using home = new Home(agent);
      home.write(file, text);
      home.run(['install', agent, '--wrap', '--yes']);
      const damaged = damagedBy(damage, home.read(list));
      rmSync(join(home.home, '.local/state'), { recursive: true });
      home.write(list, damaged);
      const wrapped = home.read(file);
      const { code, stdout } = home.run(['uninstall', agent, '--yes']);
      expect(code).toBe(8);
      expect(stdout).toContain('is missing, damaged or incomplete; restore this list, or write the servers back');
      expect(home.run(['uninstall', '--purge', '--yes']).code).toBe(8);
      expect([home.read(file), home.read(list)]).toEqual([wrapped, damaged]);
    },
  );

  it('has its old bytes after uninstall if only the list of the servers is damaged', () => {
    using home = new Home(agent);
    home.write(file, text);
    const before = home.snapshot();
    home.run(['install', agent, '--wrap', '--yes']);
    home.write(list, '{"mcp');
    expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect(home.snapshot()).toEqual(before);
    expect(home.has(list)).toBe(false);
  });

  it.each(['renamed', 'deleted', 'without values'])(
    'has its servers and their values after uninstall, even if the entry of the gateway was changed: %s',
    (change) => {
      using home = new Home(agent);
      home.write(file, text);
      home.run(['install', agent, '--wrap', '--yes']);
      const { servers: front, ...others } = jsonAt(home.read(file), [path]) as Record<string, Entry>;
      const { env: _, environment: __, ...bare } = front as Entry;
      const changed = { renamed: { mine: front }, deleted: {}, 'without values': { servers: bare } }[change];
      home.write(file, JSON.stringify({ [path]: { ...others, ...changed } }));
      const wrapped = home.read(file);
      const away = join(home.home, '.local/state/earpiece/away');
      renameSync(join(home.home, INSTALLED), away);
      if (change !== 'renamed') {
        const { code, stdout } = home.run(['uninstall', agent, '--yes']);
        expect(code).toBe(8);
        expect(stdout).toContain('the value of API_KEY of the MCP server files is missing. Add EARPIECE_KEPT_files__API_5f_KEY');
        expect([home.read(file), home.has(list)]).toEqual([wrapped, true]);
      }
      rmSync(join(home.home, INSTALLED), { recursive: true, force: true });
      renameSync(away, join(home.home, INSTALLED));
      expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 0, stderr: '' });
      expect(jsonAt(home.read(file), [path])).toEqual(jsonAt(text, [path]));
      expect(home.has(list)).toBe(false);
    },
  );

  it('keeps its list at uninstall if the file is not JSON', () => {
    using home = new Home(agent);
    home.write(file, text);
    home.run(['install', agent, '--wrap', '--yes']);
    home.write(file, home.read(file).slice(0, -4));
    expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 8, stderr: '' });
    expect(home.has(list)).toBe(true);
  });

  it('keeps its gateway at uninstall if neither the list of the servers nor the earlier settings are left', () => {
    using home = new Home(agent);
    home.write(file, text);
    home.run(['install', agent, '--wrap', '--yes']);
    rmSync(join(home.home, '.local/state'), { recursive: true });
    const wrapped = home.read(file);
    const { code, stdout } = home.run(['uninstall', agent, '--yes']);
    expect(code).toBe(8);
    expect(stdout).toContain('restore this list, or write the servers back, then remove this entry and this list by hand');
    expect(home.read(file)).toBe(wrapped);
    home.write(file, wrapped.replace('"servers"', '"mine"').replaceAll('gateway', 'nothing'));
    expect(home.run(['uninstall', agent, '--yes'])).toMatchObject({ code: 0, stderr: '' });
  });
});

it('the tools of a single wrapped server have its prefix, so a second server renames no tool', async () => {
  proves('hosts:wrap');
  using home = new Home('claude');
  home.write('.claude.json', JSON.stringify({ mcpServers: { files: server() } }));
  expect(home.run(['install', 'claude', '--wrap', '--yes'])).toMatchObject({ code: 0, stderr: '' });
  const entry = jsonAt(home.read('.claude.json'), ['mcpServers', 'servers']) as Entry;
  const client = await connected(home, [entry.command, entry.args ?? []].flat(), entry.env ?? {});
  try {
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    await expect.poll(names, { timeout: 20_000 }).toContain('files__env');
    expect(await names()).not.toContain('env');
    expect(JSON.stringify(await client.callTool({ name: 'files__env', arguments: {} }))).toContain('PATH');
  } finally {
    await client.close();
  }
});

it('a client whose servers no gateway supports is named, and set up without a gateway', () => {
  proves('hosts:wrap');
  using home = new Home('codex');
  home.write('.codex/config.toml', '[mcp_servers.files]\ncommand = "files"\n');
  const { code, stdout } = home.run(['install', 'codex', '--wrap', '--yes']);
  expect(code).toBe(0);
  expect(stdout).toContain('the MCP servers of Codex stay unchanged: Codex keeps its servers in TOML');
  const line = home.run(['gateway', '--print', 'codex', '--all']);
  expect(line).toMatchObject({ code: 2, stdout: '' });
  expect(line.stderr).toContain('--all does not work for codex: Codex keeps its servers in TOML');
  expect(home.read('.codex/config.toml')).toContain('[mcp_servers.files]\ncommand = "files"\n');
});

describe('values of one server', () => {
  proves('hosts:wrap');

  it('never reach another server with a similar name or the same variable; an empty value arrives', async () => {
    using home = new Home('claude');
    const own = {
      'a-b': { TOKEN: 'of-a-minus-b', E: '', 'X-Y': 'dashed' },
      a_b: { TOKEN: 'of-a-line-b' },
      a: { b__TOKEN: 'of-a' },
      c: { OTHER: '${EARPIECE_KEPT_a__TOKEN}' },
    };
    const servers = Object.fromEntries(Object.entries(own).map(([name, env]) => [name, server({ env })]));
    home.write('.claude.json', JSON.stringify({ mcpServers: servers }));
    expect(home.run(['install', 'claude', '--wrap', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    // A server that is added to the list later gets no value either.
    const list = JSON.parse(home.read(KINDS['claude']?.list ?? '')) as { mcpServers: Record<string, object> };
    const variable = /EARPIECE_KEPT_\w+/u.exec(JSON.stringify(list.mcpServers['a-b']))?.[0] ?? '';
    list.mcpServers['thief'] = server({ args: [SERVER, `\${${variable}}`] });
    home.write(KINDS['claude']?.list ?? '', JSON.stringify(list));
    const entry = jsonAt(home.read('.claude.json'), ['mcpServers', 'servers']) as Entry;
    const client = await connected(home, [entry.command, entry.args ?? []].flat(), entry.env ?? {});
    try {
      const names = async () => (await client.listTools()).tools.map(({ name }) => name);
      const tools = Object.keys(own).map((name) => `${name}__env`);
      await expect.poll(names, { timeout: 20_000 }).toEqual(expect.arrayContaining(tools));
      expect(await names()).not.toContain('thief__env');
      for (const [name, env] of Object.entries(own)) {
        const answer = (await client.callTool({ name: `${name}__env`, arguments: {} })) as { content: { text: string }[] };
        const got = JSON.parse(answer.content[0]?.text ?? '{}') as Record<string, string>;
        expect(got).toMatchObject(env);
        expect(Object.keys(got).filter((each) => each.startsWith('EARPIECE_KEPT_'))).toEqual([]);
      }
    } finally {
      await client.close();
    }
  });

  it.each<[agent: string, name: string, entry: object, why: string]>([
    ['claude', 'a__b', server(), 'its name has "__"'],
    ['gemini', 'g', server({ args: [SERVER, '--key=$MYARG'] }), 'its command or cwd refers to a variable or a file'],
    ['gemini', 'g', server({ cwd: '${MYDIR}' }), 'its command or cwd refers to a variable or a file'],
    ['claude', 'n', server({ env: { PORT: 80 } }), 'its env has a value that is not a text'],
    ['claude', 'n', server({ args: [SERVER, 80] }), 'its command has an argument that is not a text'],
    ['gemini', 'g', server({ cwd: 'packages/files' }), 'its cwd is not an absolute path'],
    ['claude', 't', server({ timeout: 5000 }), 'a gateway cannot preserve the setting timeout'],
    [
      'opencode',
      'o',
      { type: 'local', command: [process.execPath, SERVER, '--key={env:MYARG}'] },
      'its command or cwd refers to a variable or a file',
    ],
  ])('%s: a server that would not work behind a gateway stays unchanged: %s %j', (agent, name, entry, why) => {
    using home = new Home(agent);
    const { file, path } = KINDS[agent] ?? { file: '', path: '' };
    home.write(file, JSON.stringify({ [path]: { [name]: entry } }));
    const { code, stdout } = home.run(['install', agent, '--wrap', '--yes']);
    expect(code).toBe(0);
    expect(stdout).toContain(`${name} stays unchanged: ${why}`);
    expect(jsonAt(home.read(file), [path, name])).toEqual(entry);
    expect(jsonAt(home.read(file), [path, 'servers'])).toBeUndefined();
  });
});

it("the plan and the undo never show a server's secret in any form", () => {
  proves('hosts:wrap');
  using home = new Home('claude', 'codex');
  home.write(
    '.claude.json',
    String.raw`{
  "mcpServers": {
    "http": { "type": "http", "url": "https://h", "headers": { "Authorization": "Bearer SECRET-HTTP" } },
    "a": { "command": "x", "args": ["--api-key", "SECRET-ARG", "--pat=SECRET-PAIR", "https://u:SECRET-USER@h?k=SECRET-QUERY"], "env": { "URL": "https:\/\/u:SECRET-SLASH@h", "T": "\u0053ECRET-ESCAPE" } },
    "strict": {
      "command": "x", "trust": true,
      "env": { "T": "SECRET-LEFT" }
    }
  }
}
`,
  );
  home.write(
    '.codex/config.toml',
    '[mcp_servers.files]\ncommand = "files"\nargs = ["--token", "SECRET-WORD"]\nenv = { T = "SECRET-TOML" }\n',
  );
  const shown = (...args: string[]): void => {
    const { stdout, stderr } = home.run(args);
    expect(stdout).toMatch(/T\W+…/u);
    if (args.includes('--wrap') || args[0] === 'uninstall') expect(stdout).toMatch(/Authorization\W+…/u);
    expect(stdout + stderr).not.toMatch(/SECRET|ECRET-ESCAPE/u);
  };
  for (const wrap of [[], ['--wrap']]) {
    shown('install', 'claude', 'codex', ...wrap);
    shown('install', 'claude', 'codex', ...wrap, '--json');
  }
  shown('install', 'claude', 'codex', '--wrap', '--yes');
  shown('uninstall', '--all', '--json');
  shown('uninstall', '--all', '--yes');
});

/** Returns a damaged list. `one`: without one server. `bare`: without environments. `null`: a server is null. */
function damagedBy(damage: string, list: string): string {
  const { mcpServers } = JSON.parse(list) as { readonly mcpServers: Record<string, Entry> };
  const { files, ...rest } = mcpServers;
  if (damage === 'one') return JSON.stringify({ mcpServers: rest });
  if (damage === 'null') return JSON.stringify({ mcpServers: { ...rest, files: null } });
  if (damage !== 'bare') return damage;
  return JSON.stringify({ mcpServers: { ...rest, files: { command: files?.command, args: files?.args } } });
}

type Entry = {
  readonly command: string | readonly string[];
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly environment?: Record<string, string>;
};

async function connected(home: Home, [command = '', ...args]: readonly string[], env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'e2e', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, env: home.env(env), cwd: home.project, stderr: 'pipe' }));
  return client;
}
