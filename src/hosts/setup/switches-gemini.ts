/** Finds the settings that make Gemini CLI, or its fork Qwen Code, ignore Earpiece. */
import { join, matchesGlob } from 'node:path';
import { parseEnv } from 'node:util';
import { geminiFolder, geminiSettings, qwenFolder, qwenSettings } from './folders.ts';
import { hooksIn } from './hook-settings.ts';
import { isOurHook, SERVER_NAME } from './ours.ts';
import { readSettings } from './read-settings.ts';
import type { Disabled, Place } from './setup.ts';
import { unreadableForGemini } from './strict-json.ts';
import {
  advice,
  each,
  hooksAre,
  hooksOff,
  isDisabled,
  isOn,
  jsonc,
  last,
  listOf,
  lists,
  others,
  serverOff,
  sourcesOf,
  strictJson,
  variableOff,
  type Source,
} from './switches-found.ts';

export function gemini(user: Place): readonly Disabled[] {
  const sources = sourcesOf(geminiSettings(user), jsonc);
  const names = geminiSettings(user).flatMap(({ file }) => hookNamesIn(file, 'gemini'));
  const disabled = each(sources, ['hooksConfig', 'disabled']).filter(({ value }) =>
    listOf(value).some((name) => names.includes(String(name))),
  );
  // Gemini CLI starts only servers that all lists allow. If no server is in all lists, Gemini CLI starts every server.
  const allowed = each(sources, ['mcp', 'allowed']).filter(({ value }) => Array.isArray(value));
  const common = allowed
    .map(({ value }) => listOf(value).map(normal))
    .reduce((all, list) => all.filter((name) => list.includes(name)), normals(allowed));
  const enablement = join(geminiFolder({ ...user, scope: 'user' }), 'mcp-server-enablement.json');
  return [
    ...geminiSettings(user).flatMap(({ file }) => unreadableForGemini(file)),
    ...hooksAre(last(sources, ['hooksConfig', 'enabled']), false),
    ...disabled.map(({ source, key }) => ({
      why: `${source.name} has ${key} with hooks of Earpiece: these hooks do not run`,
      advice: advice(source, 'these entries'),
    })),
    ...(common.length > 0 && !common.includes(SERVER_NAME)
      ? allowed
          .filter(({ value }) => !listOf(value).map(normal).includes(SERVER_NAME))
          .map((found) => serverOff(found, `without "${SERVER_NAME}"`))
      : []),
    ...isDisabled(each(sourcesOf([{ file: enablement, of: 'user' }], strictJson), [SERVER_NAME, 'enabled'])),
    ...excluded(sources, (entry) => entry === SERVER_NAME),
    ...servers(sources),
  ];
}

export function qwen(user: Place): readonly Disabled[] {
  const sources = sourcesOf(qwenSettings(user), jsonc);
  const matches = (entry: unknown): boolean => typeof entry === 'string' && matchesGlob(SERVER_NAME, entry);
  // All lists of allowed servers count as one list.
  const allowed = each(sources, ['mcp', 'allowed']);
  const isAllowed = allowed.some(({ value }) => listOf(value).some(matches));
  return [
    ...['QWEN_CODE_SIMPLE', 'QWEN_CODE_SAFE_MODE'].flatMap((name) => modeOn(name, sources, user)),
    ...hooksAre(last(sources, ['disableAllHooks']), true),
    ...(isAllowed ? [] : allowed.slice(0, 1).map((found) => serverOff(found, `without "${SERVER_NAME}"`))),
    ...excluded(sources, matches),
    ...servers(sources),
  ];
}

/** Reports a mode that is on. The shell overrides the `.env` files, and the `.env` files override the settings. */
function modeOn(name: string, sources: readonly Source[], user: Place): readonly Disabled[] {
  const value = user.env[name];
  if (value) return isOn(value) ? [variableOff(name, value)] : [];
  const named = sourcesOf(
    qwenEnvFiles(user).map((file) => ({ file, of: 'user' })),
    (text) => parseEnv(text),
  );
  const found = each(named, [name]).find((each) => each.value !== '') ?? last(sources, ['env', name])[0];
  return found !== undefined && isOn(found.value) ? [hooksOff(found, `= ${found.value}`)] : [];
}

/** Returns the files from which Qwen Code reads variables, highest priority first. */
export const qwenEnvFiles = (user: Place): readonly string[] =>
  [join(user.project, '.qwen'), user.project, qwenFolder({ ...user, scope: 'user' }), join(user.home, '.qwen'), user.home].map(
    (folder) => join(folder, '.env'),
  );

const normal = (name: unknown): string => String(name).toLowerCase().trim();
const normals = (found: readonly { readonly value: unknown }[]): readonly string[] => listOf(found[0]?.value).map(normal);

/** Reports the lists that exclude the server. Older versions of these agents read the key `excludeMCPServers`. */
const excluded = (sources: readonly Source[], matches: (entry: unknown) => boolean): readonly Disabled[] =>
  [['mcp', 'excluded'], ['excludeMCPServers']].flatMap((path) => lists(each(sources, path), matches));

const servers = (sources: readonly Source[]): readonly Disabled[] => [
  ...isDisabled(last(sources, ['mcpServers', SERVER_NAME, 'enabled'])),
  ...others(
    each(
      sources.filter(({ of }) => of !== 'user'),
      ['mcpServers', SERVER_NAME],
    ),
  ),
];

/** Returns the names by which Gemini CLI lists Earpiece's hooks. The entries of older Earpiece versions have only a command. */
const hookNamesIn = (file: string, host: string): readonly string[] =>
  hooksIn(readSettings(file).text ?? '', (handler) => isOurHook(handler, host)).flatMap(
    ({ name, command }) => name ?? command ?? [],
  );
