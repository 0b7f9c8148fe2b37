import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INSTALL_HOSTS } from '../../src/cli/install.ts';
import { CLI, Stage } from '../delivery/stage.ts';
import { verifies } from '../verifies.ts';

const SERVER = ['npx', '-y', '@modelcontextprotocol/server-filesystem', '/tmp/with space'];
const ECHO = join(import.meta.dirname, '../delivery/echo-server.ts');

/** Node and our entry stand there by absolute paths, which differ from machine to machine. */
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
  it('knows a line for each client that it names', () => {
    expect(Object.keys(EXPECTED).toSorted()).toEqual([...INSTALL_HOSTS].toSorted());
  });

  for (const [host, { what, undo }] of Object.entries(EXPECTED))
    verifies('gateway:print', host, async () => {
      await using stage = new Stage();
      const { code, stdout } = await stage.run(['gateway', '--print', host, '--json', '--', ...SERVER]);
      expect(code).toBe(0);
      const printed = JSON.parse(stdout) as { what: string; undo: string };
      expect(neutral(printed.what)).toBe(what);
      expect(printed.undo).toBe(undo);
    });

  verifies('gateway:print', 'what would not start is said before it is installed', async () => {
    await using stage = new Stage();
    const { code, stdout, stderr } = await stage.run(['gateway', '--print', 'claude']);
    expect({ code, stdout: neutral(stdout) }).toEqual({
      code: 0,
      stdout: expect.stringContaining('claude mcp add earpiece -- <node> <earpiece> gateway\n'),
    });
    expect(stderr).toMatch(
      /^earpiece: in this folder it would not start yet: no server to stand before: write its command behind --/u,
    );
    stage.config('[gateway.servers.files]\ncommand = "npx"\n');
    expect((await stage.run(['gateway', '--print', 'claude'])).stderr).toContain('earpiece trust');
    await stage.run(['trust']);
    expect((await stage.run(['gateway', '--print', 'claude'])).stderr).toBe('');
  });

  verifies('gateway:print', 'the printed command works as it stands, in a shell', async () => {
    await using stage = new Stage();
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
});
