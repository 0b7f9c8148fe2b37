import { decode, encode } from '@toon-format/toon';
import { defined } from '../defined.ts';
import { LEVELS } from '../notification.ts';
import type { Line } from '../plan.ts';
import { adopted, isCopyable, neutralizeKind } from './body.ts';
import { isTable, neutralData } from './data.ts';
import { ending, opening, type Layout, type Page } from './layout.ts';
import { attribution, indentedBody, type How } from './wording.ts';

/** The columns are fixed, so that a row that was sent before fits into any later table. */
const COLUMNS = ['level', 'from', 'message'] as const;

/**
 * The view in Token-Oriented Object Notation: one document with the frame in its comments. Several items are rows of a table. A
 * single item is a line (`error.tool.failed: …`), with a table of its data if notifications were coalesced into it.
 */
export const toon: Layout = {
  item(line, how, alone) {
    const from = fromOf(line);
    if (!alone) return row(line.level, from, indentedBody(line, how));
    const data = dataOf(line, how);
    // The table shows the data, so the message omits the data.
    const message = indentedBody(data === undefined ? line : { ...line, data: [] }, how);
    return encode({ [`${line.level}.${from}`]: message, ...defined({ data }) });
  },
  owns: (text) => isRow(text) || keysOf(text) !== undefined,
  adopt: (text, { level, source, name }) => row(level, `${neutralizeKind(source)}.${neutralizeKind(name)}`, adopted(text)),
  page(page) {
    const { rows, blocks } = sort(page);
    const { mark, lead, more } = page;
    return [
      `# ${opening(mark, lead)}`,
      ...blocks,
      ...(rows.length > 0 ? [`notifications[${rows.length}]{${COLUMNS.join(',')}}:`, ...rows.map((text) => `  ${text}`)] : []),
      ...(more ? [encode({ more: more.text })] : []),
      `# ${ending(mark)}`,
    ].join('\n');
  },
};

function fromOf(line: Line): string {
  const who = attribution(line);
  const kind = `${neutralizeKind(line.kind.source)}.${neutralizeKind(line.kind.name)}`;
  return who === undefined ? kind : `${kind}, ${who}`;
}

function dataOf(line: Line, how: How): unknown {
  if (line.data.length < 2) return undefined;
  const rows = neutralData(line.data, how.maxItemChars);
  return Array.isArray(rows) && isTable(rows) ? rows : undefined;
}

/** Encodes one row: the encoder writes a table, whose header and indentation are then removed. */
function row(level: string, from: string, message: string): string {
  const table = encode([{ level, from, message }]);
  return table.slice(table.indexOf('\n') + 1).trimStart();
}

const STARTS_ROW = new RegExp(`^(?:${LEVELS.join('|')}),`);
const STARTS_BLOCK = new RegExp(`^"?(?:${LEVELS.join('|')})\\.`);

/**
 * Whether the text is a row exactly as the encoder writes it. Other text that a decoder accepts, such as a comment, is not a row.
 */
function isRow(text: string): boolean {
  if (!STARTS_ROW.test(text) || !isCopyable(text)) return false;
  const [value] = (decoded(`[1]{${COLUMNS.join(',')}}:\n  ${text}`) ?? []) as readonly Readonly<Record<string, unknown>>[];
  return value !== undefined && row(String(value['level']), String(value['from']), String(value['message'])) === text;
}

/** Returns the keys of an item that is a line. Undefined for any other text. */
function keysOf(text: string): readonly string[] | undefined {
  if (!STARTS_BLOCK.test(text) || !isCopyable(text)) return undefined;
  const value = decoded(text);
  if (value === undefined || encode(value) !== text) return undefined;
  const [first, ...others] = Object.entries(value);
  const alone = typeof first?.[1] === 'string' && others.every(([key, data]) => key === 'data' && Array.isArray(data));
  return alone ? Object.keys(value) : undefined;
}

function decoded(text: string): object | undefined {
  try {
    const value = decode(text, { strict: true });
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Divides the items into rows of the table and lines before it. A key may occur only once, so a second line of the same kind
 * becomes a row.
 */
function sort({ items }: Page): { rows: readonly string[]; blocks: readonly string[] } {
  const keys = new Set(['notifications', 'more']);
  const rows: string[] = [];
  const blocks: string[] = [];
  for (const { text, about } of items) {
    const own = isRow(text) ? undefined : keysOf(text);
    if (own === undefined) rows.push(text);
    else if (own.some((key) => keys.has(key))) rows.push(toon.adopt(text, about));
    else {
      blocks.push(text);
      for (const key of own) keys.add(key);
    }
  }
  return { rows, blocks };
}
