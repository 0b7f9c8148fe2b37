/** Sets and unsets keys of a person's `earpiece.toml`, for the command line and the server. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EarpieceError } from '../core/errors.ts';
import { checkConfigText, nodeAt } from './check.ts';
import { editToml, type Edit, type Plain } from './edit.ts';
import { unknownSetting } from './explain.ts';
import type { Layers } from './layers.ts';
import { readConfig, type LoadOptions } from './load.ts';
import { CONFIG_FILE, projectPlace, refusedLink, userConfigFile } from './places.ts';
import { rootOf } from './repository.ts';
import { joinKey, piecesOf, splitKey } from './positions.ts';
import { configError, formatProblem, type Problem } from './problems.ts';
import { replaceFile } from './replace.ts';
import { SETTINGS, type AnySetting } from './schema.ts';
import { readToml } from './toml.ts';
import { trustBook } from './trust.ts';
import type { Read } from './values.ts';

/** The file to change: the user's file, which applies to all projects, or the project's file. */
export type Scope = 'user' | 'project';

/** A requested change: a JSON value, a text from a command line, or the removal of the key. */
export type Asked = {
  readonly key: string;
  readonly to:
    | { readonly kind: 'value'; readonly value: unknown }
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'unset' };
};

export type Changed = {
  readonly file: string;
  /** The canonical keys of the request, in the form that `explain` accepts. Includes keys that already had their value. */
  readonly keys: readonly string[];
  /** Whether the file was written; false if the file already had these values. */
  readonly written: boolean;
};

export type ConfigWriter = {
  /** Returns the file to which a change is written. The file may not exist yet. */
  readonly fileOf: (scope: Scope) => string;
  /** Lists the current problems of the files, one line each. */
  readonly problems: () => readonly string[];
  /**
   * Makes all changes or none. Throws `bad_argument` (with `field`, the key) for an unknown setting, a table or an invalid value.
   * Throws `bad_config` if the file is a refused link, would be invalid or cannot be written. Throws `conflict` if another
   * process is changing the file or has just saved it.
   */
  readonly change: (scope: Scope, asked: readonly Asked[]) => Promise<Changed>;
};

export function configWriter(options: LoadOptions): ConfigWriter {
  const fileOf = (scope: Scope): string => (scope === 'user' ? userConfigFile(options) : projectFile(options.cwd));
  return {
    fileOf,
    problems: () => readConfig(options).problems.flatMap((each) => (each.file === undefined ? [] : [formatProblem(each)])),
    change: async (scope, asked) => {
      const file = fileOf(scope);
      const { root } = projectPlace(options.cwd);
      const refused = file === userConfigFile(options) ? undefined : refusedLink(file, [root, rootOf(root)]);
      if (refused !== undefined) throw unchanged([{ file, message: refused }]);
      const { layers } = readConfig(options).config;
      const changes = asked.map((each): Change => {
        const path = splitKey(each.key) ?? [];
        const value = valueOf(each, file);
        return { path, value, quoted: value === true && isOff(layers, path) };
      });
      // `mode` is for a new file: the user's file may contain passwords, so only the user may read it. Other users may read a
      // project's file.
      const mode = scope === 'user' ? 0o600 : 0o644;
      const written = await replaceFile(file, (text) => changed(text, changes, file), { mode });
      const keys = changes.map(({ path }) => joinKey(canonical(path)));
      // A person who sets a key with this function has seen its value, so the value is trusted if the key matches `LOOKED_AT`.
      if (scope === 'project')
        trustBook(options).allow(
          file,
          keys.filter((key) => LOOKED_AT.test(key)),
        );
      return { file, keys, written };
    },
  };
}

/**
 * Keys whose values become trusted when a person changes them by name: these values run no command and open no network
 * connection.
 */
const LOOKED_AT = /^(?:(?:wake|ttl|max_level)\.|(?:interrupt|view|budget\.max_item_chars)$)/;

type Change = {
  readonly path: readonly string[];
  readonly value: Plain | undefined;
  /** Whether to write the quoted form of a kind: only that form enables a kind whose whole source is off. */
  readonly quoted: boolean;
};

function isOff(layers: Layers, path: readonly string[]): boolean {
  const [a = '', b = '', c = '', kind = ''] = canonical(path);
  if (nodeAt(canonical(path))?.setting !== SETTINGS.kind) return false;
  return layers.get(joinKey([a, b, c, kind.slice(0, kind.indexOf('.')), 'enable']))?.[0]?.value === false;
}

