/**
 * Tests that real agents read many long notifications with `get_notifications` of `earpiece mcp`: no answer is cut or put into
 * a file.
 */
import { expect, test } from 'vitest';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { proves } from '../verifies.ts';
import { address, entry } from './earpiece.ts';
import { temporaryDatabase } from './hooked.ts';
import { run } from './run.ts';
import { told } from './told.ts';

const WORDS = Array.from({ length: 56 }, (_, n) => String(n).padStart(2, '0'));
/** The number of calls that read all notifications. With eight equal calls in a row, Qwen Code 0.24.4 exits with an error. */
const PULLS = { codex: 8, claude: 3, opencode: 3, qwen: 4 } as const;

test.for(Object.keys(PULLS) as (keyof typeof PULLS)[])('%s reads 56 long errors, each whole and once', async (client) => {
  proves('gateway:pull-room');
  using database = temporaryDatabase();
  await using ear = await openLoadedInbox({ db: database.path, cwd: database.folder, env: { HOME: database.folder } });
  for (const word of WORDS)
    await ear.queue(address, {
      kind: `ci${word}.job`,
      level: 'error',
      message: `BEGIN-${word} ${'some words '.repeat(80)} END-${word}`,
    });
  using seen = await run(client, {
    mcpServers: {
      ours: { command: process.execPath, args: [entry, 'mcp'], env: { EARPIECE_DB: database.path, EARPIECE_ADDRESS: address } },
    },
    script: [
      ...Array.from({ length: PULLS[client] }, () => ({ calls: [{ mcp: 'ours', tool: 'get_notifications' }] })),
      { text: 'ALL-DONE' },
    ],
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  const missed = WORDS.filter((word) => told(seen, `BEGIN-${word}`) !== 1 || told(seen, `END-${word}`) !== 1);
  expect(missed).toEqual([]);
});
