/**
 * Tests the lines of `gateway --print` with the clients themselves: the client keeps the intended settings, and the undo line
 * removes them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { installText } from '../../src/cli/install.ts';
import { proves } from '../verifies.ts';
import { binaryOf } from './pins.ts';

const WORDS = ['npx', '-y', '@modelcontextprotocol/server-filesystem', '/tmp/with space'];

type Kept = { readonly mcpServers?: Servers; readonly mcp_servers?: Servers; readonly projects?: Record<string, Kept> };
type Servers = Record<string, { readonly command: string; readonly args: readonly string[] }>;

/** The file in which each client keeps its servers, relative to its home or to the project. */
const KEPT = {
  claude: { file: 'home/.claude.json', read: (text: string, project: string) => (JSON.parse(text) as Kept).projects?.[project] },
  codex: { file: 'home/.codex/config.toml', read: (text: string): Kept => parse(text) },
  gemini: { file: 'project/.gemini/settings.json', read: (text: string) => JSON.parse(text) as Kept },
  qwen: { file: 'home/.qwen/settings.json', read: (text: string) => JSON.parse(text) as Kept },
} as const satisfies Record<string, { file: string; read: (text: string, project: string) => Kept | undefined }>;

for (const [client, { file, read }] of Object.entries(KEPT) as [keyof typeof KEPT, (typeof KEPT)[keyof typeof KEPT]][])
  test(
    `${client} accepts the printed install line, keeps its settings, and removes them with the undo`,
    { timeout: 400_000 },
    () => {
      proves('gateway:print');
      const folder = mkdtempSync(join(tmpdir(), 'earpiece-print-'));
      try {
        const [home, project] = [join(folder, 'home'), join(folder, 'project')];
        for (const each of [home, project]) mkdirSync(each);
        // Gemini CLI reads a project's settings only in trusted folders.
        const trusted = { GEMINI_CLI_TRUST_WORKSPACE: 'true' };
        const env = { HOME: home, PATH: `${dirname(binaryOf(client))}:${process.env['PATH'] ?? ''}`, ...trusted };
        const type = (line: string): void => {
          const { status, stderr } = spawnSync('sh', ['-c', line], { cwd: project, env, encoding: 'utf8', timeout: 180_000 });
          expect({ line, status, stderr: status === 0 ? '' : stderr }).toEqual({ line, status: 0, stderr: '' });
        };
        const kept = (): Servers => {
          const path = join(folder, file);
          const all = existsSync(path) ? read(readFileSync(path, 'utf8'), project) : undefined;
          return all?.mcpServers ?? all?.mcp_servers ?? {};
        };
        const { what, undo } = installText(client, { words: WORDS });
        const meant = JSON.parse(installText('json', { words: WORDS }).what) as { mcpServers: Servers };

        type(what);
        expect(kept()['filesystem']).toMatchObject(meant.mcpServers['filesystem'] ?? {});
        type(undo);
        expect(kept()['filesystem']).toBeUndefined();
      } finally {
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  );
