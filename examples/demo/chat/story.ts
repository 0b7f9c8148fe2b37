/**
 * Tells the story of `npm start`: Earpiece's own agent repairs a small shop in `earpiece chat`. The shop's tests run in the
 * background and fail. An import changes a file. A person stops the agent in the middle of its answer. The model is a script
 * that ships with the demo, or a real model. Everything else is real. With the script, the story checks itself.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { receiptOf } from '../../../src/inbox/index.ts';
import { openLoadedInbox, type LoadedInbox } from '../../../src/loaded-inbox.ts';
import type { LogKey } from '../../../src/core/address.ts';
import type { Item } from '../../../src/core/items.ts';
import { fromRecord, isType, type Stored } from '../../../src/core/records.ts';
import { expect, within } from '../checks.ts';
import { ABOUT, command, done, riding, seenAt } from '../lines.ts';
import type { Page } from '../page.ts';
import { CART, CHANGELOG, FILES, PRICES, prices } from '../shop.ts';
import { AGENT, EARPIECE, type Stage } from '../stage.ts';
import { ModelServer } from './model-server.ts';
import { STOP, type Message, type Step } from './script.ts';
import { writeChatShop } from './shop.ts';

export type ChatStoryOptions = {
  readonly stage: Stage;
  readonly page: Page;
  /** `provider:model`. Default: the script. */
  readonly model?: string;
  /** The URL at which a browser shows the same conversation. */
  readonly console?: string;
  /** Whether the person at this terminal can take part in the conversation. */
  readonly terminal: boolean;
  readonly write: (text: string) => void;
};

const CONVERSATION = 'story';
const TASK =
  'The checkout is a cent off. Run `node check.js` in the background, read src/cart.js meanwhile, fix it, and write an entry for CHANGELOG.md.';
const CHANGES = 3;
/** The number of words of the entry that Maria reads before she stops the agent. */
const WORDS_UNTIL_STOP = 14;
const SCRIPT = 'a-script-and-no-model';
/** The terminal shows one line of this text, so the key to press is named early. */
const OVER = 'The end: Ctrl+D shows the receipts.';

/** Runs the story. Resolves with the exit code of the conversation. */
export async function tellChatStory(options: ChatStoryOptions): Promise<number> {
  const { stage, page, model } = options;
  writeChatShop(stage.project);
  const story = new ChatStory(options);
  await using server = await ModelServer.start({
    before: (step) => story.before(step),
    pace: (step, words) => story.pace(step, words),
  });
  const named = model ?? `compatible:${SCRIPT}`;
  page.text(
    { text: "Earpiece: a word in your agent's ear", style: 'bold' },
    '',
    ABOUT,
    '',
    `The agent ${AGENT} repairs a small shop in a temporary folder. ` +
      (model === undefined
        ? 'Its model is a mock: a script that ships with this demo, so it needs no key and no network. '
        : `Its model is ${model}. `) +
      'Everything else is real: the commands that it runs, the files, the log, and the other processes that queue notifications while it works.',
    '',
    ...(options.console === undefined ? [] : [seenAt(options.console), '']),
    command(`earpiece chat --model ${named} "The checkout is a cent off. …"`),
    '',
  );
  await using ear = await openLoadedInbox({ cwd: stage.project, env: stage.env });
  const chat = startChat(options, named, server.url);
  const code = await story.lead(ear, chat);
  if (model === undefined && !story.disturbed) await story.check(ear, server);
  await story.receipts(ear);
  return code;
}

type Chat = { readonly process: ChildProcess; readonly ended: Promise<number> };

function startChat({ stage, terminal, write }: ChatStoryOptions, model: string, url: string): Chat {
  const args = [EARPIECE, 'chat', '--as', `${AGENT}#${CONVERSATION}`, '--model', model, TASK];
  const { NO_COLOR: _, ...coloured } = stage.env;
  const env = { ...(terminal && process.env['NO_COLOR'] === undefined ? coloured : stage.env), OPENAI_COMPATIBLE_BASE_URL: url };
  const child = terminal
    ? spawn(process.execPath, args, { cwd: stage.project, env, stdio: 'inherit' })
    : stage.start(process.execPath, args, env);
  child.stdout?.setEncoding('utf8').on('data', write);
  child.stderr?.setEncoding('utf8').on('data', write);
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  stage.onEnd(async () => {
    // `earpiece chat` then also ends the processes that it has started.
    child.kill('SIGTERM');
    await ended;
  });
  return { process: child, ended };
}

