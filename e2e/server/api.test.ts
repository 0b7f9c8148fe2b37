/** Tests the routes over real HTTP, through the typed client. */
import { describe, expect, it } from 'vitest';
import { ApiError, createClient } from '../../src/wire/client/index.ts';
import type { Stored } from '../../src/core/records.ts';
import { proves } from '../verifies.ts';
import { Stage } from './stage.ts';

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it went through',
    (error: unknown) => (error instanceof ApiError ? { status: error.status, code: error.code, said: error.message } : error),
  );

describe('notifications', () => {
  proves('server:routes');
  it('are queued, listed, explained, withdrawn', async () => {
    await using stage = await Stage.open();
    const { client } = stage;
    const queued = await client.queue({ to: 'shop/coder', kind: 'ci.failed', level: 'error', message: 'CI failed on main' });
    expect(queued).toMatchObject({ kind: 'queued', into: null, to: ['shop/coder'] });
    const list = await client.notifications({ log: 'shop/coder', state: 'open' });
    expect(list).toMatchObject({
      items: [{ id: queued.id, kind: 'ci.failed', level: 'error', receipt: 'queued', conversation: null, count: 1 }],
      next: null,
    });
    const story = await client.why(queued.id);
    expect(story).toMatchObject({
      log: 'shop/coder',
      items: [{ steps: [{ what: 'queued' }], sent: [], now: [{ conversation: 'main', decision: { kind: 'take' } }] }],
    });
    expect(await client.withdraw(queued.id, { log: 'shop/coder', reason: 'it passes again' })).toEqual({
      id: queued.id,
      result: 'withdrawn',
    });
    expect((await client.why(queued.id, 'shop/coder')).items[0]).toMatchObject({
      ended: { outcome: 'withdrawn', by: 'tests', reason: 'it passes again' },
      notification: { receipt: 'withdrawn' },
    });
    expect((await client.requeue(queued.id, { log: 'shop/coder' })).kind).toBe('queued');
    expect(await failure(client.why('nope'))).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('name the person whose browser withdrew them or queued them again', async () => {
    await using stage = await Stage.open();
    const mira = await stage.server.tokens.create({ kind: 'admin', name: 'Mira' });
    const of = await stage.server.tokens.check(mira.token);
    const { token } = await stage.server.tokens.session(of, 60_000);
    const browser = createClient({ url: stage.at.url, token });
    await browser.queue({ to: 'shop/coder', id: 'n1', message: 'CI failed' });
    await browser.withdraw('n1', { log: 'shop/coder', reason: 'by hand' });
    const { items } = await browser.why('n1');
    expect(items[0]?.steps.at(-1)).toMatchObject({ what: 'withdrawn', detail: 'Mira in the console: “by hand”' });
    const { id: again } = await browser.requeue('n1', { log: 'shop/coder' });
    const [item] = (await stage.inbox.why(again))?.items ?? [];
    expect(item?.item.notification.origin).toMatchObject({ cause: 'requeued by Mira' });
  });

  it('count as expired from the moment of expiry, before a sweep closes them', async () => {
    await using stage = await Stage.open();
    const { client } = stage;
    const expiresAt = Date.now() + 60_000;
    const { id } = await client.queue({ to: 'shop/coder', message: 'soon over', expiresAt });
    await client.queue({ to: 'shop/coder', id: 'lasts', message: 'lasts' });
    const from = Date.now() - 1_000;
    const open = async (): Promise<unknown> => (await client.agents({ project: 'shop' })).items[0]?.open.info;
    expect(await open()).toBe(2);
    stage.passes(120_000);
    expect(await open()).toBe(1);
    const listed = async (query: object): Promise<string[]> =>
      (await client.notifications({ log: 'shop/coder', ...query })).items.map((each) => each.id);
    for (const where of [{ log: 'shop/coder' }, { project: 'shop' }]) {
      expect((await client.notifications({ ...where, state: 'open' })).items.map((each) => each.id)).toEqual(['lasts']);
      expect((await client.notifications({ ...where, state: 'closed' })).items).toMatchObject([
        { id, state: 'closed', receipt: 'expired', outcome: 'expired', closedAt: expiresAt, gate: false },
      ]);
    }
    expect(await listed({ by: 'waiting', to: expiresAt - 1 })).toEqual(['lasts', id]);
    expect(await listed({ by: 'waiting', to: expiresAt + 1 })).toEqual(['lasts']);
    const { buckets } = await client.activity({ project: 'shop', from, to: from + 120_000, bucketMs: 60_000 });
    expect(buckets.map(({ waiting }) => waiting.info)).toEqual([2, 1]);
    expect((await client.why(id)).items[0]).toMatchObject({ notification: { receipt: 'expired' }, verdict: { kind: 'expired' } });
    expect((await client.requeue(id, { log: 'shop/coder' })).kind).toBe('queued');
  });

  it('are queued once for one Idempotency-Key', async () => {
    proves('server:idempotent');
    await using stage = await Stage.open();
    const { client } = stage;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => client.queue({ to: 'shop/coder', message: 'once' }, { idempotencyKey: 'k-1' })),
    );
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 8 }, () => 'k-1'));
    expect(all.filter(({ kind }) => kind === 'queued')).toHaveLength(1);
    expect((await client.notifications({ log: 'shop/coder' })).items).toHaveLength(1);
    expect(await failure(client.queue({ to: 'shop/coder', message: 'x', id: 'other' }, { idempotencyKey: 'k-1' }))).toMatchObject(
      {
        status: 400,
        said: 'Idempotency-Key "k-1" and id "other" differ; send only one of them',
      },
    );
    const weak = createClient({ url: stage.at.url, token: (await stage.as({ kind: 'send', project: 'shop' })).token });
    expect(await failure(weak.queue({ to: 'shop/coder', message: 'x' }, { idempotencyKey: 'ci/42~cli_event' }))).toMatchObject({
      status: 400,
      code: 'bad_notification',
    });
    await weak.queue({ to: 'shop/coder', message: 'hi' }, { idempotencyKey: 'stop-now' });
    const pause = { to: 'shop/coder', message: 'stop', action: 'pause' } as const;
    expect(await failure(client.queue(pause, { idempotencyKey: 'stop-now' }))).toMatchObject({ status: 409, code: 'conflict' });
    const long = { idempotencyKey: 'k'.repeat(257) };
    for (const refused of [
      client.queue({ to: 'shop/coder', message: 'x' }, long),
      client.say('shop/coder', { content: 'x' }, long),
      client.interrupt('shop/coder', { action: 'pause' }, long),
      client.createTask({ title: 'x' }, long),
    ])
      expect(await failure(refused)).toEqual({
        status: 400,
        code: 'bad_argument',
        said: 'the header idempotency-key has 257 characters, at most 256 are allowed; send a shorter key',
      });
  });

  it('are accepted in chunks without a length', async () => {
    proves('server:routes');
    await using stage = await Stage.open({ db: 'memory:' });
    const body = new ReadableStream({
      start(controller) {
        for (const part of ['{"to":"shop/coder",', '"message":"in parts é"}']) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      },
    });
    const headers = { 'content-type': 'application/json' };
    const answer = await stage.raw('/api/notifications', { method: 'POST', headers, body, duplex: 'half' });
    expect(answer.status).toBe(201);
    expect((await stage.inbox.open('shop/coder'))[0]?.notification.message).toBe('in parts é');
    const latin = await stage.raw('/api/notifications', {
      method: 'POST',
      headers,
      body: Buffer.from('{"to":"shop/coder","message":"é"}', 'latin1'),
    });
    expect(await latin.json()).toMatchObject({ status: 400, detail: 'the body is not UTF-8, which JSON requires; send UTF-8' });
  });

  it('are awaited for `withinMs` milliseconds', async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    const { id } = await stage.client.queue({ to: 'shop/coder', message: 'hello' });
    const begun = performance.now();
    const receipt = await stage.client.receipt(id, { log: 'shop/coder', withinMs: 800 });
    expect(receipt).toMatchObject({ receipt: 'queued', reached: false, settled: false });
    expect(performance.now() - begun).toBeGreaterThan(790);
  });

  it('can be awaited until a carrier has taken them', async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    const { id } = await client.queue({ to: 'shop/coder', message: 'hello' });
    const waiting = client.receipt(id, { log: 'shop/coder', until: 'delivered', withinMs: 30_000 });
    const offer = await inbox.conversation('shop/coder#main').offer({ at: 'tool_result', on: 'read_file' });
    await offer?.confirm();
    expect(await waiting).toEqual({ id, receipt: 'delivered', reached: true, settled: true });
    const [item] = (await client.why(id, 'shop/coder')).items;
    expect(item?.sent).toMatchObject([
      { record: 'carrier_offered', on: 'read_file', point: 'tool_result', text: offer?.view.text },
    ]);
    expect(item?.sent[0]?.text).toContain(item?.sent[0]?.item);
    expect(await client.receipt(id, { log: 'shop/coder', until: 'read' })).toMatchObject({ reached: false, settled: false });
    expect(await client.read(id, { log: 'shop/coder' })).toMatchObject({ receipt: 'read', reached: true });
  });

  it('are marked as repeated if they were sent before, but not if their frame repeats only another notification', async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    const coder = inbox.conversation('shop/coder#main');
    const sentOf = async (id: string): Promise<unknown[]> => {
      const sent = (await client.why(id, 'shop/coder')).items[0]?.sent ?? [];
      return sent.map(({ on, repeated }) => [on, repeated]);
    };
    const first = await client.queue({ to: 'shop/coder', message: 'the build failed' });
    await (await coder.offer({ at: 'tool_result', on: 'read_file' }))?.release('cancelled');
    const second = await client.queue({ to: 'shop/coder', message: 'the disk is full' });
    const both = await coder.offer({ at: 'tool_result', on: 'run_tests' });
    await both?.confirm();
    expect(both?.view).toMatchObject({ repeated: true, items: [{}, {}] });
    expect(await sentOf(first.id)).toEqual([
      ['read_file', false],
      ['run_tests', true],
    ]);
    expect(await sentOf(second.id)).toEqual([['run_tests', false]]);

    const stop = await client.queue({ to: 'shop/coder', level: 'critical', message: 'stop' });
    const refusal = await coder.refuse({ on: 'write_file' });
    await refusal?.offer?.confirm();
    await coder.refuse({ on: 'run_tests' });
    expect(await sentOf(stop.id)).toEqual([['write_file', false]]);
  });

  it('are paged for one agent and for all agents, each notification exactly once', async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    const { client, inbox } = stage;
    const ids: string[] = [];
    for (let i = 0; i < 23; i++)
      ids.push((await inbox.queue(i % 3 === 0 ? 'shop/writer' : 'shop/coder', { message: `${i}`, kind: 'ci.x' })).id);
    await inbox.queue('docs/other', { message: 'not mine' });
    for (const query of [{ project: 'shop' }, { log: 'shop/coder' }]) {
      const seen: string[] = [];
      let before: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof client.notifications>> = await client.notifications({
          ...query,
          limit: 4,
          ...(before === null ? {} : { before }),
        });
        expect(page.items.length).toBeLessThanOrEqual(4);
        seen.push(...page.items.map(({ id }) => id));
        before = page.next;
      } while (before !== null);
      expect(seen).toEqual(ids.filter((_, i) => !('log' in query) || i % 3 !== 0).toReversed());
    }
    expect((await client.notifications({ source: 'user' })).items).toMatchObject([{ log: 'docs/other' }]);
  });

  it('are refused with the field and the way out if they are invalid', async () => {
    proves('server:bad-input');
    await using stage = await Stage.open({ db: 'memory:' });
    const { client } = stage;
    expect(await failure(client.queue({ to: 'shop', message: 'x' }))).toEqual({
      status: 400,
      code: 'bad_address',
      said: 'address "shop": has no "/" between project and agent; write project/agent, project/agent#conversation or project/*',
    });
    expect(await failure(client.queue({ to: 'shop/*', message: 'x' }))).toMatchObject({ status: 409, code: 'nobody_there' });
    const answer = await stage.raw('/api/notifications', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ to: 'shop/coder', mesage: 'x', message: 'y' }),
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toEqual({
      type: 'urn:earpiece:problem:bad_argument',
      title: 'The request is invalid',
      status: 400,
      detail: '"mesage" is not known here; did you mean message?',
      code: 'bad_argument',
      instance: `urn:earpiece:answer:${answer.headers.get('x-request-id')}`,
      field: 'mesage',
    });
  });
});

