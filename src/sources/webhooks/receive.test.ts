import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { defined } from '../../core/defined.ts';
import type { Json } from '../../core/json.ts';
import { receive, type Received } from './receive.ts';
import { receiverFrom, WEBHOOK_LIMITS, type WebhookReceiver, type WebhookSettings } from './receiver.ts';
import { replayWindow } from './replays.ts';

const NOW = Date.parse('2026-05-01T10:00:00Z');
const SECRET = 'a-secret-to-everybody';
const WHSEC = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

function receiver(settings: Partial<WebhookSettings> & Pick<WebhookSettings, 'kind'>): WebhookReceiver {
  const ready = receiverFrom(
    'ci',
    { to: 'shop/coder', secretEnv: 'S', ...settings },
    { S: settings.kind === 'standard' ? WHSEC : SECRET },
  );
  if (ready.kind === 'problem') throw new Error(ready.problem);
  return ready.receiver;
}

type Post = { readonly headers?: Record<string, string | undefined>; readonly body: Json | Buffer };
const bytes = (body: Json | Buffer): Buffer => (Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)));

const hex = (body: Buffer, secret = SECRET): string => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

const GITHUB = receiver({ kind: 'github' });
const github = ({ headers, body }: Post, seen?: (id: string) => boolean): Received =>
  receive({
    receiver: GITHUB,
    now: NOW,
    body: bytes(body),
    ...defined({ seen }),
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': 'd-1',
      'x-hub-signature-256': hex(bytes(body)),
      ...headers,
    },
  });

const STANDARD = receiver({ kind: 'standard' });
function standard({ headers, body, at = NOW }: Post & { at?: number }, seen?: (id: string) => boolean): Received {
  const stamp = String(Math.floor(at / 1_000));
  const mac = createHmac('sha256', Buffer.alloc(24, 7)).update(`msg_1.${stamp}.`).update(bytes(body)).digest('base64');
  return receive({
    receiver: STANDARD,
    now: NOW,
    body: bytes(body),
    ...defined({ seen }),
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': stamp,
      'webhook-signature': `v1,${mac}`,
      ...headers,
    },
  });
}

