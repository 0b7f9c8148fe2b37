import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { LogKey } from '../src/core/address.ts';
import { memoryStore } from '../src/stores/memory.ts';
import { openSqliteStore, type SqliteStore } from '../src/stores/sqlite/store.ts';
import { openThreadStore } from '../src/stores/thread/store.ts';
import { queued } from './drafts.ts';
import { type Backend, describeStore } from './store.ts';

describeStore('memory', {
  make: async (options) => memoryStore(options),
  producers: async (store, log, count) => {
    let stopped = false;
    const produce = async (name: string): Promise<string[]> => {
      const acknowledged: string[] = [];
      for (let i = 0; !stopped; i++) {
        if ((await store.append(log, [queued(`${name}-${i}`)])).kind === 'appended') acknowledged.push(`${name}-${i}`);
        await new Promise(setImmediate);
      }
      return acknowledged;
    };
    const running = Array.from({ length: count }, (_, i) => produce(`p${i}`));
    return {
      stop: async () => {
        stopped = true;
        return (await Promise.all(running)).flat();
      },
    };
  },
  lacks: {
    'survives-restart': 'it lives and ends with its process by design',
    'many-processes': 'it lives in one process by design',
  },
});

const folder = mkdtempSync(join(tmpdir(), 'earpiece-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const producers: Backend['producers'] = async (store, log, count) => {
  const running = Array.from({ length: count }, (_, i) => startProducer((store as SqliteStore).path, log, `p${i}`));
  return {
    stop: async () => (await Promise.all(running.map((one) => one.stop()))).flat(),
  };
};

describeStore('sqlite', {
  make: (options) => openSqliteStore({ ...options, path: join(folder, `${files++}.db`) }),
  again: (store, options) => openSqliteStore({ ...options, path: (store as SqliteStore).path }),
  producers,
});

describeStore('sqlite, whose writes share transactions', {
  make: (options) => openSqliteStore({ ...options, path: join(folder, `${files++}.db`), together: true }),
  again: (store, options) => openSqliteStore({ ...options, path: (store as SqliteStore).path, together: true }),
  producers,
});

describeStore('sqlite, in a thread of its own', {
  make: (options) => openThreadStore({ ...options, path: join(folder, `${files++}.db`) }),
  again: (store, options) => openThreadStore({ ...options, path: (store as SqliteStore).path }),
  producers,
});

function startProducer(path: string, log: LogKey, name: string): { stop(): Promise<string[]> } {
  const script = fileURLToPath(new URL('producer.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, path, log, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const printed = text(child.stdout as NodeJS.ReadableStream);
  const exited = once(child, 'exit');
  return {
    stop: async () => {
      child.stdin?.end();
      const [code] = (await exited) as [number | null];
      if (code !== 0) throw new Error(`producer ${name} ended with ${code}`);
      return (await printed).split('\n').filter(Boolean);
    },
  };
}
