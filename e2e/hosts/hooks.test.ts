/** Tests real agents with hooks and their built-in tools: the texts that the model reads, their places and their number. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import { prefixChanges } from '../model/prefix.ts';
import { textsOf } from '../model/texts.ts';
import { proves } from '../verifies.ts';
import { address, entry, send, wrappedFixture } from './earpiece.ts';
import { filesOf, HOOKED, temporaryDatabase, withHooks, type Hooked } from './hooked.ts';
import { installClaude } from './installed.ts';
import { told } from './told.ts';
import { run, type Run, type RunOptions } from './run.ts';
import type { Call, Script } from '../model/script.ts';

const word = (n: number): string => `WORD-${String(n).padStart(2, '0')}-`;
const WORDS = Array.from({ length: 20 }, (_, n) => n);
/** The critical notifications, by the step whose call each refuses. */
const CRITICALS: Readonly<Record<number, number>> = { 2: 5, 7: 15 };
/**
 * The notifications of the first turn. The second turn runs in a resumed session. Notifications that are not critical arrive at
 * random times.
 */
const FIRST_TURN = WORDS.slice(0, 10);

const shell = (command: string): Call => ({ shell: command });
const long = (id: string): Call => shell(`for i in 1 2 3 4 5; do sleep 0.2; done; touch ${id}`);
const BUILT_IN = [shell('touch a'), shell('false'), shell('touch b')];

describe.for(HOOKED)('$client with hooks', (hooked) => {
  proves('hosts:hooks');

  test('reads each of 20 notifications once at the correct place, in a session with built-in tools', async () => {
    await storm(hooked, [shell('touch built-in')], {});
  });

  test('reads each notification once if a wrapped MCP server carries notifications too', async () => {
    proves('hosts:one-conversation');
    using database = temporaryDatabase();
    await storm(
      hooked,
      [
        { mcp: 'fixture', tool: 'note', args: { text: 'mixed' } },
        { mcp: 'fixture', tool: 'save' },
      ],
      {
        mcpServers: { fixture: wrappedFixture(database.path) },
        database: database.path,
      },
    );
  });
});

test('Claude Code with its installed MCP server reads each of 20 notifications once', async () => {
  proves('hosts:hooks', 'hosts:served');
  using database = temporaryDatabase();
  const env = { EARPIECE_DB: database.path, EARPIECE_ADDRESS: address };
  await storm(
    { client: 'claude', place: ({ role }) => role === 'system' },
    [shell('touch built-in')],
    { mcpServers: { earpiece: { command: process.execPath, args: [entry, 'mcp'], env } }, database: database.path },
    { env, onPrepared: installClaude },
  );
});

type Storm = { readonly mcpServers?: RunOptions['mcpServers']; readonly database?: string };

/**
 * Runs two turns while other processes send notifications, and a third turn for notifications that are left. Checks the texts
 * that the model reads. `mixed` is the batch of calls that differs between tests. `set` gives the agent its hooks. By default,
 * all hooks are commands.
 */
async function storm(
  { client, place }: Hooked,
  mixed: readonly Call[],
  { mcpServers = {}, database: given }: Storm,
  set?: Pick<RunOptions, 'env' | 'onPrepared'>,
): Promise<void> {
  using own = temporaryDatabase();
  const database = given ?? own.path;
  const sending: Promise<void>[] = [];
  const say = (home: string, n: number, ...options: readonly string[]): Promise<void> =>
    send(home, database, `${word(n)} something happened`, '--kind', `ci${n}.done`, ...options);
  const options = (script: Script, numbers: readonly number[], from: number): RunOptions => ({
    ...(set ?? withHooks(client, database)),
    mcpServers,
    script,
    async onToolStep({ step, home }) {
      const critical = CRITICALS[from + step];
      if (critical !== undefined) await say(home, critical, '--level', 'critical');
      // A real model needs more time than ASKED_AGAIN_MS to answer. So the next call counts as a new request.
      if (from + step - 1 in CRITICALS) await pause(ASKED_AGAIN_MS);
      // The last call carries the notifications that were queued in the meantime.
      if (step === script.length - 2) await Promise.all(sending);
      else if (step % 2 === 0)
        for (const n of numbers.slice(step * 2, step * 2 + 4))
          if (!Object.values(CRITICALS).includes(n)) sending.push(pause(Math.random() * 1_500).then(() => say(home, n)));
    },
  });
  const script = (id: string, ...calls: readonly (readonly Call[])[]): Script => [
    ...calls.map((each) => ({ calls: each })),
    { calls: [shell(`touch last-${id}`)] },
    { text: `END-${id}` },
  ];
  const first = script(
    'one',
    BUILT_IN,
    [long('long-a'), long('long-b')],
    [shell('touch refused-1')],
    [shell('touch allowed-1')],
    mixed,
  );
  const second = script('two', mixed, BUILT_IN, [shell('touch refused-2')], [shell('touch allowed-2')], [long('long-c')]);
  using one = await run(client, options(first, FIRST_TURN, 0));
  using two = await run(client, { ...options(second, WORDS.slice(10), 5), home: one.home, resume: true });
  // On a busy machine, a hook gives up after 250 ms. The next prompt then carries its notifications.
  const left = WORDS.filter((n) => told(one, word(n)) + told(two, word(n)) === 0);
  using three =
    left.length === 0 ? undefined : await run(client, { ...options([{ text: 'END' }], [], 10), home: one.home, resume: true });
  const runs = [one, two, ...(three === undefined ? [] : [three])];
  for (const seen of runs)
    expect({ exitCode: seen.exitCode, leftovers: seen.leftovers, changed: changesOf(seen) }).toEqual({
      exitCode: 0,
      leftovers: [],
      changed: [],
    });
  expect(Object.fromEntries(WORDS.map((n) => [word(n), Math.max(...runs.map((seen) => told(seen, word(n))))]))).toEqual(
    Object.fromEntries(WORDS.map((n) => [word(n), 1])),
  );
  expect(runs.flatMap((seen) => misplaced(seen, place))).toEqual([]);
  expect(filesOf(one)).toEqual(expect.arrayContaining(['a', 'b', 'long-a', 'long-b', 'allowed-1', 'allowed-2', 'last-two']));
  expect(filesOf(one).filter((file) => file.startsWith('refused'))).toEqual([]);
}

/** Returns the changes of earlier messages in the requests. Gemini itself drops and adds signatures. */
const changesOf = (seen: Run) => prefixChanges(seen.main, { ignore: ['cache_control', 'thoughtSignature'] });

/** Returns the notifications that appear neither at the documented place, nor in a result, nor with a prompt. */
function misplaced(seen: Run, place: Hooked['place']): readonly string[] {
  const last = seen.main.at(-1);
  if (last === undefined) return ['no request'];
  return textsOf(last)
    .filter((text) => text.message >= 0 && /WORD-\d\d-/.test(text.text))
    .filter((text) => !place(text) && text.result === null && !/hook_context|hook_prompt/.test(text.text))
    .map(({ message, role, text }) => `${message} ${role} ${text}`);
}
