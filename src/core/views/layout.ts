import type { Level } from '../notification.ts';
import type { Line } from '../plan.ts';
import type { How } from './wording.ts';

/** One view: how a line becomes an item, and items a page. */
export type Layout = {
  /** Renders a line that is shown for the first time. `alone`: it is the only line. */
  item(line: Line, how: How, alone: boolean): string;
  /** Whether this text has the form of this view's items: then it can be copied unchanged. */
  owns(text: string): boolean;
  /** Turns a text that was sent in another view (the policy changed meanwhile) into an item of this view. */
  adopt(text: string, about: About): string;
  page(page: Page): string;
};

export type About = { readonly source: string; readonly name: string; readonly level: Level };

export type Page = {
  readonly mark: string;
  /** A statement about all items. */
  readonly lead: string;
  /** An item asks for something. Then the frame does not say that items may be ignored. */
  readonly asks: boolean;
  /** Which items were sent before. Undefined: none. */
  readonly repeated?: 'all' | 'some' | undefined;
  readonly items: readonly { readonly text: string; readonly about: About }[];
  /** Notifications that are counted, not shown. */
  readonly more?: { readonly text: string; readonly count: number } | undefined;
};

/** The frame of a view in lines. No other line has these forms: see `neutralize`. */
export const opening = (mark: string, lead: string): string => `[ep ${mark}] ${lead}`;
export const ending = (mark: string): string => `[/ep ${mark}]`;
