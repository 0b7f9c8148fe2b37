import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import type { Line } from '../../src/core/plan.ts';
import { SHOWN } from '../../src/core/views/bars.ts';
import { CORPUS } from '../../src/core/views/corpus.ts';
import { render } from '../../src/core/views/index.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'view-default',
  what: 'the default view of 10 mixed notifications against their bare messages; what the view adds to one alone, its mark explained; nothing open',
  bar: [
    { figure: 'ratio', is: '<=', value: 1.5 },
    { figure: 'one alone, more', is: '<=', value: 45 },
    { figure: 'nothing open', is: '=', value: 0 },
  ],
  run: async () => {
    const view = (lines: readonly Line[], tellMark = false): number =>
      tokens(render('default', { ...SHOWN, tellMark, lines }).text);
    const bare = (lines: readonly Line[]): number =>
      lines.flatMap((line) => line.messages).reduce((sum, message) => sum + tokens(message), 0);
    const ours = view(CORPUS);
    const theirs = bare(CORPUS);
    const alone = CORPUS.map((line) => view([line], true) - bare([line]));
    return {
      ours: { value: ours, unit: 'tokens' },
      theirs: { value: theirs, unit: 'tokens' },
      figures: {
        ratio: { value: ours / theirs, unit: '' },
        'one alone, more': { value: Math.max(...alone), unit: 'tokens' },
        'nothing open': { value: view([]), unit: 'tokens' },
      },
    };
  },
};

const tokens = (text: string): number => encode(text).length;