describe('agents and conversations', () => {
  proves('server:routes');
  it('are listed with their open counts, presence and activity', async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    const coder = inbox.conversation('shop/coder#a1', { host: 'claude-code', carrier: 'gateway:stdio files', pulls: true });
    await coder.seen();
    await coder.record([{ type: 'tool_call_request', id: 't1', name: 'npm_test', arguments: {} }]);
    await client.queue({ to: 'shop/coder', level: 'error', message: 'CI failed' });
    await client.queue({ to: 'shop/writer', message: 'hello' });
    const { items, next } = await client.agents({ project: 'shop' });
    expect(next).toBeNull();
    expect(items).toMatchObject([
      {
        log: 'shop/coder',
        project: 'shop',
        agent: 'coder',
        open: { info: 0, warning: 0, error: 1, critical: 0 },
        active: true,
        paused: false,
        doing: { kind: 'tool', what: 'npm_test', conversation: 'a1' },
        hosts: ['claude-code'],
        conversations: [{ conversation: 'a1', address: 'shop/coder#a1', active: true, force: 'refuses_wrapped_call' }],
      },
      { log: 'shop/writer', active: false, lastContactAt: null, conversations: [] },
    ]);
    expect((await client.agents({ limit: 1 })).next).toBe('shop/coder');
    expect((await client.agents({ limit: 1, after: 'shop/coder' })).items).toMatchObject([{ log: 'shop/writer' }]);
    expect((await client.conversations('shop/coder')).items).toMatchObject([{ conversation: 'a1' }]);
    expect((await client.conversations('shop/coder', { conversation: 'a1' })).items).toMatchObject([{ conversation: 'a1' }]);
    expect(await client.conversations('shop/coder', { conversation: 'a2' })).toEqual({ items: [], next: null });
    expect(await failure(client.conversations('shop/nobody'))).toMatchObject({ status: 404 });
  });

  it("accept a person's message, stop, pause and resume", async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    await inbox.conversation('shop/coder#a1', { host: 'earpiece' }).seen();
    const said = await client.say('shop/coder#a1', { content: 'use tabs', author: ' Anna ' });
    expect((await inbox.open('shop/coder'))[0]?.notification).toMatchObject({
      id: said.id,
      kind: { source: 'user', name: 'message' },
      message: 'use tabs',
      origin: { person: 'Anna' },
    });
    const paused = await client.interrupt(
      'shop/coder',
      { action: 'pause', instruction: 'wait for me' },
      { idempotencyKey: 'p1' },
    );
    expect(paused).toMatchObject({
      kind: 'queued',
      id: 'p1',
      effects: [
        {
          address: 'shop/coder#a1',
          force: 'aborts_stream',
          says: 'the agent finishes its turn, then waits until a person resumes the agent',
        },
      ],
    });
    const { effects } = await client.interrupt('shop/new', { action: 'cancel' });
    expect(effects).toMatchObject([{ says: 'the agent has not made contact yet, and reads this at its first contact' }]);
    expect((await client.agents()).items[0]?.paused).toBe(true);
    proves('server:lifted');
    const resumed = await client.resume('shop/coder#a1');
    expect(resumed.lifted).toMatchObject([{ log: 'shop/coder', conversation: 'a1' }]);
    expect(resumed.effects).toMatchObject([
      { address: 'shop/coder#a1', says: 'the agent continues, and had not read the pause' },
    ]);
    const queued = await inbox.open('shop/coder');
    expect(await client.resume('shop/coder#a1')).toEqual({ lifted: [], effects: [] });
    expect(await inbox.open('shop/coder')).toEqual(queued);
    expect((await client.agents()).items[0]?.paused).toBe(false);
  });

  it('have a history in pages, from either end', async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    const [a, b] = ['a', 'b'].map((id) => inbox.conversation(`shop/coder#${id}`));
    for (let i = 0; i < 12; i++) {
      await a?.record([{ type: 'chat_response', message: `a${i}` }]);
      await b?.record([{ type: 'chat_response', message: `b${i}` }]);
    }
    await inbox.queue('shop/coder', { message: 'for anybody' });
    await inbox.queue('shop/coder#b', { message: 'for b' });
    const all = (await client.records('shop/coder#a')).items.map(({ body }) => body['message' as never]);
    expect(all).toEqual([...Array.from({ length: 12 }, (_, i) => `a${i}`), 'for anybody']);
    for (const newest of [false, true]) {
      const seen: Stored[] = [];
      let next: string | null | undefined;
      do {
        const from: Record<string, number> = next === undefined ? {} : { [newest ? 'before' : 'after']: Number(next) };
        const page: Awaited<ReturnType<typeof client.records>> = await client.records('shop/coder#a', {
          newest,
          limit: 5,
          ...from,
        });
        expect(page.items.length).toBeLessThanOrEqual(5);
        if (newest) seen.unshift(...page.items);
        else seen.push(...page.items);
        next = page.next;
      } while (next !== null);
      expect(seen.map(({ body }) => body['message' as never])).toEqual(all);
    }
  });
});

