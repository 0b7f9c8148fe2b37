import { textsOf } from '../model/texts.ts';
import type { Recorded } from '../model/tap.ts';
import type { ClientName } from './pins.ts';

/** Qwen Code 0.24.4 writes the text of a failing result twice into that result. */
const DOUBLES_FAILURES: ReadonlySet<ClientName> = new Set(['qwen']);

/** On resume, Gemini CLI 0.61 gives its model each result of the earlier session twice. */
const DOUBLES_RESUMED: ReadonlySet<ClientName> = new Set(['gemini']);

/**
 * Returns how often the model reads the marker outside of the system prompt and the tools. The request with the most occurrences
 * counts, because some clients mask old results in later requests. `unflagged` leaves out the parts that `get_notifications`
 * marks as repeated.
 */
export function told(
  seen: { readonly client: ClientName; readonly main: readonly Recorded[] },
  marker: string,
  { unflagged = false }: { readonly unflagged?: boolean } = {},
): number {
  const atMost = DOUBLES_FAILURES.has(seen.client) ? 1 : Infinity;
  const inText = (text: string): number => (unflagged ? text.replaceAll(REPEATED_ITEM, '') : text).split(marker).length - 1;
  const textsIn = (request: Recorded): readonly string[] => {
    const once = new Set<string>();
    return textsOf(request).flatMap(({ message, path, result, text }) => {
      if (message < 0) return [];
      const which = `${result?.id} ${path} ${text}`;
      if (result !== null && DOUBLES_RESUMED.has(seen.client) && once.has(which)) return [];
      once.add(which);
      return [text];
    });
  };
  const inRequest = (request: Recorded): number =>
    textsIn(request).reduce((sum, text) => sum + Math.min(atMost, inText(text)), 0);
  return Math.max(0, ...seen.main.map(inRequest));
}

const REPEATED_ITEM = /\{[^{}]*\\?"repeated\\?":true[^{}]*\}/g;
