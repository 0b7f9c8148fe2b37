import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import type { Line } from '../../src/core/plan.ts';
import type { ViewName } from '../../src/core/records.ts';
import { SHOWN } from '../../src/core/views/bars.ts';
import { CORPUS, uniformRows } from '../../src/core/views/corpus.ts';
import { render } from '../../src/core/views/index.ts';
import type { Figure, Row } from '../row.ts';

export const row: Row = {
  name: 'view-toon',
  what: 'the TOON view against the JSON view of one notification whose data are 1, 10 and 100 uniform rows, frames included',
  bar: [
    { figure: '10 rows', is: '<=', value: 0.7 },
    { figure: '100 rows', is: '<=', value: 0.65 },
    { figure: '1 row', is: '<=', value: 1 },
  ],
  run: async () => {
    const sizes = [1, 10, 100];
    const costs = sizes.map((count) => ({ count, ours: tokens('toon', count), theirs: tokens('json', count) }));
    const largest = costs.at(-1);
    return {
      ours: { value: largest?.ours ?? Number.NaN, unit: 'tokens' },
      theirs: { value: largest?.theirs ?? Number.NaN, unit: 'tokens' },
      figures: Object.fromEntries([
        ...costs.map(({ count, ours, theirs }): [string, Figure] => [
          `${count} row${count === 1 ? '' : 's'}`,
          { value: ours / theirs, unit: '' },
        ]),
        ['ratio', { value: (largest?.ours ?? Number.NaN) / (largest?.theirs ?? Number.NaN), unit: '' }],
      ]),
    };
  },
};

function tokens(format: ViewName, count: number): number {
  const line: Line = {
    ids: CORPUS[1]?.ids ?? [],
    kind: { source: 'tool', name: 'failed' },
    level: 'error',
    messages: [`${count} tool calls failed.`],
    count,
    firstAt: 0,
    lastAt: 0,
    data: uniformRows(count),
  };
  // Items have no size limit, because a cut table would make the ratio meaningless.
  return encode(render(format, { ...SHOWN, maxItemChars: 1_000_000, lines: [line] }).text).length;
}
