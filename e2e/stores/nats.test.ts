/** Tests real servers that are killed, lose their leader or are too old. The store contract does not test these cases. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, test, vi } from 'vitest';
import type { LogKey } from '../../src/core/address.ts';
import type { Store } from '../../src/core/ports.ts';
import { closed, LOG, queued, result, said } from '../../src/stores/contract/drafts.ts';
import { addressOf } from '../../src/stores/nats/address.ts';
import { loadDriver } from '../../src/stores/nats/driver.ts';
import { Server } from '../../src/stores/nats/server.ts';
import { openStore } from '../../src/stores/open.ts';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { type NatsServers, startNats } from './nats-server.ts';

async function withServers<T>(size: number, work: (servers: NatsServers) => Promise<T>): Promise<T> {
  const servers = await startNats(size);
  try {
    return await work(servers);
  } finally {
    await servers.remove();
  }
}

async function withStore<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Queues one notification after the other until `stop`, and returns the ids that the store acknowledged. */
function produce(store: Store, name: string): { stop: () => Promise<string[]>; count: () => number } {
  const acknowledged: string[] = [];
  let stopped = false;
  const running = (async () => {
    for (let n = 0; !stopped; n++) {
      const id = `${name}-${n}`;
      const { kind } = await store.append(LOG, [queued(id)], { withinMs: 60_000 });
      if (kind === 'appended') acknowledged.push(id);
    }
    return acknowledged;
  })();
  return { stop: () => ((stopped = true), running), count: () => acknowledged.length };
}

test('calls wait for a server that is killed, and no append is lost or duplicated', () =>
  withServers(1, async ({ url, nodes: [node] }) => {
    proves('store:nats-failover');
    await withStore(url, async (store) => {
      await store.append(LOG, [queued('before')]);
      const producing = produce(store, 'p');
      await vi.waitUntil(() => producing.count() > 20, WAIT);
      await node?.stop('SIGKILL');
      const several = Array.from({ length: 10 }, (_, n) =>
        store.append(`shop/a${n % 3}` as LogKey, [said(`x${n}`), queued(`n${n}`)], { withinMs: 60_000 }),
      );
      const counted = producing.count();
      await node?.start();
      expect((await Promise.all(several)).map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => 'appended'));
      await vi.waitUntil(() => producing.count() > counted + 20, WAIT);
      const acknowledged = await producing.stop();
      const ids = (await store.read({ log: LOG, limit: 100_000 })).map(({ body }) => (body as { id?: unknown }).id);
      expect(ids).toEqual(['before', ...acknowledged]);
      expect(await store.read({ limit: 100_000 })).toHaveLength(ids.length + 20);
      expect(await store.verify()).toEqual([]);
    });
  }));

test('after its leader is killed, a cluster of three has every acknowledged record once', () =>
  withServers(3, async ({ url, nodes }) => {
    proves('store:nats-failover');
    const address = `${url}/earpiece?replicas=3`;
    await withStore(address, async (store) => {
      const producing = produce(store, 'p');
      await vi.waitUntil(() => producing.count() > 20, WAIT);
      const admin = await connect({ servers: nodes.map(({ port }) => `127.0.0.1:${port}`) });
      const { cluster } = await (await jetstreamManager(admin)).streams.info('EARPIECE_earpiece');
      await admin.close();
      const leader = nodes.find(({ name }) => name === cluster?.leader);
      await leader?.stop('SIGKILL');
      const counted = producing.count();
      await vi.waitUntil(() => producing.count() > counted + 20, WAIT);
      const open = await store.items(LOG, { kind: 'open', limit: 5 });
      expect(await store.append(LOG, [result(open.map(({ id }) => id))], { withinMs: 60_000 })).toMatchObject({
        kind: 'appended',
      });
      const acknowledged = await producing.stop();
      await leader?.start();
      await withStore(address, async (other) => {
        const stored = await other.read({ log: LOG, types: ['system_notification_queued'], limit: 100_000 });
        expect(stored.map(({ body }) => (body as { id?: unknown }).id)).toEqual(acknowledged);
        expect(await other.verify()).toEqual([]);
      });
    });
  }));

