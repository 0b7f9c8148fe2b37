/** The folders and files in which agents keep their settings. */
import { existsSync } from 'node:fs';
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

/** The settings of Claude Code. The last file decides. */
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

/** Returns the path of opencode's settings. opencode reads `opencode.json`, and `opencode.jsonc` for settings with comments. */
export function opencodeConfig(place: Place): string {
  const folder = place.scope === 'project' ? place.project : pluginFolder('opencode', place);
  const jsonc = join(folder, 'opencode.jsonc');
  return existsSync(jsonc) ? jsonc : join(folder, 'opencode.json');
}
