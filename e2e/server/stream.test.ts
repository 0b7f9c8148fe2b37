/** Tests that streams have no gap and no repeat after kill -9 and restarts. */
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createClient } from '../../src/wire/client/index.ts';
import { Tokens } from '../../src/server/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';
import { ServerProcess } from './process.ts';
import { Stage } from './stage.ts';
import { told } from './watch.ts';

const SUBSCRIBERS = 1_000;
const EACH_TIME = 40;

verifies(
  'server:resume',
  async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const { token } = await new Tokens(ear).create({ kind: 'admin', name: 'streams' });
    const at = { cwd: shell.folder, env: shell.env() };
    const first = new ServerProcess(['--port', '0', '--no-console'], at);
    const { url } = await first.ready;
    const port = new URL(url).port;

    const from = await ear.store.head();
    const expected: number[] = [];
    let full: () => void = () => {};
    const write = async (n: number): Promise<void> => {
      for (let i = 0; i < n; i++) await ear.queue(`shop/agent-${i % 5}`, { message: `${expected.length}` });
      const written = await ear.store.read({ after: expected.at(-1) ?? from, limit: 10_000 });
      expected.push(...written.map(({ seq }) => seq));
    };

    const end = new AbortController();
    const seen = Array.from({ length: SUBSCRIBERS }, (): number[] => []);
    let away = 0;
    let have = 0;
    const subscribers = seen.map(async (mine) => {
      const client = createClient({ url, token });
      for await (const { seq } of client.stream({
        after: from,
        signal: end.signal,
        maxBackoffMs: 2_000,
        onState: ({ kind }) => (kind === 'away' ? away++ : undefined),
      })) {
        mine.push(seq);
        have++;
        full();
      }
    });
    /** Waits until every stream has received every written record. */
    const caughtUp = (): Promise<void> =>
      new Promise((resolve) => {
        full = () => (have >= expected.length * SUBSCRIBERS ? resolve() : undefined);
        full();
      });

    await write(EACH_TIME);
    await caughtUp();
    // This server is killed in the middle of the transfer.
    const writing = write(EACH_TIME);
    first.kill('SIGKILL');
    await writing;
    expect((await first.ended).signal).toBe('SIGKILL');
    await write(EACH_TIME);

    await using second = new ServerProcess(['--port', port, '--no-console'], at);
    await second.ready;
    await write(EACH_TIME);
    await caughtUp();
    await write(1);
    await caughtUp();
    end.abort();
    await Promise.all(subscribers);

    expect(expected).toHaveLength(4 * EACH_TIME + 1);
    expect(away).toBeGreaterThanOrEqual(SUBSCRIBERS);
    const wrong = seen.filter((mine) => mine.join() !== expected.join());
    expect(wrong).toEqual([]);
    expect(second.stderr).toBe('');
  },
  120_000,
);

it('a graceful stop ends the streams, finishes requests in flight, and leaves nothing behind', async () => {
  proves('server:stop');
  await using shell = new Shell();
  const ear = await shell.open();
  const { token } = await new Tokens(ear).create({ kind: 'admin', name: 'streams' });
  await using server = new ServerProcess(['--port', '0', '--no-console'], { cwd: shell.folder, env: shell.env() });
  const { url } = await server.ready;
  const client = createClient({ url, token });
  const { id } = await client.queue({ to: 'shop/coder', message: 'x' });
  const waiting = client.receipt(id, { log: 'shop/coder', until: 'delivered', withinMs: 30_000 });
  // Browsers keep idle spare connections like this connection.
  const reserve = connect(Number(new URL(url).port), '127.0.0.1');
  const closed = new Promise((resolve) => reserve.once('close', resolve));
  const ended = Promise.withResolvers<string>();
  const end = new AbortController();
  const watching = (async () => {
    for await (const _record of client.stream({
      signal: end.signal,
      onState: (state) => {
        if (state.kind === 'live') server.kill('SIGTERM');
        else ended.resolve(state.error.code);
      },
    }));
  })();
  // The request in flight is answered, and the stream's client finds that the server has ended.
  expect(await waiting).toEqual({ id, receipt: 'queued', reached: false, settled: false });
  expect(await ended.promise).toBe('unreachable');
  end.abort();
  await watching;
  await closed;
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.stderr).toBe('');
});

it('the example in docs/server.md yields the types of past and new records', async () => {
  proves('server:resume');
  await using stage = await Stage.open({ db: 'memory:' });
  await stage.inbox.queue('shop/coder', { message: 'before' });
  const seen: string[] = [];
  for await (const type of told(stage.at.url, stage.token, 'shop/coder')) {
    seen.push(type);
    if (seen.length === 1) await stage.inbox.conversation('shop/coder#main').record([{ type: 'turn_start' }]);
    else break;
  }
  expect(seen).toEqual(['system_notification_queued', 'turn_start']);
});

it('heartbeats keep a stream alive, and the server ends the stream when its client disconnects', async () => {
  proves('server:resume');
  await using stage = await Stage.open({ streams: { heartbeatMs: 20 } });
  const response = await stage.raw('/api/stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while ((text.match(/^: $/gmu) ?? []).length < 3) text += (await reader?.read())?.value ?? '';
  expect(text).toMatch(/^retry: \d+\nid: 0\nevent: ready\ndata: \{"after":0\}\n\n/u);
  const open = async (): Promise<string> =>
    /^earpiece_streams (\d+)$/mu.exec(await (await stage.raw('/metrics')).text())?.[1] ?? '';
  expect(await open()).toBe('1');
  await reader?.cancel();
  while ((await open()) !== '0') await new Promise(setImmediate);
});
