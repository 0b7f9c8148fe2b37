/** Tests `/metrics` with a strict reader of Prometheus' text format. */
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/server/metrics.ts';
import { proves } from '../verifies.ts';
import { readExposition, type Family } from './exposition.ts';
import { Stage } from './stage.ts';

const valueOf = (families: readonly Family[], name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
  families
    .flatMap(({ series }) => series)
    .find((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels.get(label) === value))?.value;

it('the metrics have each number that a server counts, each in a separate family', async () => {
  proves('server:routes');
  await using stage = await Stage.open({ emits: true });
  const families = async (): Promise<readonly Family[]> => {
    const answer = await stage.raw('/metrics');
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    return readExposition(await answer.text());
  };
  expect((await families()).map(({ name }) => name)).toEqual([
    'earpiece_carried_total',
    'earpiece_streams',
    'earpiece_store_head',
    'earpiece_up_seconds',
  ]);
  const { client } = stage;
  await client.queue({ to: 'shop/coder', id: 'n1', message: 'x' });
  await client.queue({ to: 'shop/coder', id: 'n1', message: 'x' });
  await client.emit({ id: 'e1', source: 'ci', type: 'ci.failed', subject: 'shop/coder' });
  await client.why('n1', 'shop/coder');
  for (const init of [
    { method: 'DELETE' },
    { method: 'PROPFIND' },
    { headers: { authorization: 'Bearer x' } },
    { method: 'HEAD' },
  ])
    await stage.raw('/api/agents', init).then(({ body }) => body?.cancel());
  for (const path of ['/', '/nothing', '/api/nothing', '/api/notifications/%22%5C%0A'])
    await stage.raw(path).then(({ body }) => body?.cancel());
  const end = new AbortController();
  const stream = client.stream({ after: 0, signal: end.signal });
  await stream.next();
  const offer = await stage.inbox.conversation('shop/coder#main').offer({ at: 'tool_result' });
  await offer?.confirm();

  let found = await families();
  // The watcher of the log needs a moment to find the carrier's record.
  while (valueOf(found, 'earpiece_carried_total', { record: 'carrier_confirmed' }) !== 1) found = await families();
  expect(found.map(({ name, type }) => `${type} ${name}`)).toEqual([
    'counter earpiece_http_requests_total',
    'histogram earpiece_http_request_seconds',
    'counter earpiece_carried_total',
    'counter earpiece_queued_total',
    'counter earpiece_events_total',
    'counter earpiece_refused_total',
    'counter earpiece_stream_records_total',
    'gauge earpiece_streams',
    'gauge earpiece_store_head',
    'gauge earpiece_up_seconds',
  ]);
  for (const { name, help } of found) expect([name, help]).toEqual([name, expect.stringMatching(/^[A-Z].+\.$/u)]);
  expect(valueOf(found, 'earpiece_queued_total', { kind: 'queued' })).toBe(1);
  expect(valueOf(found, 'earpiece_queued_total', { kind: 'duplicate' })).toBe(1);
  expect(valueOf(found, 'earpiece_refused_total', { reason: 'unauthorized' })).toBe(1);
  expect(valueOf(found, 'earpiece_streams')).toBe(1);
  expect(valueOf(found, 'earpiece_http_requests_total', { method: 'OTHER', status: '405' })).toBe(1);
  expect(valueOf(found, 'earpiece_http_request_seconds_count', { route: '/api/notifications', method: 'POST' })).toBe(2);
  end.abort();
  await stream.return();
});

it('without a stream, deliveries are counted from the first request to /metrics', async () => {
  proves('server:routes');
  await using stage = await Stage.open();
  const carried = async (): Promise<Family | undefined> =>
    readExposition(await (await stage.raw('/metrics')).text()).find(({ name }) => name === 'earpiece_carried_total');
  const total = (family: Family | undefined): number => family?.series.reduce((sum, { value }) => sum + value, 0) ?? Number.NaN;
  const first = await carried();
  expect(total(first)).toBe(0);
  expect(first?.help).toContain('the first request to /metrics');
  await stage.inbox.queue('shop/coder', { message: 'x' });
  await (await stage.inbox.conversation('shop/coder#main').offer({ at: 'tool_result' }))?.confirm();
  await expect.poll(async () => total(await carried())).toBe(1);
});

describe('the format', () => {
  it('labels with any content are read back unchanged', () => {
    const metrics = new Metrics();
    const hostile = ['"', '\\', '\n', '\\n', '\\"', '{', '}', 'a="b",c="d"', '} 1', 'é 日本', ' ', '', '# TYPE x counter'];
    for (const [i, reason] of hostile.entries()) metrics.count('earpiece_refused_total', { reason }, i + 1);
    for (const route of hostile) metrics.request('GET', route, 200, 0.02);
    const families = readExposition(metrics.text({}));
    const refused = families.find(({ name }) => name === 'earpiece_refused_total');
    expect(refused?.series.map(({ labels, value }) => [labels.get('reason'), value])).toEqual(
      hostile.map((reason, i) => [reason, i + 1]),
    );
    const requests = families.find(({ name }) => name === 'earpiece_http_requests_total');
    expect(requests?.series.map(({ labels }) => labels.get('route'))).toEqual(hostile);
  });

  it('requests are counted once per method, route and status, and each duration is counted in every bucket that includes it', () => {
    const metrics = new Metrics();
    for (const [status, seconds] of [
      [200, 0.0005],
      [200, 0.02],
      [404, 0.02],
      [200, 60],
    ] as const)
      metrics.request('GET', '/x', status, seconds);
    metrics.request('POST', '/x', 200, 0.001);
    const families = readExposition(metrics.text({ earpiece_streams: 2 }));
    const at = (name: string, labels: Record<string, string>): number | undefined =>
      valueOf(families, name, { method: 'GET', route: '/x', ...labels });
    expect([
      at('earpiece_http_requests_total', { status: '200' }),
      at('earpiece_http_requests_total', { status: '404' }),
    ]).toEqual([3, 1]);
    expect(['0.001', '0.01', '0.05', '30', '+Inf'].map((le) => at('earpiece_http_request_seconds_bucket', { le }))).toEqual([
      1, 1, 3, 3, 4,
    ]);
    expect(at('earpiece_http_request_seconds_sum', {})).toBeCloseTo(60.0405, 6);
    expect(at('earpiece_http_request_seconds_count', {})).toBe(4);
    expect(valueOf(families, 'earpiece_http_request_seconds_bucket', { method: 'POST', le: '0.001' })).toBe(1);
    expect(valueOf(families, 'earpiece_streams')).toBe(2);
  });
});

it('the strict reader of these tests refuses an invalid exposition', () => {
  const of =
    (...lines: readonly string[]): (() => unknown) =>
    () =>
      readExposition(`${lines.join('\n')}\n`);
  const head = ['# HELP a_total A.', '# TYPE a_total counter'];
  expect(of(...head, 'a_total 1')).not.toThrow();
  expect(of('a_total 1')).toThrow('no HELP or no TYPE');
  expect(of(...head, ...head, 'a_total 1')).toThrow('twice');
  expect(of(...head, 'a_total 1', 'a_total 2')).toThrow('again');
  expect(of(...head, 'a_total{x="1",y="2"} 1', 'a_total{y="2",x="1"} 1')).toThrow('again');
  expect(of(...head, 'a_total{x="1",x="2"} 1')).toThrow('twice');
  expect(of(...head, 'a_total{x="a"b"} 1')).toThrow('not a label');
  expect(of(...head, 'a_total{x="\\t"} 1')).toThrow('not a label');
  expect(of(...head, 'a_total{0x="1"} 1')).toThrow('not a label');
  expect(of(...head, 'a_total 0x10')).toThrow('no number');
  expect(of(...head, 'a_total undefined')).toThrow('no number');
  expect(of(...head, 'a_total -1')).toThrow('not negative');
  expect(of(...head, 'a_total 1', '# HELP b B.', '# TYPE b gauge', 'b 1', 'a_total{x="1"} 1')).toThrow('comes again');
  const histogram = ['# HELP h H.', '# TYPE h histogram', 'h_bucket{le="1"} 1', 'h_bucket{le="+Inf"} 2', 'h_sum 1', 'h_count 2'];
  expect(of(...histogram)).not.toThrow();
  expect(of(...histogram.with(3, 'h_bucket{le="+Inf"} 0'))).toThrow('no histogram');
  expect(of(...histogram.toSpliced(3, 1))).toThrow('no histogram');
  expect(of(...histogram.toSpliced(5, 1))).toThrow('no histogram');
  expect(() => readExposition('# HELP a_total A.')).toThrow('no line break');
});
