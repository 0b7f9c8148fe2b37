/** Tests an idle opencode and an idle pi with the plugin: the notifications that wake them or end a streaming request. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { prefixChanges } from '../model/prefix.ts';
import type { Recorded } from '../model/tap.ts';
import { proves } from '../verifies.ts';
import { address, earpiece, pluginOf, send } from './earpiece.ts';
import { inIdleHost } from './idle.ts';
import { told } from './told.ts';

describe.for(['pi', 'opencode'] as const)('an idle %s with the plugin', (host) => {
  proves('hosts:wake');
  let folder: string;
  let database: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-idle-'));
    database = path.join(folder, 'earpiece.db');
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));
  const env = (): Record<string, string> => ({ EARPIECE_ADDRESS: address, EARPIECE_DB: database });

  test('wakes by itself when a background build fails, and reads that notification once without a second wake', async () => {
    await inIdleHost(
      host,
      {
        hooks: pluginOf(host),
        env: env(),
        config: '[wake]\nerror = "auto"\n',
        script: [
          { calls: [{ shell: 'echo one' }] },
          { text: 'FIRST' },
          { calls: [{ shell: 'echo woken' }] },
          { text: 'WOKEN' },
          { text: 'ASKED' },
        ],
      },
      async (agent) => {
        await agent.prompt('Please begin');
        await agent.idleAgain(1);
        await send(agent.home, database, 'INFO-WORD wakes nobody');
        await earpiece(
          agent.home,
          database,
          'run-and-tell',
          '--to',
          address,
          '--',
          'sh',
          '-c',
          'echo BUILD-$((6 * 7)); exit 1',
        ).catch(() => undefined);
        await agent.idleAgain(2);
        expect(heard(agent.main)).toEqual([1, 1]);
        expect(agent.main).toHaveLength(4);
        await agent.prompt('Anything else?');
        await agent.idleAgain(3);
        expect(heard(agent.main)).toEqual([1, 1]);
        // No notification woke the agent between its last two turns.
        expect(agent.main).toHaveLength(5);
        expect(prefixChanges(agent.main)).toEqual([]);
      },
    );
  });

  test('aborts its request for a critical notification, reads the notification at once, and continues', async () => {
    let [home, sent] = ['', false];
    const unanswered = Promise.withResolvers<undefined>();
    await inIdleHost(
      host,
      {
        hooks: pluginOf(host),
        env: env(),
        script: [{ calls: [{ shell: 'echo one' }] }, { calls: [{ shell: 'touch after-reading' }] }, { text: 'ALL-DONE' }],
        // The model does not answer this request before the interrupt has taken effect.
        onRequest: async (request) => {
          if (sent || !request.text.includes('echo one') || !Array.isArray(request.body?.['tools'])) return undefined;
          sent = true;
          await send(home, database, 'CRITICAL-WORD the disk burns', '--level', 'critical');
          return unanswered.promise;
        },
      },
      async (agent) => {
        home = agent.home;
        await agent.prompt('Please begin');
        const file = path.join(agent.home, 'work/after-reading');
        await agent.until(() => fs.existsSync(file), 'at work after the interrupt');
        unanswered.resolve(undefined);
        // Two turns end: the aborted turn, and the turn that reads the reason.
        await agent.idleAgain(2);
        const seen = { client: host, main: agent.main };
        expect(told(seen, 'CRITICAL-WORD')).toBe(1);
      },
    );
  });
});

/** Returns the number of messages that contain each word. A message that contains a word twice counts once. */
const heard = (main: readonly Recorded[]): readonly number[] =>
  ['BUILD-42', 'INFO-WORD'].map((word) => find(main, word).places.length);
