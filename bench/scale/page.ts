// Writes the tables and plots of docs/scale.md from the measured figures: `node bench/scale/page.ts`.
import fs from 'node:fs';
import path from 'node:path';
import type { Point } from './curves.ts';

/** `machine`: the description of the machine on which the points of each engine were measured. */
export type Measurements = { readonly machine: Readonly<Record<string, string>>; readonly points: readonly Point[] };

const root = path.join(import.meta.dirname, '../..');
export const FIGURES = path.join(import.meta.dirname, 'figures.json');
export const PAGE = path.join(root, 'docs/scale.md');
const BLOCK = /(?<=<!-- scale: (?<what>[^>]+) -->\n)[\s\S]*?(?=<!-- \/scale -->)/gu;

const NAMES: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL', nats: 'JetStream', memory: 'memory' };
// The colors keep their contrast on a white and on a black page.
const COLORS: Readonly<Record<string, readonly [name: string, color: string]>> = {
  sqlite: ['blue', '#3b82f6'],
  postgres: ['orange', '#f97316'],
  nats: ['green', '#16a34a'],
  memory: ['blue', '#3b82f6'],
};

export const read = (): Measurements => JSON.parse(fs.readFileSync(FIGURES, 'utf8')) as Measurements;

/**
 * Replaces each block of the page. A block that names a curve becomes a table of all its figures: `<!-- scale: records -->`. A
 * block that also names a figure becomes a plot: `<!-- scale: records carry ms -->`. The name `machine` becomes a list of the machines.
 */
export function page(text: string, { machine, points }: Measurements): string {
  return text.replaceAll(BLOCK, (...args) => {
    const { what = '' } = args.at(-1) as { what?: string };
    if (what === 'machine')
      return `${Object.entries(machine)
        .map(([engine, said]) => `- ${NAMES[engine]}: ${said}`)
        .join('\n')}\n`;
    const [curve = '', ...rest] = what.split(' ');
    const its = points.filter((point) => point.curve === curve);
    if (its.length === 0) throw new Error(`docs/scale.md asks for the curve ${JSON.stringify(curve)}, which was not measured`);
    return rest.length === 0 ? table(its) : plot(its, rest.join(' '));
  });
}

function table(points: readonly Point[]): string {
  const names = [...new Set(points.flatMap(({ figures }) => Object.keys(figures)))];
  const rows = points.map(({ engine, at, figures }) => [
    NAMES[engine] ?? engine,
    count(at),
    ...names.map((name) => (figures[name] === undefined ? '' : short(figures[name]))),
  ]);
  const lines = [
    ['engine', points[0]?.curve ?? '', ...names],
    ['---', ...Array.from({ length: names.length + 1 }, () => '--:')],
    ...rows,
  ];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

/** Makes a diagram with one line for each engine, at the sizes at which every engine was measured. */
function plot(points: readonly Point[], figure: string): string {
  const engines = [...new Set(points.map(({ engine }) => engine))];
  const at = (engine: string): number[] => points.filter((point) => point.engine === engine).map((point) => point.at);
  const sizes = [...new Set(engines.flatMap(at))]
    .filter((size) => engines.every((engine) => at(engine).includes(size)))
    .toSorted((a, b) => a - b);
  const of = (engine: string): number[] =>
    sizes.map((size) => points.find((point) => point.engine === engine && point.at === size)?.figures[figure] ?? Number.NaN);
  const top = Math.max(...engines.flatMap(of));
  const palette = engines.map((engine) => COLORS[engine]?.[1]).join(', ');
  return [
    `${engines.map((engine) => `${NAMES[engine]}: ${COLORS[engine]?.[0]}`).join(', ')}.`,
    '',
    '<!-- tested by bench/bench.test.ts -->',
    '```mermaid',
    '---',
    'config:',
    '  themeVariables:',
    '    xyChart:',
    `      plotColorPalette: "${palette}"`,
    '---',
    'xychart-beta',
    `  title "${figure}"`,
    `  x-axis "${points[0]?.curve}" [${sizes.map((size) => `"${count(size)}"`).join(', ')}]`,
    `  y-axis "" 0 --> ${short(top * 1.2).replaceAll(',', '')}`,
    ...engines.map(
      (engine) =>
        `  line [${of(engine)
          .map((value) => short(value).replaceAll(',', ''))
          .join(', ')}]`,
    ),
    '```',
    '',
  ].join('\n');
}

const count = (at: number): string => at.toLocaleString('en-US');
/** Formats a figure with three significant digits, or from 1,000 on as a whole number. */
const short = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));

if (import.meta.main) fs.writeFileSync(PAGE, page(fs.readFileSync(PAGE, 'utf8'), read()));