test('all reads come from the leader, because another replica may lack messages', () =>
  withServers(3, async ({ url }) => {
    proves('store:nats-failover');
    const address = `${url}/earpiece?replicas=3`;
    await withStore(address, (store) =>
      Promise.all(Array.from({ length: 200 }, (_, n) => store.append(LOG, [queued(`n${n}`)], { withinMs: 60_000 }))),
    );
    const places: (string | undefined)[] = [];
    const driver = await loadDriver();
    const watched: typeof driver = {
      ...driver,
      jetstream: (...args) => {
        const client = driver.jetstream(...args);
        const get = client.consumers.getConsumerFromInfo.bind(client.consumers);
        client.consumers.getConsumerFromInfo = (info) => (places.push(info.cluster?.leader), get(info));
        return client;
      },
    };
    const server = await Server.open(watched, addressOf(address));
    try {
      const all = `${server.root}.log.>`;
      for (let n = 0; n < 8; n++) {
        expect(await server.ranges.range(server.logs, all, 0, 200)).toHaveLength(200);
        expect(await server.ranges.subjects(server.logs, all, { after: 0, limit: 300, head: 200 })).toHaveLength(200);
      }
      const leader = (await server.info(server.logs)).cluster?.leader;
      expect(places).toEqual(Array.from({ length: 16 }, () => leader));
    } finally {
      await server.close();
    }
  }));

test('if a writer ends after the first of several records, the next reader finishes its append', () =>
  withServers(1, async ({ url, nodes }) => {
    proves('store:nats');
    const nc = await connect({ servers: `127.0.0.1:${nodes[0]?.port}` });
    await withStore(url, async (store) => {
      await store.append(LOG, [said('before')]);
      const text = JSON.stringify({ tx: 'somebody 1', at: 5, drafts: [said('one'), queued('two'), said('three')] });
      await nc.request('earpiece.earpiece.log.shop.coder.a', text);
      const read = async (one: Store): Promise<unknown[]> =>
        (await one.read({})).map(({ seq, body }) => [
          seq,
          (body as { message?: unknown }).message ?? (body as { id?: unknown }).id,
        ]);
      const all = [
        [1, 'before'],
        [2, 'one'],
        [3, 'message of two'],
        [4, 'three'],
      ];
      expect(await withStore(url, read)).toEqual(all);
      expect(await read(store)).toEqual(all);
      expect(await store.append(LOG, [queued('two')])).toMatchObject({ kind: 'duplicate' });
      expect(await store.verify()).toEqual([]);
    });
    await nc.close();
  }));

test('an id that two processes queue at the same moment is stored once, even if one append has other records', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats');
    await withStore(url, (a) =>
      withStore(url, async (b) => {
        for (let n = 0; n < 30; n++) {
          const [one, two] = await Promise.all([a.append(LOG, [said('x'), queued(`n${n}`)]), b.append(LOG, [queued(`n${n}`)])]);
          expect([one.kind, two.kind].toSorted()).toEqual(['appended', 'duplicate']);
        }
        expect(await a.countOpen(LOG)).toBe(30);
        expect(await b.verify()).toEqual([]);
        expect(await a.read({ log: LOG })).toEqual(await b.read({ log: LOG }));
      }),
    );
  }));

test('a prune that needs more time than one call may take removes everything old, in steps', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats');
    await withStore(url, async (store) => {
      const ids = Array.from({ length: 4_000 }, (_, n) => `n${n}`);
      await Promise.all(ids.map((id) => store.append(LOG, [queued(id)], { withinMs: 60_000 })));
      await store.append(LOG, [closed(ids, 'withdrawn')], { withinMs: 60_000 });
      await store.append(LOG, [queued('newest')]);
      expect(await store.prune(store.ordered() + 1, { withinMs: 4_000 })).toEqual({ records: 4_001, items: 4_000 });
      expect(await store.read({ log: LOG })).toHaveLength(1);
      expect(await store.countOpen(LOG)).toBe(1);
      expect(await store.verify()).toEqual([]);
    });
  }));

