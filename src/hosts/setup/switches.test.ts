/**
 * Tests which settings and variables make `doctor` report that an agent ignores Earpiece, in the order of precedence of each agent.
 * No process is started.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { install, installBook, planInstall, SETUPS, type Ours, type Place } from './index.ts';

const OURS: Ours = { node: '/opt/node/bin/node', entry: '/opt/earpiece/dist/cli/main.js' };
const COMMAND = [OURS.node, OURS.entry, 'mcp'];

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'earpiece-switches-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Given = {
  /** The content of files: text, or a value that is written as JSON. `$home` in a variable is the folder of these files. */
  readonly files?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
};
/** `says` is a part of each reason, in order. Without a reason, the agent uses Earpiece. */
type Case = readonly [name: string, given: Given, ...says: readonly string[]];

const place = (env: Given['env'] = {}): Place => ({
  env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('$home', folder)])),
  home: folder,
  project: join(folder, 'shop'),
  scope: 'user',
  system: join(folder, 'machine'),
});

function write(file: string, content: unknown): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content));
}

const MANAGED = 'machine/etc/claude-code/managed-settings.json';
const DROP_IN = 'machine/etc/claude-code/managed-settings.d/10-hooks.json';
const GEMINI = 'machine/etc/gemini-cli/settings.json';
const QWEN = 'machine/etc/qwen-code/settings.json';
const REQUIREMENTS = 'machine/etc/codex/requirements.toml';
const OFF = '[features]\nhooks = false\n';
const NO_MCP = { mcp: { earpiece: { enabled: false } } };

