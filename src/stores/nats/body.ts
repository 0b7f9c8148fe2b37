/** Defines the format of the messages in the stream of the logs. */
import type { Draft } from '../../core/records.ts';
import type { Written } from '../placing.ts';

export type Body = {
  /**
   * The writer's unique name for this append, so that the writer can find the append in the log. Empty if no writer searches for
   * the message.
   */
  readonly tx: string;
  readonly at: number;
  /** The writer's own clock, if it differs from `at`. */
  readonly now?: number;
  /** The first draft is the record of this message. Each further draft becomes the record of a later message. */
  readonly drafts: readonly Draft[];
  /** Whether the append changes settings, so that other processes may search the log for the append (`settings.ts`). */
  readonly swaps?: true;
};

/** Makes the text of a message from drafts that are already JSON text. */
export function bodyText({ tx, at, now, swaps }: Omit<Body, 'drafts'>, drafts: readonly Pick<Written, 'text'>[]): string {
  const head = JSON.stringify({ tx, at, now: now === at ? undefined : now, swaps });
  return `${head.slice(0, -1)},"drafts":[${drafts.map(({ text }) => text).join(',')}]}`;
}

export const bodyOf = (text: string): Body => JSON.parse(text) as Body;
