/** Tests servers in trouble with the real Claude Code and Codex: directly, and behind the gateway. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { gatewayBefore } from './earpiece.ts';
import type { McpServer } from './clients/client.ts';
import type { Call } from '../model/script.ts';
import type { Recorded } from '../model/tap.ts';
import { textsOf } from '../model/texts.ts';
import { run, type Run } from './run.ts';
import { proves } from '../verifies.ts';

type Servers = Readonly<Record<string, McpServer>>;
type Client = (typeof CLIENTS)[number];
type How = (typeof WAYS)[number];

const CLIENTS = ['claude', 'codex'] as const;
const WAYS = ['directly', 'behind the gateway'] as const;

const server = fileURLToPath(new URL('trouble-server.ts', import.meta.url));
const trouble = (...args: readonly string[]): McpServer => ({ command: process.execPath, args: [server, ...args] });

describe.for(CLIENTS.flatMap((client) => WAYS.map((how) => ({ client, how }))))('$client, $how', ({ client, how }) => {
  test('gets the tools of a quick server and of a server that starts in 8 s; only the gateway reports a broken server', async () => {
    proves('gateway:starts-apart', 'gateway:lists-once', 'gateway:broken-server');
    using folder = temporaryFolder();
    const listed = path.join(folder.path, 'listed');
    const servers = behind(how, folder.path, {
      slow: trouble('slow', '--after', '8000', '--listed', listed),
      quick: trouble('quick'),
      broken: { command: process.execPath, args: ['-e', 'console.error("Error: no token in API_TOKEN"); process.exit(7)'] },
    });
    using seen = await run(client, {
      mcpServers: servers,
      settings: asPeopleHaveThem(client, servers),
      script: [
        { calls: [until(listed, client)] },
        { calls: [calling(how, 'quick', 'note')] },
        { calls: [calling(how, 'slow', 'note')] },
        { text: 'ALL-DONE' },
      ],
    });
    const requests = seen.main.map(offered);
    const [, quick = '', slow = ''] = results(seen);
    console.log(`${client}, ${how}: tools of ${requests.map((names) => `[${names.join(' ')}]`).join(', ')}`);

    expect(requests.slice(1)).toEqual([
      ['quick', 'slow'],
      ['quick', 'slow'],
      ['quick', 'slow'],
    ]);
    expect([quick, slow]).toEqual([expect.stringContaining('NOTED-quick'), expect.stringContaining('NOTED-slow')]);
    // Only the gateway reports why the third server failed.
    const why = 'mcp error: MCP server `broken` does not work: exit code 7; its stderr: "Error: no token in API_TOKEN"';
    expect(`${quick}${slow}`.split(why)).toHaveLength(how === 'directly' ? 1 : 2);
  });

  test('gets an error from a server that dies in the middle of an answer', async () => {
    proves('gateway:partial-frame', 'gateway:restart');
    using folder = temporaryFolder();
    using seen = await run(client, {
      mcpServers: behind(how, folder.path, { one: trouble('one'), two: trouble('two') }),
      script: [
        { calls: [calling(how, 'one', 'die')] },
        { calls: [calling(how, 'two', 'note')] },
        { calls: [calling(how, 'one', 'note')] },
        { text: 'ALL-DONE' },
      ],
    });
    const closed = { claude: 'Connection closed', codex: 'Transport closed' }[client];
    const stopped = 'The MCP server "one" stopped during this call (signal SIGKILL). The server is being restarted';
    // Codex does not restart a server.
    const again = client === 'codex' && how === 'directly' ? closed : 'NOTED-one';
    const read = [how === 'directly' ? closed : stopped, 'NOTED-two', again];
    expect(results(seen)).toEqual(read.map((text) => expect.stringContaining(text) as string));
    expect(results(seen).join()).not.toContain('HALF');
    expect(seen.stdout).toContain('ALL-DONE');
  });
});

function behind(how: How, folder: string, servers: Servers): Servers {
  return how === 'directly' ? servers : { earpiece: gatewayBefore(servers, folder) };
}

const calling = (how: How, name: string, tool: string): Call =>
  how === 'directly' ? { mcp: name, tool } : { mcp: 'earpiece', tool: `${name}__${tool}` };

/** Turns off the setting with which the harness makes Codex wait for its servers, because people do not use this setting. */
const asPeopleHaveThem = (client: Client, servers: Servers): Record<string, false> =>
  client === 'codex' ? Object.fromEntries(Object.keys(servers).map((name) => [`mcp_servers.${name}.required`, false])) : {};

/**
 * Returns a command that ends when the file exists. Codex waits at most 10 s for the end of a command, unless the call sets
 * another time.
 */
function until(file: string, client: Client): Call {
  const shell = `while [ ! -e ${file} ]; do sleep 0.2; done`;
  return client === 'codex' ? { name: 'exec_command', args: { cmd: shell, yield_time_ms: 30_000 } } : { shell };
}

/** Returns the servers whose tools a request offers to the model. Claude Code names these servers in a message. */
const offered = (request: Recorded): string[] =>
  ['quick', 'slow', 'broken'].filter((name) =>
    textsOf(request).some(
      ({ result, role, text }) => !result && role !== 'assistant' && new RegExp(`${name}__note|mcp__${name}$`).test(text),
    ),
  );

/** Returns the text that the model reads for each call, in the order of the calls. */
function results(seen: Run): string[] {
  const texts: string[] = [];
  for (const { result, text } of textsOf(seen.main.at(-1)!))
    if (result) texts[result.no - 1] = `${texts[result.no - 1] ?? ''}${text}`;
  return texts;
}

function temporaryFolder(): Disposable & { readonly path: string } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hosts-'));
  return { path: folder, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true }) };
}
