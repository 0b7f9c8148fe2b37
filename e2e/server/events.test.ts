/** Tests events, webhooks and subscribers of `earpiece serve`, started as people start it. */
import { createHmac } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Subscriber, SubscriberToggles } from '../../src/bus/index.ts';
import { ApiError, createClient, type Client } from '../../src/wire/client/index.ts';
import { Tokens } from '../../src/server/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { ServerProcess } from './process.ts';
import { Stage } from './stage.ts';

let shell: Shell;
let server: ServerProcess;
let client: Client;
let url: string;
let token: string;

beforeAll(async () => {
  shell = new Shell();
  mkdirSync(join(shell.folder, 'config/earpiece'), { recursive: true });
  writeFileSync(
    join(shell.folder, 'config/earpiece/earpiece.toml'),
    '[webhooks.gh]\nkind = "github"\nto = "shop/coder"\nsecret_env = "GH_SECRET"\n[webhooks.off]\nkind = "github"\nto = "shop/coder"\nsecret_env = "NOT_SET"\n[webhooks.short]\nkind = "github"\nto = "shop/coder"\nsecret_env = "SHORT_SECRET"\n[webhooks.deploys]\nkind = "json"\nto = "shop/coder"\nsecret_env = "GH_SECRET"\nmap = { type = "deploy.{state}" }\n',
  );
  const ear = await shell.open();
  ({ token } = await new Tokens(ear).create({ kind: 'admin', name: 'tests' }));
  server = new ServerProcess(['--port', '0', '--no-console'], {
    cwd: shell.folder,
    env: shell.env({ GH_SECRET: 'a secret of github', SHORT_SECRET: 'short' }),
  });
  ({ url } = await server.ready);
  client = createClient({ url, token });
});
afterAll(async () => {
  server.kill('SIGTERM');
  await server[Symbol.asyncDispose]();
  await shell[Symbol.asyncDispose]();
});

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it went through',
    (error: unknown) => (error instanceof ApiError ? { status: error.status, said: error.message } : error),
  );
const failed = (id: string, more: object = {}) => ({
  id,
  source: 'ci',
  type: 'tool.call.failure',
  subject: 'shop/coder',
  severity: 'error',
  data: { tool_name: 'deploy', error_type: 'Exit', error_message: `exit ${id}` },
  ...more,
});

