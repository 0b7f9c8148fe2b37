/**
 * Tests the answers of `get_notifications` at clients that cut long results: `earpiece mcp` and the gateway, with a real MCP
 * client.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { Stage } from './stage.ts';

const ECHO = join(import.meta.dirname, 'echo-server.ts');
const bytes = (text: string): number => Buffer.byteLength(text);
const chars = (text: string): number => text.length;

/**
 * The names in `initialize`, the length of the longest result that each client shows whole, and the function that measures this
 * length.
 */
const CLIENTS: readonly [string, number, (text: string) => number][] = [
  ['codex-mcp-client', 11_900, bytes],
  ['qwen-cli-mcp-client-earpiece', 25_000, chars],
  ['opencode', 51_200, bytes],
  ['claude-code', 50_000, chars],
];
const SERVERS: readonly [string, readonly string[]][] = [
  ['earpiece mcp', ['mcp']],
  ['the gateway', ['gateway', '--', process.execPath, ECHO]],
];

type Answer = {
  readonly count: number;
  readonly more?: number;
  readonly next?: string;
  readonly notifications: readonly {
    readonly message: string;
    readonly instruction: string | null;
    readonly all_of_it?: string;
  }[];
};

describe('get_notifications never returns more than its client shows', () => {
  proves('gateway:pull-room');

  for (const [name, args] of SERVERS)
    it.each(CLIENTS)(`${name} with %s returns 60 errors over several calls, each once`, async (client, most, size) => {
      await using stage = new Stage();
      const ear = await stage.open();
      const words = Array.from({ length: 60 }, (_, n) => `WORD-${n}.`);
      for (const [n, word] of words.entries())
        await ear.queue('shop/coder', { kind: `ci.job${n}`, level: 'error', message: `${word} ${'é"x '.repeat(225)}` });
      await using agent = await connected(stage, args, client);
      const seen: string[] = [];
      for (let calls = 1; ; calls++) {
        const text = await agent.read();
        expect(size(text)).toBeLessThanOrEqual(most);
        const { notifications, count, more = 0, next } = JSON.parse(text) as Answer;
        seen.push(...notifications.map(({ message }) => message.split(' ')[0] ?? ''));
        expect(count).toBe(notifications.length);
        expect(count).toBeGreaterThan(0);
        expect(more).toBe(words.length - seen.length);
        expect((await ear.open('shop/coder')).length).toBeGreaterThanOrEqual(more);
        if (more === 0) break;
        expect(next).toBe(`${more} more wait: call get_notifications again`);
        expect(calls).toBeLessThan(60);
      }
      expect(seen.toSorted()).toEqual(words.toSorted());
    });

  it('an unread interrupt comes with the first call, after newer errors', async () => {
    await using stage = new Stage();
    const ear = await stage.open();
    await ear.queue('shop/coder', { kind: 'user.message', level: 'critical', message: 'STOP-IT' });
    for (let n = 0; n < 24; n++) await ear.queue('shop/coder', { kind: `ci.job${n}`, level: 'error', message: 'x '.repeat(450) });
    await using agent = await connected(stage, ['mcp'], 'codex-mcp-client');
    expect(await agent.read()).toContain('STOP-IT');
  });

  it('a notification that is longer than the limit is shortened, with the command that prints all of it', async () => {
    await using stage = new Stage();
    const ear = await stage.open();
    const { id } = await ear.queue('shop/coder', {
      kind: 'ci.job',
      level: 'error',
      message: `START ${'é"x '.repeat(4_000)} END`,
    });
    await ear.queue('shop/coder', { kind: 'ci.other', level: 'error', message: 'short' });
    await using agent = await connected(stage, ['mcp'], 'codex-mcp-client');
    expect(JSON.parse(await agent.read())).toMatchObject({ count: 1, more: 1, notifications: [{ message: 'short' }] });
    const text = await agent.read();
    expect(bytes(text)).toBeLessThanOrEqual(11_900);
    expect(bytes(text)).toBeGreaterThan(8_000);
    const [shown] = (JSON.parse(text) as Answer).notifications;
    expect(shown?.message).toMatch(/^START .*… \(cut: \d+ of 16010 characters\)$/);
    expect(shown?.all_of_it).toBe(`earpiece why ${id} --json`);
    expect(JSON.parse(await agent.read())).toMatchObject({ count: 0 });
  });

  it('a client without a limit gets everything at once', async () => {
    await using stage = new Stage();
    const ear = await stage.open();
    for (let n = 0; n < 24; n++) await ear.queue('shop/coder', { kind: `ci.job${n}`, level: 'error', message: 'x '.repeat(450) });
    await using agent = await connected(stage, ['mcp'], 'gemini-cli-mcp-client-earpiece');
    expect(JSON.parse(await agent.read())).toMatchObject({ count: 24 });
  });
});

async function connected(stage: Stage, args: readonly string[], name: string) {
  const client = new Client({ name, version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [CLI, ...args], env: stage.env(), stderr: 'pipe' }),
  );
  return {
    read: async (): Promise<string> => {
      const { content } = (await client.callTool({ name: 'get_notifications', arguments: {} })) as {
        content: { text: string }[];
      };
      return content.map(({ text }) => text).join('\n');
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
