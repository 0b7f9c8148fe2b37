/** Finds the settings that make Claude Code ignore Earpiece. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { claudeMachine, claudeManaged, claudeServers, claudeSettings } from './folders.ts';
import { isOurServer, SERVER_NAME } from './ours.ts';
import { wordsOf } from './servers.ts';
import type { Disabled, Place } from './setup.ts';
import {
  each,
  hooksAre,
  hooksOff,
  isOn,
  last,
  listOf,
  lists,
  ofMachine,
  others,
  serverOff,
  sourcesOf,
  strictJson,
  variableOff,
  type Source,
} from './switches-found.ts';

const MODES = ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE'];

/** Reads the settings files of a person, of a project, and of the administrator, in ascending order of priority. */
export const claudeSources = (place: Place): readonly Source[] =>
  sourcesOf(
    [
      ...claudeSettings(place).map((file, i) => ({ file, of: i === 0 ? ('user' as const) : ('project' as const) })),
      ...ofMachine(claudeManaged(place)),
    ],
    strictJson,
  );

export function claude(user: Place, project: Place): readonly Disabled[] {
  const settings = claudeSources(user);
  const managed = settings.filter(({ of }) => of === 'machine');
  const servers = claudeServers(project);
  const state = sourcesOf([{ file: servers.file, of: 'user' }], strictJson);
  const shared = sourcesOf([{ file: join(project.project, '.mcp.json'), of: 'project' }], strictJson);
  const installed = [...each(state, [...claudeServers(user).path, SERVER_NAME]), ...each(state, [...servers.path, SERVER_NAME])]
    .map(({ value }) => wordsOf(value))
    .filter(isOurServer);
  return [
    ...MODES.flatMap((name) => modeOn(name, settings, user)),
    ...hooksAre(last(settings, ['disableAllHooks']), true),
    ...hooksAre(last(managed, ['allowManagedHooksOnly']), true),
    ...locked(managed, 'hooks').map((found) => ({ ...hooksOff(found, stateOf(found.value)), notOfPlugin: true as const })),
    ...locked(managed, 'mcp').map((found) => serverOff(found, stateOf(found.value))),
    ...notAllowed(settings, managed, installed),
    ...lists(each(settings, ['deniedMcpServers']), (entry) => namesUs(entry) || startsUs(entry, installed)),
    ...exclusive(user),
    ...lists(each(state, ['projects', project.project, 'disabledMcpServers']), namesUs),
    ...others(each(state, [...servers.path, SERVER_NAME]), ' for this project'),
    ...others(each(shared, ['mcpServers', SERVER_NAME])),
  ];
}

/**
 * Reports a mode that is on. The settings override the shell's variable, but Claude Code ignores modes in a project's settings.
 */
function modeOn(name: string, settings: readonly Source[], { env }: Place): readonly Disabled[] {
  const [found] = last(
    settings.filter(({ of }) => of !== 'project'),
    ['env', name],
  );
  if (found !== undefined) return isOn(found.value) ? [hooksOff(found, `= ${found.value}`)] : [];
  const value = env[name];
  return isOn(value) ? [variableOff(name, value)] : [];
}

/** Finds the managed settings that allow customizations of this kind (`hooks`, `mcp`) only in plugins. */
const locked = (managed: readonly Source[], kind: string) =>
  each(managed, ['strictPluginOnlyCustomization']).filter(({ value }) => value === true || listOf(value).includes(kind));

const stateOf = (value: unknown): string => `= ${JSON.stringify(value)}`;

const namesUs = (entry: unknown): boolean => entry === SERVER_NAME || member(entry, 'serverName') === SERVER_NAME;
const startsUs = (entry: unknown, installed: readonly (readonly string[])[]): boolean =>
  installed.some((words) => isDeepStrictEqual(member(entry, 'serverCommand'), words));
const member = (entry: unknown, key: string): unknown => (entry as Readonly<Record<string, unknown>> | null)?.[key];

/**
 * Reports a list of allowed servers without Earpiece's server. All lists count as one list. With `allowManagedMcpServersOnly`,
 * only the administrator's lists count. If the list contains a command, Claude Code starts a server with a command only if the
 * list contains that command.
 */
function notAllowed(
  settings: readonly Source[],
  managed: readonly Source[],
  installed: readonly (readonly string[])[],
): readonly Disabled[] {
  const managedOnly = each(managed, ['allowManagedMcpServersOnly']).some(({ value }) => value === true);
  const found = each(managedOnly ? managed : settings, ['allowedMcpServers']);
  const entries = found.flatMap(({ value }) => listOf(value));
  const byCommand = entries.some((entry) => member(entry, 'serverCommand') !== undefined);
  const isAllowed = entries.some((entry) => (byCommand ? startsUs(entry, installed) : namesUs(entry)));
  return isAllowed ? [] : found.slice(0, 1).map((first) => serverOff(first, `without "${SERVER_NAME}"`));
}

/** Reports a `managed-mcp.json` without Earpiece's server. If this file exists, Claude Code starts only the servers in it. */
const exclusive = (place: Place): readonly Disabled[] =>
  sourcesOf(ofMachine(claudeMachine(place).map((folder) => join(folder, 'managed-mcp.json'))), strictJson)
    .filter((source) => each([source], ['mcpServers', SERVER_NAME]).length === 0)
    .map((source) => serverOff({ source, key: 'mcpServers', value: undefined }, `without "${SERVER_NAME}"`));