test('a record that is larger than the server accepts is refused, and the error has both sizes', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats-errors');
    await withStore(url, async (store) => {
      const large = store.append(LOG, [queued('large', { message: 'x'.repeat(1_100_000) })]);
      const small = store.append(LOG, [queued('small')]);
      await expect(large).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringMatching(/takes at most 1048576 bytes in one message, but this append has 1100\d{3}/u),
      });
      expect(await small).toMatchObject({ kind: 'appended' });
    });
  }));

test('a server that is too old is refused before anything is written, and the error names its version', async () => {
  proves('store:nats-errors');
  const server = createServer((socket) => {
    const info = {
      server_id: 'x',
      server_name: 'x',
      version: '2.9.10',
      proto: 1,
      headers: true,
      max_payload: 1_048_576,
      jetstream: true,
    };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'));
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(openStore(`nats://anna:secret@127.0.0.1:${port}`)).rejects.toMatchObject({
    code: 'store_refused',
    message: `nats 127.0.0.1:${port}/earpiece runs nats-server 2.9.10, which can accept conflicting writes if there are several replicas: update the server to 2.10 or newer`,
  });
  server.close();
});

test('the error for a URL without a server names the store and the time that the call waited', async () => {
  proves('store:nats-errors');
  await expect(openStore('nats://anna:secret@127.0.0.1:9')).rejects.toMatchObject({
    code: 'store_unavailable',
    retryable: true,
    message: expect.stringMatching(
      /^nats 127\.0\.0\.1:9\/earpiece did not complete the call within \d+ ms \([^)]*\): start the server, correct the URL, or try again$/u,
    ),
  });
});

test('a store with one deleted stream is refused, the check fails, and the stream is not made again', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats-errors');
    const admin = await connect({ servers: url.slice('nats://'.length) });
    const { streams } = await jetstreamManager(admin);
    const deleted = [
      ['one', 'EARPIECE_one_TABLES', 'EARPIECE_one'],
      ['two', 'EARPIECE_two', 'EARPIECE_two_TABLES'],
    ] as const;
    for (const [name, gone, left] of deleted) {
      await withStore(`${url}/${name}`, (store) => store.append(LOG, [queued('a')]));
      await streams.delete(gone);
      const message = `nats ${url.slice('nats://'.length)}/${name} is damaged (the stream ${gone} is missing, but ${left} exists): restore the stream with nats stream restore, or name another store`;
      await expect(openStore(`${url}/${name}`)).rejects.toMatchObject({ code: 'store_corrupt', retryable: false, message });
      await using shell = new Shell();
      expect(await shell.run(['db', 'check'], { env: { EARPIECE_DB: `${url}/${name}` } })).toMatchObject({
        code: 8,
        stdout: `${message}\n`,
      });
      await expect(streams.info(gone)).rejects.toThrow(/not found/u);
    }
    await admin.close();
  }));

test('a call of a running store without one of its streams names the stream, and says how to restore the stream', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats-errors');
    const admin = await connect({ servers: url.slice('nats://'.length) });
    const { streams } = await jetstreamManager(admin);
    for (const [name, gone] of [
      ['one', 'EARPIECE_one'],
      ['two', 'EARPIECE_two_TABLES'],
    ] as const)
      await withStore(`${url}/${name}`, async (store) => {
        await store.append(LOG, [queued('a')]);
        await streams.delete(gone);
        const calls = [
          () => store.append(LOG, [queued('b')], SHORT),
          () => store.read({ log: LOG }, SHORT),
          () => store.head(SHORT),
        ];
        const rows = [() => store.setting('x', SHORT), () => store.setSetting('x', 1, SHORT), () => store.presence({}, SHORT)];
        for (const call of name === 'one' ? calls : rows)
          await expect(call()).rejects.toMatchObject({
            code: 'store_unavailable',
            message: `nats ${url.slice('nats://'.length)}/${name} has no stream ${gone}: the stream was deleted, or the server is still starting; restore the stream with nats stream restore, or try again`,
          });
      });
    await admin.close();
  }));

