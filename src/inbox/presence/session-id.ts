/** Makes a conversation id from a host's session id, which may contain characters that an address forbids. */
import { conversationId, nameFrom, type ConversationId } from '../../core/address.ts';

const HASH = 12;
const MAX_NAME = 128;

/** Returns a valid id unchanged. Any other id gets a hash as a suffix, so that two sessions never become one conversation. */
export function conversationOfSession(session: string): ConversationId {
  const name = nameFrom(session);
  if (name === session) return conversationId(name);
  const { createHash } = process.getBuiltinModule('node:crypto');
  // The id is hashed as UTF-16, because UTF-8 encodes all lone surrogates alike, so that two ids could get the same hash.
  const hash = createHash('sha256').update(session, 'utf16le').digest('hex').slice(0, HASH);
  return conversationId(`${nameFrom(name.slice(0, MAX_NAME - HASH - 1))}-${hash}`);
}
