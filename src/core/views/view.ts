import type { SentView, ViewName } from '../records.ts';
import type { Line, Rest } from '../plan.ts';

/** The input of a view. Without `lines`, a view shows only `rest`. A signal view shows neither. */
export type ViewInput = {
  readonly lines: readonly Line[];
  readonly rest?: Rest | undefined;
  /** The conversation's mark: 4 lower-case letters and digits. Each frame shows the mark. */
  readonly mark: string;
  /** True until a frame has explained the mark to this conversation. */
  readonly tellMark: boolean;
  /** The model's name for `get_notifications`, the tool that shows summarized items. False if the model cannot call this tool. */
  readonly pulls: string | false;
  /** True if no other process can open the store, so that the command line cannot show the notifications. */
  readonly private?: boolean;
  readonly maxItemChars: number;
  /**
   * The maximum number of tokens of a view with a single item. The item is cut until the view fits, but keeps at least 40
   * characters. Default: no limit.
   */
  readonly maxTokens?: number;
  /** The IANA name of the time zone for shown times. */
  readonly timeZone: string;
};

/**
 * Turns a plan into the text for the model. The function is deterministic, and fails only if the encoder of TOON is missing. No
 * body can imitate the frame. `items` has each line's text, and is empty in the signal views. A line with `sent` is copied
 * verbatim.
 */
export type Render = (format: ViewName, input: ViewInput) => SentView;
