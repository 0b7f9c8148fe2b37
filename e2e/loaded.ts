// Writes lines into the file EARPIECE_TEST_LOADED: one for each loaded module, and two for each started process, the second
// with its id. A process preloads this module with `--import`.
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

export type Step = {
  readonly pid: number;
  readonly main: boolean;
  readonly url?: string;
  readonly bytes?: number;
  readonly started?: number | undefined;
};

const file = process.env['EARPIECE_TEST_LOADED'];
const tell = (step: Omit<Step, 'pid' | 'main'>): void => {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ pid: process.pid, main: isMainThread, ...step })}\n`);
};

if (file !== undefined) {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const { source } = loaded;
      if (url.startsWith('file:')) tell({ url, bytes: typeof source === 'string' ? source.length : (source?.byteLength ?? 0) });
      return loaded;
    },
  });
  subscribe('child_process', (message) => {
    tell({});
    const { process: child } = message as { readonly process: ChildProcess };
    // Node sets the process id only after this event.
    queueMicrotask(() => tell({ started: child.pid }));
  });
}
