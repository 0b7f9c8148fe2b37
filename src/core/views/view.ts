import type { SentView, ViewName } from '../records.ts';
import type { Line, Rest } from '../plan.ts';

/** What a view is given. `lines` may be empty only for the signal views. */
export type ViewInput = {
  readonly lines: readonly Line[];
  readonly rest?: Rest | undefined;
  /** The conversation's mark: 4 lower-case letters and digits, in the frame of each of its views. */
  readonly mark: string;
  /** The mark's meaning has not been told in this conversation: the frame says it, once. */
  readonly tellMark: boolean;
  /** Where the model finds what was summarized: the name by which it knows `get_notifications`; false: the command line. */
  readonly pulls: string | false;
  readonly maxItemChars: number;
  /** An item that is alone and makes the text longer than that is cut until it fits, as far as it can be. Default: none is. */
  readonly maxTokens?: number;
  /** IANA name of the zone in which times are shown; the composition root decides. */
  readonly timeZone: string;
};

/**
 * Turns a plan into what the model reads. Deterministic, total (any text, any size), and its own frame cannot be imitated
 * by a body. Each line's text is in `items`; a line with `sent` is copied verbatim.
 */
export type Render = (format: ViewName, input: ViewInput) => SentView;
