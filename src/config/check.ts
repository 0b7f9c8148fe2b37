/** Parses the text of one configuration file. Returns its entries and all its problems. */
import { didYouMean } from '../core/errors.ts';
import { joinKey, pathKey, scanToml, type Place } from './positions.ts';
import { seen, type Position, type Problem } from './problems.ts';
import { ALL_SETTINGS, nameProblem, SETTINGS, type AnySetting } from './schema.ts';
import { isTable, unknownKey, type Table } from './servers.ts';
import { byPlace, readToml } from './toml.ts';

/** A value that a file sets. `key` is canonical: both spellings of a setting have the same key. */
export type Entry = {
  readonly key: string;
  readonly path: readonly string[];
  readonly setting: AnySetting;
  readonly value: unknown;
  readonly at: Position;
};

export type Checked = { readonly entries: readonly Entry[]; readonly problems: readonly Problem[] };

/** The maximum size of a configuration file, in bytes. */
export const MAX_BYTES = 1_048_576;

/**
 * Checks a text and never throws. Returns all valid entries even if other entries are invalid. A text that is too long or not
 * TOML has no entry except for `redact` (see `broken`).
 */
export function checkConfigText(text: string, file: string): Checked {
  if (text.length > MAX_BYTES)
    return broken(text, { file, message: `has ${text.length} characters; a configuration file may have at most ${MAX_BYTES}` });
  const read = readToml(text, file);
  if (read.kind === 'problem') return broken(text, read.problem);
  const walk: Walk = { file, places: scanToml(text), entries: [], problems: [] };
  walkTable(read.table, TREE, [], walk);
  return { entries: settle(walk), problems: walk.problems.sort(byPlace) };
}

/** An invalid pattern, which makes redaction remove whole texts. */
const UNREADABLE = '(';
/**
 * Matches a line of a broken file that seems to set `redact`, in any spelling and position. A comment matches too: too much
 * redaction is better than too little.
 */
