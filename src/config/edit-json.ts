/**
 * Changes one place of a JSON text that a person wrote, and nothing else. Comments, trailing commas, layout and line ends stay,
 * byte for byte. Each result is parsed again. A result that does not equal the old value with the change is discarded.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Edited } from './edit.ts';
import { parseJsonc, positionIn, toValue, type Node, type Parsed } from './jsonc.ts';

export type JsonPath = readonly (string | number)[];

type Container = Extract<Node, { kind: 'object' | 'array' }>;
type Sheet = { readonly text: string; readonly root: Node; readonly end: '\n' | '\r\n'; readonly unit: string };

/** Sets a member, and adds the missing objects around the member. An empty text counts as `{}`. Never throws. */
export const setJson = (text: string, path: readonly string[], value: unknown, file: string): Edited =>
  put(text, path, value, file, false);

/** Appends a value to a list, and adds the list and the objects around the list if they are missing. Never throws. */
export const appendJson = (text: string, path: readonly string[], value: unknown, file: string): Edited =>
  put(text, path, value, file, true);

/**
 * Removes the value at a path, with its name, its comma and the preceding white space. Changes nothing if there is no value.
 * Never throws.
 */
export function removeJson(text: string, path: JsonPath, file: string): Edited {
  const last = path.at(-1);
  if (last === undefined || jsonAt(text, path) === undefined) return { kind: 'text', text };
  return edited(text, path, file, (sheet) => {
    const { node: above } = deepest(sheet.root, path.slice(0, -1));
    const { node } = deepest(sheet.root, path);
    if (above.kind === 'scalar') return undefined;
    const wanted = changed(toValue(sheet.root), path.slice(0, -1), (value) => {
      if (Array.isArray(value)) return value.toSpliced(Number(last), 1);
      return Object.fromEntries(Object.entries(value as object).filter(([name]) => name !== last));
    });
    return { wanted, text: without(sheet.text, above, node) };
  });
}

/** Returns the value at a path, or undefined if the path has no value or the text is not JSON. */
export function jsonAt(text: string, path: JsonPath): unknown {
  const parsed = parsedOf(text);
  if (parsed.kind !== 'parsed') return undefined;
  const { node, depth } = deepest(parsed.root, path);
  return depth === path.length ? toValue(node) : undefined;
}

/** Describes the problem of a text that is neither an object nor empty. */
export function jsonProblem(text: string, file: string): Extract<Edited, { kind: 'problem' }> | undefined {
  if (isBlank(text)) return undefined;
  const parsed = parsedOf(text);
  if (parsed.kind === 'malformed') {
    const message = `is not valid JSON: expected ${parsed.expected}, found ${parsed.found}; repair the file, then run the command again`;
    return { kind: 'problem', problem: { file, ...parsed.at, message } };
  }
  if (parsed.root.kind === 'object') return undefined;
  const found = parsed.root.kind === 'array' ? 'a list' : 'a single value';
  return {
    kind: 'problem',
    problem: { file, ...positionIn(text, parsed.root.at), message: `is ${found}; write an object` },
  };
}

/**
 * The last parsed text, kept because one change parses the same text many times, and Claude Code's file may have tens of
 * megabytes.
 */
let last: { readonly text: string; readonly parsed: Parsed } | undefined;

function parsedOf(text: string): Parsed {
  if (last?.text !== text) last = { text, parsed: parseJsonc(text) };
  return last.parsed;
}

const isBlank = (text: string): boolean => text.replace(/^\ufeff/u, '').trim() === '';

function put(text: string, path: readonly string[], value: unknown, file: string, append: boolean): Edited {
  return edited(text, path, file, (sheet) => {
    const { node, depth } = deepest(sheet.root, path);
    const last = append ? [value] : value;
    const wanted = changed(toValue(sheet.root), path, (there) => (append && Array.isArray(there) ? [...there, value] : last));
    if (depth === path.length) {
      if (append) return node.kind === 'array' ? { wanted, text: added(sheet, node, undefined, value) } : undefined;
      const inner = spelled(sheet, value, indentOfLine(sheet.text, node.from));
      return { wanted, text: sheet.text.slice(0, node.at) + inner + sheet.text.slice(node.end) };
    }
    if (node.kind !== 'object') return undefined;
    const [name = '', ...below] = path.slice(depth);
    const inner = below.reduceRight<unknown>((all, key) => ({ [key]: all }), last);
    return { wanted, text: added(sheet, node, name, inner) };
  });
}

type Change = { readonly text: string; readonly wanted: unknown };

function edited(text: string, path: JsonPath, file: string, change: (sheet: Sheet) => Change | undefined): Edited {
  const problem = jsonProblem(text, file);
  if (problem !== undefined) return problem;
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const whole = isBlank(text) ? `${text.startsWith('\ufeff') ? '\ufeff' : ''}{}${end}` : text;
  const parsed = parsedOf(whole);
  if (parsed.kind !== 'parsed') throw new Error('the text passed the check, but is not JSON');
  const done = change({ text: whole, root: parsed.root, end, unit: unitOf(whole, parsed.root) });
  const again = done === undefined ? undefined : parsedOf(done.text);
  if (done !== undefined && again?.kind === 'parsed' && isDeepStrictEqual(toValue(again.root), done.wanted))
    return { kind: 'text', text: done.text };
  const { node } = deepest(parsed.root, path);
  const message = `${path.join('.')} cannot be changed because of the existing value; change the file by hand`;
  return { kind: 'problem', problem: { file, ...positionIn(whole, node.at), message } };
}

