/**
 * The causes of decisions and of closing records. Programs read a cause. Its text (`reason`) is only for people, so a release may
 * change the wording.
 */
import type { Deliver, Level, NotificationId } from './notification.ts';
import { named } from './verdict/quoted.ts';

/** Why a notification waits for a later carrier. Times are epoch ms. */
export type WaitCause =
  | { readonly kind: 'time'; readonly until: number }
  | { readonly kind: 'tool'; readonly tool: string }
  /** `begun`: the number of turns that began since the notification was queued. */
  | { readonly kind: 'turns'; readonly of: number; readonly begun: number }
  | { readonly kind: 'moment'; readonly moment: Extract<Deliver, string> }
  /** Only by the clock of this process, which is known to be wrong, the notification has expired. */
  | { readonly kind: 'wrong_clock'; readonly expiresAt: number };

/** The limit for which a carrier or a line has no room for the text of a notification. */
export type LimitCause = { readonly kind: 'max_items' | 'max_tokens' | 'line_messages' | 'line_events'; readonly limit: number };

/**
 * The setting or mute that keeps a notification from the model. `key` is the setting's name for `earpiece config explain`. The
 * value of `min_level` is a level. A record contains neither `until` nor the place of the setting, because both may change.
 */
export type FilterCause =
  | { readonly kind: 'mute'; readonly pattern: string; readonly by: string; readonly until?: number | null }
  | {
      readonly kind: 'setting';
      readonly key: string;
      readonly value: false | Level;
      readonly file?: string;
      readonly scope?: FileScope;
    };

/** The user's configuration file, which applies to all projects, or the project's file. */
export type FileScope = 'user' | 'project';

/** Why a notification ends without delivery, or why the gate of a pause is lowered. Times are epoch ms. */
export type EndCause =
  | FilterCause
  | { readonly kind: 'expired'; readonly at: number }
  | { readonly kind: 'known'; readonly about: string; readonly since: number }
  /** `by`: the newer notification. */
  | { readonly kind: 'superseded'; readonly by: NotificationId; readonly key: string }
  /** `by`: the person who resumed the agent, or the id of the notification that resumed the agent. */
  | { readonly kind: 'resumed'; readonly by: string };

export type Cause = WaitCause | LimitCause | EndCause;

/** Describes a cause to a person, as a part of a sentence. Quotes the names that others chose. */
export function sayCause(cause: Cause): string {
  switch (cause.kind) {
    case 'mute':
      return `${cause.pattern} is muted by ${named(cause.by)}`;
    case 'setting':
      return cause.key === 'min_level' ? `below min_level ${cause.value}` : `${cause.key} = ${cause.value}`;
    case 'expired':
      return `expired ${timeText(cause.at)}`;
    case 'wrong_clock':
      return `expired ${timeText(cause.expiresAt)}, by the clock of this process only`;
    case 'known':
      return `the agent has known ${named(cause.about)} since ${timeText(cause.since)}`;
    case 'superseded':
      return `${named(cause.by)} is newer with key ${named(cause.key)}`;
    case 'time':
      return `waits until ${timeText(cause.until)}`;
    case 'tool':
      return `waits for the tool ${named(cause.tool)}`;
    case 'turns':
      return `waits for ${cause.of} ${cause.of === 1 ? 'turn' : 'turns'} (begun so far: ${cause.begun})`;
    case 'moment':
      return `waits for ${cause.moment}`;
    case 'max_items':
    case 'max_tokens':
      return `beyond ${cause.kind} ${cause.limit}`;
    case 'line_messages':
      return `one line shows at most ${cause.limit} different messages`;
    case 'line_events':
      return `a template gets at most ${cause.limit} events of one line`;
    case 'resumed':
      return `resumed by ${named(cause.by)}`;
    default:
      return cause satisfies never;
  }
}

/**
 * Formats a time. A log may contain times that no `Date` can express. An item with such a time must not block the other items.
 */
function timeText(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `${at} ms` : date.toISOString();
}

/** The fields of a record that say why it ended a notification or lowered a gate. */
export type Explained = {
  /** Missing if a person or a program gave the reason, and in records from before 0.1.0. */
  readonly cause?: EndCause;
  /** The text of the cause when the record was written, or the words of a person or a program. */
  readonly reason: string;
};

/** Returns a cause with its text. */
export const because = <C extends Cause>(cause: C): { readonly cause: C; readonly reason: string } => ({
  cause,
  reason: sayCause(cause),
});

const END_KINDS: Readonly<Record<EndCause['kind'], true>> = {
  mute: true,
  setting: true,
  expired: true,
  known: true,
  superseded: true,
  resumed: true,
};

/** Returns the cause in a record. Undefined if the record has no cause, or a cause of a newer release. */
export const causeIn = ({ cause }: Explained): EndCause | undefined =>
  cause !== undefined && Object.hasOwn(END_KINDS, cause.kind) ? cause : undefined;

/** Describes the cause in a record. A record without a known cause is described by its stored reason. */
export function reasonIn(explained: Explained): string {
  const cause = causeIn(explained);
  return cause === undefined ? explained.reason : sayCause(cause);
}
