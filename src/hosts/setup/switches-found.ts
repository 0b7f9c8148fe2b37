/** Reads the settings of an agent from several files, and describes a setting with which the agent ignores Earpiece. */
import { jsonAt } from '../../config/edit-json.ts';
import { readToml } from '../../config/index.ts';
import type { SettingsFile } from './folders.ts';
import { isOurServer, SERVER_NAME } from './ours.ts';
import { readSettings } from './read-settings.ts';
import { wordsOf } from './servers.ts';
import type { Disabled } from './setup.ts';

/** Settings from one file or variable. `name` is the path of the file, or the name of the variable. */
export type Source = Pick<SettingsFile, 'of'> & { readonly name: string; readonly settings: unknown };

/** A setting that has a value. */
export type Found = { readonly source: Source; readonly key: string; readonly value: unknown };

type Read = (text: string, file: string) => unknown;
export const jsonc: Read = (text) => jsonAt(text, []);
export const toml: Read = (text, file) => {
  const read = readToml(text, file);
  return read.kind === 'problem' ? undefined : read.table;
};
/** Parses JSON without comments, for agents that ignore a file with comments. */
export const strictJson: Read = (text) => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** Reads the files that exist, in the same order. */
export const sourcesOf = (files: readonly SettingsFile[], read: Read): readonly Source[] =>
  files.flatMap(({ file, of }) => {
    const { text } = readSettings(file);
    return text === undefined ? [] : [{ name: file, of, settings: read(text, file) }];
  });

/** Returns the value of this setting from each source that has one. */
export const each = (sources: readonly Source[], path: readonly string[]): readonly Found[] =>
  sources.flatMap((source) => {
    const value = valueAt(source.settings, path);
    return value === undefined ? [] : [{ source, key: keyOf(path), value }];
  });

/** Returns the value of this setting from the last source that has one, because that source decides. */
export const last = (sources: readonly Source[], path: readonly string[]): readonly Found[] => each(sources, path).slice(-1);

export const ofMachine = (files: readonly string[]): readonly SettingsFile[] => files.map((file) => ({ file, of: 'machine' }));

const valueAt = (settings: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Readonly<Record<string, unknown>>)[key]
        : undefined,
    settings,
  );

/** Formats a key: `hooksConfig.enabled`, `projects["/home/a"].disabledMcpServers`. */
const keyOf = (path: readonly string[]): string =>
  path.map((part, i) => (/^[\w-]+$/u.test(part) ? `${i === 0 ? '' : '.'}${part}` : `[${JSON.stringify(part)}]`)).join('');

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const advice = ({ name, of }: Source, what = 'this entry'): string =>
  of === 'machine' ? 'ask the administrator of this machine' : `remove ${what} from ${name}`;

const NO_SERVER = `the agent does not have the MCP server ${SERVER_NAME}`;

/** Reports a switch that disables all hooks. `state`: the value in words, such as `= false`. */
export const hooksOff = ({ source, key }: Found, state: string): Disabled => ({
  why: `${source.name} has ${key} ${state}: no hook runs`,
  advice: advice(source),
});

export const serverOff = ({ source, key }: Found, state: string): Disabled => ({
  why: `${source.name} has ${key} ${state}: ${NO_SERVER}`,
  advice: advice(source),
  ofServer: true,
});

export const hooksAre = (found: readonly Found[], off: boolean): readonly Disabled[] =>
  found.filter(({ value }) => value === off).map((each) => hooksOff(each, `= ${String(off)}`));

/** Reports the lists that contain Earpiece's server. `matches`: whether an entry means this server. */
export const lists = (found: readonly Found[], matches: (entry: unknown) => boolean): readonly Disabled[] =>
  found.flatMap((each) => {
    const entry = listOf(each.value).find(matches);
    return entry === undefined ? [] : [serverOff(each, `with ${typeof entry === 'string' ? `"${entry}"` : `"${SERVER_NAME}"`}`)];
  });

export const isDisabled = (found: readonly Found[]): readonly Disabled[] =>
  found.filter(({ value }) => value === false).map((each) => serverOff(each, '= false'));

/** Reports another server with Earpiece's name. The installation itself reports such a server in the settings of the user. */
export const others = (found: readonly Found[], where = ''): readonly Disabled[] =>
  found.flatMap(({ source, value }) => {
    const { command, url, httpUrl } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const starts = [command, url, httpUrl].some((each) => each !== undefined);
    if (!starts || isOurServer(wordsOf(value))) return [];
    const why = `${source.name} has another MCP server named "${SERVER_NAME}"${where}, which the agent starts instead of Earpiece's server`;
    return [{ why, advice: `rename that server in ${source.name}`, ofServer: true }];
  });

/** Whether an agent reads this variable as switched on. */
export const isOn = (value: unknown): value is string =>
  typeof value === 'string' && ['1', 'true', 'yes', 'on'].includes(value.toLowerCase().trim());

/** Reports a variable of the shell that switches hooks or plugins off. */
export const variableOff = (name: string, value: string, effect = 'no hook runs'): Disabled => ({
  why: `the variable ${name} is ${value}: ${effect}`,
  advice: `unset ${name}`,
});
