/**
 * Finds the settings with which an agent ignores an installation: hooks, plugins and servers that are switched off, and other
 * servers with Earpiece's name. A project can contain them too, so every file that the agent reads in the project is checked.
 */
import { basename, join, matchesGlob, relative } from 'node:path';
import { jsonAt } from '../../config/edit-json.ts';
import { readToml } from '../../config/index.ts';
import {
  claudeServers,
  claudeSettings,
  codexFolder,
  geminiFolder,
  opencodeConfig,
  pluginFile,
  pluginFolder,
  qwenFolder,
} from './folders.ts';
import { hooksIn } from './hook-settings.ts';
import { isOurHook, isOurServer, SERVER_NAME } from './ours.ts';
import { isOwnFile } from './own-file.ts';
import { readSettings } from './plan.ts';
import { wordsOf } from './servers.ts';
import type { Disabled, Place } from './setup.ts';

/** A setting of a file. `found` returns the reason and the way out if the value keeps Earpiece from the agent. */
type Switch = {
  readonly file: string;
  readonly path: readonly string[];
  readonly found: (value: unknown, at: { readonly file: string; readonly key: string }) => Disabled | undefined;
};

/** Returns the settings that keep Earpiece from this host, in this project. */
export function switchedOff(host: string, place: Place): readonly Disabled[] {
  const all = SWITCHES[host]?.({ ...place, scope: 'user' }, { ...place, scope: 'project' }) ?? [];
  const disabled = all.flatMap(({ file, path, found }) => {
    const text = readSettings(file).text;
    if (text === undefined) return [];
    const value = file.endsWith('.toml') ? tomlAt(text, path, file) : jsonAt(text, path);
    return (value === undefined ? undefined : found(value, { file, key: keyOf(path) })) ?? [];
  });
  // In the home folder, the settings of the project are those of the user.
  return [...new Map(disabled.map((each) => [each.why, each])).values()];
}

const SWITCHES: Readonly<Record<string, (user: Place, project: Place) => readonly Switch[]>> = {
  claude(user, project) {
    const servers = claudeServers(project);
    const managed = MANAGED.map((folder) => join(user.system, folder, MANAGED_FILE));
    const settings = [...claudeSettings(user), ...managed];
    return [
      ...settings.map((file): Switch => ({ file, path: ['disableAllHooks'], found: hooksAre(true) })),
      ...managed.map((file): Switch => ({ file, path: ['allowManagedHooksOnly'], found: hooksAre(true) })),
      ...settings.map((file): Switch => ({ file, path: ['deniedMcpServers'], found: lists })),
      { file: servers.file, path: ['projects', project.project, 'disabledMcpServers'], found: lists },
      { file: servers.file, path: [...servers.path, SERVER_NAME], found: isAnother(' for this project') },
      { file: join(project.project, '.mcp.json'), path: ['mcpServers', SERVER_NAME], found: isAnother() },
    ];
  },
  codex: (user, project) =>
    [user, project].flatMap((place) => {
      const file = join(codexFolder(place), 'config.toml');
      return [
        { file, path: ['features', 'hooks'], found: hooksAre(false) },
        ...serverIn(file, ['mcp_servers', SERVER_NAME], place),
      ];
    }),
  gemini(user, project) {
    const files = [user, project].map((place) => ({ place, file: join(geminiFolder(place), 'settings.json') }));
    const commands = files.flatMap(({ file }) => commandsIn(file, 'gemini'));
    return files.flatMap(({ file, place }) => [
      { file, path: ['hooksConfig', 'enabled'], found: hooksAre(false) },
      { file, path: ['hooksConfig', 'disabled'], found: listsHooks(commands) },
      ...excludes(file),
      ...serverIn(file, ['mcpServers', SERVER_NAME], place),
    ]);
  },
  qwen: (user, project) =>
    [user, project].flatMap((place) => {
      const file = join(qwenFolder(place), 'settings.json');
      return [
        { file, path: ['disableAllHooks'], found: hooksAre(true) },
        ...excludes(file),
        ...serverIn(file, ['mcpServers', SERVER_NAME], place),
      ];
    }),
  opencode: (user, project) => [
    ...serverIn(opencodeConfig(user), ['mcp', SERVER_NAME], user),
    ...['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'].flatMap((name) =>
      serverIn(join(project.project, name), ['mcp', SERVER_NAME], project),
    ),
  ],
  pi: (user, project) =>
    [user, project].map((place) => ({
      file: join(pluginFolder('pi', place), 'settings.json'),
      path: ['extensions'],
      found: excludesPlugin(place),
    })),
};

