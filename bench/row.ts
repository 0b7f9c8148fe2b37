import type { PeerName } from './peers/pins.ts';

/**
 * One line of the table: usually a comparison of Earpiece with something else in the same run. Each row is one file in `rows/`.
 */
export type Row = {
  /** The name, which must equal the name of the row's file. */
  readonly name: string;
  /** A description of the measurement. `--list` prints the description, and `--json` contains it. */
  readonly what: string;
  /** The bar: all checks must pass. Each check names a figure that `run` returns. */
  readonly bar: readonly Check[];
  /** Peers that are installed before the row runs. If the installation fails, the row fails, with the reason. */
  readonly peers?: readonly PeerName[];
  readonly run: (options: RunOptions) => Promise<Measured>;
};

export type Check = { readonly figure: string; readonly is: '>=' | '<=' | '='; readonly value: number };

export type RunOptions = {
  /** Runs fewer rounds with less work, which shows that the row works but not how fast it is. */
  readonly quick: boolean;
  /** An empty folder on the measured disk, which is removed after the run. */
  readonly folder: string;
};

export type Measured = {
  /** The figures of the two sides, if there are two. */
  readonly ours?: Figure;
  readonly theirs?: Figure;
  /**
   * Every measured figure by name. `ratio` is Earpiece's figure divided by the figure of the other side (with `versus`, the
   * median of the rounds).
   */
  readonly figures: Readonly<Record<string, Figure>>;
  /** Facts that a reader needs to judge the figures. */
  readonly note?: string;
};

export type Figure = { readonly value: number; readonly unit: '' | '/s' | 'ms' | 'us' | 'tokens' | 'bytes' | 'records' };

/** Returns the checks of the bar that fail. The check of an unmeasured figure fails. */
export function missed(bar: readonly Check[], figures: Measured['figures']): readonly Check[] {
  return bar.filter(({ figure, is, value }) => {
    const seen = figures[figure]?.value ?? Number.NaN;
    return !(is === '>=' ? seen >= value : is === '<=' ? seen <= value : seen === value);
  });
}