const bearer =
  (settings: Partial<WebhookSettings> & Pick<WebhookSettings, 'kind'>) =>
  ({ headers, body }: Post): Received =>
    receive({
      receiver: receiver(settings),
      now: NOW,
      body: bytes(body),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${SECRET}`, ...headers },
    });

const refused = (received: Received): string =>
  received.kind === 'refused' ? `${received.status} ${received.code}: ${received.reason}` : 'taken';
const events = (received: Received): Extract<Received, { kind: 'events' }>['events'] => {
  if (received.kind === 'refused') throw new Error(received.reason);
  return received.events;
};

const ISSUE = {
  action: 'opened',
  repository: { full_name: 'acme/shop' },
  sender: { login: 'anna' },
  issue: { number: 7, title: 'It burns' },
};

describe('permission to send', () => {
  proves('sources:webhooks');

  it('a receiver with a secret that is too short is refused', () => {
    const make = (kind: 'github' | 'standard', S?: string): string => {
      const made = receiverFrom('ci', { kind, to: 'shop/coder', secretEnv: 'S' }, defined({ S }));
      return made.kind === 'problem' ? made.problem : 'ready';
    };
    expect(make('github')).toBe('webhooks.ci needs the secret in S, which is not set; export the variable');
    expect(make('github', 'short')).toBe('webhooks.ci needs a longer secret in S: at least 8 characters');
    expect(make('standard', 'whsec_AAAA')).toBe(
      'webhooks.ci needs a secret in S in the form of Standard Webhooks: "whsec_" and at least 16 bytes in base64',
    );
    expect([make('github', SECRET), make('standard', WHSEC)]).toEqual(['ready', 'ready']);
  });

  it.each<[string, Received, string]>([
    ['GitHub: a valid signature', github({ body: ISSUE }), 'taken'],
    [
      'GitHub: unsigned',
      github({ body: ISSUE, headers: { 'x-hub-signature-256': undefined } }),
      "401 unsigned: the header x-hub-signature-256 with the signature is missing; give the sender the receiver's secret",
    ],
    [
      'GitHub: a signature by another secret',
      github({ body: ISSUE, headers: { 'x-hub-signature-256': hex(bytes(ISSUE), 'another secret') } }),
      "401 wrong_signature: the signature in x-hub-signature-256 does not match this body and the receiver's secret; give the sender the same secret",
    ],
    [
      'GitHub: a signature of another body',
      github({ body: ISSUE, headers: { 'x-hub-signature-256': hex(Buffer.from('{}')) } }),
      "401 wrong_signature: the signature in x-hub-signature-256 does not match this body and the receiver's secret; give the sender the same secret",
    ],
    [
      'GitHub: half a signature',
      github({ body: ISSUE, headers: { 'x-hub-signature-256': hex(bytes(ISSUE)).slice(0, 40) } }),
      "401 wrong_signature: the signature in x-hub-signature-256 does not match this body and the receiver's secret; give the sender the same secret",
    ],
    [
      'GitHub: only the old SHA-1',
      github({ body: ISSUE, headers: { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=00' } }),
      "401 unsigned: the header x-hub-signature-256 with the signature is missing; give the sender the receiver's secret",
    ],
    ['Standard: a valid signature', standard({ body: { type: 'a' } }), 'taken'],
    [
      'Standard: the right one among several',
      standard({
        body: { type: 'a' },
        headers: {
          'webhook-signature': `v1a,AAAA v1,${Buffer.alloc(32).toString('base64')} v1,${createHmac('sha256', Buffer.alloc(24, 7))
            .update(`msg_1.${NOW / 1_000}.{"type":"a"}`)
            .digest('base64')}`,
        },
      }),
      'taken',
    ],
    [
      'Standard: none of several',
      standard({ body: { type: 'a' }, headers: { 'webhook-signature': 'v1,AAAA v1a,BBBB' } }),
      "401 wrong_signature: no v1 signature in webhook-signature matches this message and the receiver's secret; give the sender the same secret",
    ],
    [
      'Standard: a signature of another id',
      standard({ body: { type: 'a' }, headers: { 'webhook-id': 'msg_2' } }),
      "401 wrong_signature: no v1 signature in webhook-signature matches this message and the receiver's secret; give the sender the same secret",
    ],
    [
      'Standard: a signature of another time',
      standard({ body: { type: 'a' }, headers: { 'webhook-timestamp': String(NOW / 1_000 + 1) } }),
      "401 wrong_signature: no v1 signature in webhook-signature matches this message and the receiver's secret; give the sender the same secret",
    ],
    ['Standard: five minutes old', standard({ body: { type: 'a' }, at: NOW - 300_000 }), 'taken'],
    [
      'Standard: too old',
      standard({ body: { type: 'a' }, at: NOW - 301_000 }),
      "401 too_old: webhook-timestamp is 301 s behind this server's clock; at most 300 s are allowed",
    ],
    [
      'Standard: from the future',
      standard({ body: { type: 'a' }, at: NOW + 400_000 }),
      "401 too_old: webhook-timestamp is 400 s ahead of this server's clock; at most 300 s are allowed",
    ],
    [
      'Standard: no time',
      standard({ body: { type: 'a' }, headers: { 'webhook-timestamp': 'now' } }),
      '400 malformed: the header webhook-timestamp must be a number of seconds, got "now"',
    ],
    [
      'Standard: no id',
      standard({ body: { type: 'a' }, headers: { 'webhook-id': undefined } }),
      '401 unsigned: the header webhook-id is missing; Standard Webhooks require this header',
    ],
    ['a bearer token', bearer({ kind: 'alertmanager' })({ body: { alerts: [] } }), 'taken'],
    [
      'no bearer token',
      bearer({ kind: 'cloudevents' })({ body: {}, headers: { authorization: undefined } }),
      '401 unsigned: the header authorization is missing; send "Bearer" and the secret in this header',
    ],
    [
      'a wrong bearer token',
      bearer({ kind: 'json' })({ body: {}, headers: { authorization: `Bearer ${SECRET}x` } }),
      "401 wrong_signature: the bearer token in the header authorization is not the receiver's secret; give the sender the same secret",
    ],
    [
      'Basic in place of Bearer',
      bearer({ kind: 'json' })({ body: {}, headers: { authorization: `Basic ${SECRET}` } }),
      "401 wrong_signature: the bearer token in the header authorization is not the receiver's secret; give the sender the same secret",
    ],
    [
      'a signature in the configured header, in hex',
      bearer({ kind: 'json', signatureHeader: 'X-Sig' })({
        body: { a: 1 },
        headers: { authorization: undefined, 'x-sig': hex(bytes({ a: 1 })).slice(7) },
      }),
      'taken',
    ],
    [
      'a signature in the configured header, in base64',
      bearer({ kind: 'json', signatureHeader: 'X-Sig' })({
        body: { a: 1 },
        headers: { 'x-sig': createHmac('sha256', SECRET).update('{"a":1}').digest('base64') },
      }),
      'taken',
    ],
    [
      'a bearer token where a signature is wanted',
      bearer({ kind: 'json', signatureHeader: 'X-Sig' })({ body: { a: 1 } }),
      "401 unsigned: the header x-sig with the signature is missing; give the sender the receiver's secret",
    ],
  ])('a request is accepted only with a valid signature or token: %s', (_what, received, answer) => {
    expect(refused(received)).toBe(answer);
  });
});

describe('the allowed bodies', () => {
  proves('sources:webhooks');
  const deep = (n: number): Buffer => Buffer.from(`{"a":${'['.repeat(n)}${']'.repeat(n)}}`);
  const cloud = bearer({ kind: 'cloudevents' });
  const anyJson = bearer({ kind: 'json' });

  it.each<[string, () => Received, string | RegExp]>([
    [
      'a huge body',
      () => github({ body: Buffer.alloc(WEBHOOK_LIMITS.bodyBytes + 1, 32) }),
      `413 too_big: the body has ${WEBHOOK_LIMITS.bodyBytes + 1} bytes, at most ${WEBHOOK_LIMITS.bodyBytes} are allowed; send less`,
    ],
    [
      'another content type',
      () => github({ body: ISSUE, headers: { 'content-type': 'text/html' } }),
      '415 wrong_content_type: the content type is "text/html"; send application/json',
    ],
    ['no JSON', () => github({ body: Buffer.from('{"a":') }), /^400 malformed: the body is not JSON: /u],
    [
      'no UTF-8',
      () => github({ body: Buffer.from([0x7b, 0xff, 0x7d]) }),
      '400 malformed: the body is not UTF-8, which JSON requires; send UTF-8',
    ],
    ['an empty body', () => github({ body: Buffer.alloc(0) }), /^400 malformed: the body is not JSON/u],
    ['as deep as is allowed', () => anyJson({ body: deep(WEBHOOK_LIMITS.depth - 1) }), 'taken'],
    [
      'one level deeper than is allowed',
      () => anyJson({ body: deep(WEBHOOK_LIMITS.depth) }),
      '400 too_deep: the body nests more than 64 levels deep; send fewer levels',
    ],
    [
      'a million levels deep',
      () => anyJson({ body: deep(1_000_000) }),
      '400 too_deep: the body nests more than 64 levels deep; send fewer levels',
    ],
    [
      'a million levels deep, with attributes in headers',
      () =>
        cloud({
          body: deep(500_000),
          headers: { 'content-type': undefined, 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 's', 'ce-type': 't' },
        }),
      '400 too_deep: the body nests more than 64 levels deep; send fewer levels',
    ],
    [
      'a million levels deep, in base64',
      () =>
        cloud({
          body: { specversion: '1.0', id: '1', source: 's', type: 't', data_base64: deep(500_000).toString('base64') },
          headers: { 'content-type': 'application/cloudevents+json' },
        }),
      '422 bad_event: event data nests more than 64 levels deep; write the data to a file and send the path',
    ],
    ['a text with many brackets', () => anyJson({ body: { a: '['.repeat(1_000), b: '\\"[[' } }), 'taken'],
    ['a list for an object', () => github({ body: [1] }), '422 bad_event: the body is not a JSON object; send an object'],
    [
      'no event of GitHub',
      () => github({ body: ISSUE, headers: { 'x-github-event': 'Bad Event' } }),
      '400 malformed: x-github-event is "Bad Event", which is not an event of GitHub',
    ],
    [
      'no id of GitHub',
      () => github({ body: ISSUE, headers: { 'x-github-delivery': undefined } }),
      '400 malformed: the header x-github-delivery is missing; send this header',
    ],
    [
      'a form without a payload',
      () => github({ body: Buffer.from('a=b'), headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      '400 malformed: the form has no field "payload"; set the content type of the webhook to application/json',
    ],
    [
      'no CloudEvent',
      () => cloud({ body: {} }),
      /^415 wrong_content_type: the content type is "application\/json"; send a CloudEvent as/u,
    ],
    [
      'an object in place of a batch',
      () => cloud({ body: {}, headers: { 'content-type': 'application/cloudevents-batch+json' } }),
      '400 malformed: the content type names a batch, but the body is not a list; send a list of events',
    ],
    [
      'too many events in a batch',
      () =>
        cloud({
          body: Array.from({ length: 1_001 }, () => ({})),
          headers: { 'content-type': 'application/cloudevents-batch+json' },
        }),
      '413 too_big: the batch has 1001 events, at most 1000 are allowed; send several batches',
    ],
    [
      'a CloudEvent without a source',
      () =>
        cloud({ body: { specversion: '1.0', id: '1', type: 't' }, headers: { 'content-type': 'application/cloudevents+json' } }),
      '422 bad_event: event attribute source is missing; every CloudEvent needs this attribute',
    ],
    [
      'an invalid type',
      () =>
        cloud({
          body: { specversion: '1.0', id: '1', source: 's', type: 'a b' },
          headers: { 'content-type': 'application/cloudevents+json' },
        }),
      '422 bad_event: event type "a b": must be dotted words of letters, digits, "_" and "-", e.g. "build.failed"',
    ],
    [
      'a type of a built-in source',
      () =>
        cloud({
          body: { specversion: '1.0', id: '1', source: 's', type: 'mcp.reconnected' },
          headers: { 'content-type': 'application/cloudevents+json' },
        }),
      '422 bad_event: the type "mcp.reconnected" belongs to a built-in source (mcp.*); choose another name, such as com.example.mcp.reconnected',
    ],
    [
      'too much data',
      () =>
        cloud({
          body: { specversion: '1.0', id: '1', source: 's', type: 't', data: { a: 'x'.repeat(70_000) } },
          headers: { 'content-type': 'application/cloudevents+json' },
        }),
      /^413 too_big: event data has 70008 characters of JSON/u,
    ],
    [
      'a header that is not encoded',
      () =>
        cloud({
          body: Buffer.from('{}'),
          headers: { 'ce-specversion': '1.0', 'ce-id': '%zz', 'ce-source': 's', 'ce-type': 't' },
        }),
      '400 malformed: the header ce-id is not percent-encoded correctly',
    ],
    [
      'no alerts',
      () => bearer({ kind: 'alertmanager' })({ body: { version: '4' } }),
      '422 bad_event: the payload has no list of alerts, so the payload is not from Alertmanager; for another sender, set kind = "json"',
    ],
    [
      'another version',
      () => bearer({ kind: 'alertmanager' })({ body: { version: '3', alerts: [] } }),
      `422 bad_event: the payload has version "3" of Alertmanager's format; only version 4 is supported`,
    ],
    [
      'a number in place of an alert',
      () => bearer({ kind: 'alertmanager' })({ body: { alerts: [7] } }),
      '422 bad_event: alert 1 of the list must be an object',
    ],
    [
      'no id, although the map names one',
      () => bearer({ kind: 'json', map: { id: '{run.id}' } })({ body: { run: {} } }),
      '422 bad_event: the payload has no value for {run.id}; send the value, or correct the setting webhooks.ci.map.id',
    ],
  ])('an allowed body is accepted, and any other body is refused with the reason: %s', (_what, received, answer) => {
    if (typeof answer === 'string') expect(refused(received())).toBe(answer);
    else expect(refused(received())).toMatch(answer);
  });

  it('a sender without the secret is refused before the body is read', () => {
    expect(refused(github({ body: deep(1_000), headers: { 'x-hub-signature-256': 'sha256=00' } }))).toMatch(
      /^401 wrong_signature/u,
    );
  });
});

