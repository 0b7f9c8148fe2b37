/** Describes the effect of an emitted event. */
import { knownTypeNear } from '../bus/event-types.ts';
import type { Emitted, Handled } from '../core/event.ts';
import { nameOf, plain } from './terminal.ts';

/**
 * Whether at least one subscriber did not skip the event. A subscriber that found no notification to withdraw has not skipped the
 * event.
 */
export const wasHeard = ({ heard }: Emitted): boolean => heard.some(({ kind }) => kind !== 'skipped');

/**
 * Formats the effects of an event: one line for each subscriber of the event's type, or one line that says that there is none.
 */
export function whatBecame({ event, heard }: Emitted): string[] {
  if (heard.length === 0) {
    const meant = knownTypeNear(event.type);
    return [
      `no subscriber listens to ${event.type}${meant === undefined ? '' : ` (did you mean ${meant}?)`}; nothing was queued`,
    ];
  }
  return heard.map((one) => `${nameOf(one.subscriber)}: ${byOne(one, nameOf(event.subject))}`);
}

function byOne(one: Handled, to: string): string {
  switch (one.kind) {
    case 'queued':
      return `queued ${nameOf(one.id)} for ${to}`;
    case 'folded':
      return `counted into ${nameOf(one.id)}, which waits for ${to}`;
    case 'duplicate':
      return `${nameOf(one.id)} was already queued for ${to}; nothing changed`;
    case 'withdrew':
      return one.ids.length === 0
        ? 'there was no open notification to withdraw'
        : `withdrew ${one.ids.map((id) => nameOf(id)).join(', ')}`;
    case 'skipped':
      return `nothing, because ${plain(one.because)}`;
    default:
      return one satisfies never;
  }
}
