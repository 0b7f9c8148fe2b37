/**
 * Queues each notification that arrives as a line on stdin, and prints the result or the error. The notifications
 * of several lines are queued at the same time.
 */
import { createInterface } from 'node:readline';
import type { NotificationInput } from '../../src/core/notification.ts';
import { EarpieceError } from '../../src/core/errors.ts';
import { openEarpiece } from '../../src/library/earpiece.ts';

const ear = await openEarpiece({ db: process.argv[2] ?? '', thread: true });
const queue = async (line: string): Promise<void> => {
  const queued = await ear.queue('coder', JSON.parse(line) as NotificationInput).catch((error: unknown) => {
    if (!(error instanceof EarpieceError)) throw error;
    const { code, message, retryable, data } = error;
    return { code, message, retryable, data };
  });
  process.stdout.write(`${JSON.stringify(queued)}\n`);
};
const all: Promise<void>[] = [];
for await (const line of createInterface(process.stdin)) all.push(queue(line));
await Promise.all(all);
await ear.close();
