/** Parses untrusted bytes as JSON, and checks limits before any other code reads the value. */
import { nestsDeeper, type Json } from '../../core/json.ts';
import { Refused, WEBHOOK_LIMITS } from './receiver.ts';

export function checkSize(body: Buffer): void {
  if (body.length > WEBHOOK_LIMITS.bodyBytes)
    throw new Refused(
      413,
      'too_big',
      `the body has ${body.length} bytes, at most ${WEBHOOK_LIMITS.bodyBytes} are allowed; send less`,
    );
}

export function jsonOf(bytes: Buffer, what = 'the body'): Json {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refused(400, 'malformed', `${what} is not UTF-8, which JSON requires; send UTF-8`);
  }
  if (nestsDeeper(text, WEBHOOK_LIMITS.depth))
    throw new Refused(400, 'too_deep', `${what} nests more than ${WEBHOOK_LIMITS.depth} levels deep; send fewer levels`);
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Refused(400, 'malformed', `${what} is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}