describe('a repeated request', () => {
  proves('sources:webhooks');

  it('is recognized by its signed part, and only after it was remembered', () => {
    const window = replayWindow();
    const first = github({ body: ISSUE }, window.seen);
    // The first delivery was not remembered, so the sender's retry is accepted.
    expect(refused(github({ body: ISSUE }, window.seen))).toBe('taken');
    if (first.kind === 'events') window.remember(first.deliveries);
    expect(refused(github({ body: ISSUE, headers: { 'x-github-delivery': 'd-2' } }, window.seen))).toBe(
      '200 replayed: this delivery was received before; nothing changed',
    );
    expect(refused(github({ body: { ...ISSUE, action: 'closed' } }, window.seen))).toBe('taken');
    const message = standard({ body: { type: 'a' } }, window.seen);
    if (message.kind === 'events') window.remember(message.deliveries);
    expect(refused(standard({ body: { type: 'a' }, at: NOW - 1_000 }, window.seen))).toMatch(/^200 replayed/u);
  });

  it('an event of GitHub may have digits in its name', () => {
    const [event] = events(github({ body: { ...ISSUE, action: 'edited' }, headers: { 'x-github-event': 'projects_v2_item' } }));
    expect(event?.type).toBe('github.projects_v2_item.edited');
  });

  it('a repeated request gives an event with the same id, which the log recognizes longer than the window', () => {
    const id = (received: Received): string | undefined => events(received)[0]?.id;
    expect(id(github({ body: ISSUE }))).toBe(
      id(github({ body: ISSUE, headers: { 'x-github-delivery': 'd-2', 'x-github-event': 'issues' } })),
    );
    expect(id(standard({ body: { type: 'a' } }))).toBe('msg_1');
  });

  it('a full window forgets the oldest request', () => {
    const window = replayWindow(2);
    window.remember(['a', 'b', 'c']);
    expect(['a', 'b', 'c'].map((each) => window.seen(each))).toEqual([false, true, true]);
    window.remember(['b']);
    window.remember(['d']);
    expect(['b', 'c', 'd'].map((each) => window.seen(each))).toEqual([true, false, true]);
  });
});

