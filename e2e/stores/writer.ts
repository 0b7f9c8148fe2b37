/**
 * Opens a file and queues a notification with a text of 8 kB for each line of stdin. The program prints `open` when the file is
 * open, `ok <id>` or `<code> <message>` for each notification, and `verify <problems>` after the last. If the file cannot be
 * opened, the program prints only that error. Run: `node writer.ts <path>`.
 */
import { createInterface } from 'node:readline';
import { LOG, queued } from '../../src/stores/contract/drafts.ts';
import { openSqliteStore } from '../../src/stores/index.ts';

const tell = (error: unknown): void => {
  const { code, message, retryable } = error as { code?: string; message: string; retryable?: boolean };
  process.stdout.write(`${code ?? 'error'}${retryable ? ' (retryable)' : ''} ${message}\n`);
};
try {
  const store = await openSqliteStore({ path: process.argv[2] ?? '' });
  process.stdout.write('open\n');
  for await (const id of createInterface({ input: process.stdin }))
    try {
      await store.append(LOG, [queued(id, { message: 'x'.repeat(8192) })]);
      process.stdout.write(`ok ${id}\n`);
    } catch (error) {
      tell(error);
    }
  process.stdout.write(`verify ${JSON.stringify(await store.verify())}\n`);
  await store.close();
} catch (error) {
  tell(error);
}
