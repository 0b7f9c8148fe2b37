/**
 * Changes one key of a TOML text that a person wrote, and nothing else. Comments, order, layout and line ends stay, byte for
 * byte. Often several places are possible for a new key. The places are tried in order. Each result is parsed again, and the
 * first result that equals the old value with the change is used.
 */
import { isDeepStrictEqual } from 'node:util';
import { joinKey, pathKey, piecesOf, type Path, type Piece } from './positions.ts';
import type { Problem } from './problems.ts';
import { isTable, type Table } from './servers.ts';
import { readToml } from './toml.ts';

/** A value that this module can write. A person writes tables into the file by hand. */
export type Plain = boolean | number | string | readonly string[];

/** A change of one key. Without `value`, the key is removed. */
export type Edit = { readonly path: readonly string[]; readonly value?: Plain };

export type Edited = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'problem'; readonly problem: Problem };

/**
 * Changes one key in the text of a TOML file, and never throws. Returns a problem for a text that is not TOML and for a key that
 * cannot be changed. The problem contains its place in the file, if the place is known.
 */
export function editToml(text: string, { path, value }: Edit, file: string): Edited {
  const read = readToml(text, file);
  if (read.kind === 'problem') return read;
  const wanted = bare(changed(read.table, path, value));
  const pieces = piecesOf(text);
  const sheet: Sheet = { text, pieces, end: text.includes('\r\n') ? '\r\n' : '\n' };
  const own = pairAt(sheet, path);
  if (own === undefined && value === undefined) return { kind: 'text', text };
  const ways = value === undefined ? removals(sheet, own) : own ? [replaced(sheet, own, value)] : additions(sheet, path, value);
  for (const way of ways) {
    const again = readToml(way, file);
    if (again.kind === 'table' && isDeepStrictEqual(bare(again.table), wanted)) return { kind: 'text', text: way };
  }
  const key = joinKey(path);
  const what = value === undefined ? 'taken out of' : 'put into';
  return {
    kind: 'problem',
    problem: {
      file,
      ...lineOf(text, own?.start),
      key,
      message: `${key} cannot be ${what} the existing value; change the file by hand`,
    },
  };
}

/** Formats a value as TOML. */
export function literal(value: Plain): string {
  if (Array.isArray(value)) return `[${value.map((each) => literal(each as string)).join(', ')}]`;
  // TOML requires an escape for U+007F, but `JSON.stringify` writes this character without an escape.
  return typeof value === 'string' ? JSON.stringify(value).replaceAll('\u007f', '\\u007f') : String(value);
}

type Sheet = { readonly text: string; readonly pieces: readonly Piece[]; readonly end: '\n' | '\r\n' };
type Pair = Extract<Piece, { kind: 'pair' }>;
type Header = Extract<Piece, { kind: 'header' }>;

const same = (a: Path, b: Path): boolean => pathKey(a) === pathKey(b);
const isBelow = (path: Path, table: Path): boolean => path.length > table.length && same(path.slice(0, table.length), table);

const pairAt = ({ pieces }: Sheet, path: Path): Pair | undefined =>
  pieces.find((piece): piece is Pair => piece.kind === 'pair' && same(piece.path, path));

const replaced = ({ text }: Sheet, { value: at, end }: Pair, value: Plain): string =>
  text.slice(0, at) + literal(value) + text.slice(end);

/**
 * Yields the text with the new key at each possible place, the best first:
 *
 * - after the last key below the header of its table
 * - after the last key that spells its table with dots
 * - in its inline table
 * - in a new table at the end of the file
 * - in the enclosing tables, by the first three ways
 * - at the top of the file
 */
function* additions(sheet: Sheet, path: readonly string[], value: Plain): Generator<string> {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const table = path.slice(0, depth);
    const line = `${joinKey(path.slice(depth))} = ${literal(value)}`;
    const header = sheet.pieces.find(
      (piece): piece is Header => piece.kind === 'header' && !piece.array && same(piece.path, table),
    );
    if (header !== undefined) yield behind(sheet, lastIn(sheet, table, header) ?? header, line);
    const dotted = depth === 0 ? undefined : lastDotted(sheet, table);
    if (dotted !== undefined) yield behind(sheet, dotted, `${joinKey(path.slice(dotted.table.length))} = ${literal(value)}`);
    const inline = pairAt(sheet, table);
    if (inline !== undefined && sheet.text[inline.value] === '{') yield* intoInline(sheet, inline, line);
    if (depth === 0) yield atTop(sheet, line);
    else if (depth === path.length - 1) yield atEnd(sheet, `[${joinKey(table)}]`, line);
  }
}

const isOwn = (piece: Piece): piece is Pair => piece.kind === 'pair' && !piece.inline;

/** Finds the last key between this header and the next. */
function lastIn({ pieces }: Sheet, table: Path, { start }: Header): Pair | undefined {
  return pieces.findLast((piece): piece is Pair => isOwn(piece) && piece.start > start && same(piece.table, table));
}

/** Finds the last key that spells this table with dots, such as `budget.max_items` at the top for the table `budget`. */
const lastDotted = ({ pieces }: Sheet, table: Path): Pair | undefined =>
  pieces.findLast((piece): piece is Pair => isOwn(piece) && isBelow(piece.path, table) && piece.table.length < table.length);

