/** Runs the contract of the JetStream store on real servers. Each store has two streams. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogKey } from '../src/core/address.ts';
import type { Store } from '../src/core/ports.ts';
import { runStoreContract } from '../src/stores/contract/contract.ts';
import { openNatsStore } from '../src/stores/nats/store.ts';
import { type NatsServers, startNats } from '../e2e/stores/nats-server.ts';
import { proves } from '../e2e/verifies.ts';
import { startProducer } from './producers.ts';

/** The number of closed stores whose streams are kept. */
const KEPT = 6;

/** Runs the contract. `size` is the number of servers and of copies of each stream. */
export function natsContract(name: string, size: 1 | 3): void {
  let servers: NatsServers;
  let stores = 0;
  const urls = new WeakMap<Store, string>();
  const urlOf = (store: Store): string => urls.get(store) ?? '';
  const nextUrl = (): string => `${servers.url}/s${stores++}?replicas=${size}`;
  let admin: NatsConnection;
  /**
   * URLs of closed stores, the oldest first. The streams of the oldest stores are deleted, because many streams keep the cluster
   * busy. The newest streams are kept, because a case may open its closed store again.
   */
  const closed: string[] = [];
  const known = new Set<string>();
  const discard = async (url: string): Promise<void> => {
    const name = `EARPIECE_${new URL(url.replaceAll(/,[^/]*/gu, '')).pathname.slice(1)}`;
    const { streams } = await jetstreamManager(admin);
    await Promise.all([streams.delete(name), streams.delete(`${name}_TABLES`)]);
  };
  const open = async (url: string, clock: { now: () => number }): Promise<Store> => {
    const store = await openNatsStore({ url, clock });
    urls.set(store, url);
    const close = store.close.bind(store);
    store.close = () => {
      if (!known.has(url)) closed.push(url);
      known.add(url);
      const old = closed.length > KEPT ? closed.shift() : undefined;
      return Promise.all([close(), old === undefined ? undefined : discard(old)]).then(() => {});
    };
    return store;
  };

  /** URLs of stores whose streams are made in advance. In a cluster, making streams takes longer than most cases. */
  const ready: Promise<string>[] = [];
  const AHEAD = size === 1 ? 0 : 6;
  const prepare = async (url: string): Promise<string> => {
    await (await openNatsStore({ url })).close();
    return url;
  };
  const fill = (): void => {
    while (ready.length < AHEAD) ready.push(prepare(nextUrl()));
  };

  beforeAll(async () => {
    servers = await startNats(size);
    admin = await connect({ servers: servers.nodes.map(({ port }) => `127.0.0.1:${port}`) });
    fill();
  });
  afterAll(async () => {
    await Promise.allSettled(ready);
    await admin.close();
    await servers.remove();
  });

  test(`the store of ${name} passes the contract`, () => {
    proves('store:contract', 'store:nats');
    expect(servers.nodes).toHaveLength(size);
  });

  runStoreContract(
    name,
    {
      make: async ({ clock }) => {
        const prepared = ready.shift();
        fill();
        return open(prepared === undefined ? nextUrl() : await prepared, clock);
      },
      again: (store, { clock }) => open(urlOf(store), clock),
      producers: async (store, log: LogKey, count) => {
        const running = Array.from({ length: count }, (_, i) => startProducer(urlOf(store), log, `p${i}`));
        return { stop: async () => (await Promise.all(running.map((one) => one.stop()))).flat() };
      },
      lacks: { 'overwrites-erased': 'the server removes messages from its files when it compacts them' },
    },
    { describe, test },
  );
}
