/** `earpiece/nats`. NATS JetStream keeps the logs of a fleet. Needs the packages @nats-io/transport-node and @nats-io/jetstream. */
import '../node-version.ts';

import type { Store } from '../core/ports.ts';
import { check, type Table } from '../library/arguments.ts';
import { openNatsStore as open, type NatsOptions } from '../stores/nats/store.ts';

const NATS: Table<NatsOptions> = {
  url: { needed: 'name' },
  replicas: 'amount',
  clock: { methods: ['now'], like: 'an object with now()' },
};

/**
 * Opens a store in NATS JetStream 2.10 or newer, and makes its two streams if needed. Rejects with `bad_argument`,
 * `store_refused`, `store_corrupt`, `store_full` or (if the server gives no answer) `store_unavailable`. No error message
 * contains the password.
 */
export async function openNatsStore(options: NatsOptions): Promise<Store> {
  check('openNatsStore', options, NATS);
  return open(options);
}

export type { NatsOptions };
export type { Clock, Store } from '../core/ports.ts';