function changed(text: string, changes: readonly Change[], file: string): string {
  let edited = text;
  for (const change of changes) {
    for (const edit of editsOf(edited, change)) {
      const next = editToml(edited, edit, file);
      if (next.kind === 'problem') throw unchanged([next.problem]);
      edited = next.text;
    }
  }
  // Running processes ignore a file with a problem, so the change would have no effect.
  const { problems } = edited === text ? { problems: [] } : checkConfigText(edited, file);
  if (problems.length > 0) throw unchanged(problems);
  return edited;
}

/**
 * Returns the edits of every spelling of the setting in the file, so that the spellings do not contradict each other. If the file
 * has none, returns an edit of the requested spelling. With `quoted`, the edits remove the nested spellings and set the quoted
 * spelling.
 */
function editsOf(text: string, { path, value, quoted }: Change): readonly Edit[] {
  const key = joinKey(canonical(path));
  const spelled = piecesOf(text).flatMap((piece) =>
    piece.kind === 'pair' && isText(piece.path) && joinKey(canonical(piece.path)) === key ? [piece.path] : [],
  );
  if (spelled.length === 0 && value === undefined && nodeAt(path)?.setting === undefined)
    throw refused(joinKey(path), unknownSetting(joinKey(path)));
  // The scan may find no spelling in a file that is not TOML. Editing the requested path then reports the error of the file.
  const ways = spelled.length === 0 ? [path] : spelled;
  if (value === undefined) return ways.map((each) => ({ path: each }));
  if (!quoted) return ways.map((each) => ({ path: each, value }));
  const nested = spelled.filter((each) => nodeAt(each)?.setting === SETTINGS.kindNested);
  return [...nested.map((each) => ({ path: each })), { path: canonical(path), value }];
}

const isText = (path: readonly (string | number)[]): path is readonly string[] => path.every((part) => typeof part === 'string');

/** Returns the canonical path of a setting. An unknown setting keeps its path, so that a person can remove it. */
const canonical = (path: readonly string[]): readonly string[] => nodeAt(path)?.setting?.meaning?.(path) ?? path;

/** Parses the new value; undefined means that the key is removed. */
function valueOf({ key, to }: Asked, file: string): Plain | undefined {
  const path = splitKey(key);
  const setting = path && nodeAt(path)?.setting;
  if (to.kind === 'unset' && path !== undefined) {
    // A person may remove an unknown key. A later step checks that the file contains the key.
    if (setting?.value.takesTable)
      throw refused(key, `${key} is a table, but only single values can be removed; remove the table from ${file} by hand`);
    return undefined;
  }
  if (setting === undefined) throw refused(key, unknownSetting(key));
  const plain = to.kind === 'text' ? plainOfText(setting, to.text) : to.kind === 'value' ? plainOf(setting, to.value) : undefined;
  if (plain?.kind === 'problems') throw refused(key, plain.problems.map(({ text }) => `${key} ${text}`).join('; '));
  if (plain === undefined)
    throw refused(key, `${key} is a table, but only single values can be written; write the table into ${file} by hand`);
  return plain.value;
}

function plainOf(setting: AnySetting, raw: unknown): Read<Plain> | undefined {
  const read = setting.value.read(raw);
  if (read.kind === 'problems') return read;
  return isPlain(raw) ? { kind: 'value', value: raw } : undefined;
}

/** Parses the text of a value from a command line. A list may also be written as in the file. */
function plainOfText(setting: AnySetting, text: string): Read<Plain> | undefined {
  const list = text.trim().startsWith('[') ? readToml(`list = ${text}`, '') : undefined;
  if (list?.kind === 'table' && setting.value.read([]).kind === 'value') return plainOf(setting, list.table['list']);
  const read = setting.value.fromText(text);
  if (read.kind === 'problems') return read;
  // The value is written in the form that the file accepts. For example, a duration is a number in the program and a text in the
  // file.
  for (const raw of [read.value, text.trim(), setting.value.show(read.value)])
    if (isPlain(raw) && setting.value.read(raw).kind === 'value') return { kind: 'value', value: raw };
  return undefined;
}

const isPlain = (raw: unknown): raw is Plain =>
  ['boolean', 'number', 'string'].includes(typeof raw) || (Array.isArray(raw) && raw.every((each) => typeof each === 'string'));

const refused = (key: string, text: string): EarpieceError => new EarpieceError('bad_argument', text, { data: { field: key } });

function unchanged(problems: readonly Problem[]): EarpieceError {
  const { data } = configError(problems);
  const lines = problems.map(formatProblem).join('\n  ');
  return new EarpieceError('bad_config', `${lines}\nnothing was changed; fix the problem above first`, { data });
}

/** Returns the project's configuration file; if none exists, the path of a new file at the project's root. */
function projectFile(cwd: string): string {
  const { root, candidates } = projectPlace(cwd);
  return candidates.find((file) => existsSync(file)) ?? join(root, CONFIG_FILE);
}
