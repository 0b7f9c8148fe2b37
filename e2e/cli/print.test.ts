import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INSTALL_HOSTS } from '../../src/cli/install-hosts.ts';
import { CLI } from '../built.ts';
import { Stage } from '../delivery/stage.ts';
import { ODD_SERVER, RawClient } from '../gateway/raw-client.ts';
import { verifies } from '../verifies.ts';

/** A stage without `EARPIECE_DB`, so that each process uses the default database of its user. */
class PlainStage extends Stage {
  override env(more: Record<string, string> = {}): Record<string, string> {
    return super.env({ EARPIECE_DB: '', ...more });
  }
}

const SERVER = ['npx', '-y', '@modelcontextprotocol/server-filesystem', '/tmp/with space'];
const ROOT = join(import.meta.dirname, '../..');
const ECHO = join(import.meta.dirname, '../delivery/echo-server.ts');

/** Replaces the absolute paths of Node and the entry file, which differ between machines. */
const neutral = (text: string): string => text.replaceAll(process.execPath, '<node>').replaceAll(CLI, '<earpiece>');

const EXPECTED: Readonly<Record<string, { what: string; undo: string }>> = {
  claude: {
    what: "claude mcp add filesystem -- <node> <earpiece> gateway --name filesystem -- npx -y @modelcontextprotocol/server-filesystem '/tmp/with space'",
    undo: 'claude mcp remove filesystem',
  },
  codex: {
    what: "codex mcp add filesystem -- <node> <earpiece> gateway --name filesystem -- npx -y @modelcontextprotocol/server-filesystem '/tmp/with space'",
    undo: 'codex mcp remove filesystem',
  },
  gemini: {
    what: "gemini mcp add filesystem <node> -- <earpiece> gateway --name filesystem -- npx -y @modelcontextprotocol/server-filesystem '/tmp/with space'",
    undo: 'gemini mcp remove filesystem',
  },
  qwen: {
    what: "qwen mcp add filesystem <node> -- <earpiece> gateway --name filesystem -- npx -y @modelcontextprotocol/server-filesystem '/tmp/with space'",
    undo: 'qwen mcp remove filesystem',
  },
  opencode: {
    what: JSON.stringify(
      {
        mcp: {
          filesystem: {
            type: 'local',
            command: ['<node>', '<earpiece>', 'gateway', '--name', 'filesystem', '--', ...SERVER],
            enabled: true,
          },
        },
      },
      null,
      2,
    ),
    undo: 'Remove "filesystem" from "mcp" in opencode.json.',
  },
  cursor: {
    what: JSON.stringify(
      {
        mcpServers: {
          filesystem: { command: '<node>', args: ['<earpiece>', 'gateway', '--name', 'filesystem', '--', ...SERVER] },
        },
      },
      null,
      2,
    ),
    undo: 'Remove "filesystem" from "mcpServers" in .cursor/mcp.json.',
  },
  vscode: {
    what: JSON.stringify(
      {
        servers: {
          filesystem: {
            type: 'stdio',
            command: '<node>',
            args: ['<earpiece>', 'gateway', '--name', 'filesystem', '--', ...SERVER],
          },
        },
      },
      null,
      2,
    ),
    undo: 'Remove "filesystem" from "servers" in .vscode/mcp.json.',
  },
  json: {
    what: JSON.stringify(
      {
        mcpServers: {
          filesystem: { command: '<node>', args: ['<earpiece>', 'gateway', '--name', 'filesystem', '--', ...SERVER] },
        },
      },
      null,
      2,
    ),
    undo: 'Remove "filesystem" from "mcpServers".',
  },
};

