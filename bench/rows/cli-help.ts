import { where } from '../gateway/ours.ts';
import type { Row } from '../row.ts';
import { wholeVersusNode } from '../whole.ts';

export const row: Row = {
  name: 'cli-help',
  what: 'CPU time of `earpiece --help`, whole process, built, against `node -e 0`',
  bar: [{ figure: 'ratio', is: '<=', value: 2.5 }],
  run: ({ quick, folder }) => wholeVersusNode(['--help'], { quick, ...where(folder) }),
};
