import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, ChatStage, Hold, readIn, text } from './stage.ts';

const ECHO = join(import.meta.dirname, '../delivery/echo-server.ts');

/** Adds a server to the user's own configuration, which needs no trust. */
function withServer(stage: ChatStage, name: string, command: string): void {
  const folder = join(stage.folder, 'config/earpiece');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'earpiece.toml'),
    `[gateway.servers.${name}]\ncommand = "bash"\nargs = ["-c", ${JSON.stringify(command)}]\n`,
  );
}

describe('MCP servers of the configuration', { timeout: 120_000 }, () => {
  it('give the agent their tools; if a server disconnects, the agent is notified', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open((request, n) => {
      const { name } = ((request.body['tools'] ?? []) as { name: string }[]).find((tool) => tool.name.endsWith('echo')) ?? {
        name: 'none',
      };
      return [
        { says: [call('c1', name, { text: 'hello' })] },
        { says: [call('c2', 'run', { command: 'true' })], before: hold.stop },
        { says: [text('It is back.')] },
      ][Math.min(n, 2)] as never;
    });
    withServer(stage, 'parrot', `echo $$ > server.pid; exec ${process.execPath} ${ECHO}`);
    const chat = stage.begin(['chat']);
    chat.process.stdin.end('say hello\n');
    await hold.reached;
    await chat.shows('· hello');
    process.kill(await stage.pid('server.pid'), 'SIGKILL');
    await chat.shows('mcp.disconnected');
    hold.letGo();
    const { code, stdout } = await chat.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/┃ . \w+ mcp\.\w+ │ MCP server `parrot` /u);
    expect(readIn(stage.model.requests[2])).toContain('MCP server `parrot`');
  });

  it('a server that cannot start is reported, and the conversation continues without it', async () => {
    await using stage = await ChatStage.open([{ says: [text('Hello.')] }]);
    withServer(stage, 'broken', 'exit 3');
    const { code, stdout, stderr } = await stage.run(['chat'], { input: 'hi\n' });
    expect(code).toBe(0);
    expect(stdout).toContain('Hello.');
    expect(stderr).toContain('broken');
  });

  it('servers of an untrusted project are left out, and the note says how to trust them', async () => {
    await using stage = await ChatStage.open(
      [{ says: [text('Hello.')] }],
      '[gateway.servers.evil]\ncommand = "touch"\nargs = ["ran"]\n',
    );
    const { code, stderr } = await stage.run(['chat'], { input: 'hi\n' });
    expect(code).toBe(0);
    expect(stderr).toMatch(/not trusted and are left out; read the file, then run: earpiece trust/u);
  });
});
