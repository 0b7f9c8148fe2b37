/** Defines the settings of a webhook receiver: its kind, the address of its events, and the secret that identifies the sender. */
import { MAX_DEPTH, type Json } from '../../core/json.ts';

export const WEBHOOK_KINDS = ['cloudevents', 'github', 'standard', 'alertmanager', 'json'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/**
 * Maps a foreign payload to an event. `{path.to.a.value}` in a text becomes the payload's value at that path. A text without
 * braces is the same for every event. `data` is a path to the part of the payload to keep.
 */
export type WebhookMap = {
  readonly type?: string;
  readonly id?: string;
  readonly severity?: string;
  readonly message?: string;
  /** An agent of the receiver's project, for a receiver of the whole project. */
  readonly subject?: string;
  readonly time?: string;
  readonly data?: string;
};

/** The configuration of a receiver (`webhooks.<name>`). `to` is a full address. */
export type WebhookSettings = {
  readonly kind: WebhookKind;
  readonly to: string;
  /** The name of the environment variable that contains the secret. */
  readonly secretEnv: string;
  /** For the kind `json`, the header with an HMAC-SHA256 of the body, in place of a bearer token. */
  readonly signatureHeader?: string;
  readonly map?: WebhookMap;
};

export type WebhookReceiver = Omit<WebhookSettings, 'secretEnv'> & { readonly name: string; readonly secret: Buffer };

/**
 * The limits of a request: the bytes of the body, the events of a batch, and the levels of nested JSON. `receive` checks these
 * limits. A server should apply `bodyBytes` already while it reads the body.
 */
export const WEBHOOK_LIMITS = { bodyBytes: 4 * 1_048_576, events: 1_000, depth: MAX_DEPTH } as const;

const MIN_SECRET = 8;

/**
 * Makes a receiver with its secret. The secret is required: without it, everyone who can reach the port could write to the agent.
 */
export function receiverFrom(
  name: string,
  { secretEnv, ...settings }: WebhookSettings,
  env: Readonly<Record<string, string | undefined>>,
): { readonly kind: 'ready'; readonly receiver: WebhookReceiver } | { readonly kind: 'problem'; readonly problem: string } {
  const refuse = (why: string): { kind: 'problem'; problem: string } => ({ kind: 'problem', problem: `webhooks.${name} ${why}` });
  const text = env[secretEnv]?.trim() ?? '';
  if (text === '') return refuse(`needs the secret in ${secretEnv}, which is not set; export the variable`);
  if (settings.kind === 'standard') {
    const secret = Buffer.from(text.replace(/^whsec_/u, ''), 'base64');
    return secret.length >= 16
      ? { kind: 'ready', receiver: { name, ...settings, secret } }
      : refuse(`needs a secret in ${secretEnv} in the form of Standard Webhooks: "whsec_" and at least 16 bytes in base64`);
  }
  return text.length >= MIN_SECRET
    ? { kind: 'ready', receiver: { name, ...settings, secret: Buffer.from(text) } }
    : refuse(`needs a longer secret in ${secretEnv}: at least ${MIN_SECRET} characters`);
}

/** A refused request. `status` is the HTTP status, `code` a stable code for programs, and `reason` a text for people. */
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

/** The error with which parsers refuse a request. `receive` turns the error into a value. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(status: Refusal['status'], code: Refusal['code'], reason: string) {
    super(reason);
    this.refusal = { kind: 'refused', status, code, reason };
  }
}

export type Payload = { readonly [name: string]: Json };
