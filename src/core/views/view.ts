import type { SentView, ViewName } from '../records.ts';
import type { Line, Rest } from '../plan.ts';

/** The input of a view. `lines` may be empty only for the signal views. */
export type ViewInput = {
  readonly lines: readonly Line[];
  readonly rest?: Rest | undefined;
  /** The conversation's mark: 4 lower-case letters and digits, in the frame of each of its views. */
  readonly mark: string;
  /** This conversation does not know the mark's meaning yet: the frame explains it, once. */
  readonly tellMark: boolean;
  /** How the model finds the summarized items: its name for `get_notifications`; false: by the command line. */
  readonly pulls: string | false;
  /** No other process reaches the store, so no command line shows anything of it. */
  readonly private?: boolean;
  readonly maxItemChars: number;
  /** If the text has one item and is longer than this, the item is cut as far as possible. Default: no limit. */
  readonly maxTokens?: number;
  /** IANA name of the zone for shown times; the composition root decides. */
  readonly timeZone: string;
};

/**
 * Turns a plan into the text for the model. Deterministic and total (any text, any size); no body can imitate its frame.
 * Each line's text is in `items`; a line with `sent` is copied verbatim.
 */
export type Render = (format: ViewName, input: ViewInput) => SentView;
