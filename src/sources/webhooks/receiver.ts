/** A place where webhooks come in: what it takes, for whom, and by what it knows the sender. */
import { MAX_DEPTH, type Json } from '../../core/json.ts';

export const WEBHOOK_KINDS = ['cloudevents', 'github', 'standard', 'alertmanager', 'json'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/**
 * How a foreign payload becomes an event: texts in which `{path.to.a.value}` stands for what the payload has there. A text
 * without braces is the same for every event. `data` is one such path, for a part instead of the whole payload.
 */
export type WebhookMap = {
  readonly type?: string;
  readonly id?: string;
  readonly severity?: string;
  readonly message?: string;
  /** An agent of the receiver's project; only where that takes for the whole project. */
  readonly subject?: string;
  readonly time?: string;
  readonly data?: string;
};

/** What the configuration says (`webhooks.<name>`). `to` is a whole address. */
export type WebhookSettings = {
  readonly kind: WebhookKind;
  readonly to: string;
  /** The name of the environment variable that holds the secret. */
  readonly secretEnv: string;
  /** Of kind `json`: the header with an HMAC-SHA256 of the body, instead of a bearer token. */
  readonly signatureHeader?: string;
  readonly map?: WebhookMap;
};

export type WebhookReceiver = Omit<WebhookSettings, 'secretEnv'> & { readonly name: string; readonly secret: Buffer };

/** What a front has to hold bodies to while it reads them; `receive` does so too. */
export const WEBHOOK_LIMITS = { bodyBytes: 4 * 1_048_576, events: 1_000, depth: MAX_DEPTH } as const;

const MIN_SECRET = 8;

/** Puts the secret in. A receiver without one does not exist: whoever reaches the port could speak to the agent. */
export function receiverFrom(
  name: string,
  { secretEnv, ...settings }: WebhookSettings,
  env: Readonly<Record<string, string | undefined>>,
): { readonly kind: 'ready'; readonly receiver: WebhookReceiver } | { readonly kind: 'problem'; readonly problem: string } {
  const refuse = (why: string): { kind: 'problem'; problem: string } => ({ kind: 'problem', problem: `webhooks.${name} ${why}` });
  const text = env[secretEnv]?.trim() ?? '';
  if (text === '') return refuse(`needs the secret in ${secretEnv}, which is not set; export it`);
  if (settings.kind === 'standard') {
    const secret = Buffer.from(text.replace(/^whsec_/u, ''), 'base64');
    return secret.length >= 16
      ? { kind: 'ready', receiver: { name, ...settings, secret } }
      : refuse(`needs in ${secretEnv} a secret as Standard Webhooks write it, "whsec_" and at least 16 bytes in base64`);
  }
  return text.length >= MIN_SECRET
    ? { kind: 'ready', receiver: { name, ...settings, secret: Buffer.from(text) } }
    : refuse(`needs a longer secret in ${secretEnv}: at least ${MIN_SECRET} characters`);
}

/** Why nothing came of a request. `status` is for HTTP; `code` is stable and for programs, `reason` for people. */
export type Refusal = {
  readonly kind: 'refused';
  readonly status: 200 | 400 | 401 | 413 | 415 | 422;
  readonly code:
    | 'unsigned'
    | 'wrong_signature'
    | 'too_old'
    | 'replayed'
    | 'too_big'
    | 'wrong_content_type'
    | 'malformed'
    | 'too_deep'
    | 'bad_event';
  readonly reason: string;
};

/** Carries a refusal out of the depth of reading; `receive` makes a value of it again. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(status: Refusal['status'], code: Refusal['code'], reason: string) {
    super(reason);
    this.refusal = { kind: 'refused', status, code, reason };
  }
}

export type Payload = { readonly [name: string]: Json };