describe('gateway --print', () => {
  it('prints an install line for each supported client', () => {
    expect(Object.keys(EXPECTED).toSorted()).toEqual([...INSTALL_HOSTS].toSorted());
  });

  for (const [host, { what, undo }] of Object.entries(EXPECTED))
    verifies('gateway:print', host, async () => {
      await using stage = new PlainStage();
      const { code, stdout } = await stage.run(['gateway', '--print', host, '--json', '--', ...SERVER]);
      expect(code).toBe(0);
      const printed = JSON.parse(stdout) as { what: string; undo: string };
      expect(neutral(printed.what)).toBe(what);
      expect(printed.undo).toBe(undo);
    });

  verifies('gateway:print', "the line contains each option and the shell's database, with absolute paths", async () => {
    await using stage = new PlainStage();
    const print = async (args: readonly string[], env: Record<string, string>): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await stage.run(
        ['gateway', '--print', 'json', '--json', ...args, '--', 'npx', 'server-x'],
        {
          env,
        },
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { mcpServers } = JSON.parse((JSON.parse(stdout) as { what: string }).what) as {
        mcpServers: Record<string, { args: string[] }>;
      };
      return mcpServers['x']?.args.slice(2, -3) ?? [];
    };
    const folder = realpathSync(stage.folder);
    const given = ['--as', 'shop/coder', '--purpose', 'chat', '--view', 'xml', '--profile', 'strip'];
    expect(await print(['--name', 'x', ...given], {})).toEqual(['--name', 'x', ...given]);
    expect(await print(['--name', 'x', '--db', 'x.db'], {})).toEqual(['--name', 'x', '--db', join(folder, 'x.db')]);
    expect(await print(['--name', 'x'], { EARPIECE_DB: 'y.db' })).toEqual(['--name', 'x', '--db', join(folder, 'y.db')]);
    const servers = await stage.run(['gateway', '--print', 'claude', '--servers', 'mcp.json']);
    expect(servers.stdout).toContain(`--servers ${join(folder, 'mcp.json')}`);
  });

  for (const [option, ...value] of [['--http'], ['--port', '0'], ['--host', '::1'], ['--token-env', 'T']] as const)
    verifies('gateway:print', `${option} is refused, because clients start the line over stdio`, async () => {
      await using stage = new PlainStage();
      const { code, stdout, stderr } = await stage.run(['gateway', '--print', 'claude', option, ...value, '--', ...SERVER]);
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: `earpiece: ${[option, ...value].join(' ')} works only for a gateway over HTTP, but --print writes a line for a gateway over stdio; leave the option out\n`,
      });
    });

  verifies('gateway:print', 'a warning names a secret on the command line without repeating it', async () => {
    await using stage = new PlainStage();
    const { stderr, stdout } = await stage.run(['gateway', '--print', 'claude', '--', 'npx', 'server-x', '--api-key', 's3cret']);
    expect(stdout).toContain('npx server-x --api-key s3cret');
    expect(stderr).toContain('this line contains a text that looks like a secret (--api-key …)');
    const url = await stage.run([
      'gateway',
      '--print',
      'claude',
      '--url',
      'https://u:s3cret@example.com/mcp?key=s3cret',
      '--name',
      'x',
    ]);
    expect(url.stderr).toContain('(https://…@example.com/mcp?key=…)');
    expect(stderr + url.stderr).not.toContain('s3cret');
  });

  verifies('gateway:print', 'a server that would not start is reported before it is installed', async () => {
    await using stage = new PlainStage();
    const { code, stdout, stderr } = await stage.run(['gateway', '--print', 'claude']);
    expect({ code, stdout: neutral(stdout) }).toEqual({
      code: 0,
      stdout: expect.stringContaining('claude mcp add earpiece -- <node> <earpiece> gateway\n'),
    });
    expect(stderr).toMatch(
      /^earpiece: the gateway cannot start in this folder yet: there is no server to wrap; write the command of a server after --/u,
    );
    stage.config('[gateway.servers.files]\ncommand = "npx"\n');
    expect((await stage.run(['gateway', '--print', 'claude'])).stderr).toContain('earpiece trust');
    await stage.run(['trust']);
    expect((await stage.run(['gateway', '--print', 'claude'])).stderr).toBe('');
  });

  verifies('gateway:print', 'an existing server of the client is removed first, and the undo restores it', async () => {
    await using stage = new PlainStage();
    const had = { command: 'npx', args: SERVER.slice(1), env: { TOKEN: 'secret' } };
    stage.home(
      '.claude.json',
      JSON.stringify({ projects: { [realpathSync(stage.folder)]: { mcpServers: { filesystem: had } } } }),
    );
    stage.home('.codex/config.toml', '[mcp_servers.filesystem]\ncommand = "npx"\n');
    stage.home('.gemini/settings.json', JSON.stringify({ mcpServers: { filesystem: had } }));
    stage.home('.qwen/settings.json', '{ "mcpServers": ');
    const print = async (host: string): Promise<{ what: string[]; undo: string[]; stderr: string }> => {
      const { stdout, stderr } = await stage.run(['gateway', '--print', host, '--json', '--', ...SERVER]);
      const { what, undo } = JSON.parse(stdout) as { what: string; undo: string };
      return { what: what.split('\n'), undo: undo.split('\n'), stderr };
    };
    const claude = await print('claude');
    expect(claude.what[0]).toBe('claude mcp remove filesystem');
    expect(neutral(claude.what[1] ?? '')).toBe(EXPECTED['claude']?.what);
    expect(claude.undo).toEqual([
      'claude mcp remove filesystem',
      "claude mcp add filesystem -- npx -y @modelcontextprotocol/server-filesystem '/tmp/with space'",
    ]);
    expect(claude.stderr).toBe(
      'earpiece: removing "filesystem" also deletes its environment variables (TOKEN); add these variables to the new entry\n',
    );
    expect((await print('codex')).what[0]).toBe('codex mcp remove filesystem');
    expect((await print('gemini')).undo[1]).toBe(
      "gemini mcp add filesystem npx -- -y @modelcontextprotocol/server-filesystem '/tmp/with space'",
    );
    // An invalid file does not show whether the server exists, so no removal is printed.
    expect(await print('qwen')).toMatchObject({ what: [expect.stringMatching(/^qwen mcp add/u)], stderr: '' });
  });

  verifies(
    'gateway:print',
    'an Earpiece in a cache that may be cleaned prints a warning and a line that stays valid',
    async () => {
      await using stage = new PlainStage();
      // The folder is not below node_modules, because Node runs no TypeScript there.
      const cached = join(stage.folder, '.npm/_npx/0123456789abcdef/earpiece');
      for (const part of ['src', 'subscribers', 'package.json'])
        cpSync(join(ROOT, part), join(cached, part), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(cached, 'node_modules'));
      const ran = spawnSync(
        process.execPath,
        [join(cached, 'src/cli/main.ts'), 'gateway', '--print', 'claude', '--', ...SERVER],
        {
          cwd: stage.folder,
          env: stage.env(),
          encoding: 'utf8',
        },
      );
      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
      expect(ran.stdout).toContain(
        `claude mcp add filesystem -- npx --prefix ${stage.env()['HOME']} --fetch-retries=0 -y earpiece@${version} gateway --name filesystem -- npx -y @modelcontextprotocol/server-filesystem '/tmp/with space'\n`,
      );
      expect(ran.stderr).toContain('this earpiece runs from a cache folder');
      expect(ran.stderr).toContain('npm install -g earpiece, then print the line again');
    },
  );

  verifies('gateway:print', 'the printed command works unchanged in a shell', async () => {
    await using stage = new PlainStage();
    const { stdout } = await stage.run([
      'gateway',
      '--print',
      'claude',
      '--json',
      '--name',
      'echo',
      '--',
      process.execPath,
      ECHO,
    ]);
    const line = (JSON.parse(stdout) as { what: string }).what.replace('claude mcp add echo -- ', '');
    const hello =
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n';
    const ran = spawnSync('sh', ['-c', line], { input: hello, env: stage.env(), encoding: 'utf8', timeout: 20_000 });
    expect(ran.stdout).toContain('"serverInfo":{"name":"echo"');
  });

  verifies(
    'gateway:print',
    'one gateway for a file of servers works from any folder, and a slow or broken server delays no other',
    async () => {
      await using stage = new Stage();
      const ready = join(stage.folder, 'ready');
      const node = (...args: readonly string[]): object => ({ command: process.execPath, args });
      const mcpServers = {
        slow: { ...node(ODD_SERVER), env: { ODD_HOLD: ready } },
        broken: node('-e', 'process.exit(7)'),
        quick: node(ECHO),
      };
      writeFileSync(join(stage.folder, 'servers.json'), JSON.stringify({ mcpServers }));
      const { stdout } = await stage.run(['gateway', '--print', 'json', '--json', '--servers', 'servers.json', '--db', 'own.db']);
      const printed = JSON.parse((JSON.parse(stdout) as { what: string }).what) as {
        mcpServers: { earpiece: { args: string[] } };
      };

      await using client = new RawClient(printed.mcpServers.earpiece.args, stage.env());
      const names = async (id: string): Promise<readonly string[]> => {
        client.send(`{"jsonrpc":"2.0","id":"${id}","method":"tools/list"}`);
        const { result } = JSON.parse(await client.answer(`"${id}"`)) as { result: { tools: { name: string }[] } };
        return result.tools.map(({ name }) => name);
      };
      await client.initialize();
      expect(await names('first')).toEqual(['quick__echo', 'quick__fail', 'get_notifications']);
      client.send(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quick__echo","arguments":{"text":"at once"}}}',
      );
      expect(await client.answer(1)).toContain('at once');
      await client.said('broken');
      writeFileSync(ready, '');
      await client.line((line) => line.includes('notifications/tools/list_changed'));
      expect(await names('second')).toEqual(['slow__odd', 'quick__echo', 'quick__fail', 'get_notifications']);
      expect(existsSync(join(stage.folder, 'own.db'))).toBe(true);
    },
  );
});
