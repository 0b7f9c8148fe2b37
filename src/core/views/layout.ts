import type { Level } from '../notification.ts';
import type { Line } from '../plan.ts';
import type { How } from './wording.ts';

/** One view: how a line becomes an item, and items a page. */
export type Layout = {
  /** A line that is shown for the first time. `alone`: no other line is beside it. */
  item(line: Line, how: How, alone: boolean): string;
  /** This text has the form of an item here: it can be copied as it is. */
  owns(text: string): boolean;
  /** A text that was sent in another view (the policy changed meanwhile), as an item of this one. */
  adopt(text: string, about: About): string;
  page(page: Page): string;
};

export type About = { readonly source: string; readonly name: string; readonly level: Level };

export type Page = {
  readonly mark: string;
  /** What is stated of all items. */
  readonly lead: string;
  /** Someone asks for something: then nothing is said of ignoring. */
  readonly asks: boolean;
  /** Said of what was sent before; undefined when nothing was. */
  readonly repeated?: 'all' | 'some' | undefined;
  readonly items: readonly { readonly text: string; readonly about: About }[];
  /** Notifications that are counted, not shown. */
  readonly more?: { readonly text: string; readonly count: number } | undefined;
};

/** The frame of a view in lines. The only lines of ours with these forms: see `neutralize`. */
export const opening = (mark: string, lead: string): string => `[ep ${mark}] ${lead}`;
export const ending = (mark: string): string => `[/ep ${mark}]`;
