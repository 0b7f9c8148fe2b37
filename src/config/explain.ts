/** Who decided what: one setting, a table of them, or everything. */
import { didYouMean } from '../core/errors.ts';
import { nodeAt } from './check.ts';
import { fixedKeys, formatSource, type Said } from './layers.ts';
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
  /** Undefined when nobody says anything and nothing is built in. */
  readonly value: unknown;
  /** The value for people; secrets of servers are not shown. */
  readonly text: string;
  readonly decidedBy: string;
  /** What weaker ones say, or what is not trusted, the strongest first. */
  readonly overridden: readonly { readonly value: unknown; readonly text: string; readonly decidedBy: string }[];
  readonly expects: string;
  readonly env?: string;
};

/** A key as a file spells it (either spelling), a table's name, or nothing for everything. */
export function explain(config: Config, key = ''): Explained {
  const path = key.trim() === '' ? [] : splitKey(key);
  if (path === undefined)
    return { kind: 'unknown', key, message: `${JSON.stringify(key)} is no key; write it as in the file, e.g. budget.max_items` };
  const setting = path.length === 0 ? undefined : nodeAt(path)?.setting;
  if (setting) return explainSetting(config, setting, setting.meaning?.(path) ?? path);

  const unit = path.map((_, i) => path.slice(0, i + 1)).find((part) => nodeAt(part)?.setting?.value.takesTable);
  const unitSetting = unit && nodeAt(unit)?.setting;
  if (unit && unitSetting) return explainSetting(config, unitSetting, unit);
  if (path.length === 0 || nodeAt(path) !== undefined || nodeAt([...path, 'x']) !== undefined)
    return { kind: 'table', key: joinKey(path), settings: settingsBelow(config, path) };
  const near = didYouMean(key, [...fixedKeys(), ...config.layers.keys()]) ?? byLastPart(path.at(-1) ?? '');
  return { kind: 'unknown', key, message: `${key} is no setting${near === undefined ? '' : `; did you mean ${near}?`}` };
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
    ...(setting.env === undefined ? {} : { env: setting.env }),
  };
  const [winner, ...weaker] = said;

  if (setting.addsUp) {
    const value = [
      ...new Set([...(setting.fallback as readonly string[]), ...said.flatMap((each) => each.value as readonly string[])]),
    ];
    const deciders = [...said.map((each) => formatSource(each.source)), 'default'];
    return { ...common, value, text: setting.value.show(value), decidedBy: deciders.join(' + '), overridden: held };
  }
  if (winner !== undefined) return { ...common, ...show(winner), overridden: [...weaker.map(show), ...held] };

  const off = sourceSwitch(config, path);
  if (off)
    return { ...common, ...show(off), key, decidedBy: `${off.key} = false, ${formatSource(off.source)}`, overridden: held };
  const value: unknown = builtIn(config, setting);
  const text = value === undefined ? 'not set' : setting.value.show(value);
  return { ...common, value, text, decidedBy: 'default', overridden: held };
}

const show = (said: Said): { value: unknown; text: string; decidedBy: string } => ({
  value: said.value,
  text: said.setting.value.show(said.value),
  decidedBy: formatSource(said.source),
});

/** A kind that nobody speaks of is off when its whole source is. */
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
