/** Tests that the agent, a person and `doctor` learn about a server that does not start. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Stage, textOf, type GatewayClient } from './stage.ts';

const ECHO = join(import.meta.dirname, 'echo-server.ts');
const echo = { command: process.execPath, args: [ECHO] };
const broken = { command: process.execPath, args: ['-e', 'console.error("Error: API_TOKEN is not set"); process.exit(7)'] };
const WHY = 'MCP server `broken` does not work: exit code 7; its stderr: "Error: API_TOKEN is not set"';

function several(stage: Stage, mcpServers: object): Promise<GatewayClient> {
  const file = join(stage.folder, 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers }));
  return stage.gateway({ args: ['--servers', file], client: 'claude-code' });
}

/** Returns the number of calls whose results carry the notification. */
async function heardOn(gateway: GatewayClient, tools: readonly string[], what: string): Promise<number> {
  let heard = 0;
  for (const tool of tools) if (textOf(await gateway.call(tool, { text: tool })).includes(what)) heard += 1;
  return heard;
}

describe('a server that does not start', () => {
  it('is reported to the agent once, with its exit code and its stderr, and doctor names it', async () => {
    proves('gateway:broken-server');
    await using stage = new Stage();
    stage.config('');
    const gateway = await several(stage, { a: echo, broken, b: echo });
    const heard = [];
    for (const name of ['a__echo', 'b__echo', 'a__echo']) heard.push(textOf(await gateway.call(name, { text: name })));
    expect(heard.filter((text) => text.includes(WHY))).toHaveLength(1);
    expect(gateway.stderr).toContain('Error: API_TOKEN is not set\n');

    const { code, stdout } = await stage.run(['doctor']);
    expect(stdout).toContain(WHY);
    expect(stdout).toContain('start the command of the MCP server by itself');
    expect(code).toBe(8);
  });

  it('is reported if its command does not exist, which is known before the client identifies itself', async () => {
    await using stage = new Stage();
    stage.config('');
    const gateway = await several(stage, { a: echo, b: echo, missing: { command: 'no-such-command' } });
    const why = 'MCP server `missing` does not work: the command "no-such-command" was not found';
    expect(await heardOn(gateway, ['a__echo', 'b__echo', 'a__echo'], why)).toBe(1);
    const { code, stdout } = await stage.run(['doctor']);
    expect(stdout).toContain(why);
    expect(code).toBe(8);
  });

  it.each(['the file of --servers', '[gateway.servers]'])(
    'is left out of %s and reported as failing if one of its variables is not set; tool names do not change',
    async (where) => {
      proves('gateway:left-out');
      await using stage = new Stage();
      const toml = `[gateway.servers.files]\ncommand = ${JSON.stringify(echo.command)}\nargs = ${JSON.stringify(echo.args)}\n[gateway.servers.needs]\ncommand = "\${NO_SUCH_VARIABLE}"\n`;
      stage.config(where === '[gateway.servers]' ? toml : '');
      if (where === '[gateway.servers]') expect((await stage.run(['trust', '--yes'])).code).toBe(0);
      const gateway =
        where === '[gateway.servers]'
          ? await stage.gateway({ configured: true, client: 'claude-code' })
          : await several(stage, { files: echo, needs: { command: '${NO_SUCH_VARIABLE}' } });
      const { tools } = (await gateway.request('tools/list', {})) as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toContain('files__echo');
      const why = 'MCP server `needs` does not work: its entry needs NO_SUCH_VARIABLE, which is not set';
      expect(await heardOn(gateway, ['files__echo', 'files__echo'], why)).toBe(1);
      expect(textOf(await gateway.call('needs__echo', {}))).toContain('needs NO_SUCH_VARIABLE, which is not set');
      expect(gateway.stderr).toMatch(/servers\.needs needs NO_SUCH_VARIABLE, which is not set; export the variable/i);
      const { code, stdout } = await stage.run(['doctor']);
      expect(stdout).toContain(why);
      expect(code).toBe(8);
    },
  );

  it('is left out and reported as failing if its entry in earpiece.toml is invalid; tool names do not change', async () => {
    proves('gateway:left-out');
    await using stage = new Stage();
    const files = `[gateway.servers.files]\ncommand = ${JSON.stringify(echo.command)}\nargs = ${JSON.stringify(echo.args)}\n`;
    stage.config(`${files}[gateway.servers.bad]\ncomand = "npx"\n`);
    expect((await stage.run(['trust', '--yes'])).code).toBe(0);
    const gateway = await stage.gateway({ configured: true, client: 'claude-code' });
    const { tools } = (await gateway.request('tools/list', {})) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain('files__echo');
    const why = 'MCP server `bad` does not work: its entry in earpiece.toml is invalid; earpiece config check shows the problem';
    expect(await heardOn(gateway, ['files__echo', 'files__echo'], why)).toBe(1);
    expect(gateway.stderr).toContain('gateway.servers.bad.comand is unknown; did you mean "command"?');
    const { code, stdout } = await stage.run(['doctor']);
    expect(stdout).toContain(why);
    expect(code).toBe(8);
  });

  it.each<[string, object, RegExp]>([
    [
      'a NUL in an argument',
      { command: 'cat', args: ['x\0y'] },
      /servers\.json:\S+ mcpServers\.bad has a NUL character in its argument "x\\u0000y"; remove the character/,
    ],
    [
      'a NUL in the command',
      { command: 'ca\0t' },
      /mcpServers\.bad has a NUL character in its command "ca\\u0000t"; remove the character/,
    ],
    [
      'a NUL in the environment',
      { command: 'cat', env: { KEY: 'se\0cret' } },
      /mcpServers\.bad has a NUL character in its variable "KEY"; remove the character/,
    ],
    [
      'a NUL in the folder',
      { command: 'cat', cwd: '/tm\0p' },
      /mcpServers\.bad has a NUL character in its folder "\/tm\\u0000p"; remove the character/,
    ],
    [
      'a command that is empty here',
      { command: '${NOTHING:-}' },
      /mcpServers\.bad has an empty command; write a program such as "npx"/,
    ],
    [
      'a command of 5,000 characters',
      { command: 'c'.repeat(5_000) },
      /MCP server "bad" failed: the command "c{200}…" is longer than the system accepts; use a shorter path/,
    ],
    [
      'arguments of 3 MB',
      { command: 'cat', args: ['x'.repeat(3_000_000)] },
      /MCP server "bad" failed: the arguments and the environment of the command "cat" are larger than the system accepts; put the values into a file/,
    ],
    [
      'a file as its folder',
      { command: 'cat', cwd: ECHO },
      /MCP server "bad" failed: its folder "\S+echo-server\.ts" or a part of the path of the command "cat" is not a folder; correct the path/,
    ],
  ])('is reported in one line for %s, and the other servers answer', async (_, bad, line) => {
    proves('gateway:unstartable');
    await using stage = new Stage();
    stage.config('');
    const gateway = await several(stage, { a: echo, bad });
    expect(textOf(await gateway.call('a__echo', { text: 'hello' }))).toContain('hello');
    expect(gateway.stderr.split('\n').filter((each) => line.test(each))).toHaveLength(1);
    expect(gateway.stderr).not.toMatch(/unexpected|secret/);
  });

  it.each(['', ' '])('is refused as a command line if its command is %j', async (word) => {
    await using stage = new Stage();
    stage.config('');
    const { code, stderr } = await stage.run(['gateway', '--', word]);
    expect(stderr).toContain(`the command after -- is ${JSON.stringify(word)}; write the program of an MCP server`);
    expect(code).toBe(2);
  });

  it('is still named by doctor after its gateway has ended, if it is wrapped alone', async () => {
    await using stage = new Stage();
    stage.config('');
    const words = [broken.command, ...broken.args];
    await expect(stage.gateway({ args: ['--name', 'broken', '--', ...words] })).rejects.toThrow('exit code 7');
    // The client sees the end before the gateway has written its report.
    await expect.poll(async () => (await stage.run(['doctor'])).stdout).toContain(WHY);
    expect((await stage.run(['doctor'])).code).toBe(8);
  });
});