function deepest(root: Node, path: JsonPath): { readonly node: Node; readonly depth: number } {
  let node = root;
  for (const [depth, key] of path.entries()) {
    let next: Node | undefined;
    if (node.kind === 'object') next = node.members.get(String(key));
    else if (node.kind === 'array') next = node.elements[Number(key)];
    if (next === undefined) return { node, depth };
    node = next;
  }
  return { node, depth: path.length };
}

/** Copies a value with one place changed, and with the missing objects above that place. */
function changed(value: unknown, [key, ...rest]: JsonPath, change: (there: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.map((each, i) => (i === key ? changed(each, rest, change) : each));
  const table = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { ...table, [key]: changed(Object.hasOwn(table, key) ? table[key] : undefined, rest, change) };
}

/**
 * Adds a member or an element at the end of the container, on a new line. A comment on the last member's line stays on that line.
 */
function added(sheet: Sheet, container: Container, name: string | undefined, value: unknown): string {
  const { text, end, unit } = sheet;
  const inside = childrenOf(container);
  const last = inside.at(-1);
  const closing = container.end - 1;
  const outer = indentOfLine(text, container.at);
  const indent = last !== undefined && startsLine(text, last.from) ? indentOfLine(text, last.from) : outer + unit;
  const said = `${name === undefined ? '' : `${JSON.stringify(name)}: `}${spelled(sheet, value, indent)}`;
  if (last === undefined) {
    const at = lastWritten(text, container.at + 1, closing);
    return splice(text, at, at, `${end}${indent}${said}${lineBreak(text, at, closing) ? '' : end + outer}`);
  }
  const comma = commaBehind(text, last.end, closing);
  const line = endOfLine(text, comma === undefined ? last.end : comma + 1, closing);
  const inserted = `${end}${indent}${said}${comma === undefined ? '' : ','}${lineBreak(text, line, closing) ? '' : end + outer}`;
  const withText = splice(text, line, line, inserted);
  return comma === undefined ? splice(withText, last.end, last.end, ',') : withText;
}

function without(text: string, container: Container, node: Node): string {
  const inside = childrenOf(container);
  const before = inside[inside.indexOf(node) - 1];
  const closing = container.end - 1;
  const from = lastWritten(text, container.at + 1, node.from);
  const comma = commaBehind(text, node.end, closing);
  const cut = splice(text, from, comma === undefined ? node.end : comma + 1, '');
  const commaBefore = before === undefined ? undefined : commaBehind(text, before.end, node.from);
  if (comma === undefined && commaBefore !== undefined) return splice(cut, commaBefore, commaBefore + 1, '');
  // A list or an object that becomes empty has no white space between its brackets.
  const removed = text.length - cut.length;
  const [open, close] = [container.at + 1, closing - removed];
  return inside.length === 1 && cut.slice(open, close).trim() === '' ? splice(cut, open, close, '') : cut;
}

const childrenOf = (container: Container): readonly Node[] =>
  (container.kind === 'array' ? [...container.elements] : [...container.members.values()]).toSorted((a, b) => a.from - b.from);

const splice = (text: string, from: number, to: number, by: string): string => text.slice(0, from) + by + text.slice(to);

/** Matches white space and comments from an offset on. */
const TRIVIA = /(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;

function commaBehind(text: string, at: number, before: number): number | undefined {
  TRIVIA.lastIndex = at;
  const comma = at + (TRIVIA.exec(text)?.[0].length ?? 0);
  return comma < before && text[comma] === ',' ? comma : undefined;
}

/** Returns the position after the last character that is not white space. A comment is not white space. */
function lastWritten(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && /\s/u.test(text[at - 1] ?? '')) at--;
  return at;
}

/** Returns the position after the comments on the rest of this line. */
function endOfLine(text: string, at: number, before: number): number {
  const rest = /^(?:[ \t]*\/\*[^\n]*?\*\/)*(?:[ \t]*\/\/[^\r\n]*)?/u.exec(text.slice(at, before))?.[0] ?? '';
  return at + rest.length;
}

const lineBreak = (text: string, from: number, to: number): boolean => text.slice(from, to).includes('\n');
const lineStart = (text: string, at: number): number => {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  return start === 0 && text.startsWith('\ufeff') ? 1 : start;
};
const indentOfLine = (text: string, at: number): string => /^[ \t]*/u.exec(text.slice(lineStart(text, at), at))?.[0] ?? '';
const startsLine = (text: string, at: number): boolean => text.slice(lineStart(text, at), at).trim() === '';

/** Returns the indentation of the file's first member, or two spaces if that member has none. */
function unitOf(text: string, root: Node): string {
  const first = root.kind === 'scalar' ? undefined : childrenOf(root)[0];
  const own = first !== undefined && startsLine(text, first.from) ? indentOfLine(text, first.from) : '';
  return own === '' ? '  ' : own;
}

function spelled({ end, unit }: Sheet, value: unknown, indent: string): string {
  return JSON.stringify(value, undefined, unit).replaceAll('\n', `${end}${indent}`);
}
