/**
 * Finds the place of each key in a TOML text. The parser returns values without places, so this module scans the same text a
 * second time. The scan checks nothing and never throws. For a text that is not TOML, places may be missing.
 */
import type { Position } from './problems.ts';

export type Place = {
  /** The place of the key's last part. */
  readonly key: Position;
  /** The place of the key's value; for a table's header, the same place as `key`. */
  readonly value: Position;
};

/** Joins the parts of a key to one string, which is unique to this key. */
export const pathKey = (path: readonly (string | number)[]): string => JSON.stringify(path);

/**
 * Finds the place of each key. `pathKey` makes the keys of the map. An element of a list has its index, from 0, as a part. If a
 * key has several places, the first place is returned.
 */
export const scanToml = (text: string): ReadonlyMap<string, Place> => scan(text).places;

/** A header of a table, or a key with its value, for code that edits the text. Offsets count UTF-16 units; ends are exclusive. */
export type Piece =
  | { readonly kind: 'header'; readonly path: Path; readonly array: boolean; readonly start: number; readonly end: number }
  | {
      readonly kind: 'pair';
      /**
       * `path` starts at the root. `table` is the beginning of `path` that comes from the header above or from the enclosing
       * inline table.
       */
      readonly path: Path;
      readonly table: Path;
      readonly start: number;
      readonly value: number;
      readonly end: number;
      readonly inline: boolean;
    };

/**
 * Lists the tables and pairs of a TOML text, in the order of the text. The content of an inline table comes before the pair that
 * contains the table.
 */
export const piecesOf = (text: string): readonly Piece[] => scan(text).pieces;

type Scan = { readonly cursor: Cursor; readonly places: Map<string, Place>; readonly pieces: Piece[] };

function scan(text: string): Scan {
  const found: Scan = { cursor: new Cursor(text), places: new Map(), pieces: [] };
  const { cursor } = found;
  const arrayTables = new Map<string, number>();
  let table: Path = [];

  while (!cursor.done()) {
    cursor.skipBlank();
    if (cursor.done()) break;
    if (cursor.here() === '[') table = scanHeader(found, arrayTables);
    else scanPair(found, table, 0);
    cursor.skipLine();
  }
  return found;
}

/** Splits a dotted key such as `a."b.c".d`, as TOML does. Returns undefined for an invalid key. */
export function splitKey(text: string): string[] | undefined {
  const cursor = new Cursor(text.trim());
  const parts = cursor.key();
  return parts.length > 0 && cursor.done() && !text.trim().endsWith('.') && parts.every((part) => part.closed)
    ? parts.map((part) => part.name)
    : undefined;
}

/** Joins the parts of a key, so that `splitKey` returns the same parts. */
export const joinKey = (path: readonly string[]): string =>
  path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join('.');

export type Path = readonly (string | number)[];
type Part = { readonly name: string; readonly at: number; readonly closed: boolean };

function scanHeader({ cursor, places, pieces }: Scan, arrayTables: Map<string, number>): Path {
  const start = cursor.at;
  const double = cursor.startsWith('[[');
  cursor.skip(double ? 2 : 1);
  const parts = cursor.key();
  let path: Path = [];
  parts.forEach((part, i) => {
    path = [...path, part.name];
    const place = cursor.position(part.at);
    note(places, path, { key: place, value: place });
    const id = pathKey(path);
    const last = i === parts.length - 1;
    if (last && double) arrayTables.set(id, (arrayTables.get(id) ?? -1) + 1);
    const index = arrayTables.get(id);
    if (index !== undefined) {
      path = [...path, index];
      note(places, path, { key: place, value: place });
    }
  });
  pieces.push({ kind: 'header', path, array: double, start, end: cursor.at + (double ? 2 : 1) });
  return path;
}

function scanPair(found: Scan, table: Path, depth: number): void {
  const { cursor, places } = found;
  const start = cursor.at;
  const parts = cursor.key();
  cursor.skipSpace();
  if (cursor.here() === '=') cursor.skip(1);
  cursor.skipSpace();
  const value = cursor.position();
  const from = cursor.at;
  let path = table;
  parts.forEach((part, i) => {
    path = [...path, part.name];
    const key = cursor.position(part.at);
    note(places, path, { key, value: i === parts.length - 1 ? value : key });
  });
  scanValue(found, path, depth);
  found.pieces.push({ kind: 'pair', path, table, start, value: from, end: cursor.at, inline: depth > 0 });
}

