import { redactor } from '../producing/redact.ts';
import { policyOf, type Recipient } from './recipient.ts';

/** Keeps a tool result that the model did not get. Secrets are redacted, and the text is cut to the policy's limit. */
export async function withhold(recipient: Recipient, tool: string, body: string): Promise<void> {
  const { context, log, id } = recipient;
  const { withheld, redact } = policyOf(recipient);
  const at = context.store.now();
  await context.store.withhold({
    log,
    conversation: id,
    id: context.ids.make('w'),
    at,
    until: at + withheld.keepMs,
    tool,
    body: cut(redactor(redact)(body), withheld.maxBytes),
  });
}

/** Cuts a text between two characters, and adds a note about the cut. Without the note, the text has at most `maxBytes` bytes. */
function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = maxBytes;
  while (isInsideCharacter(bytes[end])) end--;
  return `${bytes.toString('utf8', 0, end)}… (the last ${bytes.length - end} of ${bytes.length} bytes were cut)`;
}

/** Whether a UTF-8 byte continues the character of the byte before it. */
const isInsideCharacter = (byte = 0): boolean => (byte & 0xc0) === 0x80;
