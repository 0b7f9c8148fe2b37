import fs from 'node:fs';
import path from 'node:path';
import { watch } from 'node:fs/promises';

/** A file whose being there is a signal between two processes. */
export const raise = (file: string): void => fs.writeFileSync(file, '');

/** Rejects with an AbortError when the file is not there in time. Its folder must exist. */
export async function raised(file: string, withinMs: number): Promise<void> {
  const changes = watch(path.dirname(file), { signal: AbortSignal.timeout(withinMs) });
  const next = changes[Symbol.asyncIterator]();
  // The watch starts with the first `next`, so the file is looked for after it.
  let change = next.next();
  while (!fs.existsSync(file)) {
    await change;
    change = next.next();
  }
  change.catch(() => {});
  await next.return?.();
}
