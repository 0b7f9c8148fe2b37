/** Separates the events and keys of different senders, such as tokens, webhooks and agents. Pure. */
import { checksum, shortened } from './checksum.ts';
import type { EventInput } from './event.ts';
import { LIMITS } from './notification.ts';

/**
 * Returns the event with this sender as its source, such as `token/<id>`. As a result, the event cannot be merged with events of
 * other senders, and cannot replace or withdraw them.
 */
export function ofSender(event: EventInput, sender: string): EventInput {
  const { id, key } = event;
  return {
    ...event,
    source: sender,
    ...(id === undefined ? {} : { id: idOfSender(event) }),
    ...(key === undefined ? {} : { key: keyOfSender(key, sender) }),
  };
}

/** Returns the key of a sender whose keys are separate from the keys of all other senders. */
export function keyOfSender(key: string, sender: string): string {
  const named = `${sender}:${key}`;
  return named.length <= LIMITS.keyChars ? named : `${sender}:${checksum(key)}`;
}

/**
 * Returns the id for an event whose source Earpiece replaces. The new id joins the original source and id, so two events get the
 * same id only if both parts are equal. The first space separates the parts, because spaces in the source are escaped.
 */
export function idOfSender({ source, id = '' }: Pick<EventInput, 'source' | 'id'>): string {
  return shortened(`${source.replaceAll(/[% ]/gu, encodeURIComponent)} ${id}`, LIMITS.idChars);
}
