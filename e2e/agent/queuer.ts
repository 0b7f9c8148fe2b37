// Queues notifications for its parent, from a separate process: `queuer.ts DATABASE`. The program answers each request with the
// time at which the call of `queue` began, by the machine's monotonic clock.
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import type { NotificationInput } from '../../src/core/notification.ts';

export type Asked = { readonly to: string; readonly input: NotificationInput };
export type Began = { readonly began: string };

const inbox = await openLoadedInbox({ db: process.argv[2] ?? '', cwd: import.meta.dirname, env: {}, policy: { coalesceMs: {} } });
process.on('message', ({ to, input }: Asked) => {
  const began = String(process.hrtime.bigint());
  void inbox.queue(to, input).then(() => process.send?.({ began } satisfies Began));
});
process.once('disconnect', () => void inbox.close().then(() => process.exit()));
process.send?.('ready');
