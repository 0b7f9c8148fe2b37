/** The setups of the agents that `earpiece install` knows. */
import { join } from 'node:path';
import { jsonAt } from '../../config/edit-json.ts';
import { readToml } from '../../config/index.ts';
import { defined } from '../../core/defined.ts';
import { HOOK_HOSTS, type HookHost } from '../index.ts';
import { enabledPlugin } from './enabled-plugin.ts';
import { hookGroups } from './hook-groups.ts';
import { hooksIn, hooksPart } from './hook-settings.ts';
import { isOurHook, programOf, SERVER_NAME, shellLine, type Program } from './ours.ts';
import { readSettings } from './plan.ts';
import { PLUGIN_SETUPS } from './plugin-setups.ts';
import { jsonServerPart, tomlServerPart } from './servers.ts';
import { hasStatusLine, statusLinePart } from './status-line.ts';
import { listOf, wrapParts } from './wrap.ts';
import type { Disabled, Part, Place, Setup, WrapSettings } from './setup.ts';

/** The settings of a host with hooks in the common format. */
type HookSetup = Omit<Setup, 'name' | 'title' | 'parts' | 'hooks' | 'plugin' | 'wraps'> & {
  hooksFile(place: Place): string;
  /** Converts seconds to the unit that the host uses. */
  timeout(seconds: number): number;
  server(place: Place, program: Program): Part;
  /** Returns the place of the agent's MCP servers in a JSON file. */
  servers?(place: Place): { readonly file: string; readonly path: readonly string[]; readonly type?: 'stdio' };
  /**
   * For a host with plugins: the settings files that enable plugins, later files overriding earlier files, and the folder of the
   * plugins.
   */
  plugins?(place: Place): readonly [settings: readonly string[], folder: string];
  /** Returns the settings that can turn all hooks off, each with its file and key. */
  switches(place: Place): readonly Switch[];
};

const inHome = (place: Place, variable: string, folder: string): string => place.env[variable] || join(place.home, folder);
const claudeFolder = (place: Place): string => inHome(place, 'CLAUDE_CONFIG_DIR', '.claude');
const codexFolder = (place: Place): string =>
  place.scope === 'project' ? join(place.project, '.codex') : inHome(place, 'CODEX_HOME', '.codex');
const geminiFolder = (place: Place): string =>
  join(place.scope === 'project' ? place.project : inHome(place, 'GEMINI_CLI_HOME', ''), '.gemini');
const qwenFolder = (place: Place): string =>
  place.scope === 'project' ? join(place.project, '.qwen') : inHome(place, 'QWEN_HOME', '.qwen');

const seconds = (s: number): number => s;
const milliseconds = (s: number): number => s * 1_000;

const claudeServers = (place: Place): { readonly file: string; readonly path: readonly string[] } => ({
  file: join(place.env['CLAUDE_CONFIG_DIR'] || place.home, '.claude.json'),
  path: place.scope === 'user' ? ['mcpServers'] : ['projects', place.project, 'mcpServers'],
});

const claudeSettings = (place: Place): readonly string[] => [
  join(claudeFolder(place), 'settings.json'),
  join(place.project, '.claude', 'settings.json'),
  join(place.project, '.claude', 'settings.local.json'),
];

const HOOK_SETUPS: Readonly<Record<string, HookSetup>> = {
  claude: {
    commands: ['claude'],
    folders: (place) => [claudeFolder(place)],
    plugins: (place) => [claudeSettings(place), join(claudeFolder(place), 'plugins')],
    switches: (place) => [
      ...claudeSettings(place).map((file): Switch => ({ file, path: ['disableAllHooks'], off: true })),
      ...MANAGED.flatMap((folder) => {
        const file = join(place.system, folder, 'managed-settings.json');
        return [
          { file, path: ['disableAllHooks'], off: true },
          { file, path: ['allowManagedHooksOnly'], off: true },
        ];
      }),
    ],
    // Every clone of the project has the same settings.json, so paths of this machine must not be in that file.
    hooksFile: (place) =>
      place.scope === 'user' ? join(claudeFolder(place), 'settings.json') : join(place.project, '.claude', 'settings.local.json'),
    timeout: seconds,
    server: (place, program) => jsonServerPart({ ...claudeServers(place), entry: { type: 'stdio', ...program } }),
    servers: (place) => ({ ...claudeServers(place), type: 'stdio' }),
  },
  codex: {
    commands: ['codex'],
    folders: (place) => [codexFolder({ ...place, scope: 'user' })],
    switches: (place) =>
      [codexFolder(place), codexFolder({ ...place, scope: 'user' })].map((folder) => ({
        file: join(folder, 'config.toml'),
        path: ['features', 'hooks'],
        off: false,
      })),
    hooksFile: (place) => join(codexFolder(place), 'hooks.json'),
    timeout: seconds,
    server: (place, program) =>
      tomlServerPart({ file: join(codexFolder(place), 'config.toml'), path: ['mcp_servers'], entry: program }),
    next: 'start codex once and choose "Trust all and continue"; Codex runs no hook before that',
  },
  gemini: {
    commands: ['gemini'],
    folders: (place) => [geminiFolder({ ...place, scope: 'user' })],
    switches: (place) =>
      [place, { ...place, scope: 'user' as const }].map((each) => ({
        file: join(geminiFolder(each), 'settings.json'),
        path: ['hooksConfig', 'enabled'],
        off: false,
      })),
    hooksFile: (place) => join(geminiFolder(place), 'settings.json'),
    timeout: milliseconds,
    server: (place, program) =>
      jsonServerPart({ file: join(geminiFolder(place), 'settings.json'), path: ['mcpServers'], entry: program }),
    servers: (place) => ({ file: join(geminiFolder(place), 'settings.json'), path: ['mcpServers'] }),
  },
  qwen: {
    commands: ['qwen'],
    folders: (place) => [qwenFolder({ ...place, scope: 'user' })],
    switches: (place) =>
      [place, { ...place, scope: 'user' as const }].map((each) => ({
        file: join(qwenFolder(each), 'settings.json'),
        path: ['disableAllHooks'],
        off: true,
      })),
    hooksFile: (place) => join(qwenFolder(place), 'settings.json'),
    timeout: seconds,
    server: (place, program) =>
      jsonServerPart({ file: join(qwenFolder(place), 'settings.json'), path: ['mcpServers'], entry: program }),
    servers: (place) => ({ file: join(qwenFolder(place), 'settings.json'), path: ['mcpServers'] }),
  },
};

