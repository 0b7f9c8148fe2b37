import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { behindGateway, EVERYTHING, FILESYSTEM, RawClient, ScriptFiles } from './raw-client.ts';
import { EVERYTHING_CALLS, filesystemCalls, freshFolder, timeless, type ToolCall } from './tool-calls.ts';
import { proves } from '../verifies.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'earpiece-differential-'));
});
afterAll(() => rm(root, { recursive: true }));

const PROFILES = ['blocks', 'extend', 'strip'] as const;
const PEERS = ['everything', 'filesystem'] as const;

function peer(name: (typeof PEERS)[number]): { server: readonly string[]; calls: readonly ToolCall[] } {
  const folder = join(root, 'files');
  return name === 'everything'
    ? { server: EVERYTHING, calls: EVERYTHING_CALLS }
    : { server: [...FILESYSTEM, folder], calls: filesystemCalls(folder) };
}

/** Returns the raw answers to initialize, tools/list and one call after the other. */
async function answers(args: readonly string[], calls: readonly ToolCall[]): Promise<string[]> {
  await freshFolder(join(root, 'files'));
  await using client = new RawClient(args);
  const lines = [await client.initialize()];
  client.send('{"jsonrpc":"2.0","id":"list","method":"tools/list"}');
  lines.push(await client.answer('"list"'));
  for (const [id, { name, args: given }] of calls.entries()) {
    client.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name, arguments: given, _meta: { progressToken: id } },
      }),
    );
    lines.push(await client.answer(id));
  }
  return lines.map(timeless);
}

describe('a server through a gateway without notifications, compared with a direct connection', () => {
  test.each(PEERS)('%s: every tool gives the same bytes; strip removes only structured content', async (name) => {
    proves('gateway:identical', 'gateway:tools-list');
    const { server, calls } = peer(name);
    const [initialize, list, ...direct] = await answers(server, calls);
    const listed = toolsOf(list!);
    expect(listed.filter((tool) => !calls.some((call) => call.name === tool.name))).toEqual([]);
    for (const profile of PROFILES) {
      const [itsInitialize, itsList, ...through] = await answers(behindGateway(server, ['--profile', profile]), calls);
      expect(itsInitialize).toBe(initialize);
      if (profile === 'blocks') expect(itsList).toBe(list);
      if (profile === 'strip') {
        expect(through.map(withoutStructured)).toEqual(through.map((line) => JSON.parse(line) as unknown));
        expect(through.map(withoutStructured)).toEqual(direct.map(withoutStructured));
      } else expect(through).toEqual(direct);
      // The profile changes only the output schemas. The rest of each tool stays as the server sent it.
      const its = toolsOf(itsList!);
      expect(its.map((tool) => ({ ...tool, outputSchema: undefined }))).toEqual(
        listed.map((tool) => ({ ...tool, outputSchema: undefined })),
      );
      const schemas = Object.fromEntries(its.map((tool) => [tool.name, tool.outputSchema ?? null]));
      await expect(`${JSON.stringify(schemas, undefined, 1)}\n`).toMatchFileSnapshot(`golden/schemas-${name}-${profile}.json`);
    }
  });
});

function toolsOf(line: string): { name: string; outputSchema?: unknown }[] {
  return (JSON.parse(line) as { result: { tools: { name: string; outputSchema?: unknown }[] } }).result.tools;
}

function withoutStructured(line: string): unknown {
  const { result, ...rest } = JSON.parse(line) as { result?: Record<string, unknown> };
  if (result === undefined) return rest;
  const { structuredContent: _, ...left } = result;
  return { result: left, ...rest };
}

type Result = { content?: { type: string; text?: string }[]; structuredContent?: Record<string, unknown>; isError?: boolean };

/** Connects an SDK client, which validates results against the schemas from the server. */
async function sdkClient(sdk: 'v1' | 'v2', args: readonly string[], name = 'sdk') {
  if (sdk === 'v1') {
    const client = new ClientV1({ name, version: '1' }, { capabilities: { sampling: {}, elicitation: {}, roots: {} } });
    await client.connect(new StdioV1({ command: process.execPath, args: [...args], stderr: 'ignore' }));
    await client.listTools();
    return {
      call: async (call: ToolCall) => (await client.callTool({ name: call.name, arguments: call.args })) as Result,
      close: () => client.close(),
    };
  }
  const client = new ClientV2({ name, version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioV2({ command: process.execPath, args: [...args], stderr: 'ignore' }));
  await client.listTools();
  const call = async ({ name: tool, args: given }: ToolCall): Promise<Result> =>
    (await client.callTool({ name: tool, arguments: given })) as Result;
  return { call, close: () => client.close() };
}

describe.each(['v1', 'v2'] as const)('the %s SDK client accepts the added text', (sdk) => {
  proves('gateway:profiles');
  const expected = new Map<string, readonly (Result | { error: string })[]>();
  beforeAll(async () => {
    for (const name of PEERS) expected.set(name, await allResults(sdk, name, (server) => server));
  });

  test.each(PROFILES)('%s', async (profile) => {
    await using files = await ScriptFiles.make();
    files.write({ ride: { text: 'a word' } });
    for (const name of PEERS) {
      const { calls } = peer(name);
      const got = await allResults(sdk, name, (server) => behindGateway(server, [...files.options, '--profile', profile]));
      for (const [index, result] of got.entries()) {
        const { name: tool } = calls[index]!;
        const want = expected.get(name)![index]!;
        if ('error' in want || 'error' in result) {
          expect(result, tool).toEqual(want);
          continue;
        }
        if (want.content === undefined) continue; // A task: its result has no content.
        expect(result.content?.at(-1), tool).toEqual({ type: 'text', text: 'a word' });
        expect(result.content?.slice(0, -1), tool).toEqual(want.content);
        const { structuredContent } = want;
        const extended =
          profile === 'extend' && structuredContent ? { ...structuredContent, _notices: 'a word' } : structuredContent;
        expect(result.structuredContent, tool).toEqual(profile === 'strip' ? undefined : extended);
      }
    }
  });
});

async function allResults(
  sdk: 'v1' | 'v2',
  name: (typeof PEERS)[number],
  args: (server: readonly string[]) => readonly string[],
): Promise<(Result | { error: string })[]> {
  const { server, calls } = peer(name);
  await freshFolder(join(root, 'files'));
  const client = await sdkClient(sdk, args(server));
  const all: (Result | { error: string })[] = [];
  for (const call of calls) {
    try {
      const result = call.name === 'simulate-research-query' ? {} : await client.call(call);
      all.push(JSON.parse(timeless(JSON.stringify(result))) as Result);
    } catch (error) {
      all.push({ error: String(error) });
    }
  }
  await client.close();
  return all;
}