/** The folders of Claude Code's administrator settings, on Linux and macOS. */
const MANAGED = ['etc/claude-code', 'Library/Application Support/ClaudeCode'];
const MANAGED_FILE = 'managed-settings.json';

const without = (file: string, what = 'it'): string =>
  basename(file) === MANAGED_FILE ? 'ask the administrator of this machine' : `remove ${what} from ${file}`;

const NO_SERVER = `the agent does not have the MCP server ${SERVER_NAME}`;

const hooksAre =
  (off: boolean): Switch['found'] =>
  (value, { file, key }) =>
    value === off ? { why: `${file} has ${key} = ${String(off)}: no hook runs`, advice: without(file) } : undefined;

/** A list of servers by name, as texts or as `{ serverName }`. */
const lists: Switch['found'] = (value, { file, key }) =>
  listOf(value).some((each) => each === SERVER_NAME || (each as { serverName?: unknown } | null)?.serverName === SERVER_NAME)
    ? { why: `${file} has ${key} with "${SERVER_NAME}": ${NO_SERVER}`, advice: without(file), ofServer: true }
    : undefined;

/** Older versions of these agents have the second key. */
const excludes = (file: string): readonly Switch[] =>
  [['mcp', 'excluded'], ['excludeMCPServers']].map((path) => ({ file, path, found: lists }));

const listsHooks =
  (commands: readonly string[]): Switch['found'] =>
  (value, { file, key }) =>
    listOf(value).some((each) => commands.includes(String(each)))
      ? { why: `${file} has ${key} with hooks of Earpiece: these hooks do not run`, advice: without(file, 'them') }
      : undefined;

const commandsIn = (file: string, host: string): readonly string[] =>
  hooksIn(readSettings(file).text ?? '', (handler) => isOurHook(handler, host)).flatMap(({ command }) => command ?? []);

/** The installation itself reports another server in the user's settings. */
const serverIn = (file: string, path: readonly string[], { scope }: Place): readonly Switch[] => [
  {
    file,
    path: [...path, 'enabled'],
    found: (value, { key }) =>
      value === false ? { why: `${file} has ${key} = false: ${NO_SERVER}`, advice: without(file), ofServer: true } : undefined,
  },
  ...(scope === 'project' ? [{ file, path, found: isAnother() }] : []),
];

const isAnother =
  (where = ''): Switch['found'] =>
  (value, { file }) => {
    const { command, url, httpUrl } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const starts = [command, url, httpUrl].some((each) => each !== undefined);
    if (!starts || isOurServer(wordsOf(value))) return undefined;
    const why = `${file} has another MCP server named "${SERVER_NAME}"${where}, which the agent starts instead`;
    return { why, advice: `rename it in ${file}`, ofServer: true };
  };

/**
 * pi loads each file of its extension folder, except those that the list excludes: `!` with a pattern, `+` and `-` with a path
 * from the folder of the settings. A later sign of these three wins. The list of the project is only for files of the project.
 */
const excludesPlugin =
  (place: Place): Switch['found'] =>
  (value, { file, key }) => {
    const plugin = pluginFile('pi', place);
    const path = relative(pluginFolder('pi', place), plugin);
    const entries = listOf(value).filter((each): each is string => typeof each === 'string');
    const names = (each: string): boolean => [path, plugin].includes(each.slice(1).replace(/^\.\//u, ''));
    const matches = (each: string): boolean => [path, basename(plugin), plugin].some((name) => matchesGlob(name, each.slice(1)));
    const included = entries.some((each) => each.startsWith('+') && names(each));
    const excluding =
      entries.find((each) => each.startsWith('-') && names(each)) ??
      entries.find((each) => each.startsWith('!') && !included && matches(each));
    if (excluding === undefined || !isOwnFile(readSettings(plugin).text)) return undefined;
    return { why: `${file} has ${key} with ${JSON.stringify(excluding)}: pi does not load the plugin`, advice: without(file) };
  };

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Formats a key: `hooksConfig.enabled`, `projects["/home/a"].disabledMcpServers`. */
const keyOf = (path: readonly string[]): string =>
  path.map((part, i) => (/^[\w-]+$/u.test(part) ? `${i === 0 ? '' : '.'}${part}` : `[${JSON.stringify(part)}]`)).join('');

function tomlAt(text: string, path: readonly string[], file: string): unknown {
  const read = readToml(text, file);
  return read.kind === 'problem'
    ? undefined
    : path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], read.table);
}