/** A setting that turns hooks off with this value. */
type Switch = { readonly file: string; readonly path: readonly string[]; readonly off: boolean };

/** The folders of Claude Code's administrator settings, on Linux and macOS. */
const MANAGED = ['etc/claude-code', 'Library/Application Support/ClaudeCode'];

function turnedOff(switches: readonly Switch[]): Disabled | undefined {
  for (const { file, path, off } of switches) {
    const text = readSettings(file).text;
    if (text === undefined) continue;
    const value = file.endsWith('.toml') ? tomlAt(text, path, file) : jsonAt(text, path);
    if (value !== off) continue;
    const why = `${file} has ${path.join('.')} = ${String(off)}: no hook runs`;
    return {
      why,
      advice: file.endsWith('managed-settings.json') ? `ask the administrator of this machine` : `remove it from ${file}`,
    };
  }
  return undefined;
}

function tomlAt(text: string, path: readonly string[], file: string): unknown {
  const read = readToml(text, file);
  return read.kind === 'problem'
    ? undefined
    : path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], read.table);
}

const withHooks = (host: HookHost, setup: HookSetup): Setup => ({
  name: host.name,
  title: host.title,
  commands: setup.commands,
  folders: (place) => setup.folders(place),
  ...defined({ next: setup.next }),
  hooks: {
    host,
    file: (place) => setup.hooksFile(place),
    found: (text) => hooksIn(text, (handler) => isOurHook(handler, host.name)),
    disabled: (place) => turnedOff(setup.switches(place)),
    enabledPlugin: (place) => (setup.plugins === undefined ? undefined : enabledPlugin(...setup.plugins(place))),
  },
  wraps:
    setup.servers === undefined
      ? { not: `${host.title} keeps its servers in TOML` }
      : (place, ours) => {
          const { type, ...where } = setup.servers?.(place) ?? { file: '', path: [] };
          const entry: WrapSettings['entry'] = (program, env) => ({
            ...defined({ type }),
            ...program,
            ...(Object.keys(env).length === 0 ? {} : { env }),
          });
          return { ...where, list: listOf(host.name, place, ours), env: 'env', entry };
        },
  parts: (place, ours) => [
    hooksPart({
      file: setup.hooksFile(place),
      wanted: hookGroups(host, {
        line: (words, ending) => shellLine(ours, words, ending),
        timeout: (s) => setup.timeout(s),
        ...(ours.serves?.includes(host.name) ? { server: SERVER_NAME } : {}),
      }),
      isOurs: (handler) => isOurHook(handler, host.name),
    }),
    ...(host.name === 'claude' && (ours.statusLine || hasStatusLine(readSettings(setup.hooksFile(place)).text ?? ''))
      ? [statusLinePart(setup.hooksFile(place), ours)]
      : []),
    setup.server(place, programOf(ours, ['mcp'])),
  ],
});

/** Adds the gateway if it was requested or is already installed. */
const wrapping = (setup: Setup): Setup => ({
  ...setup,
  parts(place, ours) {
    const own = setup.parts(place, ours);
    if (typeof setup.wraps !== 'function' || ours.state === undefined) return own;
    const settings = setup.wraps(place, ours);
    return ours.wrap || readSettings(settings.list).text !== undefined ? [...wrapParts(settings, ours), ...own] : own;
  },
});

const EVERY: readonly Setup[] = [
  ...HOOK_HOSTS.flatMap((host) => {
    const setup = HOOK_SETUPS[host.name];
    return setup === undefined ? [] : [withHooks(host, setup)];
  }),
  ...PLUGIN_SETUPS,
];

export const SETUPS: readonly Setup[] = EVERY.map(wrapping);
