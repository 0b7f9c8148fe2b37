/** Describes the setup of each agent that loads an Earpiece plugin. */
import { jsonAt } from '../../config/edit-json.ts';
import type { BridgeCommand } from '../bridge/index.ts';
import type { Host } from '../host.ts';
import { opencode } from '../opencode/host.ts';
import { pi } from '../pi/host.ts';
import { PLUGIN_FILES } from '../plugin-file.ts';
import { opencodeConfig, pluginFile, pluginFolder } from './folders.ts';
import { programOf, type Ours } from './ours.ts';
import { isOwnFile, ownFilePart } from './own-file.ts';
import { jsonServerPart } from './servers.ts';
import { switchedOff } from './switches.ts';
import { variablesOf } from './variables.ts';
import { listOf } from './wrap.ts';
import type { Place, Setup } from './setup.ts';

const plugin = (name: keyof typeof PLUGIN_FILES, place: Place, { node, entry, db }: Ours) =>
  ownFilePart(
    pluginFile(name, place),
    PLUGIN_FILES[name].content({ node, entry, ...(db === undefined ? {} : { args: ['--db', db] }) }),
  );

function commandIn(text: string): BridgeCommand | undefined {
  const json = /^const command = (.*);$/mu.exec(text)?.[1] ?? '';
  const command = jsonAt(json, []) as Partial<BridgeCommand> | null | undefined;
  return typeof command?.node === 'string' && typeof command.entry === 'string' ? (command as BridgeCommand) : undefined;
}

const pluginOf = (name: keyof typeof PLUGIN_FILES, host: Host): Required<Setup>['plugin'] => ({
  host,
  file: (place) => pluginFile(name, place),
  isOurs: isOwnFile,
  command: commandIn,
});

export const PLUGIN_SETUPS: readonly Setup[] = [
  {
    name: opencode.name,
    title: opencode.title,
    commands: ['opencode'],
    folders: (place) => [pluginFolder('opencode', { ...place, scope: 'user' })],
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
    switchedOff: (place) => switchedOff(opencode.name, place),
    variables: (place) => variablesOf(opencode.name, place),
    plugin: pluginOf('opencode', opencode),
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
    folders: (place) => [pluginFolder('pi', { ...place, scope: 'user' })],
    // No part adds an MCP server, because pi has no MCP client.
    parts: (place, ours) => [plugin('pi', place, ours)],
    switchedOff: (place) => switchedOff(pi.name, place),
    variables: (place) => variablesOf(pi.name, place),
    plugin: pluginOf('pi', pi),
    wraps: { not: 'pi has no MCP client' },
  },
];
