/** Verifies the sender of a request. A comparison takes the same time for every wrong value of the right length. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Refused, type WebhookReceiver } from './receiver.ts';

/** The headers of a request, with names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>;

type Signed = { readonly headers: Headers; readonly body: Buffer; readonly receiver: WebhookReceiver; readonly now: number };

/** The allowed difference between the sender's clock and this clock, as Standard Webhooks recommends. */
const TOLERANCE_MS = 5 * 60_000;

/**
 * Checks the signature or the bearer token of a request. Throws `Refused` for a missing or wrong signature or token. For Standard
 * Webhooks, also throws if the time of the signature is off by more than 5 minutes.
 */
export function checkSignature(signed: Signed): void {
  switch (signed.receiver.kind) {
    case 'github':
      return checkHmac(signed, 'x-hub-signature-256');
    case 'standard':
      return checkStandard(signed);
    case 'json':
      if (signed.receiver.signatureHeader !== undefined) return checkHmac(signed, signed.receiver.signatureHeader.toLowerCase());
      return checkBearer(signed);
    case 'cloudevents':
    case 'alertmanager':
      return checkBearer(signed);
    default:
      return signed.receiver.kind satisfies never;
  }
}

/**
 * Returns the id of a body, which is the same for every repetition of the body. Headers are ignored, because they are not signed.
 */
export const bodyId = (body: Buffer): string => createHash('sha256').update(body).digest('hex').slice(0, 40);

/** Checks an HMAC in hex, with or without `sha256=` before it. For a header other than that of GitHub, base64 is allowed too. */
function checkHmac({ headers, body, receiver }: Signed, header: string): void {
  const given = headers[header]?.trim();
  if (!given)
    throw new Refused(
      401,
      'unsigned',
      `the header ${header} with the signature is missing; give the sender the receiver's secret`,
    );
  const mac = createHmac('sha256', receiver.secret).update(body).digest();
  const text = given.replace(/^sha256=/iu, '');
  const right = /^[0-9a-f]{64}$/iu.test(text)
    ? same(Buffer.from(text, 'hex'), mac)
    : header !== 'x-hub-signature-256' && same(Buffer.from(text, 'base64'), mac);
  if (!right)
    throw new Refused(
      401,
      'wrong_signature',
      `the signature in ${header} does not match this body and the receiver's secret; give the sender the same secret`,
    );
}

function checkBearer({ headers, receiver }: Signed): void {
  const given = headers['authorization'];
  if (!given)
    throw new Refused(401, 'unsigned', 'the header authorization is missing; send "Bearer" and the secret in this header');
  const [, token] = /^bearer\s+(\S.*?)\s*$/iu.exec(given) ?? [];
  if (token === undefined || !same(digest(Buffer.from(token)), digest(receiver.secret)))
    throw new Refused(
      401,
      'wrong_signature',
      "the bearer token in the header authorization is not the receiver's secret; give the sender the same secret",
    );
}

function checkStandard({ headers, body, receiver, now }: Signed): void {
  const need = (header: string): string => {
    const value = headers[header]?.trim();
    if (!value) throw new Refused(401, 'unsigned', `the header ${header} is missing; Standard Webhooks require this header`);
    return value;
  };
  const [id, timestamp, signatures] = [need('webhook-id'), need('webhook-timestamp'), need('webhook-signature')];
  const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1_000 : Number.NaN;
  if (Number.isNaN(at))
    throw new Refused(
      400,
      'malformed',
      `the header webhook-timestamp must be a number of seconds, got ${JSON.stringify(timestamp.slice(0, 40))}`,
    );
  const mac = createHmac('sha256', receiver.secret).update(`${id}.${timestamp}.`).update(body).digest();
  // All signatures are checked, because a sender signs with the old and the new secret while it changes its secret.
  const right = signatures
    .split(/\s+/u)
    .filter((each) => each.startsWith('v1,'))
    .map((each) => same(Buffer.from(each.slice(3), 'base64'), mac));
  if (!right.includes(true))
    throw new Refused(
      401,
      'wrong_signature',
      "no v1 signature in webhook-signature matches this message and the receiver's secret; give the sender the same secret",
    );
  // The signature is valid, so the sender may know this reason.
  if (Math.abs(now - at) > TOLERANCE_MS)
    throw new Refused(
      401,
      'too_old',
      `webhook-timestamp is ${Math.round(Math.abs(now - at) / 1_000)} s ${at < now ? 'behind' : 'ahead of'} this server's clock; at most ${TOLERANCE_MS / 1_000} s are allowed`,
    );
}

const digest = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

const same = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
