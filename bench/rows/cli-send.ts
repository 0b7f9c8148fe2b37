import { where } from '../gateway/ours.ts';
import type { Row } from '../row.ts';
import { wholeVersusNode } from '../whole.ts';

export const row: Row = {
  name: 'cli-send',
  what: 'CPU time of `earpiece send`, whole process, built, against `node -e 0`',
  bar: [{ figure: 'ratio', is: '<=', value: 2.5 }],
  run: ({ quick, folder }) => wholeVersusNode(['send', '--to', 'bench/agent', 'the build ended'], { quick, ...where(folder) }),
};
