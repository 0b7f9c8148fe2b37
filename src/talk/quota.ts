/** Limits the messages of each conversation, so that a model in a loop does not flood other agents. */
import { EarpieceError } from '../core/errors.ts';

export const QUOTA = { messages: 20, withinMs: 10 * 60_000 } as const;

/** Counts the messages of each sender in this process. */
export class Quota {
  readonly #sent = new Map<string, readonly number[]>();

  /** Counts a message. Throws `bad_argument` if `sender` has reached its limit. */
  take(sender: string, now: number): void {
    const recent = (this.#sent.get(sender) ?? []).filter((at) => now - at < QUOTA.withinMs && at <= now);
    const [first] = recent;
    if (first !== undefined && recent.length >= QUOTA.messages) {
      const minutes = Math.max(1, Math.ceil((first + QUOTA.withinMs - now) / 60_000));
      throw new EarpieceError(
        'bad_argument',
        `at most ${QUOTA.messages} messages in ${QUOTA.withinMs / 60_000} minutes are allowed; try again in ${minutes} min, and put everything into one message`,
      );
    }
    this.#sent.set(sender, [...recent, now]);
  }
}
