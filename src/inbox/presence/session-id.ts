/** Makes a conversation id of a host's session id, which may contain characters that an address forbids. */
import { conversationId, nameFrom, type ConversationId } from '../../core/address.ts';

const HASH = 12;
const MAX_NAME = 128;

/** A valid id stays unchanged. Any other gets a hash as a suffix, so that two sessions never become one conversation. */
export function conversationOfSession(session: string): ConversationId {
  const name = nameFrom(session);
  if (name === session) return conversationId(name);
  const { createHash } = process.getBuiltinModule('node:crypto');
  // As UTF-16, because UTF-8 encodes all lone surrogates alike, so two ids would have one hash.
  const hash = createHash('sha256').update(session, 'utf16le').digest('hex').slice(0, HASH);
  return conversationId(`${nameFrom(name.slice(0, MAX_NAME - HASH - 1))}-${hash}`);
}
