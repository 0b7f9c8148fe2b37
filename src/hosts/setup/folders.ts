/** Finds the folders and files in which agents keep their settings. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PLUGIN_FILES } from '../plugin-file.ts';
import type { Place } from './setup.ts';

const inHome = (place: Place, variable: string, folder: string): string => place.env[variable] || join(place.home, folder);

export const claudeFolder = (place: Place): string => inHome(place, 'CLAUDE_CONFIG_DIR', '.claude');
export const codexFolder = (place: Place): string =>
  place.scope === 'project' ? join(place.project, '.codex') : inHome(place, 'CODEX_HOME', '.codex');
export const geminiFolder = (place: Place): string =>
  join(place.scope === 'project' ? place.project : inHome(place, 'GEMINI_CLI_HOME', ''), '.gemini');
export const qwenFolder = (place: Place): string =>
  place.scope === 'project' ? join(place.project, '.qwen') : inHome(place, 'QWEN_HOME', '.qwen');

/** A settings file that an agent reads. Only an administrator can change a file of the `machine`. */
export type SettingsFile = { readonly file: string; readonly of: 'machine' | 'user' | 'project' };

/** Returns the folders of an administrator's settings, on Linux and macOS. */
const machineFolders = ({ system }: Place, linux: string, mac: string): readonly string[] => [
  join(system, 'etc', linux),
  join(system, 'Library/Application Support', mac),
];

/** Lists the administrator's settings files of Claude Code, lowest priority first. */
export const claudeManaged = (place: Place): readonly string[] =>
  claudeMachine(place).flatMap((folder) => {
    const more = join(folder, 'managed-settings.d');
    const names = existsSync(more) ? readdirSync(more).filter((name) => /^[^.].*\.json$/u.test(name)) : [];
    return [join(folder, 'managed-settings.json'), ...names.toSorted().map((name) => join(more, name))];
  });
export const claudeMachine = (place: Place): readonly string[] => machineFolders(place, 'claude-code', 'ClaudeCode');

/** Lists the settings files of Gemini CLI, lowest priority first. */
export const geminiSettings = (place: Place): readonly SettingsFile[] =>
  layered(place, geminiFolder, 'GEMINI_CLI', machineFolders(place, 'gemini-cli', 'GeminiCli'));
/** Lists the settings files of Qwen Code, lowest priority first. */
export const qwenSettings = (place: Place): readonly SettingsFile[] =>
  layered(place, qwenFolder, 'QWEN_CODE', machineFolders(place, 'qwen-code', 'QwenCode'));

/** Lists the settings files of Gemini CLI, or of its fork Qwen Code, which reads the same files. Lowest priority first. */
function layered(
  place: Place,
  folder: (place: Place) => string,
  prefix: string,
  machine: readonly string[],
): readonly SettingsFile[] {
  const named = place.env[`${prefix}_SYSTEM_SETTINGS_PATH`];
  const system = named ? [named] : machine.map((each) => join(each, 'settings.json'));
  const defaults = place.env[`${prefix}_SYSTEM_DEFAULTS_PATH`];
  const below = defaults ? [defaults] : system.map((file) => join(dirname(file), 'system-defaults.json'));
  // The user sets the variable, so a file that the variable names counts as a file of the user.
  return [
    ...below.map((file) => ({ file, of: named || defaults ? 'user' : 'machine' }) as const),
    ...(['user', 'project'] as const).map((of) => ({ file: join(folder({ ...place, scope: of }), 'settings.json'), of })),
    ...system.map((file) => ({ file, of: named ? 'user' : 'machine' }) as const),
  ];
}

/**
 * Lists the settings files of Codex, lowest priority first. Codex reads the file of a project only if the user trusts the
 * project.
 */
export const codexSettings = (place: Place): readonly SettingsFile[] => [
  { file: join(place.system, 'etc/codex/config.toml'), of: 'machine' },
  { file: join(codexFolder({ ...place, scope: 'user' }), 'config.toml'), of: 'user' },
  { file: join(codexFolder({ ...place, scope: 'project' }), 'config.toml'), of: 'project' },
  { file: join(place.system, 'etc/codex/managed_config.toml'), of: 'machine' },
];
export const codexRequirements = (place: Place): string => join(place.system, 'etc/codex/requirements.toml');

/**
 * Lists the settings files of opencode, lowest priority first. The variable OPENCODE_CONFIG_CONTENT overrides the files of the
 * user and the project.
 */
export const opencodeSettings = (place: Place): readonly SettingsFile[] => [
  ...opencodeIn(pluginFolder('opencode', { ...place, scope: 'user' }), 'user'),
  ...(place.env['OPENCODE_CONFIG'] ? [{ file: place.env['OPENCODE_CONFIG'], of: 'user' } as const] : []),
  ...opencodeIn(place.project, 'project'),
  ...opencodeIn(join(place.project, '.opencode'), 'project'),
  ...machineFolders(place, 'opencode', 'opencode').flatMap((folder) => opencodeIn(folder, 'machine')),
];
const opencodeIn = (folder: string, of: SettingsFile['of']): readonly SettingsFile[] =>
  ['opencode.json', 'opencode.jsonc'].map((name) => ({ file: join(folder, name), of }));

/** Lists Claude Code's settings files of the user and the project, lowest priority first. */
export const claudeSettings = (place: Place): readonly string[] => [
  join(claudeFolder(place), 'settings.json'),
  join(place.project, '.claude', 'settings.json'),
  join(place.project, '.claude', 'settings.local.json'),
];

export const claudeServers = (place: Place): { readonly file: string; readonly path: readonly string[] } => ({
  file: join(place.env['CLAUDE_CONFIG_DIR'] || place.home, '.claude.json'),
  path: place.scope === 'user' ? ['mcpServers'] : ['projects', place.project, 'mcpServers'],
});

/** Returns the path of Earpiece's plugin file. */
export function pluginFile(name: keyof typeof PLUGIN_FILES, place: Place): string {
  const { user, below, project } = PLUGIN_FILES[name];
  if (place.scope === 'project') return join(place.project, project);
  const moved = below.find(({ variable }) => place.env[variable]);
  return moved === undefined ? join(place.home, user) : join(place.env[moved.variable] ?? '', moved.file);
}

/** Returns the folder of the agent's settings. The plugin's file is two levels below that folder. */
export const pluginFolder = (name: keyof typeof PLUGIN_FILES, place: Place): string => dirname(dirname(pluginFile(name, place)));

/** Returns the path of opencode's settings: `opencode.jsonc` if that file exists, otherwise `opencode.json`. */
export function opencodeConfig(place: Place): string {
  const folder = place.scope === 'project' ? place.project : pluginFolder('opencode', place);
  const jsonc = join(folder, 'opencode.jsonc');
  return existsSync(jsonc) ? jsonc : join(folder, 'opencode.json');
}
