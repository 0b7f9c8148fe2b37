/**
 * Draws simple charts. Each point is a link to its notifications. A table contains the same numbers for people who cannot see the
 * chart.
 */
import { useEffect, useId, useRef, useState, type ReactElement, type RefObject } from 'react';
import { minuteTime, day } from '../state/clock.ts';

export type Series = {
  readonly name: string;
  readonly className: string;
  readonly values: readonly number[];
  /** The link of each point, if the points of a column have different links. */
  readonly hrefs?: readonly string[];
};
export type Column = { readonly at: number; readonly href: string };

const HEIGHT = 150;
const LEFT = 46;
const BOTTOM = 20;
const TOP = 8;

type ChartProps = {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly series: readonly Series[];
  readonly kind: 'stacked' | 'side' | 'area';
  readonly says: (value: number) => string;
  /** Returns the end of the axis, at or above the greatest value. */
  readonly scale?: (max: number) => number;
};

export function Chart({ label, columns, series, kind, says, scale = niceMax }: ChartProps): ReactElement {
  const [table, setTable] = useState(false);
  const id = useId();
  const ref = useRef<HTMLElement>(null);
  const full = useWidth(ref);
  const tops = columns.map((_, at) => {
    const values = series.map((each) => each.values[at] ?? 0);
    return kind === 'side' ? Math.max(...values) : values.reduce((a, b) => a + b, 0);
  });
  const max = scale(Math.max(1, ...tops));
  const width = (full - LEFT) / Math.max(1, columns.length);
  const y = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / max);
  const far = (columns.at(-1)?.at ?? 0) - (columns[0]?.at ?? 0) > 36 * 3_600_000;
  const timeSays = (at: number): string => (far ? day(at) : minuteTime(at));
  return (
    <figure className="chart" ref={ref}>
      <figcaption id={id}>
        <h2>{label}</h2>
        <ul className="legend">
          {series.map((each) => (
            <li key={each.name}>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" className={each.className}>
                <rect width="10" height="10" rx="2" />
              </svg>
              {each.name}
            </li>
          ))}
        </ul>
        <button type="button" className="quiet small" aria-expanded={table} onClick={() => setTable(!table)}>
          {table ? 'as a chart' : 'as a table'}
        </button>
      </figcaption>
      {table ? (
        <div className="scroll-x" tabIndex={0} role="group" aria-label={`${label}, table`}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">from</th>
                {series.map((each) => (
                  <th key={each.name} scope="col">
                    {each.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {columns.map((column, at) =>
                (tops[at] ?? 0) === 0 ? null : (
                  <tr key={column.at}>
                    <th scope="row">
                      <a href={column.href}>{timeSays(column.at)}</a>
                    </th>
                    {series.map((each) => (
                      <td key={each.name}>
                        {each.hrefs === undefined ? (
                          says(each.values[at] ?? 0)
                        ) : (
                          <a href={each.hrefs[at]}>{says(each.values[at] ?? 0)}</a>
                        )}
                      </td>
                    ))}
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </div>
      ) : (
        <svg viewBox={`0 0 ${full} ${HEIGHT}`} role="group" aria-labelledby={id}>
          {[0, max / 2, max].map((value) => (
            <g key={value} className="axis" aria-hidden="true">
              <line x1={LEFT} x2={full} y1={y(value)} y2={y(value)} />
              <text x={LEFT - 6} y={y(value) + 3.5} textAnchor="end">
                {scale === niceMax ? brief(value) : says(value)}
              </text>
            </g>
          ))}
          {[0, Math.floor(columns.length / 2), columns.length - 1].map((at) => (
            <text
              key={at}
              className="axis-text"
              x={LEFT + width * at + (at === 0 ? 0 : at === columns.length - 1 ? width : width / 2)}
              y={HEIGHT - 5}
              textAnchor={at === 0 ? 'start' : at === columns.length - 1 ? 'end' : 'middle'}
              aria-hidden="true"
            >
              {timeSays(columns[at]?.at ?? 0)}
            </text>
          ))}
          {columns.map((column, at) => {
            const drawn = bars(series, at, kind, y, width);
            const valueSays = (each: Series): string => `${says(each.values[at] ?? 0)} ${each.name}`;
            // Bars with different links are separate points.
            const points = series.every(({ hrefs }) => hrefs === undefined)
              ? [{ href: column.href, of: series, bars: drawn, x: 0, width }]
              : series.map((each, n) => ({
                  href: each.hrefs?.[at] ?? column.href,
                  of: [each],
                  bars: drawn.slice(n, n + 1),
                  x: (width / series.length) * n,
                  width: width / series.length,
                }));
            return points.map((point) => (
              <Point
                key={`${column.at} ${point.of[0]?.name ?? ''}`}
                href={point.of.some(({ values }) => (values[at] ?? 0) > 0) ? point.href : undefined}
                said={`${timeSays(column.at)}: ${point.of.map(valueSays).join(', ')}`}
                x={LEFT + width * at + point.x}
                width={point.width}
              >
                {point.bars.map((bar) => (
                  <rect
                    key={bar.name}
                    className={bar.className}
                    x={LEFT + width * at + bar.x}
                    y={bar.y}
                    width={bar.width}
                    height={bar.height}
                  />
                ))}
              </Point>
            ));
          })}
        </svg>
      )}
    </figure>
  );
}

/** Returns the width of the chart's place in px. The drawing is this wide, so its texts are as large as other texts. */
function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(720);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, Math.round(element.clientWidth))));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

function Point({
  href,
  said,
  x,
  width,
  children,
}: {
  readonly href: string | undefined;
  readonly said: string;
  readonly x: number;
  readonly width: number;
  readonly children: React.ReactNode;
}): ReactElement {
  const area = <rect className="hit" x={x} y={TOP} width={width} height={HEIGHT - TOP - BOTTOM} />;
  if (href === undefined) return <g>{children}</g>;
  return (
    <a href={href} className="point" aria-label={said}>
      <title>{said}</title>
      {area}
      {children}
    </a>
  );
}

type Bar = {
  readonly name: string;
  readonly className: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

function bars(
  series: readonly Series[],
  at: number,
  kind: ChartProps['kind'],
  y: (value: number) => number,
  width: number,
): Bar[] {
  const gap = kind === 'area' ? 0 : Math.min(2, width * 0.2);
  const zero = y(0);
  if (kind === 'side') {
    const each = (width - gap) / series.length;
    return series.map(({ name, className, values }, n) => {
      const value = values[at] ?? 0;
      // A small value still has a visible height.
      const height = value === 0 ? 0 : Math.max(1.5, zero - y(value));
      return { name, className, x: gap / 2 + each * n, y: zero - height, width: each, height };
    });
  }
  let below = 0;
  return series.map(({ name, className, values }) => {
    const value = values[at] ?? 0;
    const bar = { name, className, x: gap / 2, y: y(below + value), width: width - gap, height: y(below) - y(below + value) };
    below += value;
    return bar;
  });
}

/** Shows named numbers as horizontal bars. */
export function Ranking({
  label,
  rows,
}: {
  readonly label: string;
  readonly rows: readonly { readonly name: string; readonly href: string; readonly value: number; readonly says: string }[];
}): ReactElement {
  const max = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <figure className="chart ranking">
      <figcaption>
        <h2>{label}</h2>
      </figcaption>
      <ul>
        {rows.map((row) => (
          <li key={row.name}>
            <a href={row.href}>
              <span className="words">{row.name}</span>
              <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                <rect className="bar-track" width="100" height="6" rx="1" />
                <rect className="bar" width={(row.value / max) * 100} height="6" rx="1" />
              </svg>
              <span className="muted">{row.says}</span>
            </a>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 4, 5, 10].map((step) => step * power);
  return Math.max(2, steps.find((step) => step >= value) ?? value);
}

const S = 1_000;
const MIN = 60 * S;
const H = 60 * MIN;
const TIMES: readonly (readonly [number, readonly number[]])[] = [
  [1, [10, 20, 50, 100, 200, 400]],
  [S, [1, 2, 4, 10, 20, 30]],
  [MIN, [1, 2, 4, 10, 20, 30]],
  [H, [1, 2, 4, 6, 12, 24, 48, 96]],
];
const WEEK = 168 * H;
/** Returns the end of an axis of times: a round time at or above `ms`, in ms. */
export const niceTime = (ms: number): number =>
  TIMES.flatMap(([unit, counts]) => counts.map((n) => n * unit)).find((time) => time >= ms) ?? Math.ceil(ms / WEEK) * WEEK;

export const brief = (value: number): string =>
  value >= 1_000_000
    ? `${(value / 1_000_000).toFixed(1)}M`
    : value >= 10_000
      ? `${Math.round(value / 1_000)}k`
      : String(Math.round(value * 10) / 10);
