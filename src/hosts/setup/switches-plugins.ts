/** Finds the settings that make opencode or pi ignore Earpiece. */
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { jsonAt } from '../../config/edit-json.ts';
import { opencodeSettings, pluginFile, pluginFolder } from './folders.ts';
import { SERVER_NAME } from './ours.ts';
import { isOwnFile } from './own-file.ts';
import { readSettings } from './read-settings.ts';
import type { Disabled, Place } from './setup.ts';
import {
  advice,
  each,
  isDisabled,
  isOn,
  jsonc,
  last,
  listOf,
  others,
  sourcesOf,
  variableOff,
  type Source,
} from './switches-found.ts';

/** Returns the settings that opencode reads in this project. */
export function opencodeSources(user: Place): readonly Source[] {
  const files = sourcesOf(opencodeSettings(user), jsonc);
  const content = user.env['OPENCODE_CONFIG_CONTENT'];
  const variable: readonly Source[] = content
    ? [{ name: 'OPENCODE_CONFIG_CONTENT', of: 'user', settings: jsonAt(content, []) }]
    : [];
  const machine = files.filter(({ of }) => of === 'machine');
  return [...files.filter(({ of }) => of !== 'machine'), ...variable, ...machine];
}

export function opencode(user: Place): readonly Disabled[] {
  const sources = opencodeSources(user);
  const pure = user.env['OPENCODE_PURE'];
  return [
    ...(isOn(pure) || pure === 'y' ? [variableOff('OPENCODE_PURE', pure, 'opencode loads no plugin')] : []),
    ...isDisabled(last(sources, ['mcp', SERVER_NAME, 'enabled'])),
    ...others(
      each(
        sources.filter(({ of }) => of !== 'user'),
        ['mcp', SERVER_NAME],
      ),
    ),
  ];
}

export function pi(user: Place, project: Place): readonly Disabled[] {
  const places = [user, project].filter((place) => isOwnFile(readSettings(pluginFile('pi', place)).text));
  return places.flatMap((place) => [...excluded(place), ...ignored(place)]);
}

/**
 * Reports an entry of the list `extensions` that excludes the plugin: pi loads all other files of its extension folder. An entry
 * is `!` with a pattern, or `+` or `-` with a path from the folder of the settings. `-` overrides `+`, and `+` overrides `!`. The
 * list of the project applies only to files of the project.
 */
function excluded(place: Place): readonly Disabled[] {
  const plugin = pluginFile('pi', place);
  const path = relative(pluginFolder('pi', place), plugin);
  const names = (each: string): boolean => [path, plugin].includes(each.slice(1).replace(/^\.\//u, ''));
  const matches = (each: string): boolean => [path, basename(plugin), plugin].some((name) => matchesGlob(name, each.slice(1)));
  const file = join(pluginFolder('pi', place), 'settings.json');
  return each(sourcesOf([{ file, of: 'user' }], jsonc), ['extensions']).flatMap(({ source, key, value }) => {
    const entries = listOf(value).filter((each): each is string => typeof each === 'string');
    const included = entries.some((each) => each.startsWith('+') && names(each));
    const excluding =
      entries.find((each) => each.startsWith('-') && names(each)) ??
      entries.find((each) => each.startsWith('!') && !included && matches(each));
    return excluding === undefined ? [] : [notLoaded(source, `${key} with ${JSON.stringify(excluding)}`)];
  });
}

/**
 * Reports an ignore file with which pi ignores the plugin. The last line that matches the plugin's name decides, without regard
 * to upper and lower case. A line with `!` includes the plugin.
 */
function ignored(place: Place): readonly Disabled[] {
  const plugin = pluginFile('pi', place);
  const name = basename(plugin);
  const lines = sourcesOf(
    ['.gitignore', '.ignore', '.fdignore'].map((each) => ({ file: join(dirname(plugin), each), of: 'user' })),
    (text) => text.split(/\r?\n/u).filter((line) => line.trim() !== '' && !line.startsWith('#')),
  ).flatMap((source) => listOf(source.settings).map((line) => ({ source, line: String(line).trimEnd() })));
  const deciding = lines.findLast(({ line }) => matchesGlob(name, line.replace(/^!?\/?/u, '').toLowerCase()));
  return deciding === undefined || deciding.line.startsWith('!')
    ? []
    : [notLoaded(deciding.source, `the line ${JSON.stringify(deciding.line)}`)];
}

const notLoaded = (source: Source, what: string): Disabled => ({
  why: `${source.name} has ${what}: pi does not load the plugin`,
  advice: advice(source),
});
