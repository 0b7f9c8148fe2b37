// `npm start` runs a story of examples/demo in this terminal. The exit code is 0 if the whole story happened as planned.
import '../src/node-version.ts';
import { createInterface } from 'node:readline/promises';
import { didYouMean } from '../src/core/errors.ts';
import { ollamaModels } from '../src/cli/chat/model-choice.ts';
import { paint } from '../src/cli/terminal.ts';
import { tellChatStory } from '../examples/demo/chat/story.ts';
import { live, startConsole } from '../examples/demo/live/live.ts';
import { tellStory } from '../examples/demo/demo.ts';
import { done, seenAt } from '../examples/demo/lines.ts';
import { Page } from '../examples/demo/page.ts';
import { Stage } from '../examples/demo/stage.ts';

const STORIES = ['chat', 'gateway'] as const;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const PACE_MS = 450;
const LONGEST_MS = 120_000;
const UNKNOWN_WIDTH = 100;

/** The models that are offered if the key of their provider is set. */
const REAL = {
  ANTHROPIC_API_KEY: 'anthropic:claude-sonnet-5',
  OPENAI_API_KEY: 'openai:gpt-5',
  GEMINI_API_KEY: 'google:gemini-3-pro-preview',
};

const { stdin, stdout } = process;
const terminal = stdin.isTTY && stdout.isTTY && process.env['TERM'] !== 'dumb';
const width = stdout.columns ?? (Number(process.env['COLUMNS']) || UNKNOWN_WIDTH);
const write = (text: string): unknown => silent || stdout.write(text);
const page = new Page(width, write);
let stage: Stage | undefined;
let over = false;
/** Whether output is suppressed, because the story is being ended. */
let silent = false;
/** Aborts when the person ends the console. */
const enough = new AbortController();
let watching = false;
process.once('exit', () => stage?.clear());
// A reader that closes early (`npm start | head`) is not an error.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const [name = 'chat', ...more] = process.argv.slice(2);
const code = isStory(name) && more.length === 0 ? await Promise.race([told(name), stopped(), late(name)]) : unknown();
over = true;
await stage?.end();
if (code === 0) goOn(name);
process.exit(code);

function isStory(word: string): word is (typeof STORIES)[number] {
  return (STORIES as readonly string[]).includes(word);
}

async function told(story: (typeof STORIES)[number]): Promise<number> {
  try {
    const model = story === 'chat' ? await realModel() : undefined;
    stage = new Stage();
    if (story === 'chat') return await chatAndConsole(stage, model);
    await tellStory({ stage, page, paceMs: stdout.isTTY ? PACE_MS : 0 });
    return 0;
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

/** Runs the story in the terminal and in the console. In a terminal, the console then continues until the person ends it. */
async function chatAndConsole(on: Stage, model: string | undefined): Promise<number> {
  const login = await startConsole(on);
  const told = await tellChatStory({
    stage: on,
    page,
    console: login,
    terminal,
    write,
    ...(model === undefined ? {} : { model }),
  });
  if (told !== 0) return told;
  if (!terminal) {
    await live(on, { rounds: 1, wordMs: 5 });
    page.text('', done('in the console the agent continued, and read about its tests there'));
    return 0;
  }
  page.text(
    '',
    seenAt(login),
    'The agent continues in the console: see what it reads and why, write to it, give it a task, pause it, stop it. The address logs in once. Ctrl+C ends everything.',
  );
  watching = true;
  await live(on, { signal: enough.signal }).catch((error: unknown) => {
    // Ctrl+C may also end a command that is starting and has no separate process group yet.
    if (!enough.signal.aborted) throw error;
  });
  return 0;
}

/** Returns a real model if the person agrees, because a real model may cost money and run any command. */
async function realModel(): Promise<string | undefined> {
  const { env } = process;
  if (!terminal || env['CI']) return undefined;
  const [key, ofKey] = Object.entries(REAL).find(([variable]) => env[variable]) ?? [];
  const ollama = ofKey === undefined ? (await ollamaModels(env))?.[0] : undefined;
  const model = env['EARPIECE_AGENT_MODEL'] ?? ofKey ?? (ollama === undefined ? undefined : `ollama:${ollama}`);
  if (model === undefined) return undefined;
  const why = env['EARPIECE_AGENT_MODEL']
    ? 'EARPIECE_AGENT_MODEL is set'
    : ofKey === undefined
      ? 'Ollama runs here'
      : `${key} is set`;
  const asking = createInterface({ input: stdin, output: stdout });
  const answer = await asking.question(
    `${why}. Should the agent use ${model} instead of the demo's script? The agent may run any command. [y/N] `,
  );
  asking.close();
  stdout.write('\n');
  return /^y(es)?$/iu.test(answer.trim()) ? model : undefined;
}

/** Resolves with an exit code when a signal ends the story. After the story, Ctrl+C only ends the console. */
function stopped(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const [signal, exitCode] of Object.entries(SIGNALS))
    process.on(signal, () => {
      if (over) return;
      if (watching && signal === 'SIGINT') return enough.abort();
      over = true;
      page.text('', 'Stopped: its processes end, and its folder is removed.');
      silent = true;
      resolve(exitCode);
    });
  return promise;
}

async function late(story: string): Promise<number> {
  // A person's answer has no time limit.
  if (story === 'chat' && terminal) return new Promise(() => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, LONGEST_MS);
  await promise;
  return failed(`it did not end within ${LONGEST_MS / 1000} s`);
}

function unknown(): number {
  const near = didYouMean(name, STORIES);
  process.stderr.write(
    `earpiece: there is no story ${JSON.stringify([name, ...more].join(' '))}${near === undefined ? '' : `; did you mean ${near}?`} (there are two: npm start, and npm start -- gateway)\n`,
  );
  return 2;
}

function failed(why: string): number {
  // Errors after the end are only consequences of ending the story.
  if (!over) process.stderr.write(`\nearpiece: the story failed: ${why}\n`);
  return 1;
}

function goOn(story: string): void {
  page.text(
    '',
    ...(story === 'chat'
      ? [
          {
            text: 'npm run earpiece -- chat --model <provider:model>',
            sign: paint('bold', 'talk        '),
          },
          { text: 'npm start -- gateway: the same with a real MCP server and any agent', sign: paint('bold', 'other story ') },
        ]
      : []),
    {
      text: 'npm run earpiece -- gateway --print claude -- <your MCP server>',
      sign: paint('bold', 'your agent  '),
    },
    {
      text: 'README.md (how to use earpiece in every folder), docs/library.md, docs/guarantees.md',
      sign: paint('bold', 'read on     '),
    },
    {
      text: 'npm run earpiece -- send --to coder "hello", then: inbox, log, why <id>, help',
      sign: paint('bold', 'play        '),
    },
  );
}
