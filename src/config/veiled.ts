/** A text of settings as a person may be shown it, on a screen that may be recorded: without the secrets of servers. */
import { parseJsonc, type Node } from './jsonc.ts';
import { piecesOf } from './positions.ts';

/** Members that hold secrets, in every agent's settings. */
const HOLDERS: ReadonlySet<string> = new Set(['env', 'environment', 'headers', 'http_headers']);

type Span = { readonly at: number; readonly end: number };

/** The same lines, with every text and number below such a member as `"…"`. */
export function veiled(text: string, file: string): string {
  const spans = file.endsWith('.toml') ? inToml(text) : /\.jsonc?$/u.test(file) && text.trim() !== '' ? inJson(text) : [];
  if (spans === undefined) return text.replaceAll(/[^\r\n]+/gu, '…');
  let shown = '';
  let from = 0;
  for (const { at, end } of spans) {
    const hidden = text.slice(at, end);
    const [open = '', close = ''] = hidden.startsWith('//') ? ['//'] : hidden.startsWith('/*') ? ['/*', '*/'] : ['"', '"'];
    const breaks = hidden.replaceAll(/[^\n]/gu, '');
    shown += `${text.slice(from, at)}${open}…${open === '/*' ? breaks + close : close + breaks}`;
    from = end;
  }
  return shown + text.slice(from);
}

/** Undefined for a text that cannot be read. */
function inJson(text: string): readonly Span[] | undefined {
  const parsed = parseJsonc(text);
  if (parsed.kind === 'malformed') return undefined;
  const spans: Span[] = [];
  const comments = parsed.comments;
  const walk = (node: Node, isBelow: boolean): void => {
    if (node.kind === 'object') {
      for (const [name, inner] of [...node.members, ...(node.replaced ?? [])]) {
        const isHolder = !isBelow && HOLDERS.has(name);
        if (isHolder) spans.push(...comments.filter(({ at, end }) => at > inner.at && end < inner.end));
        walk(inner, isBelow || isHolder);
      }
    } else if (node.kind === 'array') for (const inner of node.elements) walk(inner, isBelow);
    else if (isBelow && (typeof node.value === 'string' || typeof node.value === 'number')) spans.push(node);
  };
  walk(parsed.root, false);
  return spans.toSorted((a, b) => a.at - b.at);
}

/** Whole values: only the content of an inline table has separate places. */
function inToml(text: string): readonly Span[] {
  const pairs = piecesOf(text).filter((piece) => piece.kind === 'pair');
  const below = pairs.filter(({ path }) => path.some((part, i) => HOLDERS.has(String(part)) && i < path.length - 1));
  return below
    .filter((pair) => !below.some((other) => other !== pair && other.value > pair.value && other.end <= pair.end))
    .map(({ value, end }) => ({ at: value, end }))
    .toSorted((a, b) => a.at - b.at);
}
