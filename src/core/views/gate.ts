import { endOf, type Timed } from '../clocks.ts';
import type { SentView, ViewName } from '../records.ts';
import { PREAMBLE } from './markdown.ts';
import { signalTexts } from './signal.ts';

/**
 * `view`: the interrupts because of which the call is refused or withheld, rendered for this conversation. `pulls`: see
 * `ViewInput`. `lift`: the way to lift the pause, set if one of the interrupts is a pause (see `liftedBy`). `until`: when the
 * last pause expires. `made`: the call was made, and this text replaces its result.
 */
export type GateInput = {
  readonly view: SentView;
  readonly pulls: string | false;
  readonly lift?: string | undefined;
  readonly until?: string | undefined;
  readonly made?: boolean | undefined;
};

type Words = {
  readonly stated: string;
  readonly lowered: (pulls: string) => string;
  readonly lifted: (lift: string, until: string | undefined) => string;
};

const REFUSED: Words = {
  stated: 'this call was not made, an interrupt came first: ',
  lowered: (pulls) => `${pulls} lets calls through again.`,
  lifted: (lift, until) =>
    until === undefined
      ? `Calls are made again only after a person lifts the pause${lift}.`
      : `Calls are made again at ${until}, or when a person lifts the pause${lift}.`,
};
const WITHHELD: Words = {
  stated: 'this call was made; its result is withheld until you have read this interrupt: ',
  lowered: (pulls) => `${pulls} returns the result; do not repeat the call.`,
  lifted: (lift, until) =>
    `Each result is withheld until ${until === undefined ? '' : `${until}, or until `}a person lifts the pause${lift}.`,
};

/**
 * Returns the answer to a call while an interrupt is unread or a pause holds. The answer says whether the call was made, and
 * shows the interrupts (sender, request and exact words). The answer also names the tool call or the person that lowers the gate,
 * if there is one. The text does not name the refused call. The signal views have a fixed text, which replaces any result.
 */
export function gateText(format: ViewName, { view, pulls, lift, until, made = false }: GateInput): string {
  if (format === 'signal_en' || format === 'signal_ja') {
    const texts = signalTexts(format, pulls || undefined);
    const state = lift !== undefined ? (made ? texts.pausedMade : texts.paused)(lift, until) : made ? texts.made : undefined;
    return state === undefined ? texts.interrupt : `${texts.interrupt}\n\n${state}`;
  }
  const words = made ? WITHHELD : REFUSED;
  const lowered = pulls === false || (lift !== undefined && !made) ? undefined : words.lowered(pulls);
  const then =
    [lowered, lift === undefined ? undefined : words.lifted(liftedBy(lift), until)].filter(Boolean).join(' ') || undefined;
  if (view.format === 'json' && view.text.endsWith('}')) {
    const stated = view.text.replace('"note":"', (note) => note + words.stated);
    return then === undefined ? stated : `${stated.slice(0, -1)},"then":${JSON.stringify(then)}}`;
  }
  if (!OPENING.test(view.text)) return [`${words.stated.slice(0, -2)}.`, then, view.text].filter(Boolean).join('\n');
  const stated = view.text.replace(OPENING, (opening) => opening + words.stated).replace(PREAMBLE, '');
  return then === undefined ? stated : stated.replace(ENDING, (ending: string, sign = '') => `${sign}${then}\n${ending}`);
}

/** No body contains these forms (see `neutralize`), so only the frame of a view matches. */
const OPENING = /^(?:# )?\[ep [^\]\n]*\] /m;
const ENDING = /^(# )?\[\/ep [^\]\n]*\]$/m;

/** Describes how to lift a pause. `lift`: the command, or an empty text if no other process can open the store. */
export const liftedBy = (lift: string): string => (lift === '' ? '' : `, with \`${lift}\` or in the console`);

/**
 * Returns the time at which the last of these pauses expires, as text for the model. Undefined if a pause never expires, or if
 * its end is unknown.
 */
export function pausedUntil(pauses: readonly Timed[], now: number): string | undefined {
  const ends = pauses.map((pause) => endOf(pause, now));
  // The time is rounded up to the next second, because the pauses still hold at any earlier time.
  const date = new Date(Math.ceil(Math.max(...ends.map((end) => end ?? Number.POSITIVE_INFINITY)) / 1_000) * 1_000);
  return ends.length === 0 || Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace('.000Z', 'Z');
}