class ChatStory {
  /** Whether the person has taken part, so that the story no longer checks itself. */
  disturbed = false;
  readonly #options: ChatStoryOptions;
  readonly #log = AGENT as LogKey;
  #watcher: ((word: string) => Promise<void>) | undefined;
  #imported: Promise<void> | undefined;
  #stopped: Promise<string> | undefined;
  #firstAfter: number | undefined;
  #sends = 0;

  constructor(options: ChatStoryOptions) {
    this.#options = options;
  }

  /** Starts the events around the agent that belong to the next answer. */
  async before(step: Step): Promise<void> {
    if (step === 'start') this.#watch();
    // The notification about the import arrives with the next result, which is the result of the edit.
    if (step === 'edit') await this.#import();
  }

  /**
   * Returns the delay between words in ms: reading speed in a terminal, and a short delay for a pipe. When Maria has read
   * enough of the entry, the words are printed more slowly.
   */
  pace(step: Step, words: number): number {
    if (step === 'write' && words >= WORDS_UNTIL_STOP) {
      this.stop();
      return 250;
    }
    return this.#options.terminal ? 45 : 5;
  }

  stop(): void {
    const said = ['--as', 'Maria', '--level', 'critical', '--action', 'pause'];
    const wanted = ['--instruction', `Accounting rounds down on purpose. Put ${CART} back as it was, then wait for me.`];
    this.#stopped ??= this.#send([...said, ...wanted, STOP]);
    this.#stopped.catch(() => undefined);
  }

  /** Follows the conversation in the log. Resolves with the exit code of the conversation when it has ended. */
  async lead(ear: LoadedInbox, chat: Chat): Promise<number> {
    const over = new AbortController();
    const following = this.#follow(ear, chat, over.signal);
    const code = await Promise.race([chat.ended, following.then(() => chat.ended)]);
    over.abort();
    await following;
    return code;
  }