/** Inserts a line after a piece, with the piece's indentation. */
function behind({ text, end }: Sheet, piece: Piece, line: string): string {
  const at = lineEnd(text, piece.end);
  const indent = /[ \t]*$/u.exec(text.slice(0, piece.start))?.[0] ?? '';
  const open = text[at - 1] === '\n' ? '' : end;
  return `${text.slice(0, at)}${open}${indent}${line}${end}${text.slice(at)}`;
}

function* intoInline({ text, pieces }: Sheet, pair: Pair, line: string): Generator<string> {
  const last = pieces.findLast((piece): piece is Pair => piece.kind === 'pair' && piece.inline && same(piece.table, pair.path));
  if (last === undefined) yield `${text.slice(0, pair.value)}{ ${line} }${text.slice(pair.end)}`;
  else yield `${text.slice(0, last.end)}, ${line}${text.slice(last.end)}`;
}

/**
 * Inserts a line after the keys above the first table. Without such keys, inserts the line above the comment that belongs to that
 * table. In a file without keys and tables, inserts the line at the end.
 */
function atTop(sheet: Sheet, line: string): string {
  const { text, pieces, end } = sheet;
  const first = pieces.find((piece) => piece.kind === 'header');
  const last = pieces.findLast((piece): piece is Pair => isOwn(piece) && piece.table.length === 0);
  if (last !== undefined) return behind(sheet, last, line);
  const whole = text.length === 0 || text.endsWith('\n') ? text : text + end;
  if (first === undefined) return `${whole}${line}${end}`;
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const above = text.slice(start, lineStart(text, first.start)).split('\n');
  let at = start + above.join('\n').length;
  // The loop skips the empty text after the last line break, and stops at an empty line, which ends a separate comment.
  for (let i = above.length - 2; i >= 0 && above[i]?.trimStart().startsWith('#'); i--) at -= (above[i]?.length ?? 0) + 1;
  return `${text.slice(0, at)}${line}${end}${end}${text.slice(at)}`;
}

function atEnd({ text, end }: Sheet, header: string, line: string): string {
  const whole = text.trim() === '' ? text : text.endsWith('\n') ? text + end : text + end + end;
  return `${whole}${header}${end}${line}${end}`;
}

/**
 * Yields the text without the key and its line. If the key's table becomes empty, first yields the text without the header too.
 * For a key of an inline table, the rest of the line stays.
 */
function* removals({ text, pieces }: Sheet, pair: Pair | undefined): Generator<string> {
  if (pair === undefined) return;
  if (pair.inline) {
    const beside = pieces.filter(
      (piece): piece is Pair => piece.kind === 'pair' && piece.inline && same(piece.table, pair.table),
    );
    const next = beside[beside.indexOf(pair) + 1];
    const before = beside[beside.indexOf(pair) - 1];
    if (next !== undefined) yield text.slice(0, pair.start) + text.slice(next.start);
    else yield text.slice(0, before?.end ?? pair.start) + text.slice(pair.end);
    return;
  }
  const from = lineStart(text, pair.start);
  const to = lineEnd(text, pair.end);
  const header = pieces.findLast((piece) => piece.kind === 'header' && piece.end <= pair.start);
  const next = pieces.find((piece) => piece.kind === 'header' && piece.start > pair.start);
  const left = header === undefined ? 'x' : text.slice(header.end, from) + text.slice(to, next?.start);
  if (header !== undefined && left.trim() === '') {
    // The empty line above is removed as well, unless it separates the text above from the text below.
    const above = text.slice(0, header.start);
    yield (next === undefined ? above.replace(/(\r?\n)\s*$/u, '$1') : above) + text.slice(next?.start ?? text.length);
  }
  yield text.slice(0, from) + text.slice(to);
}

const lineStart = (text: string, at: number): number => {
  const before = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  return before === 0 && text.startsWith('\ufeff') ? 1 : before;
};

/** Returns the position after the rest of the line, with its comment and its line break. */
function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at + 1;
}

function changed(table: Table, [name = '', ...rest]: readonly string[], value: Plain | undefined): Table {
  const copy = Object.assign(Object.create(null) as Record<string, unknown>, table);
  const inner = Object.hasOwn(copy, name) ? copy[name] : undefined;
  if (rest.length > 0) {
    if (value !== undefined || isTable(inner)) copy[name] = changed(isTable(inner) ? inner : {}, rest, value);
  } else if (value === undefined) delete copy[name];
  else copy[name] = value;
  return copy;
}

/** Copies a table without empty tables and prototypes, so that two tables can be compared. */
function bare(table: Table): Table {
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(table)) {
    const inner = isTable(value) ? bare(value) : value;
    if (!isTable(inner) || Object.keys(inner).length > 0) copy[name] = inner;
  }
  return copy;
}

const lineOf = (text: string, at: number | undefined): { line: number; column: number } | object =>
  at === undefined ? {} : { line: text.slice(0, at).split('\n').length, column: at - text.lastIndexOf('\n', at - 1) };