describe('events', () => {
  proves('server:events');

  it('are accepted in structured, batch and binary mode, and become notifications through subscribers', async () => {
    const one = await client.emit(failed('e1'));
    expect(one.events).toMatchObject([{ id: 'e1', source: 'ci', type: 'tool.call.failure' }]);
    expect(one.events[0]?.heard.filter(({ kind }) => kind !== 'skipped').length).toBeGreaterThan(0);
    expect((await client.emit([failed('e2'), failed('e3')])).events.map(({ id }) => id)).toEqual(['e2', 'e3']);
    const binary = await fetch(`${url}/api/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': 'e4',
        'ce-source': 'ci',
        'ce-type': 'tool.call.failure',
        'ce-subject': 'shop/coder',
        'ce-severity': 'error',
      },
      body: '{"tool_name": "deploy", "error_type": "Exit", "error_message": "exit e4"}',
    });
    expect(await binary.json()).toMatchObject({ events: [{ id: 'e4' }] });
    const open = (await client.notifications({ log: 'shop/coder', state: 'open' })).items;
    expect(open.some(({ subscriber }) => subscriber !== null)).toBe(true);
    expect(
      (await client.emit(failed('e1'))).events[0]?.heard.every(({ kind }) => kind === 'duplicate' || kind === 'skipped'),
    ).toBe(true);
  });

  it("without a subject are for the active agents of the server's project, if an admin token sends them", async () => {
    const { subject: _subject, ...event } = failed('s1');
    const sent = await fetch(`${url}/api/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/cloudevents+json' },
      // Editors on some systems begin a file with a byte order mark.
      body: `\uFEFF${JSON.stringify({ specversion: '1.0', ...event })}`,
    });
    // The event is for every active agent in the server's project, but no agent is active.
    expect(await sent.json()).toMatchObject({
      status: 409,
      code: 'nobody_there',
      detail: expect.stringContaining('shop') as string,
    });
  });

  it.each(['send', 'agent'] as const)(
    'without a key and with a critical priority in the payload neither count into other notifications nor interrupt, if a token of the kind %s sends them',
    async (kind) => {
      const agent = kind === 'agent' ? { agent: 'coder' } : {};
      const ear = await shell.open();
      const made = await new Tokens(ear).create({ kind, name: `${kind} of the test`, project: 'shop', ...agent });
      const stranger = createClient({ url, token: made.token });
      const data = { tool_name: `lint for ${kind}`, error_type: 'Exit', error_message: 'exit 1' };
      await client.emit(failed(`own ${kind}`, { data }));
      const { events } = await stranger.emit(failed(`forged ${kind}`, { data: { ...data, priority: 'critical' } }));
      expect(events[0]?.heard).toMatchObject([{ subscriber: 'tool_failure', kind: 'queued' }]);
      const open = (await client.notifications({ log: 'shop/coder', state: 'open' })).items;
      const [forged, own] = open.filter(({ message }) => message.includes(data.tool_name));
      expect([own, forged]).toMatchObject([
        { level: 'error', count: 1 },
        { level: 'error', count: 1, key: expect.stringMatching(/^token\//u) as string },
      ]);
      await client.revokeToken(made.id);
    },
  );

  it.each(['send', 'agent'] as const)(
    'with another source or another id are other events, if a token of the kind %s sends them',
    async (kind) => {
      const agent = kind === 'agent' ? { agent: 'coder' } : {};
      const made = await new Tokens(await shell.open()).create({ kind, name: 'monitor', project: 'shop', ...agent });
      const monitor = createClient({ url, token: made.token });
      const [near, far] = ['x'.repeat(250), 'y'.repeat(2_000)];
      const told = [
        ['ci main', '1'],
        ['ci', 'main 1'],
        ['ci%20main', '1'],
        ['ci', `${near}1`],
        ['ci', `${near}2`],
        [`${far}1`, '1'],
        [`${far}2`, '1'],
      ].map(([source, id]) => failed(id ?? '', { source, subject: `shop/monitored-${kind}` }));
      for (const heard of ['queued', 'duplicate'])
        for (const event of told)
          expect((await monitor.emit(event)).events[0]?.heard, JSON.stringify(event)).toMatchObject([
            heard === 'queued' ? { kind: expect.stringMatching(/^(queued|folded)$/u) as string } : { kind: 'skipped' },
          ]);
      await client.revokeToken(made.id);
    },
  );

  it('invalid events are refused, and a batch with an invalid event is not emitted', async () => {
    const before = (await client.log({ limit: 1, newest: true })).head;
    expect(await failure(client.emit(failed('x1', { type: '' })))).toMatchObject({ status: 400 });
    expect(await failure(client.emit([failed('x2'), failed('x3', { severity: 'loud' })]))).toMatchObject({
      status: 400,
      said: expect.stringMatching(/^event 2 of the batch: event attribute severity "loud": must be one of/u) as string,
    });
    expect(await failure(client.emit([failed('x4'), failed('x5', { type: 'a b' })]))).toMatchObject({ status: 400 });
    expect((await client.log({ limit: 1, newest: true })).head).toBe(before);
    const text = await fetch(`${url}/api/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(text.status).toBe(415);
  });

  it('the events of a batch are emitted together, so repetitions in a batch do not wait 100 ms one after the other', async () => {
    const { events } = await client.emit(
      Array.from({ length: 60 }, (_, i) => failed(`many${i}`, { subject: 'shop/many', data: { tool_name: 'deploy' } })),
    );
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, i) => `many${i}`));
    const [only, ...more] = (await client.notifications({ log: 'shop/many', state: 'open' })).items;
    expect([only?.count, more]).toEqual([60, []]);
    // If the events were emitted separately, each would wait 100 ms for its fold.
    const { items } = await client.log({ log: 'shop/many', limit: 100 });
    expect(items.filter(({ body }) => body.type === 'system_notification_folded').length).toBeLessThan(30);
  });

  it('a batch is emitted even if one event reaches no agent, and the answer names that event', async () => {
    expect(
      await failure(client.emit([failed('y1', { subject: 'nobody/*' }), failed('y2', { subject: 'shop/others' })])),
    ).toMatchObject({
      status: 409,
      said: expect.stringMatching(
        /^event 1 of the batch: no conversation is active in .*; the other events were emitted$/u,
      ) as string,
    });
    expect((await client.notifications({ log: 'shop/others', state: 'open' })).items).toHaveLength(1);
    expect(await failure(client.emit([failed('y3'), failed('y4', { subject: 'nonsense' })]))).toMatchObject({
      said: expect.stringMatching(/^event 2 of the batch: address "nonsense"/u) as string,
    });
  });

  it('webhooks with a secret work; the server names the webhooks without a valid secret, and a type without a subscriber', async () => {
    const body = JSON.stringify({
      action: 'opened',
      pull_request: { number: 7, title: 'Faster' },
      repository: { full_name: 'a/shop' },
      sender: { login: 'ann' },
    });
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'pull_request',
      'x-github-delivery': 'd1',
      'x-hub-signature-256': `sha256=${createHmac('sha256', 'a secret of github').update(body).digest('hex')}`,
    };
    const answer = await fetch(`${url}/api/webhooks/gh`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([200, { events: [{ source: 'webhook/gh' }] }]);
    expect((await fetch(`${url}/api/webhooks/off`, { method: 'POST', headers, body })).status).toBe(503);
    expect((await fetch(`${url}/api/webhooks/none`, { method: 'POST', headers, body })).status).toBe(404);
    const short = await fetch(`${url}/api/webhooks/short`, { method: 'POST', headers, body });
    expect([short.status, ((await short.json()) as { detail: string }).detail]).toEqual([
      503,
      'the webhook "short" is configured but cannot receive yet; the output of earpiece serve names the reason',
    ]);
    const deploy = (authorization: string): Promise<Response> =>
      fetch(`${url}/api/webhooks/deploys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: '{"state":"down"}',
      });
    for (const status of [200, 200]) expect((await deploy('Bearer a secret of github')).status).toBe(status);
    expect(await (await deploy('Bearer wrong')).json()).toMatchObject({
      status: 401,
      code: 'unauthorized',
      title: 'A valid token or signature is required',
    });
    expect(server.stderr).toBe(
      [
        'earpiece: webhooks.off needs the secret in NOT_SET, which is not set; export the variable',
        'earpiece: webhooks.short needs a longer secret in SHORT_SECRET: at least 8 characters',
        'earpiece: webhooks.deploys: no subscriber listens to deploy.down, so the event notifies no agent; add a subscriber with types = ["deploy.down"]',
        '',
      ].join('\n'),
    );
  });
});

