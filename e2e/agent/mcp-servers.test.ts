/** Tests an agent with real MCP servers of both generations of the protocol, over stdio and HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mcpTools, type McpTools } from '../../src/agent/mcp-tools.ts';
import type { ServerEvent } from '../../src/mcp/client.ts';
import type { Upstream } from '../../src/mcp/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-servers-'));
const LIMITS = { maxChars: 2_000, folder, report: () => {} };
const STATELESS = join(import.meta.dirname, '../gateway/stateless-server.ts');
const ECHO = join(import.meta.dirname, '../delivery/echo-server.ts');

const stdio = (name: string, ...args: readonly string[]): Upstream => ({
  kind: 'stdio',
  name,
  command: process.execPath,
  args,
});

async function call({ tools }: McpTools, name: string, args: object): Promise<{ content: string; isError?: boolean }> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name} among ${tools.map((each) => each.name).join(', ')}`);
  const signal = new AbortController().signal;
  return tool.execute(args as never, { id: 'c1', signal, batch: [], progress: () => {} });
}

it("servers of both protocol generations give their tools, over stdio and HTTP, with the server's name as prefix", async () => {
  const http = spawn(process.execPath, [STATELESS, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [printed] = (await once(http.stdout, 'data')) as [Buffer];
    const url = /http\S+/u.exec(printed.toString())![0];
    const servers = await mcpTools(
      [stdio('old', ECHO), stdio('only', STATELESS, 'only'), { kind: 'http', name: 'web', url }],
      LIMITS,
    );
    try {
      const names = servers.tools.map(({ name }) => name);
      for (const server of ['old', 'only', 'web']) expect(names.some((name) => name.startsWith(`${server}__`))).toBe(true);
      expect(await call(servers, 'old__echo', { text: 'hello' })).toMatchObject({ content: 'hello' });
    } finally {
      await servers.close();
    }
  } finally {
    http.kill();
  }
});

it('a failing server is left out if other servers work; if it is the only server, the error names the reason', async () => {
  const lines: string[] = [];
  const broken = stdio('broken', '-e', 'process.exit(3)');
  const servers = await mcpTools([stdio('old', ECHO), broken, { kind: 'absent', name: 'none', why: 'it has no command' }], {
    ...LIMITS,
    report: (line) => lines.push(line),
  });
  await servers.close();
  expect(servers.tools.map(({ name }) => name)).toEqual(['old__echo', 'old__fail']);
  expect(lines.join('\n')).toMatch(/broken.*exit code 3/u);
  expect(lines.join('\n')).toMatch(/none.*it has no command/u);
  await expect(mcpTools([broken], LIMITS)).rejects.toMatchObject({ code: 'upstream', message: /broken .*exit code 3/u });
});

it('a killed server fails the running call with an explanation for the model, and answers again after its restart', async () => {
  const log = join(folder, 'calls');
  const events: ServerEvent[] = [];
  const back = Promise.withResolvers<void>();
  const pid = join(folder, 'pid');
  const servers = await mcpTools(
    [
      {
        kind: 'stdio',
        name: 'parrot',
        command: 'bash',
        args: ['-c', `echo $$ > ${pid}; exec ${process.execPath} ${ECHO}`],
        env: { ...process.env, CALL_LOG: log },
      },
    ],
    {
      ...LIMITS,
      onUpstream: (event) => {
        events.push(event);
        if (event.state === 'reconnected') back.resolve();
      },
    },
  );
  try {
    const running = call(servers, 'echo', { text: 'x', held: true });
    await expect.poll(() => readFileSync(log, { encoding: 'utf8', flag: 'a+' })).toContain('"text":"x"');
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    const failed = await running;
    expect(failed.isError).toBe(true);
    expect(failed.content).toMatch(
      /^The MCP server "parrot" stopped during this call \(signal SIGKILL.*The call may have taken effect\.$/u,
    );
    // The call waits for the server, which is restarting.
    expect(await call(servers, 'echo', { text: 'again' })).toMatchObject({ content: 'again' });
    await back.promise;
    expect(events.map(({ state }) => state)).toEqual(['disconnected', 'reconnected']);
  } finally {
    await servers.close();
  }
});
