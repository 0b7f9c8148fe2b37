/**
 * The end of `npm start`: a server with the console, and the agent of the story at work in it until somebody has seen
 * enough. What happens around it comes from other processes, as in the story.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEarpiece, type Earpiece, type LogKey } from '../../../src/index.ts';
import { isType } from '../../../src/core/records.ts';
import { expect, within } from '../checks.ts';
import { ModelServer } from '../chat/model-server.ts';
import { AGENT, complaintIn, EARPIECE, type Stage } from '../stage.ts';
import { nextRound, ROUND } from './script.ts';

const CONVERSATION = 'live';
const MODEL = 'compatible:a-script-and-no-model';
const BETWEEN_ROUNDS_MS = 20_000;

/** What happens between the rounds, one after the other. */
const HAPPENINGS: readonly (readonly string[])[] = [
  ['send', '--kind', 'ci.failed', '--level', 'error', '--key', 'ci', 'CI failed on main: 2 of 418 tests'],
  ['send', '--kind', 'files.changed', '--level', 'warning', '--key', 'prices', '`src/prices.json` changed outside'],
  ['send', '--kind', 'budget.warning', '--level', 'warning', 'tokens at 80 %, 40,000 of 200,000 left'],
];

/** Its own port, so that a bookmark serves; a free one where somebody has it. */
const PORT = 4747;

/** Starts the server; resolves with the address that logs a browser in, once. */
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
    within(20_000, 'the server did not say its address', lines.next()),
    closed.then(() => Promise.reject(new Error(complaintIn(said)))),
  ]);
  stage.onEnd(async () => {
    server.kill('SIGTERM');
    await Promise.race([closed, sleep(2_000)]);
  });
  return (JSON.parse(String(first.value)) as { login: string }).login;
}

/** Until `signal` aborts, or for so many rounds. Rejects when a round does not bring what it is to bring. */
export async function live(
  stage: Stage,
  { rounds = Number.POSITIVE_INFINITY, signal }: { rounds?: number; signal?: AbortSignal },
): Promise<void> {
  await using model = await ModelServer.start({ before: () => {}, pace: () => (rounds === 1 ? 5 : 60), script: nextRound });
  await using ear = await openEarpiece({ cwd: stage.project, env: stage.env });
  const args = [EARPIECE, 'chat', '--as', `${AGENT}#${CONVERSATION}`, '--model', MODEL];
  const chat = stage.start(process.execPath, args, { ...stage.env, OPENAI_COMPATIBLE_BASE_URL: model.url });
  // Nobody reads it here: it is in the console.
  chat.stdout.resume();
  chat.stderr.resume();
  stage.onEnd(async () => {
    chat.kill('SIGTERM');
    await Promise.race([once(chat, 'close'), sleep(2_000)]);
  });
  // The story ended with a pause, which lasts until somebody takes it back.
  await stage.earpiece(['send', '--to', `${AGENT}#story`, '--action', 'resume', 'The story is over, look after the shop.']);
  for (let round = 1; round <= rounds && !signal?.aborted; round++) {
    const before = await ear.store.head();
    chat.stdin.write(`${ROUND}\n`);
    await within(60_000, `round ${round} of the agent in the console did not end`, ended(ear, before, signal));
    if (round === rounds || signal?.aborted) break;
    await sleep(BETWEEN_ROUNDS_MS / 2, undefined, signal ? { signal } : {}).catch(() => undefined);
    if (signal?.aborted) break;
    await stage.earpiece(HAPPENINGS[(round - 1) % HAPPENINGS.length] ?? []);
    await sleep(BETWEEN_ROUNDS_MS / 2, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
  chat.stdin.end();
}

/** The agent's last answer, without calls, is in the log. A person may stop it: that ends a round too. */
async function ended(ear: Earpiece, after: number, signal: AbortSignal | undefined): Promise<void> {
  let rode = false;
  for await (const { body } of ear.watch({ log: AGENT as LogKey, after, ...(signal ? { signal } : {}) })) {
    if (isType(body, 'tool_call_response')) rode ||= (body.notifications ?? []).length > 0;
    if (body.type === 'agent_stopped') return;
    if (!isType(body, 'chat_response') || body.message === undefined || !body.message.includes('look again in a while')) continue;
    expect(rode, 'the end of the tests should have ridden on a result');
    return;
  }
}