describe('subscribers', () => {
  proves('server:subscribers');

  it('are listed with their event types, the reason of a lock, and their counts', async () => {
    const { project, subscribers, problems } = await client.subscribers();
    expect([project, problems]).toEqual(['shop', []]);
    const locked = subscribers.filter(({ core }) => core);
    expect(locked.length).toBeGreaterThan(0);
    for (const each of locked) expect(each).toMatchObject({ enabled: true, locked: expect.stringContaining('core') as string });
    for (const { id, name, event_types, from } of subscribers)
      expect([id, name, event_types, from.file].every((part) => part.length > 0)).toBe(true);
    expect(subscribers.some(({ spoke_last_7_days }) => spoke_last_7_days > 0)).toBe(true);
  });

  it('count only notifications of the last seven days', async () => {
    const pager: Subscriber = {
      id: 'pager',
      name: 'pager',
      description: '',
      version: '1.0.0',
      events: { types: ['alert.firing'], severityFilter: 'info' },
      batching: { windowMs: 0, maxSize: 1, dedupeWindowMs: 0, dedupeKey: [] },
      output: { priority: 'normal', injectAt: 'immediate', core: false, supersede: false },
      from: { folder: 'program', file: 'test' },
    };
    const set = { subscribers: [pager], problems: [] };
    await using stage = await Stage.open({
      bus: { subscribers: () => set, preview: () => Promise.reject(new Error('not used')) },
      toggles: { disabled: async () => new Set<string>() } as Partial<SubscriberToggles> as SubscriberToggles,
    });
    const count = async (): Promise<unknown> =>
      (await stage.client.subscribers()).subscribers.map(({ spoke_last_7_days: spoke }) => spoke);
    const event = { type: 'alert.firing', source: 'test', severity: 'info', time: 0 };
    const queue = (): Promise<unknown> =>
      stage.inbox.queue('shop/coder', { message: 'it fires' }, { id: 'pager', event, group: 1 });
    await queue();
    stage.passes(4 * 86_400_000);
    await queue();
    expect(await count()).toEqual([2]);
    stage.passes(4 * 86_400_000);
    expect(await count()).toEqual([1]);
    stage.passes(4 * 86_400_000);
    expect(await count()).toEqual([0]);
  });

  it('are switched off and on from the next event; a core subscriber and an unknown subscriber are refused', async () => {
    const { subscribers } = await client.subscribers();
    const core = subscribers.find((each) => each.core)?.id ?? '';
    const other = subscribers.find(({ id }) => id === 'alert')?.id ?? '';
    const fire = (id: string) =>
      client.emit({
        id,
        source: 'prometheus',
        type: 'alert.firing',
        subject: 'shop/coder',
        severity: 'warning',
        data: { alertname: id, fingerprint: id },
      });
    const heard = async (id: string): Promise<boolean> =>
      (await fire(id)).events[0]?.heard.some(({ subscriber, kind }) => subscriber === other && kind !== 'skipped') ?? false;
    expect(await heard('a1')).toBe(true);
    expect(await client.toggleSubscriber(other, false)).toMatchObject({ id: other, enabled: false });
    expect(await heard('a2')).toBe(false);
    expect(await client.disabledSubscribers()).toEqual([other]);
    expect(await client.toggleSubscriber(other, true)).toMatchObject({ id: other, enabled: true });
    expect(await heard('a3')).toBe(true);
    expect(await failure(client.toggleSubscriber(core, false))).toEqual({
      status: 400,
      said: expect.stringContaining('cannot be disabled: agents must not miss the notifications of a core subscriber') as string,
    });
    expect(await failure(client.toggleSubscriber('alrt', false))).toEqual({
      status: 404,
      said: 'there is no subscriber "alrt" in project shop; did you mean alert?',
    });
    expect(await client.setDisabledSubscribers([other])).toEqual([other]);
    expect(await failure(client.setDisabledSubscribers(['nope']))).toMatchObject({ status: 400 });
    expect(await failure(client.setDisabledSubscribers([core]))).toMatchObject({ status: 400 });
    expect(await client.disabledSubscribers()).toEqual([other]);
    expect(await client.setDisabledSubscribers([])).toEqual([]);
  });

  it('are previewed without a notification; a test for a chosen agent says that no event happened', async () => {
    proves('server:test');
    const ear = await shell.open();
    await ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook' }).seen();
    const before = await ear.store.head();
    expect(await client.testSubscriber('budget_exceeded')).toMatchObject({
      subscriber_id: 'budget_exceeded',
      event_type: 'budget.token.exceeded',
      level: 'critical',
      preview: expect.stringContaining('101,200 of 100,000') as string,
      problem: null,
      to: null,
      notification: null,
      message: 'nothing was sent',
    });
    expect(await ear.store.head()).toBe(before);
    expect(await failure(client.testSubscriber('budget_exceeded', { to: 'shop/*' }))).toEqual({
      status: 400,
      said: 'shop/* is a whole project; name one agent of the project',
    });
    expect(await failure(client.testSubscriber('alert', { to: 'docs/x' }))).toMatchObject({ status: 400 });
    expect(await failure(client.testSubscriber('alert', { for: 'docs/x' }))).toMatchObject({ status: 400 });
    const foretold = await client.testSubscriber('budget_exceeded', { for: 'shop/coder#main' });
    expect(foretold).toMatchObject({ enabled: true, about: 'shop/coder#main', to: null, real: { kind: 'gate', refusals: 0 } });
    expect(await ear.store.head()).toBe(before);

    const tried = await client.testSubscriber('budget_exceeded', { to: 'shop/coder#main' });
    expect(tried).toMatchObject({
      to: 'shop/coder#main',
      message: expect.stringMatching(/^sent as a test\. Waiting for /u) as string,
    });
    const [item] = (await client.why(tried.notification ?? '', 'shop/coder')).items;
    expect(item?.notification).toMatchObject({
      kind: 'test.budget.exceeded',
      level: 'info',
      gate: false,
      subscriber: null,
      message: expect.stringMatching(/^Only a test: nothing happened.+ tests tried the subscriber "Budget exceeded"/u) as string,
    });
    expect(await ear.conversation('shop/coder#main').refuse({ on: 'write_file' })).toBeUndefined();
    const { view } = await ear.conversation('shop/coder#main').preview({ at: 'tool_batch_end' });
    expect(view?.text).toContain('Only a test: nothing happened');
  });
});