const CASES: Readonly<Record<string, readonly Case[]>> = {
  claude: [
    ['a managed drop-in', { files: { [DROP_IN]: { disableAllHooks: true } } }, `${DROP_IN} has disableAllHooks = true`],
    [
      'hooks of the administrator only',
      { files: { [DROP_IN]: { allowManagedHooksOnly: true } } },
      'allowManagedHooksOnly = true',
    ],
    [
      'hooks of plugins only',
      { files: { [MANAGED]: { strictPluginOnlyCustomization: ['hooks'] } } },
      `${MANAGED} has strictPluginOnlyCustomization = ["hooks"]: no hook runs`,
    ],
    [
      'everything of plugins only',
      { files: { [MANAGED]: { strictPluginOnlyCustomization: true } } },
      'strictPluginOnlyCustomization = true: no hook runs',
      'strictPluginOnlyCustomization = true: the agent does not have the MCP server',
    ],
    ['skills of plugins only', { files: { [MANAGED]: { strictPluginOnlyCustomization: ['skills'] } } }],
    ['the simple mode', { env: { CLAUDE_CODE_SIMPLE: '1' } }, 'the variable CLAUDE_CODE_SIMPLE is 1: no hook runs'],
    ['the safe mode', { env: { CLAUDE_CODE_SAFE_MODE: 'true' } }, 'the variable CLAUDE_CODE_SAFE_MODE is true'],
    ['no safe mode', { env: { CLAUDE_CODE_SAFE_MODE: '0' } }],
    [
      'the simple mode in the settings',
      { files: { '.claude/settings.json': { env: { CLAUDE_CODE_SIMPLE: '1' } } } },
      '.claude/settings.json has env.CLAUDE_CODE_SIMPLE = 1: no hook runs',
    ],
    [
      'the safe mode in the settings',
      { files: { '.claude/settings.json': { env: { CLAUDE_CODE_SAFE_MODE: '1' } } } },
      'env.CLAUDE_CODE_SAFE_MODE = 1',
    ],
    [
      'modes in the project',
      { files: { 'shop/.claude/settings.json': { env: { CLAUDE_CODE_SIMPLE: '1', CLAUDE_CODE_SAFE_MODE: '1' } } } },
    ],
    [
      'the settings over the shell',
      { files: { '.claude/settings.json': { env: { CLAUDE_CODE_SIMPLE: '0' } } }, env: { CLAUDE_CODE_SIMPLE: '1' } },
    ],
    [
      'the project over the user',
      { files: { '.claude/settings.json': { disableAllHooks: true }, 'shop/.claude/settings.json': { disableAllHooks: false } } },
    ],
    ['a drop-in over its file', { files: { [MANAGED]: { disableAllHooks: true }, [DROP_IN]: { disableAllHooks: false } } }],
    ['a file with comments', { files: { 'shop/.claude/settings.local.json': '{ // no\n "disableAllHooks": true }' } }],
    [
      'the file of the servers',
      { files: { 'machine/etc/claude-code/managed-mcp.json': { mcpServers: {} } } },
      'managed-mcp.json has mcpServers without "earpiece"',
    ],
    [
      'other servers are allowed',
      { files: { [MANAGED]: { allowedMcpServers: [{ serverName: 'other' }] } } },
      `${MANAGED} has allowedMcpServers without "earpiece"`,
    ],
    [
      'no server is allowed',
      { files: { '.claude/settings.json': { allowedMcpServers: [] } } },
      'allowedMcpServers without "earpiece"',
    ],
    ['the server is allowed by name', { files: { [MANAGED]: { allowedMcpServers: [{ serverName: 'earpiece' }] } } }],
    ['the server is allowed by command', { files: { [MANAGED]: { allowedMcpServers: [{ serverCommand: COMMAND }] } } }],
    [
      'other commands are allowed',
      { files: { [MANAGED]: { allowedMcpServers: [{ serverName: 'earpiece' }, { serverCommand: ['other'] }] } } },
      'allowedMcpServers without "earpiece"',
    ],
    [
      'the server is denied by command',
      { files: { 'shop/.claude/settings.json': { deniedMcpServers: [{ serverCommand: COMMAND }] } } },
      'shop/.claude/settings.json has deniedMcpServers with "earpiece"',
    ],
    ['another command is denied', { files: { [MANAGED]: { deniedMcpServers: [{ serverCommand: ['other'] }] } } }],
  ],
  gemini: [
    [
      'a comma before the end of an object',
      { files: { 'shop/.gemini/settings.json': '{\n  // a, }\n  "x": "a,}",\n  "y": [1, 2] /* , ] */ ,\n}' } },
      'shop/.gemini/settings.json:4:25: has a comma before the end of a list or an object, so Gemini CLI does not start',
    ],
    ['a comment and no such comma', { files: { 'shop/.gemini/settings.json': '{ "x": [1, /* , */ 2] // ,\n}' } }],
    [
      'comments with a bracket after a comma',
      { files: { 'shop/.gemini/settings.json': '{ "a": [1, /* b */ 2 /* ] */], // values [x]\n "b": 2 }' } },
    ],
    [
      'a comma before a long line of slashes',
      { files: { 'shop/.gemini/settings.json': `{ "a": 1, ${'/'.repeat(5_000)}\n "b": 2 }` } },
    ],
    [
      'a byte order mark',
      { files: { '.gemini/settings.json': '\ufeff{}' } },
      '.gemini/settings.json begins with a byte order mark, so Gemini CLI does not start',
    ],
    ['the system', { files: { [GEMINI]: { hooksConfig: { enabled: false } } } }, `${GEMINI} has hooksConfig.enabled = false`],
    [
      'the file of a variable',
      { files: { 'sys.json': { hooksConfig: { enabled: false } } }, env: { GEMINI_CLI_SYSTEM_SETTINGS_PATH: '$home/sys.json' } },
      'sys.json has hooksConfig.enabled = false',
    ],
    [
      'the system over the project',
      {
        files: {
          [GEMINI]: { hooksConfig: { enabled: true } },
          'shop/.gemini/settings.json': { hooksConfig: { enabled: false } },
        },
      },
    ],
    [
      'the defaults of the system',
      { files: { 'machine/etc/gemini-cli/system-defaults.json': { hooksConfig: { enabled: false } } } },
      'system-defaults.json has hooksConfig.enabled = false',
    ],
    [
      'other servers are allowed',
      { files: { 'shop/.gemini/settings.json': { mcp: { allowed: ['other'] } } } },
      'shop/.gemini/settings.json has mcp.allowed without "earpiece"',
    ],
    [
      'other servers are allowed by the system',
      { files: { [GEMINI]: { mcp: { allowed: ['corp'] } } } },
      `${GEMINI} has mcp.allowed`,
    ],
    ['the server is allowed', { files: { [GEMINI]: { mcp: { allowed: ['corp', 'earpiece'] } } } }],
    ['an empty list allows every server', { files: { [GEMINI]: { mcp: { allowed: [] } } } }],
    [
      'the system excludes the server',
      { files: { [GEMINI]: { mcp: { excluded: ['earpiece'] } } } },
      `${GEMINI} has mcp.excluded with "earpiece"`,
    ],
    [
      'the file of enabled servers',
      { files: { '.gemini/mcp-server-enablement.json': { earpiece: { enabled: false } } } },
      '.gemini/mcp-server-enablement.json has earpiece.enabled = false',
    ],
  ],
  qwen: [
    ['the system', { files: { [QWEN]: { disableAllHooks: true } } }, `${QWEN} has disableAllHooks = true`],
    [
      'the defaults of the system',
      { files: { 'machine/etc/qwen-code/system-defaults.json': { disableAllHooks: true } } },
      'system-defaults.json has disableAllHooks = true',
    ],
    [
      'the file of a variable',
      { files: { 'sys.json': { disableAllHooks: true } }, env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: '$home/sys.json' } },
      'sys.json has disableAllHooks = true',
    ],
    [
      'the project over the defaults',
      {
        files: {
          'machine/etc/qwen-code/system-defaults.json': { disableAllHooks: true },
          'shop/.qwen/settings.json': { disableAllHooks: false },
        },
      },
    ],
    ['the simple mode', { env: { QWEN_CODE_SIMPLE: '1' } }, 'the variable QWEN_CODE_SIMPLE is 1: no hook runs'],
    ['the safe mode', { env: { QWEN_CODE_SAFE_MODE: 'on' } }, 'the variable QWEN_CODE_SAFE_MODE is on: no hook runs'],
    [
      'the safe mode of the system',
      { files: { [QWEN]: { env: { QWEN_CODE_SAFE_MODE: '1' } } } },
      `${QWEN} has env.QWEN_CODE_SAFE_MODE = 1`,
    ],
    [
      'the safe mode in a file',
      { files: { '.qwen/.env': 'QWEN_CODE_SAFE_MODE=1\n' } },
      '.qwen/.env has QWEN_CODE_SAFE_MODE = 1: no hook runs',
    ],
    ['the simple mode in a file', { files: { '.qwen/.env': 'QWEN_CODE_SIMPLE=1\n' } }, '.qwen/.env has QWEN_CODE_SIMPLE = 1'],
    ['the simple mode in the settings', { files: { [QWEN]: { env: { QWEN_CODE_SIMPLE: '1' } } } }, 'env.QWEN_CODE_SIMPLE = 1'],
    [
      'the safe mode in a file of the project',
      { files: { 'shop/.env': 'QWEN_CODE_SAFE_MODE=1\n' } },
      'shop/.env has QWEN_CODE_SAFE_MODE = 1',
    ],
    ['the shell over the file', { files: { '.qwen/.env': 'QWEN_CODE_SAFE_MODE=1\n' }, env: { QWEN_CODE_SAFE_MODE: '0' } }],
    [
      'a pattern excludes the server',
      { files: { [QWEN]: { mcp: { excluded: ['ear*'] } } } },
      `${QWEN} has mcp.excluded with "ear*"`,
    ],
    [
      'other servers are allowed',
      { files: { 'shop/.qwen/settings.json': { mcp: { allowed: ['other'] } } } },
      'mcp.allowed without "earpiece"',
    ],
    ['a pattern allows the server', { files: { [QWEN]: { mcp: { allowed: ['ear*'] } } } }],
  ],
  opencode: [
    ...['1', 'true', 'yes'].map((value): Case => [
      `OPENCODE_PURE ${value}`,
      { env: { OPENCODE_PURE: value } },
      `the variable OPENCODE_PURE is ${value}: opencode loads no plugin`,
    ]),
    ['OPENCODE_PURE 0', { env: { OPENCODE_PURE: '0' } }],
    [
      'the file of a variable',
      { files: { 'own.json': NO_MCP }, env: { OPENCODE_CONFIG: '$home/own.json' } },
      'own.json has mcp.earpiece.enabled = false',
    ],
    [
      'a variable',
      { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(NO_MCP) } },
      'OPENCODE_CONFIG_CONTENT has mcp.earpiece.enabled = false',
    ],
    [
      'the system',
      { files: { 'machine/etc/opencode/opencode.json': NO_MCP } },
      'machine/etc/opencode/opencode.json has mcp.earpiece.enabled = false',
    ],
    [
      'a variable over the project',
      {
        files: { 'shop/opencode.json': NO_MCP },
        env: { OPENCODE_CONFIG_CONTENT: '{ "mcp": { "earpiece": { "enabled": true } } }' },
      },
    ],
  ],
  pi: [
    [
      'a pattern',
      { files: { '.pi/agent/extensions/.gitignore': '*.js\n' } },
      '.pi/agent/extensions/.gitignore has the line "*.js": pi does not load the plugin',
    ],
    ['the name', { files: { '.pi/agent/extensions/.ignore': '# no\n/earpiece.js\n' } }, '.ignore has the line "/earpiece.js"'],
    ['capitals', { files: { '.pi/agent/extensions/.fdignore': 'EARPIECE.js\n' } }, '.fdignore has the line "EARPIECE.js"'],
    ['included again', { files: { '.pi/agent/extensions/.gitignore': '*\n!earpiece.js\n' } }],
    ['other files', { files: { '.pi/agent/extensions/.gitignore': 'dist/\n*.ts\n' } }],
  ],
  codex: [
    ['an untrusted project', { files: { 'shop/.codex/config.toml': OFF } }],
    ['the requirements', { files: { [REQUIREMENTS]: OFF } }, `${REQUIREMENTS} has features.hooks = false`],
    [
      'hooks of the administrator only',
      { files: { [REQUIREMENTS]: 'allow_managed_hooks_only = true\n' } },
      'allow_managed_hooks_only = true',
    ],
    [
      'no server is allowed',
      { files: { [REQUIREMENTS]: '[mcp_servers]\n' } },
      `${REQUIREMENTS} has mcp_servers without "earpiece"`,
    ],
    ['the server is allowed', { files: { [REQUIREMENTS]: '[mcp_servers.earpiece.identity]\ncommand = "node"\n' } }],
    [
      'the managed settings',
      { files: { 'machine/etc/codex/managed_config.toml': OFF } },
      'managed_config.toml has features.hooks = false',
    ],
    [
      'the older name',
      { files: { '.codex/config.toml': '[features]\ncodex_hooks = false\n' } },
      '.codex/config.toml has features.codex_hooks = false',
    ],
    [
      'the user over the system',
      { files: { 'machine/etc/codex/config.toml': OFF, '.codex/config.toml': '[features]\nhooks = true\n' } },
    ],
  ],
};

