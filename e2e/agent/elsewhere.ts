/** Queues notifications into the database of a test from another process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { NotificationInput } from '../../src/core/notification.ts';
import type { Asked, Began } from './queuer.ts';

export interface Elsewhere extends AsyncDisposable {
  /** Queues a notification. Resolves with the time at which the call of `queue` began, by the machine's monotonic clock. */
  queue(to: string, input: NotificationInput): Promise<bigint>;
}

export async function elsewhere(db: string): Promise<Elsewhere> {
  const child = fork(join(import.meta.dirname, 'queuer.ts'), [db], { execArgv: [] });
  const ended = once(child, 'exit');
  await Promise.race([once(child, 'message'), ended]);
  let last: Promise<unknown> = Promise.resolve();
  return {
    queue(to, input) {
      // Requests are sent one at a time, so that each answer belongs to its request.
      const mine = last.then(async () => {
        const answered = once(child, 'message') as Promise<[Began]>;
        child.send({ to, input } satisfies Asked);
        const answer = await Promise.race([answered, ended.then(() => undefined)]);
        if (answer === undefined) throw new Error('the process that queues has ended');
        return BigInt(answer[0].began);
      });
      last = mine.catch(() => undefined);
      return mine;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.connected) child.disconnect();
      await ended;
    },
  };
}
