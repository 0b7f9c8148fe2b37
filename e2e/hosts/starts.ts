/** Starts a real agent with a wrapped server, to see whether its first request offers the server's tools. */
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ClientName } from './pins.ts';
import { run } from './run.ts';
import { CLI } from './cost.ts';
import { textsOf } from '../model/texts.ts';

const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
/** Matches the name of a tool of the official filesystem server, with any prefix of the agent. */
const A_TOOL = /read_text_file/;

/** Starts the agent once in a new home. `ms` is the time from its start to its first request that offers tools. */
export async function startOf(client: ClientName): Promise<{ readonly offered: boolean; readonly ms: number }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-starts-'));
  try {
    let startedAt = 0;
    using seen = await run(client, {
      script: [{ text: 'ALL-DONE' }],
      mcpServers: {
        files: {
          command: process.execPath,
          args: [CLI, 'gateway', '--', process.execPath, filesystem, folder],
          env: { EARPIECE_DB: path.join(folder, 'earpiece.db') },
        },
      },
      // The tests' own settings make Codex wait for each server. A person's settings do not.
      settings: client === 'codex' ? { 'mcp_servers.files.required': false } : {},
      onPrepared: () => void (startedAt = Date.now()),
    });
    const first = seen.main[0];
    if (first === undefined) throw new Error(`${client} sent no request: ${seen.stderr.slice(-500)}`);
    const offered = textsOf(first).some(({ result, role, text }) => !result && role !== 'assistant' && A_TOOL.test(text));
    return { offered, ms: Date.parse(first.at) - startedAt };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