describe('a server that failed and works again', () => {
  it.each(['alone', 'among several'])(
    'is no longer named by doctor once it has answered a later gateway, wrapped %s',
    async (how) => {
      proves('gateway:broken-server');
      await using stage = new Stage();
      stage.config('');
      const start = (server: { command: string; args: string[] }): Promise<GatewayClient> =>
        how === 'alone'
          ? stage.gateway({ args: ['--name', 'broken', '--', server.command, ...server.args], client: 'claude-code' })
          : several(stage, { a: echo, broken: server });
      if (how === 'alone') await expect(start(broken)).rejects.toThrow('exit code 7');
      else {
        const gateway = await start(broken);
        expect(await heardOn(gateway, ['a__echo'], WHY)).toBe(1);
        await gateway[Symbol.asyncDispose]();
      }
      await expect.poll(async () => (await stage.run(['doctor'])).code).toBe(8);

      const mended = await start(echo);
      const tools = how === 'alone' ? ['echo', 'echo'] : ['a__echo', 'broken__echo', 'a__echo'];
      const said = [];
      for (const tool of tools) said.push(textOf(await mended.call(tool, { text: tool })));
      const { code, stdout } = await stage.run(['doctor']);
      expect(stdout).not.toContain(WHY);
      expect(code).toBe(0);
      expect(said.join('\n')).not.toContain(WHY);
    },
  );
});

describe('a notification that waits for a tool', () => {
  it.each(['a__echo', 'a:echo'])('arrives with the result of the one tool that %s names', async (name) => {
    proves('gateway:after-names');
    await using stage = new Stage();
    stage.config('');
    const gateway = await several(stage, { a: echo, b: echo });
    expect((await stage.run(['send', '--to', 'coder', '--deliver', `after:${name}`, 'the waited-for'])).code).toBe(0);
    expect(await heardOn(gateway, ['b__echo'], 'the waited-for')).toBe(0);
    expect(await heardOn(gateway, ['a__echo'], 'the waited-for')).toBe(1);
  });

  it('arrives with the first result of a tool of that name, at any server', async () => {
    await using stage = new Stage();
    stage.config('');
    const gateway = await several(stage, { a: echo, b: echo });
    expect((await stage.run(['send', '--to', 'coder', '--deliver', 'after:echo', 'the waited-for'])).code).toBe(0);
    expect(await heardOn(gateway, ['b__echo', 'a__echo'], 'the waited-for')).toBe(1);
  });
});

describe('an agent that gets notifications only through wrapped tools', () => {
  it('doctor names the tools of its host that carry no notifications', async () => {
    proves('gateway:reach');
    await using stage = new Stage();
    stage.config('');
    const gateway = await stage.gateway({ client: 'claude-code' });
    await gateway.call('echo', { text: 'x' });
    const { code, stdout } = await stage.run(['doctor']);
    expect(stdout).toContain(
      'shop/coder#main gets notifications only when it calls a wrapped tool: Bash, Read, Edit, Write, Grep and Task carry no notifications, and no pause or critical notification stops these tools',
    );
    expect(code).toBe(0);
  });
});