describe('the events of a request', () => {
  proves('sources:webhooks');

  it('CloudEvents with another source or another id have another id', () => {
    const cloud = bearer({ kind: 'cloudevents' });
    const long = 'x'.repeat(300);
    const ids = [
      ['ci main', '1'],
      ['ci', 'main 1'],
      ['ci%20main', '1'],
      ['ci', `${long}1`],
      ['ci', `${long}2`],
    ].map(([source = '', id = '']) => {
      const body = { specversion: '1.0', id, source, type: 'com.example.t' };
      return events(cloud({ body, headers: { 'content-type': 'application/cloudevents+json' } }))[0]?.id;
    });
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('a CloudEvent in its three forms is the same event', () => {
    const attributes = {
      specversion: '1.0',
      id: '42',
      source: '/ci',
      type: 'com.example.build',
      severity: 'error',
      time: '2026-05-01T09:59:00Z',
      message: 'gr\u00f6\u00dfer',
    };
    const data = { branch: 'main' };
    const cloud = bearer({ kind: 'cloudevents' });
    const structured = events(
      cloud({ body: { ...attributes, data }, headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' } }),
    );
    const batch = events(
      cloud({ body: [{ ...attributes, data }], headers: { 'content-type': 'application/cloudevents-batch+json' } }),
    );
    const inHeaders = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encodeURIComponent(value)]),
    );
    const binary = events(cloud({ body: data, headers: inHeaders }));
    expect(structured).toEqual([
      {
        id: '/ci 42',
        type: 'com.example.build',
        source: 'webhook/ci',
        subject: 'shop/coder',
        time: Date.parse('2026-05-01T09:59:00Z'),
        severity: 'error',
        message: 'größer',
        data,
      },
    ]);
    expect(batch).toEqual(structured);
    expect(binary).toEqual(structured);
    expect(events(cloud({ body: [], headers: { 'content-type': 'application/cloudevents-batch+json' } }))).toEqual([]);
  });

  it('an event cannot be critical, name another source, or affect other notifications', () => {
    const cloud = (to: string, more: object): unknown =>
      events(
        bearer({ kind: 'cloudevents', to })({
          body: { specversion: '1.0', id: '1', source: 's', type: 'a.b', ...more },
          headers: { 'content-type': 'application/cloudevents+json' },
        }),
      )[0];
    expect(
      cloud('shop/coder', {
        severity: 'critical',
        subject: 'bank/teller',
        key: 'handle:build',
        supersede: true,
        about: 'file:/x',
        deliver: 'now',
        purpose: 'p',
      }),
    ).toEqual({
      id: 's 1',
      type: 'a.b',
      source: 'webhook/ci',
      subject: 'shop/coder',
      time: NOW,
      severity: 'error',
      data: {},
      key: 'webhook/ci:handle:build',
      supersede: true,
    });
    // A receiver for a whole project accepts the name of one of its agents.
    expect(cloud('shop/*', { subject: 'shop/writer' })).toMatchObject({ subject: 'shop/writer' });
    expect(cloud('shop/*', { subject: 'bank/teller' })).toMatchObject({ subject: 'shop/*' });
    expect(cloud('shop/*', { subject: 'refs/heads/main' })).toMatchObject({ subject: 'shop/*' });
  });

  it("Standard Webhooks: the event has the type, time and data of the message, and the receiver's name", () => {
    const [event] = events(standard({ body: { type: 'invoice.paid', timestamp: '2026-05-01T09:00:00Z', data: { amount: 7 } } }));
    expect(event).toEqual({
      id: 'msg_1',
      type: 'webhook.ci.invoice.paid',
      source: 'webhook/ci',
      subject: 'shop/coder',
      time: Date.parse('2026-05-01T09:00:00Z'),
      severity: 'info',
      data: { amount: 7 },
    });
    expect(events(standard({ body: { hello: 1 } }))[0]).toMatchObject({ type: 'webhook.ci', data: { hello: 1 } });
  });

  it('Alertmanager: each alert is an event, the newest state wins, and a repetition is the same event', () => {
    const alert = {
      status: 'firing',
      labels: { alertname: 'HighLatency', severity: 'page', service: 'checkout', env: 'prod' },
      annotations: { summary: 'p99 is above 2 s', runbook: 'https://example.com/r' },
      startsAt: '2026-05-01T09:50:00Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'https://prometheus.example.com/g',
      fingerprint: 'c0ffee',
    };
    const resolved = { ...alert, status: 'resolved', endsAt: '2026-05-01T10:02:00Z' };
    const post = bearer({ kind: 'alertmanager' });
    const [first, second] = events(
      post({ body: { version: '4', status: 'firing', truncatedAlerts: 3, alerts: [alert, resolved] } }),
    );
    expect(first).toEqual({
      id: 'c0ffee firing 2026-05-01T09:50:00Z',
      type: 'alert.firing',
      source: 'webhook/ci',
      subject: 'shop/coder',
      time: Date.parse('2026-05-01T09:50:00Z'),
      severity: 'error',
      message: 'Alert HighLatency is firing: p99 is above 2 s (service=checkout, env=prod)',
      key: 'webhook/ci:alert:c0ffee',
      supersede: true,
      data: {
        alertname: 'HighLatency',
        fingerprint: 'c0ffee',
        summary: 'p99 is above 2 s',
        labels: alert.labels,
        annotations: alert.annotations,
        starts_at: '2026-05-01T09:50:00Z',
        url: 'https://prometheus.example.com/g',
        omitted_alerts: 3,
      },
    });
    expect(second).toMatchObject({
      type: 'alert.resolved',
      severity: 'info',
      message: 'Alert HighLatency is over after 12 min: p99 is above 2 s (service=checkout, env=prod)',
      key: first?.key,
    });
    const again = events(post({ body: { version: '4', alerts: [alert] } }));
    expect(again[0]?.id).toBe(first?.id);
    const levels = ['warning', 'info', 'critical', 'whatever'].map(
      (severity) => events(post({ body: { alerts: [{ status: 'firing', labels: { severity } }] } }))[0]?.severity,
    );
    expect(levels).toEqual(['warning', 'info', 'error', 'error']);
  });

  it('JSON of any sender is converted by a map', () => {
    const map = {
      type: 'deploy.{state}',
      id: '{run.id}-{state}',
      severity: '{level}',
      message: '{service} is {state} ({list.1})',
      subject: '{owner}',
      time: '{at}',
      data: '{run}',
    };
    const post = bearer({ kind: 'json', to: 'shop/*', map });
    const body = {
      state: 'rolled back',
      run: { id: 7 },
      level: 'FATAL',
      service: 'api',
      owner: 'coder',
      at: 1_777_629_600,
      list: ['a', 'b'],
    };
    expect(events(post({ body }))).toEqual([
      {
        id: '7-rolled back',
        type: 'deploy.rolled_back',
        source: 'webhook/ci',
        subject: 'shop/coder',
        time: 1_777_629_600_000,
        severity: 'error',
        message: 'api is rolled back (b)',
        data: { id: 7 },
      },
    ]);
    // A missing value becomes `?` or the default, and inherited properties count as missing.
    expect(
      events(
        bearer({
          kind: 'json',
          map: { message: '{constructor.name} {__proto__.x} {a.length}', severity: '{b}', type: '{toString}' },
        })({ body: { a: 'xyz', b: 'odd' } }),
      ),
    ).toEqual([
      {
        type: 'webhook.ci',
        source: 'webhook/ci',
        subject: 'shop/coder',
        time: NOW,
        severity: 'info',
        message: '? ? ?',
        data: { a: 'xyz', b: 'odd' },
      },
    ]);
    // The sender may not choose a built-in source's type.
    expect(events(bearer({ kind: 'json', map: { type: '{t}' } })({ body: { t: 'tool.call.failure' } }))[0]?.type).toBe(
      'webhook.ci.tool.call.failure',
    );
    // Without a map, the data are the whole payload, unless the payload is too large. Two equal payloads are two events.
    expect(events(bearer({ kind: 'json' })({ body: ['a'] }))[0]).toEqual({
      type: 'webhook.ci',
      source: 'webhook/ci',
      subject: 'shop/coder',
      time: NOW,
      severity: 'info',
      data: { value: ['a'] },
    });
    expect(events(bearer({ kind: 'json' })({ body: { a: 'x'.repeat(100_000) } }))[0]?.data).toEqual({
      left_out: '100008 characters, more than an event may hold',
    });
  });
});
