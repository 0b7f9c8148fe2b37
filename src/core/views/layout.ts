import type { Level } from '../notification.ts';
import type { Line } from '../plan.ts';
import type { How } from './wording.ts';

/** A view format: it turns each line into an item, and the items into a page. */
export type Layout = {
  /** Renders a line that is shown for the first time. `alone`: the line is the only line. */
  item(line: Line, how: How, alone: boolean): string;
  /** Whether this text has the form of this view's items. If so, the view copies the text unchanged. */
  owns(text: string): boolean;
  /** Turns a text that was sent in another view into an item of this view, because the view setting may have changed. */
  adopt(text: string, about: About): string;
  page(page: Page): string;
};

export type About = { readonly source: string; readonly name: string; readonly level: Level };

export type Page = {
  readonly mark: string;
  /** The frame's statement about all items. */
  readonly lead: string;
  /**
   * Whether an item is from a person or another agent, or asks for something. If so, the frame does not say that items may be
   * ignored.
   */
  readonly asks: boolean;
  /** Whether all or some items were sent before. Undefined if no item was sent before. */
  readonly repeated?: 'all' | 'some' | undefined;
  readonly items: readonly { readonly text: string; readonly about: About }[];
  /** The notifications without a line: `count` is their number, and `text` describes them. */
  readonly more?: { readonly text: string; readonly count: number } | undefined;
};

/** Returns the first line of a view's frame. No body can contain this form: see `neutralize`. */
export const opening = (mark: string, lead: string): string => `[ep ${mark}] ${lead}`;
export const ending = (mark: string): string => `[/ep ${mark}]`;
