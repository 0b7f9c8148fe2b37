import type { SentView, ViewName } from '../records.ts';
import { PREAMBLE } from './markdown.ts';
import { signalTexts } from './signal.ts';

/** `view`: the interrupts that hold the call back, as they were rendered for this conversation. `pulls`: see `ViewInput`. */
export type GateInput = { readonly view: SentView; readonly pulls: string | false };

const REFUSED = 'this call was not made, an interrupt came first: ';
const loweredBy = (pulls: string): string => `Calls are made again after ${pulls} has been called.`;

/**
 * The answer to a call that was not made because an interrupt is unread: states that, shows the interrupts (who asks, what,
 * in whose words) and what ends it. It names no call, so every call that is refused for the same view gets the same text.
 * The signal views have the third seed's text, which the model is to find instead of any result.
 */
export function gateText(format: ViewName, { view, pulls }: GateInput): string {
  if (format === 'signal_en' || format === 'signal_ja') return signalTexts(format, pulls || undefined).interrupt;
  const then = pulls === false ? undefined : loweredBy(pulls);
  if (view.format === 'json' && view.text.endsWith('}')) {
    const stated = view.text.replace('"note":"', (note) => note + REFUSED);
    return then === undefined ? stated : `${stated.slice(0, -1)},"then":${JSON.stringify(then)}}`;
  }
  if (!OPENING.test(view.text)) return [`${REFUSED.slice(0, -2)}.`, then, view.text].filter(Boolean).join('\n');
  const stated = view.text.replace(OPENING, (opening) => opening + REFUSED).replace(PREAMBLE, '');
  return then === undefined ? stated : stated.replace(ENDING, (ending: string, sign = '') => `${sign}${then}\n${ending}`);
}

/** No body has these forms, see `neutralize`: the first and the last of a view are its frame. */
const OPENING = /^(?:# )?\[ep [^\]\n]*\] /m;
const ENDING = /^(# )?\[\/ep [^\]\n]*\]$/m;
