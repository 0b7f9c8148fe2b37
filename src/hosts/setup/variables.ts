/**
 * Finds the variables that an agent's settings give to Earpiece's hooks, its MCP server, or the commands of the agent. With such a
 * variable, these programs may use another database, project or address than the shell of the user.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { claudeServers, geminiFolder, geminiSettings, qwenSettings } from './folders.ts';
import { SERVER_NAME } from './ours.ts';
import type { Place, SetVariable } from './setup.ts';
import { claudeSources } from './switches-claude.ts';
import { codexSources } from './switches-codex.ts';
import { each, jsonc, last, sourcesOf, strictJson, type Found, type Source } from './switches-found.ts';
import { qwenEnvFiles } from './switches-gemini.ts';
import { opencodeSources } from './switches-plugins.ts';

/** The variables that change the database, the configuration, the project, or the address of an agent. */
const NAMES = ['EARPIECE_DB', 'EARPIECE_PROJECT', 'EARPIECE_ADDRESS', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'];

const VARIABLES: Readonly<Record<string, (place: Place) => readonly SetVariable[]>> = { claude, codex, gemini, qwen, opencode };

export const variablesOf = (host: string, place: Place): readonly SetVariable[] => VARIABLES[host]?.(place) ?? [];

function claude(place: Place): readonly SetVariable[] {
  const servers = claudeServers({ ...place, scope: 'user' });
  const state = sourcesOf([{ file: servers.file, of: 'user' }], strictJson);
  const shared = sourcesOf([{ file: join(place.project, '.mcp.json'), of: 'project' }], strictJson);
  const local = claudeServers({ ...place, scope: 'project' }).path;
  // The server of the nearest scope replaces the whole entry of another scope.
  const entry = [
    ...each(state, [...servers.path, SERVER_NAME]).map(({ source }) => ({ source, path: servers.path })),
    ...each(shared, ['mcpServers', SERVER_NAME]).map(({ source }) => ({ source, path: ['mcpServers'] })),
    ...each(state, [...local, SERVER_NAME]).map(({ source }) => ({ source, path: local })),
  ].at(-1);
  return [
    ...inTable(claudeSources(place), ['env'], 'all'),
    ...(entry === undefined ? [] : inTable([entry.source], [...entry.path, SERVER_NAME, 'env'], 'server', place)),
  ];
}

function codex(place: Place): readonly SetVariable[] {
  const sources = codexSources(place);
  return [
    ...inTable(sources, ['mcp_servers', SERVER_NAME, 'env'], 'server'),
    ...inTable(sources, ['shell_environment_policy', 'set'], 'commands'),
  ];
}

function gemini(place: Place): readonly SetVariable[] {
  // Gemini CLI reads the first file that exists, from the project's folder upwards, and then in the home folder.
  const files = [
    ...upwards(place.project).flatMap((folder) => [join(folder, '.gemini/.env'), join(folder, '.env')]),
    join(geminiFolder({ ...place, scope: 'user' }), '.env'),
    join(place.home, '.env'),
  ];
  const first = files.find((file) => existsSync(file));
  const named = first === undefined ? [] : dotEnv([first]);
  return [
    ...inTable(named, [], 'all').filter(({ name }) => place.env[name] === undefined),
    ...inTable(sourcesOf(geminiSettings(place), jsonc), ['mcpServers', SERVER_NAME, 'env'], 'server', place),
  ];
}

function qwen(place: Place): readonly SetVariable[] {
  const settings = sourcesOf(qwenSettings(place), jsonc);
  // The shell overrides the `.env` files, and the `.env` files override the settings.
  const files = dotEnv(qwenEnvFiles(place)).toReversed();
  const lowest = inTable(settings, ['env'], 'all').filter(({ name }) => each(files, [name]).length === 0);
  return [
    ...[...inTable(files, [], 'all'), ...lowest].filter(({ name }) => !place.env[name]),
    ...inTable(settings, ['mcpServers', SERVER_NAME, 'env'], 'server', place),
  ];
}

function opencode(place: Place): readonly SetVariable[] {
  return inTable(opencodeSources(place), ['mcp', SERVER_NAME, 'environment'], 'server', place);
}

const dotEnv = (files: readonly string[]): readonly Source[] =>
  sourcesOf(
    files.map((file) => ({ file, of: 'user' })),
    (text) => parseEnv(text),
  );

const upwards = (folder: string): readonly string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...upwards(dirname(folder))];

/** Returns the variables of a table. With `place`, replaces references to other variables, as the agent does. */
const inTable = (
  sources: readonly Source[],
  path: readonly string[],
  of: SetVariable['of'],
  place?: Place,
): readonly SetVariable[] =>
  NAMES.flatMap((name) => last(sources, [...path, name]).flatMap((found) => variable(found, name, of, place)));

function variable({ source, key, value }: Found, name: string, of: SetVariable['of'], place?: Place): readonly SetVariable[] {
  if (typeof value !== 'string') return [];
  return [
    {
      name,
      value: place === undefined ? value : filled(value, place),
      file: source.name,
      isMachine: source.of === 'machine',
      key,
      of,
    },
  ];
}

/** Replaces `$NAME`, `${NAME}`, `${NAME:-other}` and `{env:NAME}`, the references that these agents know. */
const filled = (value: string, { env }: Place): string =>
  value.replaceAll(
    /\$\{(\w+)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)|\{env:(\w+)\}/gu,
    (_, braced: string | undefined, other: string | undefined, bare: string | undefined, named: string | undefined) =>
      env[braced ?? bare ?? named ?? ''] ?? other ?? '',
  );
