/** Reads the senders of webhooks from the configuration, with their receivers and the mapping to events. */
import { defined } from '../core/defined.ts';
import { fields, isTable } from './servers.ts';
import { address, oneOf, problem, refuse, text, value, type Read, type Value } from './values.ts';

const KINDS = ['cloudevents', 'github', 'standard', 'alertmanager', 'json'] as const;

export type WebhookEntry = {
  readonly kind: (typeof KINDS)[number];
  /** The receiver as in the file: an address, or the name of an agent of the project. */
  readonly to: string;
  /** The name of the environment variable that holds the secret. */
  readonly secretEnv: string;
  readonly signatureHeader?: string;
  readonly map?: WebhookMap;
};

/** Texts in which `{path}` is replaced by the value at this path of the payload. */
export type WebhookMap = { readonly [Name in keyof typeof MAP]?: string };

const PLACE = /\{[\w$@-]+(?:\.[\w$@-]+)*\}/gu;

const filled = (expects: string): Value<string> => text(expects, (words) => !/[{}]/u.test(words.replaceAll(PLACE, '')));

const TEXT = 'a text in which values of the payload replace {path.to.value}';

const MAP = {
  type: filled(`${TEXT}, such as "deploy.{state}"`),
  id: filled(`${TEXT}, such as "{id}"`),
  severity: filled(`${TEXT}, such as "{level}"`),
  message: filled(`${TEXT}, such as "{service} is {state}"`),
  subject: filled(`${TEXT}, such as "{agent}"`),
  time: filled(`${TEXT}, such as "{created_at}"`),
  data: text(
    'the path of a part of the payload, such as "{payload}"',
    (words) => words.replace(PLACE, '') === '' && words !== '',
  ),
} as const;

const WEBHOOK = {
  kind: oneOf(KINDS),
  to: address(),
  secret_env: text(
    'the name of the environment variable that holds the secret, not the secret',
    (name) => /^[A-Za-z_]\w*$/.test(name),
    true,
  ),
  signature_header: text('the name of a header, such as "X-Signature"', (name) => /^[\w-]{1,64}$/.test(name)),
  map: mapValue(),
} as const;

const EXPECTS = 'a table with kind, to and secret_env';

export function webhook(): Value<WebhookEntry> {
  return {
    read: (raw) => {
      if (!isTable(raw)) return refuse(raw, EXPECTS);
      const read = fields(raw, WEBHOOK);
      if (read.kind === 'problems') return read;
      const { kind, to, secret_env: secretEnv, signature_header: signatureHeader, map } = read.value;
      if (kind === undefined) return problem(`has no kind; write ${WEBHOOK.kind.expects}`);
      if (to === undefined) return problem(`has no key "to", which names the agent to notify; write ${WEBHOOK.to.expects}`);
      if (secretEnv === undefined)
        return problem(`has no secret_env, so anyone could send events; write ${WEBHOOK.secret_env.expects}`);
      if (signatureHeader !== undefined && kind !== 'json')
        return problem(
          `works only with kind "json"; the signature header of ${kind} is fixed, so remove this key`,
          ['signature_header'],
          'key',
        );
      if (map !== undefined && kind !== 'json' && kind !== 'standard')
        return problem(
          `works only with kind "json" or "standard"; the payloads of ${kind} have fixed fields, so remove this key`,
          ['map'],
          'key',
        );
      return value({
        kind,
        to,
        secretEnv,
        ...defined({ signatureHeader, map }),
      });
    },
    fromText: (line) => refuse(line, 'webhooks into earpiece.toml'),
    show: showWebhook,
    expects: EXPECTS,
    takesTable: true,
  };
}

export const showWebhook = ({ kind, to, secretEnv, signatureHeader, map }: WebhookEntry): string =>
  [
    `${kind} for ${to}, secret in ${secretEnv}`,
    signatureHeader && `signature in ${signatureHeader}`,
    map && `map: ${Object.keys(map).join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');

function mapValue(): Value<WebhookMap> {
  const expects = `a table with ${Object.keys(MAP).join(', ')}`;
  return {
    read: (raw): Read<WebhookMap> => {
      if (!isTable(raw)) return refuse(raw, expects);
      const read = fields(raw, MAP);
      if (read.kind === 'problems') return read;
      return value(Object.fromEntries(Object.entries(read.value).filter(([, words]) => words !== undefined)) as WebhookMap);
    },
    fromText: (line) => refuse(line, expects),
    show: (map) => Object.keys(map).join(', '),
    expects,
  };
}