function scanValue(found: Scan, path: Path, depth: number): void {
  const { cursor, places } = found;
  if (cursor.here() === '"' || cursor.here() === "'") {
    cursor.string();
  } else if (depth < MAX_DEPTH && (cursor.here() === '[' || cursor.here() === '{')) {
    const close = cursor.here() === '[' ? ']' : '}';
    cursor.skip(1);
    for (let index = 0; ; index++) {
      cursor.skipBlank();
      if (cursor.done()) return;
      if (cursor.here() === close) return cursor.skip(1);
      const before = cursor.at;
      if (close === ']') {
        const place = cursor.position();
        note(places, [...path, index], { key: place, value: place });
        scanValue(found, [...path, index], depth + 1);
      } else scanPair(found, path, depth + 1);
      cursor.skipBlank();
      if (cursor.here() === ',') cursor.skip(1);
      if (cursor.at === before) cursor.skip(1);
    }
  } else cursor.skipScalar();
}

/** Stores the first place of a key, because people look for this place. A header may follow dotted keys of the same table. */
function note(places: Map<string, Place>, path: Path, place: Place): void {
  const id = pathKey(path);
  if (!places.has(id)) places.set(id, place);
}

/** The maximum depth of the search. The parser refuses deeper nesting, so deeper places are not needed. */
const MAX_DEPTH = 200;

class Cursor {
  at = 0;
  readonly text: string;
  /** Offsets at which lines begin. */
  private readonly lines: readonly number[];

  constructor(text: string) {
    this.text = text;
    const lines = [0];
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) lines.push(i + 1);
    this.lines = lines;
    if (text.startsWith('\ufeff')) this.at = 1;
  }

  done(): boolean {
    return this.at >= this.text.length;
  }
  here(): string {
    return this.text[this.at] ?? '';
  }
  startsWith(word: string): boolean {
    return this.text.startsWith(word, this.at);
  }
  skip(count: number): void {
    this.at = Math.min(this.text.length, this.at + count);
  }
  private skipWhile(pattern: RegExp): void {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
  }
  skipSpace(): void {
    this.skipWhile(/[ \t]*/y);
  }
  /** Skips blanks, line ends and comments. */
  skipBlank(): void {
    this.skipWhile(/(?:[ \t\r\n]|#[^\n]*)*/y);
  }
  skipLine(): void {
    this.skipWhile(/[^\n]*\n?/y);
  }
  /** Skips a scalar, without the blanks after it. */
  skipScalar(): void {
    const from = this.at;
    this.skipWhile(/[^,\]}\n#]*/y);
    this.at = from + this.text.slice(from, this.at).trimEnd().length;
  }

  position(at = this.at): Position {
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.lines[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: at - (this.lines[low] ?? 0) + 1 };
  }

  /** Reads a key of one or more parts, up to the first character that cannot belong to the key. */
  key(): Part[] {
    const parts: Part[] = [];
    for (;;) {
      this.skipSpace();
      const at = this.at;
      if (this.here() === '"' || this.here() === "'") {
        const { value, closed } = this.string();
        parts.push({ name: value, at, closed });
      } else {
        this.skipWhile(/[A-Za-z0-9_-]*/y);
        if (this.at === at) return parts;
        parts.push({ name: this.text.slice(at, this.at), at, closed: true });
      }
      this.skipSpace();
      if (this.here() !== '.') return parts;
      this.skip(1);
    }
  }

  /** Reads a string of any of the four kinds, with its quotes. */
  string(): { value: string; closed: boolean } {
    const quote = this.here();
    const triple = this.startsWith(quote.repeat(3));
    const width = triple ? 3 : 1;
    this.skip(width);
    const start = this.at;
    while (!this.done()) {
      if (this.here() === '\\' && quote === '"') this.skip(2);
      else if (!triple && this.here() === '\n') break;
      else if (this.startsWith(quote.repeat(width))) {
        // A string may end with up to two quotes directly before the three closing quotes.
        if (triple) while (this.text[this.at + 3] === quote) this.skip(1);
        const raw = this.text.slice(start, this.at);
        this.skip(width);
        return { value: quote === '"' ? unescape(raw) : raw, closed: true };
      } else this.skip(1);
    }
    return { value: this.text.slice(start, this.at), closed: false };
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
  '"': '"',
  '\\': '\\',
};

function unescape(raw: string): string {
  return raw.replaceAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))/gu, (all, short, long, byte, letter) => {
    const hex: string | undefined = short ?? long ?? byte;
    if (hex === undefined) return ESCAPES[letter as string] ?? all;
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