const SHORT = { withinMs: 2_000 };

test('replicas on a server without a cluster are refused, and the error says what to change', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats-errors');
    await expect(openStore(`${url}/x?replicas=3`)).rejects.toMatchObject({
      code: 'store_refused',
      message: `nats ${url.slice('nats://'.length)}/x belongs to no cluster, but replicas=3 needs 3 servers (replicas > 1 not supported in non-clustered mode, 10074): leave replicas out of the URL, or start a cluster of at least 3 servers`,
    });
  }));

test('a store whose first process ended between its two streams is completed', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats-errors');
    await withStore(url, async () => {});
    const admin = await connect({ servers: url.slice('nats://'.length) });
    await (await jetstreamManager(admin)).streams.delete('EARPIECE_earpiece_TABLES');
    await admin.close();
    await withStore(url, async (store) => {
      expect(await store.append(LOG, [queued('a')])).toMatchObject({ kind: 'appended' });
    });
  }));

const js = (more: string) => (jetstream: string) => `jetstream { ${jetstream} }\n${more}`;
const user = (permissions: string): string =>
  `authorization { users: [{ user: ear, password: s3cret, permissions: { ${permissions} } }] }`;

test.each([
  [
    'a server without JetStream',
    () => '',
    'store_unavailable',
    /: start the server with -js, or enable JetStream for this account/u,
  ],
  [
    'an account without JetStream',
    js(
      'accounts { A: { jetstream: enabled, users: [{ user: a, password: a }] }, B: { users: [{ user: ear, password: s3cret }] } }',
    ),
    'store_unavailable',
    /: start the server with -js, or enable JetStream for this account/u,
  ],
  [
    'a user who may not ask JetStream',
    js(user('publish: { deny: ["$JS.API.>"] }')),
    'store_refused',
    /refuses access to this user \(Permissions Violation for Publish to "\$JS\.API\..*\): permit/u,
  ],
  [
    'a user who may not write',
    js(user('publish: { deny: ["earpiece.>"] }')),
    'store_refused',
    /refuses access to this user \(Permissions Violation for Publish to "earpiece\..*\): permit/u,
  ],
  ['a full store', (jetstream) => `jetstream { ${jetstream}, max_file_store: 100000 }`, 'store_full', /cannot be written \(/u],
] as const satisfies readonly (readonly [string, (jetstream: string) => string, string, RegExp])[])(
  'the error for %s names the cause and what to do',
  async (_, config, code, message) => {
    proves('store:nats-errors');
    const servers = await startNats(1, undefined, config);
    try {
      const using = withStore(servers.url.replace('//', '//ear:s3cret@'), async (store) => {
        for (let n = 0; n < 8; n++) await store.append(LOG, [queued(`n${n}`, { message: 'x'.repeat(30_000) })]);
      });
      await expect(using).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
      await expect(using).rejects.not.toMatchObject({ message: expect.stringMatching(/s3cret|nevertheless/u) as string });
    } finally {
      await servers.remove();
    }
  },
);

test('a server without TLS is refused at once if the URL wants TLS', () =>
  withServers(1, async ({ url }) => {
    proves('store:nats-errors');
    await expect(openStore(url.replace('nats:', 'tls:'))).rejects.toMatchObject({
      code: 'store_refused',
      message: expect.stringMatching(/: configure TLS on the server, or write nats:\/\/ in the URL$/u) as string,
    });
  }));

const WAIT = { timeout: 60_000 };
