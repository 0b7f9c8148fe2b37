/**
 * Shows texts of notifications to people. In every line, Earpiece's own words come first, then a bar, then the text. So a text
 * cannot look like a sender, a state or a line of Earpiece.
 */
import type { Notification } from '../core/notification.ts';
import { SOME_AGENT } from '../core/teller.ts';
import { wrapAll } from './chat/wrap.ts';
import { columns, nameOf, plain } from './terminal.ts';

export const BAR = '│';
/** Shown in place of the sender if a notification names no sender. */
export const UNNAMED = 'unnamed';
const BARS = /[│┃┆|｜￨∣❘■]/gu;

/** Blanks that would look like the gap between two columns: several blanks, or one wide blank. Control characters are not included. */
const GAPS = /(?:[^\S\t\n\v\f\r]|[\u115f\u1160\u2800\u3164\uffa0])+/gu;

/**
 * Makes a sentence of Earpiece one safe line without bars and without gaps between columns. The caller must have made the names
 * in the sentence safe with `nameOf`.
 */
export const sentence = (text: string, max: number): string => plain(text.replaceAll(BARS, '¦').replaceAll(GAPS, ' '), max);

/** Shows the name of a log, or of a conversation of this log. */
export const addressName = (log: string, conversation?: string): string =>
  nameOf(conversation === undefined || conversation === '' ? log : `${log}#${conversation}`);

/**
 * Shortens the name of a conversation on a terminal, and not in a pipe or a file. Many hosts name their sessions by UUIDs, whose
 * first part is enough to distinguish the sessions.
 */
export const conversationName = (name: string): string =>
  nameOf(name, name.length > 14 && columns() !== Number.POSITIVE_INFINITY ? 12 : 400);

export const agentNamed = (agent: string): string => (agent === SOME_AGENT ? SOME_AGENT : `agent ${nameOf(agent, 120)}`);

/**
 * Names the sender of a notification. Returns undefined for a notification of a subscriber without a known sender, because the
 * kind names its source. Only the bus sets `subscriber`, so no other producer can avoid the word `unnamed`.
 */
export function senderOf({ origin, subscriber }: Pick<Notification, 'origin' | 'subscriber'>): string | undefined {
  if (origin?.person !== undefined) return `person ${nameOf(origin.person, 60)}`;
  if (origin?.agent !== undefined || origin?.words) return agentNamed(origin.agent ?? SOME_AGENT);
  return subscriber === undefined ? UNNAMED : undefined;
}

type Led = Pick<Notification, 'action' | 'origin' | 'subscriber' | 'count'>;

/** Returns what Earpiece knows of a notification, for the place before the bar: its action, its count and its sender. */
export const factsOf = (note: Led): readonly string[] => [
  ...(note.action === undefined ? [] : [`asks to ${note.action}`]),
  ...((note.count ?? 1) > 1 ? [`${note.count} times`] : []),
  ...[senderOf(note)].filter((sender) => sender !== undefined),
];

/** Formats a notification as one line. `first`: words of Earpiece that come before the facts. */
export const oneLine = (note: Led, text: string, first: readonly string[] = []): string =>
  `${[...first, ...factsOf(note)].join(', ')} ${BAR} ${plain(text, 400)}`.trimStart();

/**
 * Shows a text of several lines behind bars. On a terminal, long lines are wrapped, because the terminal itself would continue
 * them without a bar. `label` are Earpiece's words before the first bar.
 */
export function barred(text: string, label = ''): string {
  const first = `  ${label}${label === '' ? '' : ' '}${BAR} `;
  return wrapAll(text, columns(), first, `${' '.repeat(first.length - 2)}${BAR} `).join('\n');
}
