/** The setups of agents that load an Earpiece plugin. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { opencode } from '../opencode/host.ts';
import { pi } from '../pi/host.ts';
import { PLUGIN_FILES, type PluginFile } from '../plugin-file.ts';
import { programOf, type Ours } from './ours.ts';
import { isOwnFile, ownFilePart } from './own-file.ts';
import { jsonServerPart } from './servers.ts';
import { listOf } from './wrap.ts';
import type { Place, Setup } from './setup.ts';

function fileOf({ user, below, project }: PluginFile, place: Place): string {
  if (place.scope === 'project') return join(place.project, project);
  const moved = below.find(({ variable }) => place.env[variable]);
  return moved === undefined ? join(place.home, user) : join(place.env[moved.variable] ?? '', moved.file);
}

const plugin = (name: keyof typeof PLUGIN_FILES, place: Place, { node, entry, db }: Ours) =>
  ownFilePart(
    fileOf(PLUGIN_FILES[name], place),
    PLUGIN_FILES[name].content({ node, entry, ...(db === undefined ? {} : { args: ['--db', db] }) }),
  );

/** Returns the folder of the agent's settings. The plugin's file is two levels below that folder. */
const folderOf = (name: keyof typeof PLUGIN_FILES, place: Place): string => dirname(dirname(fileOf(PLUGIN_FILES[name], place)));

/** Returns the path of opencode's settings. opencode reads `opencode.json`, and `opencode.jsonc` for settings with comments. */
function opencodeConfig(place: Place): string {
  const folder = place.scope === 'project' ? place.project : folderOf('opencode', place);
  const jsonc = join(folder, 'opencode.jsonc');
  return existsSync(jsonc) ? jsonc : join(folder, 'opencode.json');
}

const pluginOf = (name: keyof typeof PLUGIN_FILES): Required<Setup>['plugin'] => ({
  file: (place) => fileOf(PLUGIN_FILES[name], place),
  isOurs: isOwnFile,
});

export const PLUGIN_SETUPS: readonly Setup[] = [
  {
    name: opencode.name,
    title: opencode.title,
    commands: ['opencode'],
    folders: (place) => [folderOf('opencode', { ...place, scope: 'user' })],
    parts: (place, ours) => {
      const { command, args } = programOf(ours, ['mcp']);
      return [
        plugin('opencode', place, ours),
        jsonServerPart({
          file: opencodeConfig(place),
          path: ['mcp'],
          entry: { type: 'local', command: [command, ...args], enabled: true },
        }),
      ];
    },
    plugin: pluginOf('opencode'),
    wraps: (place, ours) => ({
      file: opencodeConfig(place),
      path: ['mcp'],
      list: listOf('opencode', place, ours),
      env: 'environment',
      entry: ({ command, args }, env) => ({
        type: 'local',
        command: [command, ...args],
        ...(Object.keys(env).length === 0 ? {} : { environment: env }),
        enabled: true,
      }),
    }),
  },
  {
    name: pi.name,
    title: pi.title,
    commands: ['pi'],
    folders: (place) => [folderOf('pi', { ...place, scope: 'user' })],
    // No part adds an MCP server, because pi has no MCP client.
    parts: (place, ours) => [plugin('pi', place, ours)],
    plugin: pluginOf('pi'),
    wraps: { not: 'pi has no MCP client' },
  },
];
