/** Shows the values and their sources for one setting, for a table, or for all settings. */
import { defined } from '../core/defined.ts';
import { didYouMean } from '../core/errors.ts';
import { nodeAt, wrongNameIn } from './check.ts';
import { fixedKeys, formatSource, type Said, type Source } from './layers.ts';
import type { Config } from './load.ts';
import { joinKey, splitKey } from './positions.ts';
import { ALL_SETTINGS, SETTINGS, type AnySetting } from './schema.ts';

export type Explained =
  | ExplainedSetting
  | { readonly kind: 'table'; readonly key: string; readonly settings: readonly ExplainedSetting[] }
  | { readonly kind: 'unknown'; readonly key: string; readonly message: string };

export type ExplainedSetting = {
  readonly kind: 'setting';
  readonly key: string;
  /** The effective value; undefined if no source sets the setting and the setting has no default. */
  readonly value: unknown;
  /** The value as a text for people, without the secrets of servers. */
  readonly text: string;
  readonly decidedBy: string;
  /**
   * The values of sources with lower priority, the highest priority first, and then the values without trust. A list that
   * joins all layers has only the values without trust here.
   */
  readonly overridden: readonly { readonly value: unknown; readonly text: string; readonly decidedBy: string }[];
  readonly expects: string;
  readonly env?: string;
};

/** Explains a key in either spelling, or a table. Without a key, explains all settings. */
export function explain(config: Config, key = ''): Explained {
  const path = key.trim() === '' ? [] : splitKey(key);
  if (path === undefined) return { kind: 'unknown', key, message: noKey(key) };
  const setting = path.length === 0 ? undefined : nodeAt(path)?.setting;
  if (setting) return explainSetting(config, setting, setting.meaning?.(path) ?? path);

  const unit = path.map((_, i) => path.slice(0, i + 1)).find((part) => nodeAt(part)?.setting?.value.takesTable);
  const unitSetting = unit && nodeAt(unit)?.setting;
  if (unit && unitSetting) return explainSetting(config, unitSetting, unit);
  if (path.length === 0 || nodeAt(path) !== undefined || nodeAt([...path, 'x']) !== undefined)
    return { kind: 'table', key: joinKey(path), settings: settingsBelow(config, path) };
  return { kind: 'unknown', key, message: noSetting(key, path, config.layers.keys()) };
}

/** Returns the error message for a key that names no setting. */
export function unknownSetting(key: string): string {
  const path = splitKey(key);
  if (path === undefined) return noKey(key);
  const below = fixedKeys().filter((each) => each.startsWith(`${joinKey(path)}.`));
  if (below.length > 0) return `${key} is a table; name one of its settings: ${below.join(', ')}`;
  if (nodeAt(path) !== undefined) return `${key} is a table; name one of its settings: ${key}.<name>`;
  return wrongNameIn(path) ?? noSetting(key, path);
}

const noKey = (key: string): string => `${JSON.stringify(key)} is not a key; write the key as in the file, e.g. budget.max_items`;

function noSetting(key: string, path: readonly string[], known: Iterable<string> = []): string {
  const near = didYouMean(key, [...fixedKeys(), ...tables(), ...known]) ?? byLastPart(path.at(-1) ?? '');
  return `${key} is not a setting; ${near === undefined ? 'earpiece config explain lists all settings' : `did you mean ${near}?`}`;
}

/** Lists the tables whose paths contain no name chosen by the user: `budget`, `agent`, `agent.budget` … */
const tables = (): string[] =>
  ALL_SETTINGS.flatMap(({ pattern }) => pattern.slice(1).map((_, i) => pattern.slice(0, i + 1)))
    .filter((path) => !path.includes('*'))
    .map((path) => path.join('.'));

/**
 * Finds the entry that decides the current value of a setting: the setting's own entry, or the entry that switches off its whole
 * event source. Returns the source of that entry; undefined for the default.
 */
export function deciderOf(config: Config, key: string): Source | undefined {
  const winner = config.layers.get(key)?.[0];
  const off = sourceSwitch(config, splitKey(key) ?? []);
  return (winner === undefined || isNested(winner) ? (off ?? winner) : winner)?.source;
}

function explainSetting(config: Config, setting: AnySetting, path: readonly string[]): ExplainedSetting {
  const key = joinKey(path);
  const said = config.layers.get(key) ?? [];
  const held = config.held
    .filter((each) => each.key === key)
    .map((each) => ({ ...show(each), decidedBy: `${formatSource(each.source)} (not trusted)` }));
  const common = {
    kind: 'setting' as const,
    key,
    expects: setting.value.expects,
    ...defined({ env: setting.env }),
  };
  const [winner, ...weaker] = said;

  if (setting.addsUp) {
    const value = [
      ...new Set([...(setting.fallback as readonly string[]), ...said.flatMap((each) => each.value as readonly string[])]),
    ];
    const deciders = [...said.map((each) => formatSource(each.source)), 'default'];
    return { ...common, value, text: setting.value.show(value), decidedBy: deciders.join(' + '), overridden: held };
  }
  const off = winner === undefined || isNested(winner) ? sourceSwitch(config, path) : undefined;
  if (off)
    return {
      ...common,
      ...show(off),
      key,
      decidedBy: `${off.key} = false, ${formatSource(off.source)}`,
      overridden: [...said.map(show), ...held],
    };
  if (winner !== undefined) return { ...common, ...show(winner), overridden: [...weaker.map(show), ...held] };
  const value: unknown = builtIn(config, setting);
  const text = value === undefined ? 'not set' : setting.value.show(value);
  return { ...common, value, text, decidedBy: 'default', overridden: held };
}

const show = (said: Said): { value: unknown; text: string; decidedBy: string } => ({
  value: said.value,
  text: said.setting.value.show(said.value),
  decidedBy: formatSource(said.source),
});

/**
 * Whether the value is in the table of its event source. The switch of the event source overrides such a value, but not the
 * quoted form.
 */
const isNested = (said: Said): boolean => said.setting === SETTINGS.kindNested;

/** Finds the setting that switches off the event source of a kind; returns undefined if the source is not off. */
function sourceSwitch(config: Config, path: readonly string[]): Said | undefined {
  if (path.length !== 4 || path[2] !== 'kinds') return undefined;
  const name = path[3] ?? '';
  const said = config.layers.get(
    joinKey(['conversation', 'notifications', 'kinds', name.slice(0, name.indexOf('.')), 'enable']),
  )?.[0];
  return said?.value === false ? said : undefined;
}

function builtIn(config: Config, setting: AnySetting): unknown {
  if (setting === SETTINGS.project) return config.project;
  if (setting === SETTINGS.db) return config.db;
  if (setting === SETTINGS.timeZone) return config.timeZone;
  return setting.fallback;
}

function settingsBelow(config: Config, path: readonly string[]): ExplainedSetting[] {
  const below = (other: readonly string[]): boolean => path.every((part, i) => other[i] === part);
  const found = new Map<string, ExplainedSetting>();
  for (const setting of ALL_SETTINGS)
    if (!setting.pattern.includes('*') && below(setting.pattern))
      found.set(joinKey(setting.pattern), explainSetting(config, setting, setting.pattern));
  for (const { key, setting, path: written } of [...[...config.layers.values()].flat(), ...config.held]) {
    if (found.has(key) || !(below(splitKey(key) ?? []) || below(written))) continue;
    found.set(key, explainSetting(config, setting, splitKey(key) ?? []));
  }
  return [...found.values()];
}

const byLastPart = (part: string): string | undefined => fixedKeys().find((key) => key.split('.').at(-1) === part);
