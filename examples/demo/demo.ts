/**
 * Tells the story of `npm start -- gateway`: an agent works on a project through a real MCP filesystem server behind Earpiece's
 * gateway. While the agent works, other processes queue notifications, which arrive with the results of its tools. The agent
 * follows a script. Everything else is real. The story checks itself.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { receiptOf } from '../../src/inbox/index.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import type { LogKey } from '../../src/core/address.ts';
import type { Item } from '../../src/core/items.ts';
import { isType } from '../../src/core/records.ts';
import { Agent, type Given } from './agent.ts';
import { expect, within } from './checks.ts';
import { ABOUT, command, done, ours, printed, rode, toModel, waiting } from './lines.ts';
import type { Line, Page } from './page.ts';
import { CART, CHANGELOG, FILES, PRICES, prices, ROUNDS, ROUNDS_DOWN, writeShop } from './shop.ts';
import { AGENT, type Stage } from './stage.ts';

export type StoryOptions = {
  readonly stage: Stage;
  readonly page: Page;
  /** The time between two events, so that a person can follow. */
  readonly paceMs: number;
};

const CHANGES = 3;
const SETTLED_WITHIN_MS = 5_000;

export async function tellStory(options: StoryOptions): Promise<void> {
  const { stage, page } = options;
  page.text(
    { text: "Earpiece: a word in your agent's ear", style: 'bold' },
    '',
    ABOUT,
    '',
    `The agent ${AGENT} fixes a rounding error in a small shop. The agent works on the files through a real MCP filesystem ` +
      "server, with Earpiece's gateway in front of it:",
    '',
    command('earpiece gateway -- mcp-server-filesystem ./shop'),
    '',
    'Its actions are scripted, so it needs no model and no key. Everything else is real: other processes queue the notifications, ' +
      'and the model would read what the MCP client receives.',
  );
  writeShop(stage.project);
  const agent = await Agent.connect(stage, [process.execPath, filesystemServer(), stage.project]);
  await using ear = await openLoadedInbox({ cwd: stage.project, env: stage.env });
  const story = new Story(options, agent, ear);
  page.begin();
  await story.testsFail();
  await story.fileChanges();
  await story.personStops();
  await story.receipts();
}

class Story {
  #stage: Stage;
  #page: Page;
  #paceMs: number;
  #agent: Agent;
  #ear: LoadedInbox;
  #log = AGENT as LogKey;
  /** The ids of queued notifications, in order, without notifications that were folded into another notification. */
  #ids: string[] = [];
  #sent = 0;
  #firstAfter = 0;

  constructor({ stage, page, paceMs }: StoryOptions, agent: Agent, ear: LoadedInbox) {
    this.#stage = stage;
    this.#page = page;
    this.#paceMs = paceMs;
    this.#agent = agent;
    this.#ear = ear;
  }

