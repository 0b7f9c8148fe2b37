/** Describes the setup of each agent that `earpiece install` supports. */
import { join } from 'node:path';
import { defined } from '../../core/defined.ts';
import { HOOK_HOSTS, type HookHost } from '../index.ts';
import { copiesOf } from './copies.ts';
import { enabledPlugin } from './enabled-plugin.ts';
import { claudeFolder, claudeServers, claudeSettings, codexFolder, geminiFolder, qwenFolder } from './folders.ts';
import { hookGroups } from './hook-groups.ts';
import { doubledIn, hooksIn, hooksPart } from './hook-settings.ts';
import { isOurHook, programOf, SERVER_NAME, shellLine, type Program } from './ours.ts';
import { readSettings } from './read-settings.ts';
import { PLUGIN_SETUPS } from './plugin-setups.ts';
import { jsonServerPart, tomlServerPart } from './servers.ts';
import { hasStatusLine, statusLinePart } from './status-line.ts';
import { switchedOff } from './switches.ts';
import { variablesOf } from './variables.ts';
import { isWrapped, listOf, wrapParts } from './wrap.ts';
import type { Part, Place, Setup, WrapSettings } from './setup.ts';

/** The settings of a host with hooks in the common format. */
type HookSetup = Omit<Setup, 'name' | 'title' | 'parts' | 'hooks' | 'plugin' | 'wraps' | 'switchedOff' | 'variables'> & {
  hooksFile(place: Place): string;
  /** Converts seconds to the unit that the host uses. */
  timeout(seconds: number): number;
  server(place: Place, program: Program): Part;
  /** Returns the place of the agent's MCP servers in a JSON file. */
  servers?(place: Place): { readonly file: string; readonly path: readonly string[]; readonly type?: 'stdio' };
  /**
   * Returns the settings files that enable plugins, and the folder of the plugins, for a host with plugins. Later files override
   * earlier files.
   */
  plugins?(place: Place): readonly [settings: readonly string[], folder: string];
};

const seconds = (s: number): number => s;
const milliseconds = (s: number): number => s * 1_000;

const HOOK_SETUPS: Readonly<Record<string, HookSetup>> = {
  claude: {
    commands: ['claude'],
    folders: (place) => [claudeFolder(place)],
    plugins: (place) => [claudeSettings(place), join(claudeFolder(place), 'plugins')],
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
    hooksFile: (place) => join(codexFolder(place), 'hooks.json'),
    timeout: seconds,
    server: (place, program) =>
      tomlServerPart({ file: join(codexFolder(place), 'config.toml'), path: ['mcp_servers'], entry: program }),
    next: 'start codex once and choose "Trust all and continue", because Codex runs no hook before that',
  },
  gemini: {
    commands: ['gemini'],
    folders: (place) => [geminiFolder({ ...place, scope: 'user' })],
    hooksFile: (place) => join(geminiFolder(place), 'settings.json'),
    timeout: milliseconds,
    server: (place, program) =>
      jsonServerPart({ file: join(geminiFolder(place), 'settings.json'), path: ['mcpServers'], entry: program }),
    servers: (place) => ({ file: join(geminiFolder(place), 'settings.json'), path: ['mcpServers'] }),
  },
  qwen: {
    commands: ['qwen'],
    folders: (place) => [qwenFolder({ ...place, scope: 'user' })],
    hooksFile: (place) => join(qwenFolder(place), 'settings.json'),
    timeout: seconds,
    server: (place, program) =>
      jsonServerPart({ file: join(qwenFolder(place), 'settings.json'), path: ['mcpServers'], entry: program }),
    servers: (place) => ({ file: join(qwenFolder(place), 'settings.json'), path: ['mcpServers'] }),
  },
};

const withHooks = (host: HookHost, setup: HookSetup): Setup => ({
  name: host.name,
  title: host.title,
  commands: setup.commands,
  folders: (place) => setup.folders(place),
  ...defined({ next: setup.next }),
  switchedOff: (place) => switchedOff(host.name, place),
  variables: (place) => variablesOf(host.name, place),
  hooks: {
    host,
    file: (place) => setup.hooksFile(place),
    found: (text) => hooksIn(text, (handler) => isOurHook(handler, host.name)),
    doubled: (text) => doubledIn(text, (handler) => isOurHook(handler, host.name)),
    copies: (place) => {
      const managed = (['user', 'project'] as const).map((scope) => setup.hooksFile({ ...place, scope }));
      return copiesOf(host.name, place, managed);
    },
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
    return ours.wrap || isWrapped(settings) ? [...wrapParts(settings, ours), ...own] : own;
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
