import type { PeerName } from './peers/pins.ts';

/** One line of the table: something of ours measured beside something else, in one run. One file in `rows/` each. */
export type Row = {
  /** The same as its file's name. */
  readonly name: string;
  /** Who does what against whom; stands in the results beside the figures. */
  readonly what: string;
  /** All must hold. Each names a figure that `run` gives. */
  readonly bar: readonly Check[];
  /** Installed before the row runs; the row is left out, with the reason, when that fails. */
  readonly peers?: readonly PeerName[];
  readonly run: (options: RunOptions) => Promise<Measured>;
};

export type Check = { readonly figure: string; readonly is: '>=' | '<=' | '='; readonly value: number };

export type RunOptions = {
  /** Fewer rounds and less in each: shows that the row works, not how fast it is. */
  readonly quick: boolean;
  /** An empty folder on the disk that is measured; removed afterwards. */
  readonly folder: string;
};

export type Measured = {
  /** The two sides, where there are two. */
  readonly ours?: Figure;
  readonly theirs?: Figure;
  /** Everything that was measured, by name; `ratio` is ours to theirs. */
  readonly figures: Readonly<Record<string, Figure>>;
  /** What a reader has to know to judge the figures. */
  readonly note?: string;
};

export type Figure = { readonly value: number; readonly unit: '' | '/s' | 'ms' | 'us' | 'tokens' | 'bytes' | 'records' };

/** The checks of the bar that do not hold. A figure that was not measured does not hold. */
export function missed(bar: readonly Check[], figures: Measured['figures']): readonly Check[] {
  return bar.filter(({ figure, is, value }) => {
    const seen = figures[figure]?.value ?? Number.NaN;
    return !(is === '>=' ? seen >= value : is === '<=' ? seen <= value : seen === value);
  });
}
