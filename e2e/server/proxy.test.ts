/** Tests a server behind a proxy with TLS, and its traces and metrics. */
import { trace, type Span, type SpanStatus, type Tracer } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { openTelemetry } from '../../src/server/index.ts';
import { proves } from '../verifies.ts';
import { onSocket, statusOf } from './raw.ts';
import { Stage } from './stage.ts';

describe('behind a proxy that speaks TLS', () => {
  proves('server:command', 'server:security');
  const login = async (stage: Stage, headers: Record<string, string>): Promise<{ text: string }> => {
    const body = JSON.stringify({ code: (await stage.server.loginUrl()).split('#code=')[1] });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return onSocket(stage.at.url, [
      `POST /api/session HTTP/1.1\r\n${lines.join('')}content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    ]);
  };

  it('the page logs in, and the browser sends its cookie only over TLS', async () => {
    await using stage = await Stage.open({ allowedHosts: ['agents.example'] });
    const { text } = await login(stage, {
      host: 'agents.example',
      origin: 'https://agents.example',
      'x-forwarded-proto': 'https',
    });
    expect(statusOf(text)).toBe(200);
    expect(text).toMatch(/^set-cookie: earpiece_\d*=ep_.*; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/imu);
    const plain = await login(stage, { host: 'agents.example', origin: 'http://agents.example' });
    expect(plain.text).toMatch(/^set-cookie: .*; Max-Age=\d+\r$/imu);
  });

  it('the error for another Host says that a proxy must pass Host unchanged', async () => {
    await using stage = await Stage.open({ allowedHosts: ['agents.example'] });
    const { host } = new URL(stage.at.url);
    const { text } = await login(stage, { host, origin: 'https://agents.example' });
    expect(statusOf(text)).toBe(403);
    expect(text).toContain('If there is a proxy, let the proxy pass Host unchanged');
  });
});

it('the server listens on an IP address in any numeric form', async () => {
  proves('server:command');
  await using stage = await Stage.open();
  await stage.server.stop();
  for (const [host, asked] of [
    ['0', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ] as const) {
    await using other = await Stage.open({ host });
    const { port } = new URL(other.at.url);
    expect((await fetch(`http://${asked}:${port}/healthz`)).status).toBe(200);
    expect((await fetch(`${new URL(await other.server.loginUrl()).origin}/healthz`)).status).toBe(200);
  }
});

describe('with a provider of OpenTelemetry', () => {
  proves('server:routes');
  type Seen = { readonly name: string; readonly attributes: Record<string, unknown>; status?: SpanStatus; ended: boolean };
  const seen: Seen[] = [];
  const spanOf = (name: string, attributes: Record<string, unknown> = {}): Span => {
    const mine: Seen = { name, attributes: { ...attributes }, ended: false };
    seen.push(mine);
    const span = {
      setAttributes: (more: object) => (Object.assign(mine.attributes, more), span),
      setStatus: (status: SpanStatus) => ((mine.status = status), span),
      recordException: () => {},
      end: () => (mine.ended = true),
    };
    return span as never;
  };
  const tracer = {
    startSpan: (name: string, options?: { attributes?: Record<string, unknown> }) => spanOf(name, options?.attributes),
    startActiveSpan: (name: string, options: { attributes?: Record<string, unknown> }, work: (span: Span) => unknown) =>
      work(spanOf(name, options.attributes)),
  } as unknown as Tracer;
  afterEach(() => trace.disable());

  it('each request, queue and carry is a span; a fault of the server marks its span as an error', async () => {
    trace.setGlobalTracerProvider({ getTracer: () => tracer });
    await using stage = await Stage.open({
      telemetry: await openTelemetry(),
      routes: [
        (api) =>
          api.get('/api/broken', () => {
            throw new Error('x');
          }),
      ],
    });
    const end = new AbortController();
    const stream = stage.client.stream({ signal: end.signal, after: 0 });
    await stage.client.queue({ to: 'shop/coder', level: 'error', message: 'x' });
    await stream.next();
    await (await stage.inbox.conversation('shop/coder#main').offer({ at: 'tool_result' }))?.confirm();
    while (!seen.some(({ name }) => name === 'earpiece.carry')) await stream.next();
    end.abort();
    await stream.return();
    await stage.raw('/api/broken');
    await stage.raw('/api/agents', { headers: { authorization: 'Bearer x' } });
    const of = (name: string, route?: string): Seen | undefined =>
      seen.find((span) => span.name === name && (route === undefined || span.attributes['http.route'] === route));
    expect(of('POST', '/api/notifications')).toMatchObject({ attributes: { 'http.response.status_code': 201 }, ended: true });
    expect(of('POST', '/api/notifications')?.status).toBeUndefined();
    expect(of('earpiece.queue')).toMatchObject({ attributes: { 'earpiece.level': 'error', 'earpiece.outcome': 'queued' } });
    expect(of('earpiece.carry')).toMatchObject({ attributes: { 'earpiece.log': 'shop/coder' }, ended: true });
    expect(of('GET', '/api/broken')).toMatchObject({ status: { code: 2, message: 'answered 500' }, ended: true });
    expect(seen.find(({ attributes }) => attributes['http.response.status_code'] === 401)?.status).toBeUndefined();
  });

  it('a carry is a span, even if no client opens a stream', async () => {
    trace.setGlobalTracerProvider({ getTracer: () => tracer });
    seen.length = 0;
    await using stage = await Stage.open({ telemetry: await openTelemetry() });
    await stage.inbox.queue('shop/coder', { message: 'x' });
    await (await stage.inbox.conversation('shop/coder#main').offer({ at: 'tool_result' }))?.confirm();
    await expect.poll(() => seen.filter(({ name }) => name === 'earpiece.carry')).toHaveLength(1);
  });
});

it("Prometheus reads the metrics, and a client's invented values add no series", async () => {
  proves('server:routes');
  await using stage = await Stage.open({ emits: true });
  const text = async (): Promise<string> => (await stage.raw('/metrics')).text();
  await stage.client.queue({ to: 'shop/coder', message: 'x' });
  await text();
  const before = (await text()).split('\n').length;
  for (let i = 0; i < 40; i++) {
    await stage.client.queue({ to: `shop${i}/agent${i}`, kind: `k${i}.n`, message: 'x' });
    for (const path of [
      `/x${i}`,
      `/api/x${i}`,
      `/api/notifications/n${i}?log=a/b${i}`,
      `/api/projects/p${i}/agents/a/conversations`,
    ])
      await stage.raw(path).then(({ body }) => body?.cancel());
  }
  const after = (await text()).trimEnd().split('\n');
  // The metrics have grown only by the lines of three further routes, each with its buckets.
  expect(after.length - before).toBeLessThan(60);
  const families = new Set<string>();
  for (const line of after) {
    const [, family] = /^# TYPE ([a-z_]+) (?:counter|gauge|histogram)$/u.exec(line) ?? [];
    if (family !== undefined) {
      expect(families.has(family)).toBe(false);
      families.add(family);
      continue;
    }
    if (line.startsWith('# HELP ')) continue;
    expect(line).toMatch(/^[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? -?[0-9.e+-]+$/u);
    const name = line.split(/[{ ]/u)[0]?.replace(/_(bucket|sum|count)$/u, '') ?? '';
    expect(families.has(name) || families.has(line.split(/[{ ]/u)[0] ?? '')).toBe(true);
  }
});
