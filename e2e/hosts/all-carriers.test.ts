/**
 * Tests one session that uses hooks, a wrapped server, `earpiece mcp` and pulls at once. The session's model reads each
 * notification once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { proves } from '../verifies.ts';
import type { Call, Script } from '../model/script.ts';
import { address, entry, wrappedFixture } from './earpiece.ts';
import { HOOKED, temporaryDatabase, withHooks } from './hooked.ts';
import { told } from './told.ts';
import { run } from './run.ts';

const COUNT = 200;
const STEPS = 25;
const word = (n: number): string => `WORD-${String(n).padStart(3, '0')}-`;
const WORDS = Array.from({ length: COUNT }, (_, n) => n);

const shell = (id: string): Call => ({ shell: `touch ${id}` });
const note = (text: string): Call => ({ mcp: 'fixture', tool: 'note', args: { text } });
const pull = (mcp: string): Call => ({ mcp, tool: 'get_notifications' });

/** Returns built-in calls, MCP calls and mixtures, with an occasional pull by one of the two servers. */
const callsOf = (step: number): readonly Call[] =>
  [
    [shell(`a${step}`), note(`a${step}`), shell(`b${step}`)],
    [note(`b${step}`)],
    [shell(`c${step}`)],
    [pull('fixture'), shell(`d${step}`)],
    [note(`c${step}`), note(`d${step}`), pull('ours')],
  ][step % 5] ?? [];

test.for(HOOKED)('$client reads 200 notifications over all carriers at once, each once', async ({ client }) => {
  proves('hosts:one-conversation');
  using database = temporaryDatabase();
  await using ear = await openLoadedInbox({ db: database.path, cwd: database.folder, env: { HOME: database.folder } });
  const sending: Promise<unknown>[] = [];
  const say = async (n: number): Promise<void> => {
    await pause(Math.random() * 600);
    await ear.queue(address, { message: `${word(n)} something happened`, kind: `ci${n}.done` });
  };
  const script: Script = [
    ...Array.from({ length: STEPS }, (_, step) => ({ calls: callsOf(step) })),
    // These steps carry the other notifications, at most ten with each carrier.
    ...Array.from({ length: 5 }, (_, step) => ({ calls: [shell(`last${step}`), pull('fixture')] })),
    { text: 'ALL-DONE' },
  ];
  using seen = await run(client, {
    ...withHooks(client, database.path),
    mcpServers: {
      fixture: wrappedFixture(database.path),
      ours: { command: process.execPath, args: [entry, 'mcp'], env: { EARPIECE_DB: database.path, EARPIECE_ADDRESS: address } },
    },
    script,
    // Thirty steps, each with the hooks of up to three calls.
    timeoutMs: 450_000,
    async onToolStep({ step }) {
      if (step < STEPS) sending.push(...WORDS.filter((n) => n % STEPS === step).map(say));
      else await Promise.all(sending);
    },
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  const times = WORDS.map((n) => told(seen, word(n)));
  expect(Object.fromEntries(WORDS.flatMap((n) => (times[n] === 1 ? [] : [[word(n), times[n]]])))).toEqual({});
  const records = await ear.store.read({ log: address as never, types: ['carrier_offered'], limit: 10_000 });
  const ways = new Set(
    records.map(({ body }) => (body as { through?: string; on?: string }).through ?? (body as { on?: string }).on),
  );
  console.log(`${client}: ${records.length} offers, by ${[...ways].join(', ')}`);
  expect(ways.size).toBeGreaterThanOrEqual(3);
});
