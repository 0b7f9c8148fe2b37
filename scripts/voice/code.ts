/** Finds the texts of a TypeScript file that people read: comments, prose in strings and JSX, and titles of tests. */
import { parseSync, type Comment } from 'oxc-parser';

export type Text = { readonly line: number; readonly text: string; readonly kind: 'comment' | 'string' | 'title' };

/** A node of ESTree without specific types, because every kind of node is visited in the same way. */
type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

const TESTS = new Set(['test', 'it', 'describe', 'verifies']);
/** Matches the id of a requirement, which precedes a title. */
const REQUIREMENT = /^[a-z]+:[^\s]*$/u;

/** Finds the texts. `strings` says which strings to include: all prose, or only the titles of tests. */
export function textsOfCode(code: string, strings: 'prose' | 'titles'): Text[] {
  const { program, comments } = parseSync('code.tsx', code);
  const lineAt = linesOf(code);
  const texts = comments.flatMap((comment) => commentTexts(code, comment, lineAt(comment.start)));
  const titles = new Set<Node>();
  visit(program as unknown as Node, (node) => {
    for (const title of titlesOf(node)) titles.add(title);
    const text = textOf(node);
    if (text === undefined) return true;
    if (titles.has(node)) texts.push({ line: lineAt(node.start), text, kind: 'title' });
    else if (strings === 'prose' && isProse(text)) texts.push({ line: lineAt(node.start), text, kind: 'string' });
    // A template may contain further texts, but a concatenation of strings is one text.
    return node.type === 'TemplateLiteral';
  });
  return joined(texts.toSorted((a, b) => a.line - b.line));
}

/** Calls `enter` with each node, parents first. A node's children are visited if `enter` returns true. */
function visit(node: Node, enter: (node: Node) => boolean): void {
  if (!enter(node)) return;
  for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, enter);
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** Returns the title of a call such as `test('…')`, `it.each(…)('…')` and `verifies('bus:order', '…')`. */
function titlesOf(node: Node): readonly Node[] {
  if (node.type !== 'CallExpression' || !TESTS.has(rootOf(node['callee'] as Node))) return [];
  const given = (node['arguments'] as readonly Node[]).slice(0, 2);
  return given.filter((each, at) => at === 0 || REQUIREMENT.test(textOf(given[0] as Node) ?? '')).slice(-1);
}

/** Returns the name before all members and calls: `test` in `test.skipIf(x).each(y)`. */
function rootOf(callee: Node): string {
  if (callee.type === 'Identifier') return String(callee['name']);
  const inner = callee['object'] ?? callee['callee'];
  return isNode(inner) ? rootOf(inner) : '';
}

/** Returns the text of a string, of JSX, or of a concatenation of strings. An expression inside the text becomes `x`. */
function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node.type === 'JSXText') return String(node['value']).trim().replaceAll(/\s+/gu, ' ');
  if (node.type === 'TemplateLiteral')
    return (node['quasis'] as readonly { readonly value: { readonly cooked: string } }[])
      .map(({ value }) => value.cooked)
      .join('`x`');
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined;
  const [left, right] = [textOf(node['left'] as Node), textOf(node['right'] as Node)];
  return left === undefined && right === undefined ? undefined : `${left ?? '`x`'}${right ?? '`x`'}`;
}

function linesOf(code: string): (index: number) => number {
  const starts = [0, ...[...code.matchAll(/\n/gu)].map(({ index }) => index + 1)];
  return (index) => starts.findLastIndex((start) => start <= index) + 1;
}

/** Returns the texts of a comment, without directives of tools. */
function commentTexts(code: string, { start, end, type }: Comment, line: number): Text[] {
  const comment = code.slice(start, end);
  if (/^\/[/*]\s*(?:#(?:end)?region|oxlint|eslint|@ts-|v8 )/u.test(comment)) return [];
  const text = comment
    .replaceAll(/^\/\*+|\*+\/$|^\/\/ ?/gu, '')
    .replaceAll(/^[ \t]*\*(?: |$)/gmu, '')
    .replaceAll(/^@(?:param|template) [\w.]+|^@\w+/gmu, '');
  return [{ line, text: type === 'Line' ? text : text.trimEnd(), kind: 'comment' }];
}

/** Joins consecutive line comments to one text, and omits the output of examples. */
function joined(all: readonly Text[]): Text[] {
  const found: Text[] = [];
  for (const each of all) {
    const last = found.at(-1);
    const next = last && last.line + last.text.split('\n').length === each.line;
    if (last && next && last.kind === 'comment' && each.kind === 'comment' && !last.text.startsWith('\n'))
      found[found.length - 1] = { ...last, text: `${last.text}\n${each.text}` };
    else found.push(each);
  }
  return found
    .map((each) => (each.kind === 'comment' ? { ...each, text: each.text.replace(/^\s*Output:[^]*$/mu, '') } : each))
    .filter(({ kind, text }) => kind !== 'comment' || text.trim() !== '');
}

/**
 * Whether a text is prose. Prose has at least four words, and most of them have only letters, unlike a path, SQL, or a list of
 * names.
 */
const isProse = (text: string): boolean => {
  const words = text.trim().split(/\s+/u);
  return (
    words.length >= 4 &&
    words.filter((word) => /^[\p{Ll}"'(`]?[\p{L}'’-]+["')`]?[.,;:!?]*$/u.test(word)).length * 2 > words.length &&
    !/^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WITH)\b/u.test(text.trim())
  );
};
