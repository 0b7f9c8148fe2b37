/**
 * Runs the end of `npm start`: a server with the console, in which the agent of the story works until the person ends it. Other
 * processes cause the events around the agent, as in the story.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, within } from '../checks.ts';
import { ModelServer } from '../chat/model-server.ts';
import { AGENT, complaintIn, EARPIECE, type Stage } from '../stage.ts';
import { nextRound, ROUND } from './script.ts';

const CONVERSATION = 'live';
const MODEL = 'compatible:a-script-and-no-model';
const BETWEEN_ROUNDS_MS = 20_000;

/** The events between the rounds, one after the other. */
const HAPPENINGS: readonly (readonly string[])[] = [
  ['send', '--kind', 'ci.failed', '--level', 'error', '--key', 'ci', 'CI failed on main: 2 of 418 tests'],
  [
    'send',
    '--kind',
    'files.changed',
    '--level',
    'warning',
    '--key',
    'prices',
    '`src/prices.json` was changed by another program',
  ],
  ['send', '--kind', 'budget.warning', '--level', 'warning', 'tokens at 80 %, 40,000 of 200,000 left'],
];

/** A fixed port, so that a bookmark works. If this port is in use, the server takes a free port. */
const PORT = 4747;

/** Starts the server, and resolves with a URL that logs in one browser, once. */
export async function startConsole(stage: Stage): Promise<string> {
  return served(stage, PORT).catch(() => served(stage, 0));
}

async function served(stage: Stage, port: number): Promise<string> {
  const server = stage.start(process.execPath, [EARPIECE, 'serve', '--json', '--port', String(port)]);
  const closed = once(server, 'close');
  let said = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const first = await Promise.race([
    within(20_000, 'the server did not print its URL', lines.next()),
    closed.then(() => Promise.reject(new Error(complaintIn(said)))),
  ]);
  stage.onEnd(async () => {
    server.kill('SIGTERM');
    await Promise.race([closed, sleep(2_000)]);
  });
  return (JSON.parse(String(first.value)) as { login: string }).login;
}

export type LiveOptions = {
  readonly rounds?: number;
  readonly signal?: AbortSignal;
  /** The time for each word of the model (default 60 ms). */
  readonly wordMs?: number;
  /** The time between two rounds (default 20 s). */
  readonly betweenMs?: number;
};

/** Runs until `signal` aborts, or for a number of rounds. Rejects if no result of the last round carries a notification. */
export async function live(
  stage: Stage,
  { rounds = Number.POSITIVE_INFINITY, signal, wordMs = 60, betweenMs = BETWEEN_ROUNDS_MS }: LiveOptions = {},
): Promise<void> {
  await using model = await ModelServer.start({ before: () => {}, pace: () => wordMs, script: nextRound });
  const args = [EARPIECE, 'chat', '--json', '--as', `${AGENT}#${CONVERSATION}`, '--model', MODEL];
  const chat = stage.start(process.execPath, args, {
    ...stage.env,
    OPENAI_COMPATIBLE_BASE_URL: model.url,
    // Without this setting, the agent would not have the tools for tasks until the project has a task.
    EARPIECE_AGENT_TASKS: 'true',
  });
  chat.stderr.resume();
  stage.onEnd(async () => {
    chat.kill('SIGTERM');
    await Promise.race([once(chat, 'close'), sleep(2_000)]);
  });
  const events = createInterface({ input: chat.stdout })[Symbol.asyncIterator]();
  // The story ended with a pause, which lasts until a person lifts it.
  await stage.earpiece(['send', '--to', `${AGENT}#story`, '--action', 'resume', 'The story has ended, look after the shop.']);
  const pause = (): Promise<unknown> => sleep(betweenMs / 2, undefined, signal ? { signal } : {}).catch(() => undefined);
  const aborted = new Promise<undefined>((resolve) =>
    signal?.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  for (let round = 1; round <= rounds && !signal?.aborted; round++) {
    chat.stdin.write(`${ROUND}\n`);
    const rode = await Promise.race([ended(events), aborted]);
    if (round === rounds) expect(rode === true, 'the end of the tests should have been delivered on a result');
    if (round === rounds || signal?.aborted) break;
    await pause();
    if (signal?.aborted) break;
    await stage.earpiece(HAPPENINGS[(round - 1) % HAPPENINGS.length] ?? []);
    await pause();
  }
  chat.stdin.end();
}

type Told = { readonly type: string; readonly content?: string; readonly at?: string };

/** Waits for the end of a round's turn, even if a person takes part. Returns true if its results carried a notification. */
async function ended(events: AsyncIterator<string>): Promise<boolean> {
  let began = false;
  let rode = false;
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error('the agent in the console has ended');
    const event = JSON.parse(value) as Told;
    began ||= event.type === 'turn_started' && event.content === ROUND;
    rode ||= began && event.type === 'delivered' && event.at === 'tool_batch_end';
    if (began && event.type === 'turn_ended') return rode;
  }
}
