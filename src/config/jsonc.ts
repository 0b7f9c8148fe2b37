/**
 * Parses JSON with comments and trailing commas, as in the settings of editors and agents. Each value has its place in the text.
 */
import type { Position } from './problems.ts';

/**
 * Offsets in the text. `from`: the start of the member's name, or equal to `at`. `at`: the start of the value. `end`: the
 * position after the value.
 */
type Span = { readonly from: number; readonly at: number; readonly end: number };

export type Node =
  | (Span & {
      readonly kind: 'object';
      readonly members: ReadonlyMap<string, Node>;
      /** Members with a name that a later member repeats. */
      readonly replaced?: readonly Member[];
    })
  | (Span & { readonly kind: 'array'; readonly elements: readonly Node[] })
  | (Span & { readonly kind: 'scalar'; readonly value: string | number | boolean | null });

type Member = readonly [name: string, node: Node];
type Comment = { readonly at: number; readonly end: number };

export type Parsed =
  | { readonly kind: 'parsed'; readonly root: Node; readonly comments: readonly Comment[] }
  | { readonly kind: 'malformed'; readonly at: Position; readonly expected: string; readonly found: string };

/** Parses a text, and never throws. If several members have the same name, the last member is used, as in JSON.parse. */
export function parseJsonc(text: string): Parsed {
  let at = text.startsWith('\ufeff') ? 1 : 0;

  const fail = (expected: string, offset = at): never => {
    throw new Malformed(expected, offset);
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const comments: Comment[] = [];
  const blank = (): void => {
    for (;;) {
      match(/[ \t\r\n]*/y);
      const start = at;
      if (match(/\/\/[^\n]*/y) === undefined) {
        if (!text.startsWith('/*', at)) return;
        const end = text.indexOf('*/', at + 2);
        if (end < 0) fail('"*/" at the end of the comment');
        at = end + 2;
      }
      comments.push({ at: start, end: at });
    }
  };
  const string = (): string => {
    const start = at;
    at++;
    // The string is matched piece by piece: one pattern for the whole string recurses, and overflows the stack above about 5 MB.
    while (text[at] !== '"') if (match(STRING_PIECE) === undefined) return fail('a string in double quotes', start);
    at++;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const take = (sign: string): boolean => {
    blank();
    if (text[at] !== sign) return false;
    at++;
    return true;
  };
  const value = (depth: number, name?: number): Node => {
    blank();
    const place = at;
    const span = (): Span => ({ from: name ?? place, at: place, end: at });
    if (depth > MAX_DEPTH) return fail(`at most ${MAX_DEPTH} levels`);
    if (take('{')) {
      const members = new Map<string, Node>();
      const replaced: Member[] = [];
      while (!take('}')) {
        blank();
        const from = at;
        const key = text[at] === '"' ? string() : fail('a name in double quotes, or "}"');
        if (!take(':')) fail('":"');
        const before = members.get(key);
        if (before !== undefined) replaced.push([key, before]);
        members.set(key, value(depth + 1, from));
        if (!take(',') && text[at] !== '}') fail('"," or "}"');
      }
      return { kind: 'object', ...span(), members, ...(replaced.length === 0 ? {} : { replaced }) };
    }
    if (take('[')) {
      const elements: Node[] = [];
      while (!take(']')) {
        elements.push(value(depth + 1));
        if (!take(',') && text[at] !== ']') fail('"," or "]"');
      }
      return { kind: 'array', ...span(), elements };
    }
    if (text[at] === '"') {
      const said = string();
      return { kind: 'scalar', ...span(), value: said };
    }
    const word = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y);
    return word === undefined
      ? fail('a value')
      : { kind: 'scalar', ...span(), value: JSON.parse(word) as number | boolean | null };
  };

  try {
    const root = value(0);
    blank();
    if (at < text.length) fail('the end of the file');
    return { kind: 'parsed', root, comments };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    const rest = text.slice(error.offset).split('\n', 1)[0] ?? '';
    const found =
      error.offset >= text.length ? 'the end of the file' : JSON.stringify(rest.length > 20 ? `${rest.slice(0, 20)}…` : rest);
    return { kind: 'malformed', at: positionIn(text, error.offset), expected: error.expected, found };
  }
}

export function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Converts a node to the value that JSON.parse would return. */
export function toValue(node: Node): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'array':
      return node.elements.map(toValue);
    case 'object':
      return Object.fromEntries([...node.members].map(([name, inner]) => [name, toValue(inner)]));
  }
}

const MAX_DEPTH = 200;
// oxlint-disable-next-line no-control-regex -- JSON forbids control characters in a string
const STRING_PIECE = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,4096}/y;

class Malformed extends Error {
  readonly expected: string;
  readonly offset: number;
  constructor(expected: string, offset: number) {
    super(expected);
    this.expected = expected;
    this.offset = offset;
  }
}
