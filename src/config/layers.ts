/**
 * Merges the layers of the configuration. Flags override the environment. The project's file, the user's file and the defaults
 * follow in this order.
 */
import { didYouMean } from '../core/errors.ts';
import { nodeAt, type Entry } from './check.ts';
import { joinKey, splitKey } from './positions.ts';
import type { Problem } from './problems.ts';
import { ALL_SETTINGS, SETTINGS, type AnySetting, type Setting } from './schema.ts';
import type { Env } from './places.ts';

export type Source =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'env'; readonly name: string }
  | {
      readonly kind: 'file';
      readonly scope: 'project' | 'user';
      readonly file: string;
      readonly line: number;
      readonly column: number;
    }
  | { readonly kind: 'default' };

/** Formats a source: `project file /home/me/web/earpiece.toml:12:3`, `EARPIECE_VIEW`, `flag --view`, `default`. */
export function formatSource(source: Source): string {
  switch (source.kind) {
    case 'flag':
      return `flag --${source.name}`;
    case 'env':
      return source.name;
    case 'file':
      return `${source.scope} file ${source.file}:${source.line}:${source.column}`;
    case 'default':
      return 'default';
  }
}

/** A value that one layer sets. */
export type Said = {
  readonly key: string;
  readonly setting: AnySetting;
  /** The path as it is written, because a setting may have two spellings. */
  readonly path: readonly string[];
  readonly value: unknown;
  readonly source: Source;
};

/** The values by canonical key, the winning value first. */
export type Layers = ReadonlyMap<string, readonly Said[]>;

export type Layer = readonly Said[];

export const saidByFile = (entries: readonly Entry[], file: string, scope: 'project' | 'user'): Layer =>
  entries.map(({ key, setting, path, value, at }) => ({
    key,
    setting,
    path,
    value,
    source: { kind: 'file', scope, file, ...at },
  }));

/** Reads the environment variables of settings. An empty variable counts as unset. */
export function saidByEnv(env: Env): { layer: Layer; problems: readonly Problem[] } {
  const layer: Said[] = [];
  const problems: Problem[] = [];
  for (const setting of ALL_SETTINGS) {
    const text = setting.env === undefined ? undefined : env[setting.env];
    if (text === undefined || text.trim() === '' || setting.env === undefined) continue;
    const read = setting.value.fromText(text);
    const key = joinKey(setting.pattern);
    if (read.kind === 'problems') for (const one of read.problems) problems.push({ key, message: `${setting.env} ${one.text}` });
    const value: unknown = read.kind === 'value' ? read.value : read.counts;
    if (value !== undefined)
      layer.push({ key, setting, path: setting.pattern, value, source: { kind: 'env', name: setting.env } });
  }
  return { layer, problems };
}

/** Values of flags, by the setting's key (`db`, `budget.max_items`). Texts are parsed like environment variables. */
export type Flags = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export function saidByFlags(flags: Flags): { layer: Layer; problems: readonly Problem[] } {
  const layer: Said[] = [];
  const problems: Problem[] = [];
  for (const [name, raw] of Object.entries(flags)) {
    if (raw === undefined) continue;
    const path = splitKey(name);
    const setting = path && nodeAt(path)?.setting;
    if (!path || !setting) {
      const near = didYouMean(name, fixedKeys());
      problems.push({
        key: name,
        message: `flag --${name} is not a setting${near === undefined ? '' : `; did you mean --${near}?`}`,
      });
      continue;
    }
    const read = typeof raw === 'string' ? setting.value.fromText(raw) : setting.value.read(raw);
    const key = joinKey(setting.meaning?.(path) ?? path);
    if (read.kind === 'problems') for (const one of read.problems) problems.push({ key, message: `flag --${name} ${one.text}` });
    const value: unknown = read.kind === 'value' ? read.value : read.counts;
    if (value !== undefined) layer.push({ key, setting, path, value, source: { kind: 'flag', name } });
  }
  return { layer, problems };
}

export const fixedKeys = (): string[] =>
  ALL_SETTINGS.filter((setting) => !setting.pattern.includes('*')).map((setting) => setting.pattern.join('.'));

/**
 * Merges `layers`, which are in order of falling priority. A layer that switches off a whole event source (`kinds.mcp.enable =
 * false`) also overrides single names of this source in layers with lower priority.
 */
export function merge(layers: readonly Layer[]): Layers {
  const merged = new Map<string, Said[]>();
  const off = new Set<string>();
  for (const layer of layers) {
    for (const said of layer) {
      if (isKind(said) && off.has(sourceOf(said))) continue;
      const list = merged.get(said.key);
      if (list === undefined) merged.set(said.key, [said]);
      else list.push(said);
    }
    for (const said of layer)
      if (said.setting === SETTINGS.kindSource && said.value === false && merged.get(said.key)?.[0] === said)
        off.add(said.path[3] ?? '');
  }
  return merged;
}

const isKind = (said: Said): boolean => said.setting === SETTINGS.kind || said.setting === SETTINGS.kindNested;

const sourceOf = ({ setting, path }: Said): string =>
  setting === SETTINGS.kindNested ? (path[3] ?? '') : (path[3] ?? '').slice(0, (path[3] ?? '').indexOf('.'));

/**
 * Returns the effective value of a setting whose key has no name that the user chose. With `addsUp`, the lists of all layers are
 * joined into one list without duplicates.
 */
export function valueOf<T, F extends T | undefined>(layers: Layers, setting: Setting<T, F>): T | F {
  const said = layers.get(joinKey(setting.pattern)) ?? [];
  if (setting.addsUp) {
    const lists = [setting.fallback, ...said.map((each) => each.value)] as (readonly string[])[];
    return [...new Set(lists.flat())] as T;
  }
  return said.length === 0 ? setting.fallback : (said[0]?.value as T);
}

/**
 * Lists the effective values of the settings below these parts of a key, with their canonical paths. The keys have names that the
 * user chose.
 */
export function winnersBelow(layers: Layers, ...start: readonly string[]): { path: readonly string[]; said: Said }[] {
  const prefix = `${joinKey(start)}.`;
  const found: { path: readonly string[]; said: Said }[] = [];
  for (const [key, [said]] of layers) if (said && key.startsWith(prefix)) found.push({ path: splitKey(key) ?? [], said });
  return found;
}
