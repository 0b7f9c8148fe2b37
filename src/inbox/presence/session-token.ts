/**
 * Session tokens: a client with a conversation's token may read the conversation. Tokens are random, one for each conversation,
 * and kept in the store. A client that knows only the address may not read the conversation, because addresses can be guessed.
 */
import { randomBytes } from 'node:crypto';
import { logOf, parseAddress, type ConversationId, type LogKey } from '../../core/address.ts';
import type { Store } from '../../core/ports.ts';

const PREFIX = 'st_';
const FORM = /^st_[A-Za-z0-9_-]{32}$/;

type Place = { readonly log: LogKey; readonly id: ConversationId };

/** Returns the token of a conversation. The first call makes the token. */
export async function sessionTokenOf(store: Store, { log, id }: Place): Promise<string> {
  const address = `${log}#${id}`;
  const key = `session token of ${address}`;
  for (;;) {
    const known = await store.setting(key);
    if (typeof known === 'string') return known;
    const token = PREFIX + randomBytes(24).toString('base64url');
    // The setting that maps the token to its conversation is written first, so that no reader sees a token without a
    // conversation.
    await store.setSetting(`session token ${token}`, address);
    if (await store.swapSetting(key, undefined, token)) return token;
    await store.setSetting(`session token ${token}`, undefined);
  }
}

/** Returns the conversation that a token opens. Undefined for an unknown token. */
export async function placeOfSession(store: Store, token: string): Promise<Place | undefined> {
  if (!FORM.test(token)) return undefined;
  const address = await store.setting(`session token ${token}`);
  if (typeof address !== 'string') return undefined;
  const place = parseAddress(address);
  if (place.kind !== 'conversation') return undefined;
  return { log: logOf(place), id: place.conversation };
}