const REDACT = /\bredact["']?\s*=/u;

/**
 * Returns the entries of a broken file. Only redaction takes effect: if the file seems to set `redact`, whole texts are redacted,
 * because the list of the file is unknown.
 */
function broken(text: string, problem: Problem): Checked {
  if (!REDACT.test(text)) return { entries: [], problems: [problem] };
  const entry: Entry = {
    key: joinKey(SETTINGS.redact.pattern),
    path: SETTINGS.redact.pattern,
    setting: SETTINGS.redact,
    value: [UNREADABLE],
    at: { line: problem.line ?? 1, column: problem.column ?? 1 },
  };
  const message = `${problem.message}; the redact list of this file cannot be read, so whole texts are redacted until you fix the file`;
  return { entries: [entry], problems: [{ ...problem, message }] };
}

type Walk = {
  readonly file: string;
  readonly places: ReadonlyMap<string, Place>;
  readonly entries: Entry[];
  readonly problems: Problem[];
};

function walkTable(table: Table, node: Node, path: readonly string[], walk: Walk): void {
  for (const [name, raw] of Object.entries(table)) {
    const here = [...path, name];
    const exact = node.keys.get(name);
    const child = exact ?? node.any;
    if (child === undefined) {
      complain(walk, here, unknownHere(node, path, name), 'key');
      continue;
    }
    const asTable = isTable(raw) && child.setting?.value.takesTable !== true;
    if (exact === undefined) {
      const wrong = nameProblem(child.pattern, name, asTable);
      if (wrong !== undefined) {
        complain(walk, here, wrong, 'key');
        continue;
      }
    }
    if (asTable && hasChildren(child)) walkTable(raw, child, here, walk);
    else if (child.setting === undefined)
      complain(walk, here, `is ${seen(raw)}, not a table; ${tableHint(child, here)}`, 'value');
    else readEntry(raw, child.setting, here, walk);
  }
}

function readEntry(raw: unknown, setting: AnySetting, path: readonly string[], walk: Walk): void {
  const read = setting.value.read(raw);
  if (read.kind === 'problems') {
    for (const { text, at = [], aboutKey } of read.problems) {
      const where = [...path, ...at.filter((part) => typeof part === 'string')];
      complain(walk, where, text, aboutKey ? 'key' : 'value', [...path, ...at]);
    }
    if (read.counts === undefined) return;
  }
  const meant = setting.meaning?.(path) ?? path;
  const at = walk.places.get(pathKey(path))?.key ?? { line: 1, column: 1 };
  const value: unknown = read.kind === 'value' ? read.value : read.counts;
  walk.entries.push({ key: joinKey(meant), path, setting, value, at });
}

/**
 * Resolves two spellings of one setting in one file. For kinds, the flat spelling is used. For tools with two different values,
 * neither spelling is used, and a problem is added. Leaves at most one entry for each key.
 */
function settle(walk: Walk): Entry[] {
  const kept = new Map<string, Entry>();
  for (const entry of walk.entries) {
    const other = kept.get(entry.key);
    if (other === undefined) kept.set(entry.key, entry);
    else if (entry.setting === SETTINGS.kind || other.setting === SETTINGS.kind)
      kept.set(entry.key, entry.setting === SETTINGS.kind ? entry : other);
    else if (other.value !== entry.value) {
      const [first, second] = other.at.line <= entry.at.line ? [other, entry] : [entry, other];
      const line = (of: Entry): string => `line ${of.at.line} (${joinKey(of.path)} = ${of.setting.value.show(of.value)})`;
      walk.problems.push({
        file: walk.file,
        ...second.at,
        key: entry.key,
        message: `${line(first)} and ${line(second)} contradict each other; keep only one`,
      });
      kept.delete(entry.key);
    }
  }
  return [...kept.values()];
}

function complain(
  walk: Walk,
  path: readonly string[],
  text: string,
  about: 'key' | 'value',
  at: readonly (string | number)[] = path,
): void {
  const place = walk.places.get(pathKey(at)) ?? walk.places.get(pathKey(path));
  const key = joinKey(path);
  walk.problems.push({ file: walk.file, ...(place?.[about] ?? { line: 1, column: 1 }), key, message: `${key} ${text}` });
}

/** Describes an unknown key. If the key is valid below another header, the user most likely put it below the wrong header. */
function unknownHere(node: Node, path: readonly string[], name: string): string {
  const known = [...node.keys.keys()];
  if (didYouMean(name, known) !== undefined) return unknownKey(name, known);
  const elsewhere = ALL_SETTINGS.find((setting) => setting.pattern.at(-1) === name && !setting.pattern.includes('*'));
  if (elsewhere === undefined) return unknownKey(name, known);
  const table = elsewhere.pattern.slice(0, -1);
  const where = table.length === 0 ? 'at the top of the file, above the first table' : `in [${joinKey(table)}]`;
  return path.length === 0 || table.join('.') !== path.join('.')
    ? `is unknown here; ${name} belongs ${where}`
    : unknownKey(name, known);
}

function tableHint(node: Node, path: readonly string[]): string {
  const names = [...node.keys.keys()];
  return names.length === 0 ? `write [${joinKey(path)}.<name>]` : `write [${joinKey(path)}] with ${names.join(', ')}`;
}

export type Node = {
  readonly pattern: readonly string[];
  readonly keys: Map<string, Node>;
  any?: Node;
  setting?: AnySetting;
};

export const TREE: Node = grow();

function grow(): Node {
  const root: Node = { pattern: [], keys: new Map() };
  for (const setting of ALL_SETTINGS) {
    let node = root;
    for (const [i, part] of setting.pattern.entries()) {
      const pattern = setting.pattern.slice(0, i + 1);
      const next: Node = (part === '*' ? node.any : node.keys.get(part)) ?? { pattern, keys: new Map() };
      if (part === '*') node.any = next;
      else node.keys.set(part, next);
      node = next;
    }
    node.setting = setting;
  }
  return root;
}

export const hasChildren = (node: Node): boolean => node.keys.size > 0 || node.any !== undefined;

/** Finds the node of a path. Returns undefined if the configuration has no such key. */
export function nodeAt(path: readonly string[]): Node | undefined {
  const found = walkTo(path);
  return typeof found === 'string' ? undefined : found;
}

/** Describes the problem with a name that the user chose as part of a key. Returns undefined if no such name is invalid. */
export function wrongNameIn(path: readonly string[]): string | undefined {
  const found = walkTo(path);
  return typeof found === 'string' ? found : undefined;
}

function walkTo(path: readonly string[]): Node | string | undefined {
  let node: Node = TREE;
  for (const [i, part] of path.entries()) {
    const exact = node.keys.get(part);
    const next = exact ?? node.any;
    if (next === undefined) return undefined;
    const wrong = exact === undefined ? nameProblem(next.pattern, part, i < path.length - 1 && hasChildren(next)) : undefined;
    if (wrong !== undefined) return `${joinKey(path.slice(0, i + 1))} ${wrong}`;
    node = next;
  }
  return node;
}
