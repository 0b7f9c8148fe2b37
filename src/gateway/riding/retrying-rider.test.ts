import { expect, it } from 'vitest';
import type { InboxRider } from './inbox-rider.ts';
import { profileOf } from './profiles.ts';
import { retryingRider } from './retrying-rider.ts';
import { noRider, type Connection } from './rider.ts';

const connection: Connection = { key: 'k', profile: profileOf(undefined) };

it('a connection that closes while the log opens is opened and then closed', async () => {
  const log = Promise.withResolvers<InboxRider>();
  const rider = retryingRider(
    () => log.promise,
    () => [],
  );
  const seen: string[] = [];
  rider.opened(connection);
  rider.closed(connection);
  log.resolve({
    ...noRider,
    opened: () => seen.push('opened'),
    closed: () => seen.push('closed'),
    idle: async () => {},
  });
  await rider.end();
  expect(seen).toEqual(['opened', 'closed']);
});

it('a connection that closes does not open the log', async () => {
  let opens = 0;
  const rider = retryingRider(
    async () => {
      opens += 1;
      throw new Error('the log is not available');
    },
    () => [],
  );
  rider.closed(connection);
  await rider.end();
  expect(opens).toBe(0);
});