async function reasons(name: string, { files = {}, env }: Given): Promise<readonly string[]> {
  const setup = SETUPS.find((each) => each.name === name);
  if (setup === undefined) throw new Error(`no setup ${name}`);
  const book = installBook({ env: { XDG_STATE_HOME: join(folder, 'state') }, home: folder });
  for (const plan of planInstall(setup, place(env), OURS, book)) await install(plan, book);
  for (const [file, content] of Object.entries(files)) write(file, content);
  return setup.switchedOff(place(env)).map(({ why }) => why);
}

describe.each(Object.keys(CASES))('%s', (host) => {
  proves('hosts:doctor');
  const cases = (CASES[host] ?? []).map(([name, given, ...says]) => ({ name, given, says }));
  it.each(cases)('$name', async ({ given, says }) => {
    expect(await reasons(host, given)).toEqual(says.map((part) => expect.stringContaining(part) as string));
  });
});

it('Codex reads the settings of a trusted project', async () => {
  const trust = `[projects."${join(folder, 'shop')}"]\ntrust_level = "trusted"\n`;
  const found = await reasons('codex', { files: { '.codex/config.toml': trust, 'shop/.codex/config.toml': OFF } });
  expect(found).toEqual([expect.stringContaining('shop/.codex/config.toml has features.hooks = false') as string]);
});

it('Qwen Code: disableAllHooks = false in the project overrides true in the settings of the user', async () => {
  const files = { '.qwen/settings.json': { disableAllHooks: true }, 'shop/.qwen/settings.json': { disableAllHooks: false } };
  expect(await reasons('qwen', { files })).toEqual([]);
});

it('a key that a person added to the server is not an entry of another version', async () => {
  const setup = SETUPS.find(({ name }) => name === 'gemini');
  const command = { command: OURS.node, args: [OURS.entry, 'mcp'] };
  const server = setup?.parts(place(), OURS).find(({ hasServer }) => hasServer !== undefined);
  const text = JSON.stringify({ mcpServers: { earpiece: { ...command, excludeTools: ['get_notifications'] } } });
  expect(server?.add(text)).toEqual({ kind: 'text', text });
});
