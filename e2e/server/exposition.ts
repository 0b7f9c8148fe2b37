/** Reads Prometheus' text format 0.0.4 strictly, and throws on invalid text, with the line. */

export type Series = { readonly name: string; readonly labels: ReadonlyMap<string, string>; readonly value: number };
export type Family = { readonly name: string; readonly type: string; readonly help: string; readonly series: readonly Series[] };

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/u;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/u;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];

export function readExposition(text: string): readonly Family[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no line break');
  const families: { name: string; type?: string; help?: string; series: Series[] }[] = [];
  const seen = new Set<string>();
  /** Returns the family of this line. Throws if lines of other families are between the lines of this family. */
  const familyOf = (name: string, line: string): (typeof families)[number] => {
    const last = families.at(-1);
    if (last?.name === name) return last;
    if (families.some((family) => family.name === name)) throw new Error(`${name} comes again: ${line}`);
    const family = { name, series: [] };
    families.push(family);
    return family;
  };
  for (const line of text.slice(0, -1).split('\n')) {
    const [, told, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/u.exec(line) ?? [];
    if (told === undefined) {
      const series = seriesIn(line);
      const last = families.at(-1);
      const isOf = last !== undefined && namesOf(last.name, last.type).includes(series.name);
      const family = isOf ? last : familyOf(series.name, line);
      if (family.type === undefined || family.help === undefined) throw new Error(`no HELP or no TYPE before: ${line}`);
      const key = `${series.name} ${labelsOf(series)}`;
      if (seen.has(key)) throw new Error(`the same series again: ${line}`);
      seen.add(key);
      family.series.push(series);
      continue;
    }
    if (!NAME.test(name)) throw new Error(`not a name: ${line}`);
    const family = familyOf(name, line);
    if (family.series.length > 0) throw new Error(`HELP or TYPE after the series: ${line}`);
    if (told === 'HELP') {
      if (family.help !== undefined || /\\(?![\\n])/u.test(rest)) throw new Error(`HELP twice, or a wrong escape: ${line}`);
      family.help = rest;
    } else {
      if (family.type !== undefined || !TYPES.includes(rest)) throw new Error(`TYPE twice, or an unknown type: ${line}`);
      family.type = rest;
    }
  }
  const read = families.map(({ name, type = '', help = '', series }) => ({ name, type, help, series }));
  for (const family of read) check(family);
  return read;
}

const namesOf = (name: string, type: string | undefined): readonly string[] =>
  type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];

function seriesIn(line: string): Series {
  const [, name = '', inner, number = ''] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/u.exec(line) ?? [];
  if (!NAME.test(name)) throw new Error(`not a series: ${line}`);
  const labels = new Map<string, string>();
  let rest = inner ?? '';
  while (rest !== '') {
    const [all, label = '', value = ''] = /^([^=]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/u.exec(rest) ?? [];
    if (all === undefined || !LABEL.test(label) || label.startsWith('__')) throw new Error(`not a label: ${rest} of ${line}`);
    if (labels.has(label)) throw new Error(`${label} twice: ${line}`);
    labels.set(
      label,
      value.replaceAll(/\\(.)/gu, (_, char: string) => (char === 'n' ? '\n' : char)),
    );
    rest = rest.slice(all.length);
  }
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (Number.isNaN(value) || !/^(?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\+Inf)$/u.test(number)) throw new Error(`no number: ${line}`);
  return { name, labels, value };
}

function check({ name, type, series }: Family): void {
  if (series.length === 0) throw new Error(`${name} has no series`);
  if (type === 'counter' && !(name.endsWith('_total') && series.every(({ value }) => value >= 0)))
    throw new Error(`${name} is a counter, which ends in _total and is not negative`);
  if (type !== 'histogram') return;
  for (const [of, each] of Map.groupBy(series, (one) => labelsOf(one, 'le'))) {
    const buckets = each.filter((one) => one.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) =>
      labels.get('le') === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.get('le')),
    );
    const [count, sum] = ['count', 'sum'].map((what) => each.filter((one) => one.name === `${name}_${what}`));
    const rises = (values: readonly number[]): boolean => values.every((value, i) => i === 0 || value >= (values[i - 1] ?? 0));
    if (
      count?.length !== 1 ||
      sum?.length !== 1 ||
      bounds.at(-1) !== Number.POSITIVE_INFINITY ||
      !bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] ?? 0)) ||
      !rises(buckets.map(({ value }) => value)) ||
      buckets.at(-1)?.value !== count[0]?.value
    )
      throw new Error(`${name} is no histogram for ${of}`);
  }
}

/** Returns the labels as one text, sorted, because their order has no meaning. */
const labelsOf = ({ labels }: Series, except?: string): string =>
  [...labels]
    .filter(([label]) => label !== except)
    .map((pair) => JSON.stringify(pair))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join();
