/** Shows the reasons that the log and the plan keep, inside the sentences of Earpiece. */
import { filterIn } from '../filter.ts';
import { named, quoted } from './quoted.ts';

/**
 * Returns why a notification has ended, or would end. Quotes every text that others chose: the whole reason of a withdrawal,
 * and the names in the reasons of Earpiece.
 */
export function sayReason(outcome: string, reason: string): string {
  switch (outcome) {
    case 'withdrawn':
    case 'left_out':
      return quoted(reason);
    case 'superseded':
      return around(/^(\S+)( is newer with key )(.*)$/su, reason);
    case 'known':
      return around(/^(the agent has known )(.*)( since \S+(?: ms)?)$/su, reason, [1]);
    case 'filtered': {
      const cause = filterIn(reason);
      return cause.kind === 'mute' ? `${cause.mute.pattern} is muted by ${named(cause.mute.by)}` : reason;
    }
    default:
      return reason;
  }
}

/** Returns the reason with quoted names. `names`: the places of the names among the parts of the pattern. */
function around(pattern: RegExp, reason: string, names: readonly number[] = [0, 2]): string {
  const parts = pattern.exec(reason)?.slice(1);
  return parts === undefined ? reason : parts.map((part, place) => (names.includes(place) ? named(part) : part)).join('');
}