  async #follow(ear: LoadedInbox, chat: Chat, signal: AbortSignal): Promise<void> {
    const { model, terminal } = this.#options;
    let requests = 0;
    for await (const record of ear.watch({ log: this.#log, after: 0, signal })) {
      const { body } = record;
      if (ridingOn(record).length > 0) this.#firstAfter ??= performance.now() / 1000;
      if (isType(body, 'chat_request') && body.source !== 'system' && ++requests > 1) this.disturbed = true;
      if (model !== undefined && isType(body, 'tool_call_response') && this.#file(CART) !== FILES[CART]) this.#happenAnyway();
      if (isType(body, 'chat_response') && (body.message ?? '').endsWith('I wait for Maria.')) {
        // Without a terminal, only the end of stdin ends the conversation.
        if (!terminal) return void chat.process.stdin?.end();
        await this.#options.stage.earpiece(['send', '--kind', 'demo.over', OVER]);
      }
    }
    // If the person leaves before the story ends, its checks are skipped.
    if (this.#stopped === undefined) this.disturbed = true;
  }

  /** A real model does not follow the script, so the events start as soon as the model has edited the file. */
  #happenAnyway(): void {
    if (this.#imported !== undefined) return;
    void this.#import().then(
      () => setTimeout(() => this.stop(), 1_500),
      () => undefined,
    );
  }

  /**
   * Starts a watcher of the price list that reports each change. The returned function waits for a word in the watcher's output.
   */
  #watch(): (word: string) => Promise<void> {
    this.#watcher ??= (() => {
      const { stage } = this.#options;
      const watcher = stage.start(process.execPath, [join(import.meta.dirname, '../watch-file.ts'), PRICES]);
      const lines = createInterface({ input: watcher.stdout })[Symbol.asyncIterator]();
      return async (word: string): Promise<void> => {
        const { value } = await within(20_000, `the watcher of ${PRICES} did not say "${word}"`, lines.next());
        expect(String(value).startsWith(word), `the watcher of ${PRICES} should have said "${word}", it said "${String(value)}"`);
      };
    })();
    return this.#watcher;
  }

  /** Runs an import, which writes the price list several times. */
  #import(): Promise<void> {
    this.#imported ??= (async () => {
      const says = this.#watch();
      await says('ready');
      for (let step = 1; step <= CHANGES; step++) {
        writeFileSync(join(this.#options.stage.project, PRICES), prices(step));
        await says('seen');
        await says('queued');
        this.#sends++;
      }
    })();
    return this.#imported;
  }

  /** Checks that all events of the story happened, once each. */
  async check(ear: LoadedInbox, { asked }: ModelServer): Promise<void> {
    const stop = await this.#stopped;
    const records = await ear.store.read({ log: this.#log });
    const rode = records.flatMap((record) => ridingOn(record));
    for (const kind of ['tool.failed', 'files.changed', 'user.message'])
      expect(
        rode.filter((each) => each.kind === kind).length === 1,
        `${kind} should have been delivered once: ${JSON.stringify(rode)}`,
      );
    expect(
      rode.find(({ kind }) => kind === 'files.changed')?.count === CHANGES,
      `${CHANGES} changes of one file should become one notification`,
    );

    const last = JSON.stringify(asked.at(-1)?.messages);
    for (const text of ['1 of 2 failed', `changed ${CHANGES} times`, STOP]) {
      const times = last.split(text).length - 1;
      expect(times === 1, `the model should read "${text}" once, it reads it ${times} times`);
    }
    const cut = asked.find(({ step }) => step === 'write');
    const queued = (await ear.store.items(this.#log, { kind: 'ids', ids: [stop as Item['id']] }))[0];
    expect(cut?.cutOffAt !== undefined && queued !== undefined, 'the stop should have ended the answer of the model');
    expect(
      records.some(({ body }) => isType(body, 'chat_response') && body.truncated === true),
      'the text that the model had written before the stop should be kept',
    );
    for (const [i, { messages }] of asked.entries())
      expect(extendsEach(asked[i - 1]?.messages ?? [], messages), `request ${i + 1} does not begin with the one before`);
    expect(this.#file(CART) === FILES[CART], `${CART} does not have its earlier content again`);
    expect(!existsSync(join(this.#options.stage.project, CHANGELOG)), `${CHANGELOG} was written although Maria said stop`);

    this.#options.page.text(
      '',
      done(
        `a test run and ${this.#sends} sends became ${rode.filter(({ kind }) => kind !== 'demo.over').length} notifications, each delivered once; the first ${(this.#firstAfter ?? 0).toFixed(1)} s after the start`,
      ),
      done(
        `Maria's stop closed the connection to the model ${Math.max(1, (cut?.cutOffAt ?? 0) - (queued?.at ?? 0))} ms after it was queued; what was written by then is kept`,
      ),
      done('each request to the model begins with the one before, byte for byte'),
      done(`${CART} is as it was, and there is no ${CHANGELOG}`),
    );
  }

  /** Shows the text that the model read about the failed tests, and the steps of the stop. */
  async receipts(ear: LoadedInbox): Promise<void> {
    const carrier = (await ear.store.read({ log: this.#log })).find(
      (record) => isType(record.body, 'tool_call_response') && ridingOn(record).some(({ kind }) => kind === 'tool.failed'),
    );
    if (carrier !== undefined && isType(carrier.body, 'tool_call_response'))
      this.#options.page.text(
        '',
        'The text that the model got after a result, when the tests had failed:',
        ...riding(carrier.body.view?.text ?? ''),
      );
    const stop = await this.#stopped?.catch(() => undefined);
    if (stop === undefined) return;
    const [item] = await ear.store.items(this.#log, { kind: 'ids', ids: [stop as Item['id']] });
    expect(
      item === undefined ||
        this.disturbed ||
        this.#options.model !== undefined ||
        ['delivered', 'read'].includes(receiptOf(item)),
      `${stop} should have been delivered`,
    );
    const { stage, page } = this.#options;
    const { NO_COLOR: _, ...env } = stage.env;
    page.text('', command(`earpiece why ${stop}`));
    page.printed(await stage.earpiece(['why', stop], { env: { ...env, ...page.env } }));
  }

  /** Starts a process that queues a notification, and returns its id. */
  async #send(args: readonly string[]): Promise<string> {
    this.#sends++;
    return (await this.#options.stage.earpiece(['send', ...args])).split(/\s+/u)[0] ?? '';
  }

  #file(path: string): string {
    return readFileSync(join(this.#options.stage.project, path), 'utf8');
  }
}

function ridingOn({ body }: Stored): { kind: string; count: number }[] {
  if (!isType(body, 'chat_request') && !isType(body, 'tool_call_response')) return [];
  return (body.notifications ?? [])
    .map(fromRecord)
    .map(({ kind, count = 1 }) => ({ kind: `${kind.source}.${kind.name}`, count }));
}

const extendsEach = (before: readonly Message[], now: readonly Message[]): boolean =>
  before.every((message, i) => JSON.stringify(message) === JSON.stringify(now[i]));
