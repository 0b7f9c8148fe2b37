import { redactor } from '../producing/redact.ts';
import { policyOf, type Recipient } from './recipient.ts';

/** Keeps a tool result that the model did not get. Secrets are redacted, and the text is cut to the policy's limit. */
export async function withhold(recipient: Recipient, tool: string, body: string): Promise<void> {
  const { context, log, id } = recipient;
  const { withheld, redact } = policyOf(recipient);
  const at = context.store.now();
  const clean = redactor(redact)(body);
  const cut =
    Buffer.byteLength(clean) <= withheld.maxBytes ? clean : Buffer.from(clean).subarray(0, withheld.maxBytes).toString('utf8');
  await context.store.withhold({
    log,
    conversation: id,
    id: context.ids.make('w'),
    at,
    until: at + withheld.keepMs,
    tool,
    body: cut,
  });
}