describe('activity and settings', () => {
  proves('server:activity');

  it('activity counts the queued, delivered and waiting notifications, their times and costs', async () => {
    const ear = await shell.open();
    const before = await client.activity({ project: 'shop' });
    await client.queue({ to: 'shop/writer', kind: 'ci.slow', level: 'warning', message: 'x' });
    const offer = await ear.conversation('shop/writer#main').offer({ at: 'tool_result' });
    await offer?.confirm();
    await client.queue({ to: 'shop/writer', kind: 'ci.slow', level: 'critical', message: 'y' });
    const to = ear.store.now() + 1;
    const after = await client.activity({ project: 'shop', from: to - 3_600_000, to, bucketMs: 600_000 });
    const sum = (of: typeof after, what: 'queued' | 'delivered', level: 'warning' | 'critical'): number =>
      of.buckets.reduce((n, bucket) => n + bucket[what][level], 0);
    expect([sum(after, 'queued', 'critical'), sum(after, 'delivered', 'warning')]).toEqual([1, 1]);
    expect(after.buckets).toHaveLength(6);
    expect(after.delivery.count).toBe(before.delivery.count + 1);
    expect(after.delivery.p50Ms).toBeGreaterThanOrEqual(0);
    // The counts are by time: each bucket has separate counts, and an empty bucket has zero.
    expect(after.buckets.reduce((n, bucket) => n + bucket.delivery.count, 0)).toBe(after.delivery.count);
    expect(after.buckets.at(-1)?.delivery).toEqual(after.delivery);
    expect(after.buckets[0]?.delivery).toEqual({ count: 0, p50Ms: null, p95Ms: null });
    expect(after.kinds.find(({ kind }) => kind === 'ci.slow')).toMatchObject({ queued: 2, delivered: 1 });
    expect(after.tokens).toBeGreaterThan(0);
    expect(after.truncated).toBe(false);
    expect(await failure(client.activity({ from: 5, to: 5 }))).toMatchObject({
      status: 400,
      said: 'from must be before to, got from 1970-01-01T00:00:00.005Z and to 1970-01-01T00:00:00.005Z',
    });
    expect(await failure(client.activity({ from: 0, to: 1e12, bucketMs: 1_000 }))).toMatchObject({ status: 400 });
  });

  it('activity counts a folded notification in no series', async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    for (let n = 0; n < 3; n++) await client.queue({ to: 'shop/coder', kind: 'ci.slow', key: 'slow', message: `run ${n}` });
    const counts = async (): Promise<unknown> => {
      stage.passes(10_000);
      const to = inbox.store.now();
      const { buckets, kinds } = await client.activity({ project: 'shop', from: to - 3_600_000, to, bucketMs: 3_600_000 });
      const bucket = buckets[0];
      return { kinds, counts: [bucket?.queued.info, bucket?.delivered.info, bucket?.waiting.info] };
    };
    expect(await counts()).toMatchObject({ counts: [1, 0, 1], kinds: [{ queued: 1, delivered: 0 }] });
    const offer = await inbox.conversation('shop/coder#main').offer({ at: 'tool_result' });
    await offer?.confirm();
    expect(await counts()).toMatchObject({ counts: [1, 1, 0], kinds: [{ queued: 1, delivered: 1 }] });
  });

  it('settings name the source of each value, and no secret', async () => {
    const { settings, project, files } = await client.settings();
    expect(project).toBe('shop');
    expect(files.map(({ scope }) => scope)).toEqual(['project', 'user']);
    expect(settings.find(({ key }) => key === 'server.port')).toMatchObject({
      value: 4747,
      decidedBy: 'default',
      env: 'EARPIECE_SERVER_PORT',
    });
    expect(settings.find(({ key }) => key === 'project')).toMatchObject({
      text: 'shop',
      decidedBy: expect.stringContaining('earpiece.toml') as string,
    });
  });

  it('tokens are created, listed without their secrets, and revoked', async () => {
    const made = await client.createToken({ kind: 'send', name: 'ci', project: 'shop' });
    const other = createClient({ url, token: made.token });
    expect((await other.queue({ to: 'shop/coder', message: 'x' })).kind).toBe('queued');
    const { items } = await client.tokens();
    expect(items.map(({ name }) => name)).toEqual(['tests', 'ci']);
    expect(JSON.stringify(items)).not.toContain(made.token.slice(-40));
    await client.revokeToken(made.id);
    expect(await failure(other.queue({ to: 'shop/coder', message: 'x' }))).toMatchObject({ status: 401 });
    expect(await failure(client.revokeToken(made.id))).toMatchObject({ status: 404 });
    expect(await failure(client.createToken({ kind: 'agent', name: 'x', project: 'shop' }))).toMatchObject({
      status: 400,
      said: 'a token of kind agent is for one agent; name the agent',
    });
  });
});
