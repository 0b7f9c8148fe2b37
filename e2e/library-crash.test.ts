/** Tests a program with its own loop that dies after a refusal: before or after its model has read the refusal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { openEarpiece } from '../src/index.ts';
import { verifies } from './verifies.ts';

const LIBRARY = pathToFileURL(join(import.meta.dirname, '../src/index.ts')).href;

/** Runs `steps` on the agent `shop/coder` in another process, which then kills itself. */
async function killedAfter(folder: string, steps: string): Promise<void> {
  const file = join(folder, 'loop.mts');
  writeFileSync(
    file,
    `import { openEarpiece } from ${JSON.stringify(LIBRARY)};
     const ear = await openEarpiece({ db: ${JSON.stringify(join(folder, 'a.db'))} });
     const coder = ear.conversation('shop/coder');
     ${steps}
     process.kill(process.pid, 'SIGKILL');`,
  );
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const stderr: string[] = [];
  child.stderr.on('data', (text) => stderr.push(String(text)));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect([signal, ...stderr]).toEqual(['SIGKILL']);
}

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-library-'));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

verifies('library:gate', 'if a loop dies right after a refusal, its next process gets the interrupt again, flagged', () =>
  withFolder(async (folder) => {
    await killedAfter(
      folder,
      `await coder.userMessage('hello');
       await ear.queue('shop/coder', { message: 'stop the deploy', level: 'critical' });
       const refusal = await coder.refuse('deploy');
       if (refusal === undefined || refusal.repeated) throw new Error('not refused');`,
    );
    await using ear = await openEarpiece({ db: join(folder, 'a.db') });
    const coder = ear.conversation('shop/coder');
    expect((await coder.userMessage('go on')).text).toMatch(/repeated[^]*stop the deploy/u);
    expect((await coder.toolResult({ id: 'call_1', content: 'ok' })).text).toBe('ok');
  }),
);

verifies(
  'library:gate',
  'if a loop continues after a refusal, the interrupt counts as read and is not delivered again in the next process',
  () =>
    withFolder(async (folder) => {
      await killedAfter(
        folder,
        `await coder.userMessage('hello');
       await ear.queue('shop/coder', { message: 'stop the deploy', level: 'critical' });
       await coder.refuse('deploy');
       await coder.batchEnded();`,
      );
      await using ear = await openEarpiece({ db: join(folder, 'a.db') });
      const coder = ear.conversation('shop/coder');
      expect((await coder.userMessage('go on')).text).toBe('go on');
      expect(await coder.refuse('deploy')).toBeUndefined();
    }),
);

verifies('library:unavailable', 'a locked database loses no notification: the next result after the lock carries it', () =>
  withFolder(async (folder) => {
    const db = join(folder, 'a.db');
    await using ear = await openEarpiece({ db });
    const coder = ear.conversation('shop/coder');
    await coder.userMessage('hello');
    await ear.queue('shop/coder', { message: 'the build failed' });
    const lock = new DatabaseSync(db);
    lock.exec('BEGIN EXCLUSIVE');
    const failed = await coder.toolResult({ id: 'call_1', content: 'ok' }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'store_unavailable', data: { written: false } });
    lock.exec('ROLLBACK');
    lock.close();
    expect((await coder.toolResult({ id: 'call_2', content: 'ok' })).text).toMatch(/the build failed/u);
  }),
);
