import { encode } from '@toon-format/toon';
import type { Line } from '../plan.ts';
import type { ViewName } from '../records.ts';
import { CORPUS, uniformRows } from './corpus.ts';
import { render } from './index.ts';
import type { ViewInput } from './view.ts';

/** The limit of one measured property of a view. `value` and `bar` have the same unit. */
export type Bar = { readonly what: string; readonly value: number; readonly bar: number; readonly reached: boolean };

/** The settings with which the measurements and the golden files render the corpus. */
export const SHOWN: Omit<ViewInput, 'lines'> = {
  mark: 'k7f3',
  tellMark: false,
  pulls: 'get_notifications',
  maxItemChars: 2_000,
  timeZone: 'UTC',
};

/** Measures the views on the committed corpus, against their bars. `tokens` counts the tokens of a text by a model's encoding. */
export function viewBars(tokens: (text: string) => number): readonly Bar[] {
  const bare = (lines: readonly Line[]): number =>
    lines.flatMap((line) => line.messages).reduce((sum, message) => sum + tokens(message), 0);
  const view = (lines: readonly Line[], more: Partial<ViewInput> = {}, format: ViewName = 'default'): number =>
    tokens(render(format, { ...SHOWN, lines, ...more }).text);
  const alone = CORPUS.map((line) => view([line], { tellMark: true }) - bare([line]));
  const table = (rows: number): number => tokens(encode(uniformRows(rows))) / tokens(JSON.stringify(uniformRows(rows)));
  return [
    row('tokens of the 10 messages of the corpus, without a view', bare(CORPUS), 144),
    row('tokens of the default view of the corpus, relative to the messages alone', view(CORPUS) / bare(CORPUS), 1.5),
    row('most tokens that the default view adds to one notification, with the mark explained', Math.max(...alone), 45),
    row('tokens of the default view without an open notification', view([]), 0),
    row('tokens of 10 uniform rows in TOON, relative to compact JSON', table(10), 0.7),
    row('tokens of 100 uniform rows in TOON, relative to compact JSON', table(100), 0.65),
    row(
      'tokens of one notification in the TOON view, relative to the JSON view',
      view(CORPUS.slice(1, 2), {}, 'toon') / view(CORPUS.slice(1, 2), {}, 'json'),
      1,
    ),
  ];
}

const row = (what: string, value: number, bar: number): Bar => ({ what, value, bar, reached: value <= bar });
