/** Tests real agents with hooks: an effective stop, and a kill that loses nothing. */
import path from 'node:path';
import { setTimeout as think } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import { proves } from '../verifies.ts';
import { address, earpiece, send } from './earpiece.ts';
import { filesOf, HOOKED, temporaryDatabase, withHooks } from './hooked.ts';
import { told } from './told.ts';
import { run } from './run.ts';
import { raise, raised } from './signal-file.ts';

const touch = (file: string) => ({ shell: `touch ${file}` });

test('Codex makes the next call after its model has read a result with an interrupt', async () => {
  proves('gate:read-before');
  using database = temporaryDatabase();
  let sent: Promise<void> | undefined;
  using seen = await run('codex', {
    ...withHooks('codex', database.path),
    script: [
      { calls: [{ shell: 'touch begun; until [ -e go ]; do sleep 0.1; done' }] },
      { calls: [touch('next')] },
      { text: 'ALL-DONE' },
    ],
    async onToolStep({ step, home }) {
      const work = path.join(home, 'work');
      if (step === 0)
        sent = raised(path.join(work, 'begun'), 60_000)
          .then(() => send(home, database.path, 'WORD-STOP hold on', '--level', 'critical'))
          .then(() => raise(path.join(work, 'go')));
      if (step === 1) await think(ASKED_AGAIN_MS + 200);
    },
  });
  await sent;
  expect(filesOf(seen).toSorted()).toEqual(['begun', 'go', 'next']);
  expect(told(seen, 'WORD-STOP')).toBe(1);
});

describe.for(HOOKED)('$client with hooks', ({ client }) => {
  test('makes no call of a built-in tool during a pause, and continues when a person resumes it', async () => {
    proves('hosts:hook-gate');
    using database = temporaryDatabase();
    using seen = await run(client, {
      ...withHooks(client, database.path),
      script: [
        { calls: [touch('before')] },
        { calls: [touch('paused-1'), touch('paused-2')] },
        { calls: [touch('paused-3')] },
        { calls: [touch('resumed')] },
        { text: 'ALL-DONE' },
      ],
      async onToolStep({ step, home }) {
        if (step === 1) await send(home, database.path, 'PAUSE-WORD hold on', '--action', 'pause');
        // Reading does not lift a pause.
        if (step === 2) await think(ASKED_AGAIN_MS);
        if (step === 3) await earpiece(home, database.path, 'resume', address);
      },
    });
    expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
    expect(filesOf(seen).toSorted()).toEqual(['before', 'resumed']);
    expect(told(seen, 'PAUSE-WORD')).toBe(3);
  });

  test('after it was killed, reads the waiting notifications once in its resumed session', async () => {
    proves('hosts:hook-resume');
    using database = temporaryDatabase();
    using killed = await run(client, {
      ...withHooks(client, database.path),
      prompt: 'FIRST-PROMPT: please do the steps',
      script: [{ calls: [touch('before')] }, { calls: [touch('never')] }, { text: 'ALL-DONE' }],
      async onToolStep({ step, home, kill }) {
        if (step === 0) await send(home, database.path, 'WORD-00 the build ended');
        if (step !== 1) return;
        await send(home, database.path, 'WORD-01 just before the kill');
        await send(home, database.path, 'WORD-02 hold on', '--level', 'critical');
        kill('SIGKILL');
      },
    });
    await send(killed.home, database.path, 'WORD-03 while nobody runs');
    using second = await run(client, {
      ...withHooks(client, database.path),
      home: killed.home,
      resume: true,
      script: [{ calls: [touch('first')] }, { calls: [touch('second')] }, { calls: [touch('third')] }, { text: 'ALL-DONE' }],
    });
    const counts = ['WORD-00', 'WORD-01', 'WORD-02', 'WORD-03'].map((word) => Math.max(told(killed, word), told(second, word)));
    // The prompt carries the critical notification. The transcript or the next hook proves that the model has read the
    // notification with the prompt, so Earpiece refuses no call.
    expect(counts).toEqual([1, 1, 1, 1]);
    // Gemini CLI drops a prompt if the SessionStart hook adds text, so Earpiece adds no text at that hook.
    expect(told(second, 'FIRST-PROMPT')).toBe(1);
    expect(filesOf(killed).toSorted()).toEqual(['before', 'first', 'second', 'third']);
  });
});
