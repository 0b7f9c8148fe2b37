import { expect, it } from 'vitest';
import { FolderWatch } from './watching.ts';

it('a watch whose signal was already aborted does not wait until the folders are watched', async () => {
  const nothing = (): void => {};
  const watching = new FolderWatch({ ignored: () => false, follows: () => false, hint: nothing, trouble: nothing });
  // Without folders, the watcher emits `ready` during this wait, and does not emit `ready` again.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const ready = watching.ready(AbortSignal.abort()).then(() => 'ready');
  const late = new Promise((resolve) => setTimeout(resolve, 1_000, 'late'));
  expect(await Promise.race([ready, late])).toBe('ready');
  await watching.close();
});
