/** Tests `earpiece mcp` with a real MCP client: an agent without wrapped servers reads notifications and reaches other agents. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { Stage } from './stage.ts';
import { proves } from '../verifies.ts';

describe('earpiece mcp', () => {
  it('lists its tools, but not the tool that hosts call as a hook', async () => {
    proves('mcp:server');
    await using stage = new Stage();
    await stage.open();
    await using coder = await connected(stage, 'shop/coder#a');
    const { tools } = await coder.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['get_notifications', 'tell_agent', 'list_agents', 'tell_me_when', 'follow']);
    expect(coder.client.getServerVersion()).toMatchObject({ name: 'earpiece', title: 'Earpiece' });
    expect(coder.client.getInstructions()).toMatch(/^Earpiece: notifications of outside events/);
  });

  it('a message between agents is read once, by get_notifications or with the result of any tool', async () => {
    proves('mcp:server');
    await using stage = new Stage();
    const ear = await stage.open();
    await using coder = await connected(stage, 'shop/coder#a');
    await using reviewer = await connected(stage, 'shop/reviewer#b');
    await reviewer.call('list_agents');
    const told = await coder.call('tell_agent', { to: 'reviewer', message: 'WORD-1 look at the login' });
    expect(JSON.parse(told)).toMatchObject({ success: true, to: 'shop/reviewer' });
    expect(await reviewer.call('list_agents')).toContain('WORD-1 look at the login');
    expect(await reviewer.call('get_notifications')).not.toContain('WORD-1');
    await ear.queue('shop/coder', { message: 'WORD-2 the build ended' });
    expect(await coder.call('get_notifications')).toContain('WORD-2');
    expect(await coder.call('list_agents')).not.toContain('WORD-2');
  });

  it.each(['Visual Studio Code', 'エディター', 'a.b..c/d#e', '', 'x'.repeat(300)])(
    'a client with the name %j can send a message',
    async (name) => {
      proves('mcp:server');
      await using stage = new Stage();
      stage.config('');
      const ear = await stage.open();
      await using sender = await connected(stage, undefined, name);
      await ear.queue('shop/reviewer', { message: 'hello' });
      const { agents } = JSON.parse(await sender.call('list_agents')) as { agents: { agent: string; you?: true }[] };
      expect(JSON.parse(await sender.call('tell_agent', { to: 'reviewer', message: 'WORD-3' }))).toMatchObject({ success: true });
      const told = (await ear.open('shop/reviewer')).at(-1);
      expect(told?.notification).toMatchObject({
        message: 'WORD-3',
        origin: { agent: `shop/${agents.find(({ you }) => you)?.agent}` },
      });
    },
  );

  it('a wrong call gets an error message for the model, and the server continues', async () => {
    proves('mcp:server');
    await using stage = new Stage();
    await stage.open();
    await using coder = await connected(stage, 'shop/coder#a');
    expect(await coder.call('tell_agent', { to: 'nobody', message: 'x' })).toContain('no agent "nobody" has been seen in shop');
    await expect(coder.client.callTool({ name: 'deploy', arguments: {} })).rejects.toThrow('there is no tool "deploy"');
    expect(await coder.call('hook', { host: 'nano', hook_event_name: 'Stop' })).toContain('host "nano" must be one of');
    expect(await coder.call('list_agents')).toContain('"you":true');
  });

  it("notifies an agent once when another agent's session is idle, and when it ends, through that session's hooks", async () => {
    proves('talk:when');
    await using stage = new Stage();
    await stage.open();
    await using coder = await connected(stage, 'shop/coder#a');
    const event = (hook_event_name: string): void => {
      const { status, stderr } = spawnSync(process.execPath, [CLI, 'hook', 'claude'], {
        env: stage.env({ EARPIECE_ADDRESS: 'shop/reviewer' }),
        input: JSON.stringify({ hook_event_name, session_id: 'b', cwd: stage.folder, prompt: 'x', tool_calls: [] }),
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    };
    const heard = async (): Promise<readonly string[]> =>
      (JSON.parse(await coder.call('get_notifications')) as { notifications: { message: string }[] }).notifications.map(
        ({ message }) => message,
      );
    event('SessionStart');
    event('UserPromptSubmit');
    expect(JSON.parse(await coder.call('tell_me_when', { agent: 'reviewer' }))).toMatchObject({ success: true });
    event('PostToolBatch');
    expect(await heard()).toEqual([]);
    event('Stop');
    expect(await heard()).toEqual([expect.stringContaining('reviewer')]);
    event('UserPromptSubmit');
    event('Stop');
    expect(await heard()).toEqual([]);
    await coder.call('tell_me_when', { agent: 'reviewer', state: 'done' });
    event('Stop');
    expect(await heard()).toEqual([]);
    event('SessionEnd');
    expect(await heard()).toEqual([expect.stringContaining('reviewer')]);
  });

  it('writes nothing to the database at the end of a batch while a notification waits for another moment', async () => {
    proves('mcp:hooks');
    await using stage = new Stage();
    const ear = await stage.open();
    await using coder = await connected(stage, 'shop/claude-code');
    const event = { host: 'claude', session_id: 's1', cwd: process.cwd(), hook_event_name: 'PostToolBatch' };
    await ear.queue('shop/claude-code', { message: 'WORD-4 later', deliver: 'turn_start' });
    // The first call records the session.
    expect(await coder.call('hook', event)).toBe('{}');
    const before = changed(stage.db);
    for (let n = 0; n < 5; n++) expect(await coder.call('hook', event)).toBe('{}');
    expect(changed(stage.db)).toEqual(before);
  });

  it('answers a hook call of a host with the hook output of that host', async () => {
    proves('mcp:hooks');
    await using stage = new Stage();
    const ear = await stage.open();
    await using coder = await connected(stage, 'shop/claude-code');
    const event = { host: 'claude', session_id: 's1', cwd: process.cwd(), agent_id: '', tool_name: '${tool_name}' };
    expect(await coder.call('hook', { ...event, hook_event_name: 'PostToolBatch' })).toBe('{}');
    await ear.queue('shop/claude-code', { message: 'WORD-3 the tests failed' });
    const output = JSON.parse(await coder.call('hook', { ...event, hook_event_name: 'PostToolBatch' })) as {
      hookSpecificOutput: { hookEventName: string; additionalContext: string };
    };
    expect(output.hookSpecificOutput).toMatchObject({
      hookEventName: 'PostToolBatch',
      additionalContext: expect.stringContaining('WORD-3 the tests failed') as string,
    });
    expect(await coder.call('hook', { ...event, hook_event_name: 'PostToolBatch' })).toBe('{}');
    await ear.queue('shop/claude-code', { message: 'wait', action: 'pause', level: 'critical' });
    const denied = { ...event, hook_event_name: 'PreToolUse', tool_name: 'Bash' };
    expect(await coder.call('hook', denied)).toContain('"permissionDecision":"deny"');
    expect(await coder.call('hook', { ...denied, tool_name: 'mcp__earpiece__get_notifications' })).toBe('{}');
  });
});

/** Returns the times of the last writes to the database and its `-wal`. */
const changed = (database: string): readonly bigint[] =>
  [database, `${database}-wal`].map((file) => statSync(file, { bigint: true }).mtimeNs);

async function connected(stage: Stage, address: string | undefined, name = 'e2e') {
  const client = new Client({ name, version: '1' });
  const { EARPIECE_ADDRESS: _address, ...unnamed } = stage.env();
  const env = address === undefined ? unnamed : { ...unnamed, EARPIECE_ADDRESS: address };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp'],
    env,
    cwd: stage.folder,
    stderr: 'pipe',
  });
  await client.connect(transport);
  return {
    client,
    call: async (name: string, args: Record<string, unknown> = {}): Promise<string> => {
      const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
      return content.map(({ text }) => text).join('\n');
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
