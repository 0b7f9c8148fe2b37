import { missed, type Check, type Figure, type Measured, type Row } from './row.ts';

export type Outcome =
  | ({ readonly kind: 'measured'; readonly seconds: number } & Measured)
  | { readonly kind: 'failed'; readonly why: string };
export type Described = Omit<Row, 'run'>;
export type Line = { readonly row: Described; readonly outcome: Outcome };

export const isMissed = ({ row, outcome }: Line): boolean =>
  outcome.kind === 'failed' || missed(row.bar, outcome.figures).length > 0;

const HEADS = ['row', 'ours', 'theirs', 'ratio', 'CPU us', 'system calls', 'bar', ''] as const;

/** Formats a table in Markdown, so that a terminal and `docs/performance.md` show the same table. */
export function table(lines: readonly Line[]): string {
  const cells = [[...HEADS], ...lines.map(cellsOf)];
  const widths = HEADS.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const [head, ...rest] = cells.map(
    (row) => `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`,
  );
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rest].join('\n');
}

function cellsOf({ row, outcome }: Line): string[] {
  const bar = row.bar.map(formatCheck).join(', ');
  if (outcome.kind === 'failed') return [row.name, '', '', '', '', '', bar, 'FAILED'];
  const { ours, theirs, figures } = outcome;
  const own = ours ? formatFigure(ours) : row.bar.map(({ figure }) => `${figure} ${formatFigure(figures[figure])}`).join(', ');
  const low = missed(row.bar, figures);
  return [
    row.name,
    own,
    theirs ? formatFigure(theirs) : '',
    figures['ratio'] ? formatFigure(figures['ratio']) : '',
    cost('CPU', figures),
    cost('system calls', figures),
    bar,
    low.length === 0 ? 'ok' : `MISSED${low.length < row.bar.length ? ` ${low.map((check) => check.figure).join(', ')}` : ''}`,
  ];
}

/** Formats the costs of one operation on both sides. */
function cost(of: string, figures: Measured['figures']): string {
  const [ours, theirs] = [figures[`${of}, ours`], figures[`${of}, theirs`]];
  if (ours === undefined || theirs === undefined) return '';
  return [ours, theirs].map(({ value }) => formatFigure({ value, unit: '' })).join(' / ');
}

function formatCheck({ figure, is, value }: Check): string {
  return `${figure === 'ratio' ? '' : `${figure} `}${is} ${value}${figure === 'ratio' ? ' x' : ''}`;
}

function formatFigure(figure: Figure | undefined): string {
  if (figure === undefined) return 'not measured';
  const { value, unit } = figure;
  const digits = unit === 'tokens' || unit === 'bytes' || unit === 'records' || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })}${unit.startsWith('/') || unit === '' ? unit : ` ${unit}`}`;
}