  /** A test run in the background fails, and its notification arrives with the next result. */
  async testsFail(): Promise<void> {
    const run = this.#stage.run(process.execPath, ['--test']);
    this.#happens('The agent starts the tests in the background and works on.', command('node --test'));
    const before = await this.#calls('list_directory', { path: 'src' });
    expect(ours(before).length === 0, 'a result held a notification before there was one');

    const { code, stdout } = await run;
    expect(code === 1, `the test run should have failed with exit code 1, but it ended with ${code}`);
    const message = `\`node --test\` ended with exit code ${code}\n${lastLines(stdout)}`;
    const sent = await this.#send(['--kind', 'tool.failed', '--level', 'error', '-'], message);
    this.#happens(
      `The test run ends with exit code ${code}; its last lines are sent.`,
      command('earpiece send --kind tool.failed --level error -'),
      sent,
      waiting('error', 'tool.failed'),
    );
    const given = await this.#calls('read_text_file', { path: CART });
    this.#firstAfter = this.#page.seconds;
    expect(ours(given).includes('500 == 501'), 'the failed test run was not delivered with the next result');
    expect(given.blocks[0] === FILES[CART], `the text of ${CART} is not what the server read`);
  }

  /** A file changes several times: the watcher reports each change, and the model reads one line. */
  async fileChanges(): Promise<void> {
    const watcher = this.#stage.start(process.execPath, [join(import.meta.dirname, 'watch-file.ts'), PRICES]);
    const lines = createInterface({ input: watcher.stdout })[Symbol.asyncIterator]();
    const says = async (word: string): Promise<string> => {
      const { value } = await within(10_000, `the watcher of ${PRICES} did not say "${word}"`, lines.next());
      expect(String(value).startsWith(word), `the watcher of ${PRICES} should have said "${word}", it said "${String(value)}"`);
      return String(value).slice(word.length + 1);
    };
    await says('ready');
    this.#happens(
      `An import writes ${PRICES} ${CHANGES} times, and a watcher reports each change.`,
      command(`earpiece send --kind files.changed --key … "\`${PRICES}\` changed"`),
    );
    const sent: Line[] = [];
    for (let step = 1; step <= CHANGES; step++) {
      writeFileSync(join(this.#stage.project, PRICES), prices(step));
      await says('seen');
      sent.push(this.#noted(await says('queued')));
    }
    watcher.stdin.end();
    this.#happens(...sent, waiting('info', 'files.changed', CHANGES));
    const given = await this.#calls('edit_file', { path: CART, edits: [{ oldText: ROUNDS_DOWN, newText: ROUNDS }] });
    expect(ours(given).includes(`${CHANGES} times`), `${CHANGES} changes of one file were not delivered as one line`);
  }

  /** A person stops the agent: no call passes before the agent has read the notification. */
  async personStops(): Promise<void> {
    const said = ['--as', 'Maria', '--level', 'critical', '--action', 'cancel'];
    const wanted = ['--instruction', `Accounting rounds down on purpose. Put ${CART} back as it was, then wait for me.`];
    const sent = await this.#send([...said, ...wanted, 'Stop, please.']);
    this.#happens(
      'Maria sees it and says stop. The gate is up at once.',
      command('earpiece send --as Maria --level critical --action cancel --instruction "…" "Stop, please."'),
      sent,
      waiting('critical', 'user.message'),
    );
    const refused = await this.#callsAtOnce(
      ['edit_file', { path: CART, edits: [{ oldText: 'cents * share', newText: 'share * cents' }] }],
      ['write_file', { path: CHANGELOG, content: '- the checkout rounds half a cent up\n' }],
    );
    expect(
      refused.every((given) => ours(given).includes('Stop, please.')),
      'a call after the stop was not refused with its text',
    );
    expect(!existsSync(join(this.#stage.project, CHANGELOG)), `${CHANGELOG} was written although the gate was up`);
    expect(this.#file(CART).includes(ROUNDS), `${CART} was edited although the gate was up`);
    this.#happens(`Neither call reached the server: ${CART} is as before, there is no ${CHANGELOG}.`);

    const read = await this.#calls('get_notifications', {});
    expect(read.blocks.join('').includes('then wait for me'), 'get_notifications did not answer with the instruction');
    this.#happens('The agent has read it: the gate is down.');
    const back = await this.#calls('edit_file', { path: CART, edits: [{ oldText: ROUNDS, newText: ROUNDS_DOWN }] });
    expect(!back.isError && ours(back) === '', 'the first call after the stop was read should have passed, with nothing on it');
    expect(this.#file(CART) === FILES[CART], `${CART} does not have its earlier content again`);
    this.#happens(`${CART} is restored, and the agent waits for Maria.`);
  }

  /** Checks in the log that the model got every notification once. */
  async receipts(): Promise<void> {
    const items = await this.#settled();
    expect(items.length === 3, `the log should hold 3 notifications, but it holds ${items.length}`);
    const records = await this.#ear.store.read({ log: this.#log });
    for (const { id, carrier } of items) {
      const carriers = records.flatMap(({ body }) =>
        isType(body, 'carrier_confirmed') && body.carrier === carrier && !body.late ? [body.carrier] : [],
      );
      expect(carriers.length === 1, `${id} should have one confirmed carrier, but it has ${carriers.length}`);
    }
    for (const text of ['500 == 501', `${CHANGES} times`]) {
      const times = this.#agent.given.filter((given) => ours(given).includes(text)).length;
      expect(times === 1, `the model should have read "${text}" once, but it read it ${times} times`);
    }
    const refusals = this.#agent.given.filter((given) => ours(given).includes('Stop, please.'));
    expect(refusals.length === 2, `2 calls should have been refused, but ${refusals.length} were`);

    const stop = items.find(({ notification }) => notification.action === 'cancel');
    expect(stop !== undefined, 'the stop is not in the log');
    this.#heading('The log, with its receipts');
    await this.#shows('log', AGENT);
    this.#page.text('');
    await this.#shows('why', stop.id);
    this.#page.text(
      '',
      done(
        `${this.#sent} sends became ${items.length} notifications, each delivered once; the first ${this.#firstAfter.toFixed(1)} s after the start`,
      ),
      done(`${refusals.length} calls refused while the gate was up, with the same text; none reached the server`),
      done('the results of the tools themselves are unchanged: a notification is a separate block after them'),
    );
  }

  /** Starts a process that queues a notification, as a person or a script would do. */
  async #send(args: readonly string[], input?: string): Promise<Line> {
    return this.#noted(await this.#stage.earpiece(['send', ...args], input === undefined ? {} : { input }));
  }

  /** Makes a line from the output of `earpiece send`, such as "n_… queued for shop/coder". */
  #noted(answer: string): Line {
    const [id = '', how = ''] = answer.split(/\s+/);
    this.#sent++;
    if (how === 'queued') this.#ids.push(id);
    return printed(`${id}  ${how}`);
  }

  async #calls(tool: string, args: Given['args']): Promise<Given> {
    return (await this.#callsAtOnce([tool, args]))[0] as Given;
  }

  async #callsAtOnce(...calls: readonly (readonly [tool: string, args: Given['args']])[]): Promise<readonly Given[]> {
    await sleep(this.#paceMs);
    const after = await this.#ear.store.head();
    const all = await Promise.all(calls.map(([tool, args]) => this.#agent.call(tool, args)));
    for (const [i, given] of all.entries()) this.#page.row('model', toModel(given, { sameAs: all[i - 1] }));
    const lines = await this.#rode(after);
    if (lines.length > 0) this.#happens(...lines);
    await sleep(this.#paceMs);
    return all;
  }

  /** Returns lines about the notifications that were offered after this position, with the time that each had waited. */
  async #rode(after: number): Promise<Line[]> {
    const lines: Line[] = [];
    for (const { at, body } of await this.#ear.store.read({ log: this.#log, after, types: ['carrier_offered'] })) {
      if (!isType(body, 'carrier_offered')) continue;
      for (const item of await this.#ear.store.items(this.#log, { kind: 'ids', ids: body.ids }))
        lines.push(rode(item, body.on ?? body.at_point, at - item.at));
    }
    return lines;
  }

  #happens(...lines: readonly (string | Line)[]): void {
    this.#page.row(
      'world',
      lines.map((line) => (typeof line === 'string' ? { text: line } : line)),
    );
  }

  #heading(text: string): void {
    this.#page.text('', { text, style: 'bold' });
  }

  async #shows(...args: readonly string[]): Promise<void> {
    this.#page.text(command(`earpiece ${args.join(' ')}`));
    const { NO_COLOR: _, ...env } = this.#stage.env;
    this.#page.printed(await this.#stage.earpiece(args, { env: { ...env, ...this.#page.env } }));
  }

  /** Waits until each notification has the receipt `delivered` or `read`, and returns the notifications. */
  async #settled(): Promise<readonly Item[]> {
    const ids = this.#ids as Item['id'][];
    for (let left = SETTLED_WITHIN_MS; ; left -= 100) {
      const head = await this.#ear.store.head();
      const items = await this.#ear.store.items(this.#log, { kind: 'ids', ids });
      const open = items.filter((item) => !['delivered', 'read'].includes(receiptOf(item)));
      if (open.length === 0) return items;
      expect(left > 0, open.map((item) => `${item.id} is still ${receiptOf(item)}`).join(', '));
      await this.#ear.store.changed(head, { withinMs: 100 });
    }
  }

  #file(path: string): string {
    return readFileSync(join(this.#stage.project, path), 'utf8');
  }
}

/** Returns the first failing test in an output, without its stack. */
function lastLines(output: string): string {
  const lines = output.slice(output.indexOf('failing tests:')).split('\n').slice(1);
  const end = lines.findIndex((line) => /^\s+at /.test(line));
  return lines
    .slice(0, end < 0 ? 8 : end)
    .filter((line) => line.trim() !== '')
    .join('\n');
}

function filesystemServer(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('@modelcontextprotocol/server-filesystem/package.json')), 'dist/index.js');
}