describe('the stream', () => {
  proves('server:routes');
  it('sends past and new records, each once', async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    for (let i = 0; i < 450; i++) await inbox.queue('shop/coder', { message: `${i}` });
    const end = new AbortController();
    const seen: string[] = [];
    for await (const { body } of client.stream({ log: 'shop/coder', after: 0, signal: end.signal })) {
      seen.push(body['message' as never]);
      if (seen.length === 450) for (let i = 450; i < 500; i++) await inbox.queue('shop/coder', { message: `${i}` });
      if (seen.length === 500) end.abort();
    }
    expect(seen).toEqual(Array.from({ length: 500 }, (_, i) => `${i}`));
  });

  it('resumes after Last-Event-ID, regardless of the URL', async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    for (let i = 0; i < 3; i++) await stage.inbox.queue('shop/coder', { message: `${i}` });
    const response = await stage.raw('/api/stream?after=0', { headers: { 'last-event-id': '2' } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: record')) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    expect([...text.matchAll(/^id: (\d+)$/gmu)].map(([, id]) => id)).toEqual(['2', '3']);
  });

  it.each<readonly [string, unknown, string]>([
    ['a misspelt record type', ['turn_strat'], '"turn_strat" is not a record type; did you mean "turn_start"?'],
    ['an empty list', [], 'the list is empty; name a record type'],
    ['a value that is not a list', 5, '"5" is not a record type'],
  ])('a stream for %s is refused at once', async (_, types, message) => {
    await using stage = await Stage.open({ db: 'memory:' });
    const error: unknown = await stage.client
      .stream({ types: types as never })
      .next()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'bad_argument', message: expect.stringContaining(message) });
  });

  it('the stream of one conversation has its records and the records of the agent as a whole', async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    const { client, inbox } = stage;
    const end = new AbortController();
    const seen: unknown[] = [];
    const stream = client.stream({
      log: 'shop/coder',
      conversation: 'a',
      signal: end.signal,
      onState: (state) => {
        if (state.kind !== 'live') return;
        void (async () => {
          for (const to of ['shop/coder#b', 'docs/x', 'shop/coder#a', 'shop/coder']) await inbox.queue(to, { message: to });
        })();
      },
    });
    for await (const { body } of stream) {
      seen.push(body['message' as never]);
      if (seen.length === 2) end.abort();
    }
    expect(seen).toEqual(['shop/coder#a', 'shop/coder']);
  });
});
