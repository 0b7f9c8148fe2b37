/** Tests the promises about a fleet on one engine: several machines behave as one. */
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { LogKey } from '../../src/core/address.ts';
import type { Stored } from '../../src/core/records.ts';
import { problemsOf } from '../agent/crash/checker.ts';
import { conversation, notesOn, rode } from '../console/articles.ts';
import { openBrowser, PATIENCE_MS } from '../console/browser.ts';
import type { Part } from '../model/answer.ts';
import { startModel, type Request, type Step } from '../model/server.ts';
import { textsOf } from '../model/texts.ts';
import { Fleet, killed, startBalancer } from './fleet.ts';

const LOG = 'shop/coder' as LogKey;
const CODER = 'shop/coder#main';
const call = (id: string): Part => ({ kind: 'call', id, name: 'work', args: {} });
const readBy = (request: Request | undefined): string =>
  request === undefined
    ? ''
    : textsOf(request)
        .map(({ text }) => text)
        .join('\n');

type Engine = { readonly url: () => string; readonly remove: () => Promise<void> };

export function fleetScenes(start: () => Promise<Engine>): void {
  let engine: Engine;
  let browser: Browser;
  beforeAll(async () => {
    [engine, browser] = await Promise.all([start(), openBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await engine.remove();
  });

  test("if the console's node and then the agent's node are killed, the person sees no gap, and the agent continues", async () => {
    await using fleet = await Fleet.open(engine.url());
    await using balancer = await startBalancer();
    const gates = new Map<number, () => void>();
    const reached = (n: number): Promise<void> => vi.waitUntil(() => gates.has(n), { timeout: PATIENCE_MS }).then(() => {});
    const held = (n: number) => (): Promise<void> => new Promise<void>((resolve) => void gates.set(n, resolve));
    const steps: readonly Step[] = [
      { says: [{ kind: 'text', text: 'I begin.' }, call('c1')], before: held(0) },
      { says: [{ kind: 'text', text: 'One is done.' }, call('c2')], before: held(1) },
      // The process that sent this request is killed before the answer.
      { says: [{ kind: 'text', text: 'nobody reads this' }], before: held(2) },
      { says: [{ kind: 'text', text: 'All is done.' }] },
      { says: [{ kind: 'text', text: 'Nothing is left.' }] },
    ];
    await using model = await startModel((_, n) => steps[n] ?? { says: [{ kind: 'text', text: 'too many' }] });
    const [a, b] = await Promise.all([fleet.serve('a'), fleet.serve('b')]);
    const agent = fleet.agent('b', model.url, CODER, 'Build it.');
    await reached(0);

    balancer.use((await a.ready).url);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto((await a.ready).login.replace((await a.ready).url, balancer.url));
    await page.getByRole('navigation', { name: 'Places' }).waitFor({ state: 'attached' });
    await page.goto(conversation({ url: balancer.url }, LOG));
    await page.getByText('Build it.').waitFor();
    await (await fleet.client(a)).queue({ to: CODER, id: 'ride1', kind: 'ci.one', message: 'ride1.' });
    gates.get(0)?.();
    await rode(page, 'ci.one').waitFor();
    await reached(1);

    a.kill();
    await a.ended;
    balancer.use((await b.ready).url);
    await (await fleet.client(b)).queue({ to: CODER, id: 'ride2', kind: 'ci.two', message: 'ride2.' });
    gates.get(1)?.();
    await rode(page, 'ci.two').waitFor();
    await reached(2);

    b.kill();
    await Promise.all([b.ended, killed(agent.child)]);
    const again = await fleet.serve('a');
    balancer.use((await again.ready).url);
    const successor = fleet.agent('a', model.url, CODER);
    expect(await successor.says('complete')).toBe('complete All is done.');
    await page.getByText('All is done.').waitFor();
    const say = page.getByRole('textbox', { name: /^Say something/u });
    await say.fill('Anything left?');
    await say.press('Enter');
    await page.getByText('Nothing is left.').waitFor();

    const seen = await notesOn(page);
    expect(seen).toEqual(['rode ci.one', 'rode ci.two', 'rode user.message']);
    for (const text of ['Build it.', 'I begin.', 'One is done.', 'All is done.', 'Nothing is left.'])
      expect(await page.getByText(text, { exact: true }).count(), text).toBe(1);
    await page.reload();
    await page.getByText('Nothing is left.').waitFor();
    expect(await notesOn(page)).toEqual(seen);
    const records = await fleet.inbox.store.read({ log: LOG });
    expect(
      problemsOf({ records: records.map(({ body }) => body), requests: model.requests, queued: ['ride1', 'ride2'] }),
    ).toEqual([]);
    expect(model.requests).toHaveLength(5);
    await context.close();
  });

  test('a critical notification that is queued on one node aborts the answer on another node, and wakes an idle agent once', async () => {
    await using fleet = await Fleet.open(engine.url());
    let streams: () => void = () => {};
    const streaming = new Promise<void>((resolve) => (streams = resolve));
    const steps: readonly Step[] = [
      {
        says: [{ kind: 'text', text: 'a long answer' }],
        at: [{ part: 0, delta: 'end', do: (request) => (streams(), request.cutOff) }],
      },
      { says: [{ kind: 'text', text: 'I stop the release.' }] },
      { says: [{ kind: 'text', text: 'I look at the alarm.' }] },
    ];
    await using model = await startModel((_, n) => steps[n] ?? { says: [{ kind: 'text', text: 'too many' }] });
    const [a, b] = await Promise.all([fleet.serve('a'), fleet.serve('b')]);
    const agent = fleet.agent('b', model.url, CODER, 'Release it.');
    await streaming;
    await (await fleet.client(a)).queue({ to: CODER, level: 'critical', kind: 'ci.broken', message: 'Stop the release.' });
    expect(await model.requests[0]?.cutOff).toBeDefined();
    expect(await agent.says('complete')).toBe('complete I stop the release.');
    expect(readBy(model.requests[1]).split('Stop the release.')).toHaveLength(2);

    const elsewhere = fleet.agent('a', model.url, CODER);
    await expect(elsewhere.says('open')).rejects.toThrow(/already writes to shop\/coder#main on b; end that process/u);
    await Promise.all(
      [a, b].map(async (server) =>
        (await fleet.client(server)).queue({
          to: CODER,
          id: 'alarm',
          level: 'critical',
          kind: 'ci.alarm',
          message: 'An alarm.',
        }),
      ),
    );
    await vi.waitUntil(async () => (await woken(fleet)).length > 0, { timeout: PATIENCE_MS });
    await vi.waitUntil(() => model.requests.length === 3, { timeout: PATIENCE_MS });
    expect(await woken(fleet)).toEqual([['alarm']]);
    expect(readBy(model.requests[2]).split('An alarm.')).toHaveLength(2);
  });

  test('a stream continues on another node, without a gap or a repetition', async () => {
    await using fleet = await Fleet.open(engine.url());
    const nodes = await Promise.all([fleet.serve('a'), fleet.serve('b'), fleet.serve('c')]);
    const last = nodes.at(-1) as (typeof nodes)[number];
    const producer = await fleet.client(last);
    let queued = 0;
    const more = async (to: number): Promise<void> => {
      while (queued < to) await producer.queue({ to: LOG, id: `n${queued++}`, message: 'told' });
    };
    const seen: number[] = [];
    let after = await fleet.inbox.store.head();
    const began = after;
    for (const [i, node] of nodes.entries()) {
      const until = (i + 1) * 20;
      const stop = new AbortController();
      const reading = (async () => {
        for await (const { seq } of (await fleet.client(node)).stream({ log: LOG, after, signal: stop.signal })) {
          seen.push(seq);
          after = seq;
          if (seen.length >= until - 5) return;
        }
      })();
      await Promise.all([reading, more(until)]);
      stop.abort();
      // When this server is killed, its reader has not seen the last records yet.
      if (node !== last) node.kill();
    }
    const all: readonly Stored[] = await fleet.inbox.store.read({ log: LOG, after: began });
    expect(seen).toEqual(all.slice(0, seen.length).map(({ seq }) => seq));
    expect(seen.length).toBeGreaterThanOrEqual(55);
  });

  test('a follower runs on one machine only, and on another machine after its machine has died', async () => {
    await using fleet = await Fleet.open(engine.url());
    const file = join(fleet.folder, 'app.log');
    writeFileSync(file, 'started\n');
    const told = async (): Promise<readonly string[]> =>
      (await fleet.inbox.store.read({ log: LOG })).flatMap(
        ({ body }) => /the \w+ thing went wrong/u.exec(JSON.stringify(body))?.[0] ?? [],
      );
    const holder = async (): Promise<{ machine: string; pid: number; at: number } | undefined> =>
      (await fleet.inbox.store.setting("followers' process of shop")) as never;
    const [code] = (await once(fleet.command('a', 'follow', '--keep', '--to', LOG, '--match', 'ERROR', 'log', file), 'exit')) as [
      number,
    ];
    expect(code).toBe(0);
    await vi.waitUntil(async () => (await holder())?.machine.startsWith('a'), { timeout: PATIENCE_MS });
    const first = await holder();
    fleet.ends(first?.pid);
    const second = fleet.command('b', 'follow', '--look', 'shop');
    expect((await once(second, 'exit'))[0]).toBe(0);
    appendFileSync(file, 'ERROR the first thing went wrong\n');
    await vi.waitUntil(async () => (await told()).length > 0, { timeout: PATIENCE_MS });

    expect(await holder()).toMatchObject({ machine: first?.machine, pid: first?.pid });
    process.kill(first?.pid ?? 0, 'SIGKILL');
    // With this time, the killed process seems to have reported for the last time three minutes ago.
    await fleet.inbox.store.setSetting("followers' process of shop", { ...first, at: Date.now() - 180_000 });
    fleet.command('b', 'follow', '--look', 'shop');
    await vi.waitUntil(async () => (await holder())?.machine.startsWith('b'), { timeout: PATIENCE_MS });
    appendFileSync(file, 'ERROR the second thing went wrong\n');
    await vi.waitUntil(async () => (await told()).length > 1, { timeout: PATIENCE_MS });
    expect(await told()).toEqual(['the first thing went wrong', 'the second thing went wrong']);
  });
}

const woken = async (fleet: Fleet): Promise<unknown[]> =>
  (await fleet.inbox.store.read({ log: LOG, types: ['agent_woken'] })).map(({ body }) => (body as { ids?: unknown }).ids);
