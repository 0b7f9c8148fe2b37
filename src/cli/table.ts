/** Formats aligned columns that fit the terminal, measured in terminal columns. */
import { columns, paint } from './terminal.ts';

export type Column = {
  readonly head?: string;
  readonly right?: true;
  /**
   * The order in which columns are left out if the width is too small: the lowest number first. A column without a number always
   * stays.
   */
  readonly spare?: number;
};

/** The default minimum width of the last column. If less width is left, the cell is placed below its row. */
const READABLE = 20;
const GAP = '  ';

/**
 * Formats a table. The last column gets the remaining width, and longer cells are cut. If this width is too small, the cells of
 * the last column are placed below their rows. Cells may be coloured. `atLeast` contains minimum widths and is updated, so that
 * several tables can look like one table.
 */
export function table(
  rows: readonly (readonly string[])[],
  layout: readonly Column[],
  { width = columns(), atLeast = [], readable = READABLE }: { width?: number; atLeast?: number[]; readable?: number } = {},
): string {
  const natural = layout.map(({ head = '' }, i) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[i] ?? '')), Math.max(head.length, atLeast[i] ?? 0)),
  );
  const last = layout.length - 1;
  atLeast.splice(0, last, ...natural.slice(0, last));
  const text = natural[last] ?? 0;
  const needed = (shown: readonly number[]): number => shown.reduce((sum, i) => sum + (natural[i] ?? 0) + GAP.length, 0);

  const all = layout.map((_, i) => i).filter((i) => i < last && (natural[i] ?? 0) > 0);
  const spare = all
    .filter((i) => layout[i]?.spare !== undefined)
    .toSorted((a, b) => (layout[a]?.spare ?? 0) - (layout[b]?.spare ?? 0));
  /** Chooses the columns that fit and leave `room` free. Columns with the lowest `spare` numbers are omitted first. */
  const leaving = (room: number): readonly number[] => {
    let shown: readonly number[] = all;
    for (const gone of spare) {
      if (needed(shown) + room <= width) break;
      shown = shown.filter((i) => i !== gone);
    }
    return shown;
  };
  const beside = leaving(Math.min(text, readable));
  const room = width - needed(beside);
  const below = room < Math.min(text, readable);
  const fixed = below ? leaving(-GAP.length) : beside;

  const line = (cells: readonly string[]): string => {
    const head = fixed.map((i) => pad(cells[i] ?? '', natural[i] ?? 0, layout[i]?.right === true)).join(GAP);
    const end = cells[last] ?? '';
    if (!below) return `${head}${fixed.length > 0 ? GAP : ''}${cut(end, room)}`.trimEnd();
    return end === '' ? head.trimEnd() : `${head.trimEnd()}\n    ${cut(end, width - 4)}`;
  };
  const heads = layout.map(({ head = '' }, i) => (head === '' || (below && i === last) ? '' : paint('dim', head)));
  return [...(heads.some((head) => head !== '') ? [line(heads)] : []), ...rows.map(line)].join('\n');
}

// oxlint-disable-next-line no-control-regex -- escape sequences have no width
const PAINT = /\u001b\[[0-9;]*m/g;
// oxlint-disable-next-line no-control-regex -- this splits a text into escape sequences and the coloured parts
const PAINTED = /(\u001b\[[0-9;]*m)/;
let segmenter: Intl.Segmenter | undefined;
/**
 * Splits a text into the characters that a terminal shows. The segmenter is made at first use, because that takes 9 ms and most
 * commands never need the segmenter.
 */
export const segmentsOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text);

/** Measures the width of a text in terminal columns. */
export function widthOf(text: string): number {
  const bare = text.replaceAll(PAINT, '');
  if (isNarrow(bare)) return bare.length;
  let sum = 0;
  for (const { segment } of segmentsOf(bare)) sum += widthOfSegment(segment);
  return sum;
}

/** Cuts a text to at most `width` columns, with an ellipsis if something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let shown = '';
  let left = width - 1;
  for (const part of text.split(PAINTED)) {
    if (part.startsWith('\u001b[')) {
      shown += part;
      continue;
    }
    for (const { segment } of segmentsOf(part)) {
      left -= widthOfSegment(segment);
      if (left < 0) break;
      shown += segment;
    }
    if (left < 0) break;
  }
  return `${shown}…${shown.includes('\u001b[') ? '\u001b[0m' : ''}`;
}

function pad(cell: string, width: number, right: boolean): string {
  const filling = ' '.repeat(Math.max(0, width - widthOf(cell)));
  return right ? filling + cell : cell + filling;
}

const isNarrow = (text: string): boolean => /^[\u0020-\u007e\u00a0-\u02ff…○△▲■●✓✗⏎→·�│┃┆]*$/.test(text);

/** East Asian wide and fullwidth forms, and characters that are shown as emoji. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;

function widthOfSegment(segment: string): number {
  if (WIDE.test(segment)) return 2;
  return /^[\p{M}\p{Cf}]+$/u.test(segment) ? 0 : 1;
}
