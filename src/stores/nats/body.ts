/** The text of a message in the stream of the logs. */
import type { Draft } from '../../core/records.ts';
import type { Written } from '../placing.ts';

export type Body = {
  /** The writer's name for this append, by which it finds it again. */
  readonly tx: string;
  readonly at: number;
  /** The writer's own clock, if it differs from `at`. */
  readonly now?: number;
  /** The first one is the record of this message. Each other record follows in another message. */
  readonly drafts: readonly Draft[];
  /** The append changes settings, which are held for it. */
  readonly swaps?: true;
};

/** The JSON of the drafts is made once. */
export function bodyText({ tx, at, now, swaps }: Omit<Body, 'drafts'>, drafts: readonly Pick<Written, 'text'>[]): string {
  const head = JSON.stringify({ tx, at, now: now === at ? undefined : now, swaps });
  return `${head.slice(0, -1)},"drafts":[${drafts.map(({ text }) => text).join(',')}]}`;
}

export const bodyOf = (text: string): Body => JSON.parse(text) as Body;
