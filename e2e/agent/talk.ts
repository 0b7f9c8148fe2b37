/** Runs an agent that talks with a scripted model over HTTP, for tests. */
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Agent } from '../../src/agent/agent.ts';
import type { AgentOptions } from '../../src/agent/options.ts';
import { createAgent } from '../../src/agent/agent.ts';
import type { AgentEvent } from '../../src/agent/events.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import type { NotificationInput } from '../../src/core/notification.ts';
import type { Store } from '../../src/core/ports.ts';
import { Inbox } from '../../src/inbox/index.ts';
import type { Tool } from '../../src/handles/tool.ts';
import { memoryStore } from '../../src/stores/index.ts';
import { find } from '../model/find.ts';
import type { Recorded } from '../model/tap.ts';
import { inOrder, startModel, type Model, type Request, type Step } from '../model/server.ts';
import { validate } from '../wire/validate.ts';
import { modelOf, THINKING, type Api } from './apis.ts';
import { changes, partsOf } from './prefix.ts';

export type TalkOptions = Partial<AgentOptions> & {
  readonly store?: Store;
  /** Takes the place of the inbox that the talk makes from `store` and `policy`. The talk closes this inbox at its end. */
  readonly inbox?: AgentOptions['earpiece'];
  readonly policy?: Partial<Policy>;
  /** Chooses the step for each request. By default, the n-th request gets the n-th step. */
  readonly stepOf?: (request: Request, n: number) => Step;
  /** Replaces the scripted model. The talk disposes of this model at its end. */
  readonly server?: Model<Recorded>;
};

export const ADDRESS = 'shop/coder#main';

export class Talk implements AsyncDisposable {
  readonly api: Api;
  readonly inbox: Inbox;
  readonly model: Model<Recorded>;
  readonly events: AgentEvent[] = [];
  readonly #open: () => Promise<Agent>;
  #agent: Agent | undefined;
  #waiting: (() => void)[] = [];

  private constructor(api: Api, inbox: Inbox, model: Model<Recorded>, open: () => Promise<Agent>) {
    this.api = api;
    this.inbox = inbox;
    this.model = model;
    this.#open = open;
  }

  static async start(api: Api, steps: readonly Step[], options: TalkOptions = {}): Promise<Talk> {
    const { store = memoryStore(), inbox: given, policy, stepOf = inOrder(steps), server, ...agent } = options;
    const model = server ?? (await startModel(stepOf));
    const inbox: AgentOptions['earpiece'] =
      given ??
      new Inbox({
        store,
        policies: { policy: () => ({ ...DEFAULT_POLICY, coalesceMs: {}, ...policy }) },
        timeZone: 'UTC',
      });
    const open = async (): Promise<Agent> =>
      createAgent({
        model: await modelOf(api, model.url),
        earpiece: inbox,
        address: ADDRESS,
        system: 'You are brief.',
        tools: [echo],
        maxRetries: 0,
        providerOptions: THINKING,
        ...agent,
      });
    const talk = new Talk(api, inbox, model, open);
    await talk.restart();
    return talk;
  }

  get agent(): Agent {
    if (!this.#agent) throw new Error('the talk has no agent: it could not be opened again');
    return this.#agent;
  }

  /** Closes the agent and opens a new agent, which knows only the log. */
  async restart(): Promise<void> {
    const before = this.#agent;
    this.#agent = undefined;
    await before?.close();
    const agent = await this.#open();
    this.#agent = agent;
    void (async () => {
      for await (const event of agent.events()) {
        this.events.push(event);
        for (const look of this.#waiting.splice(0)) look();
      }
    })();
  }

  get requests(): readonly Recorded[] {
    return this.model.requests;
  }

  queue(message: string, more: Partial<NotificationInput> = {}): Promise<unknown> {
    return this.inbox.queue(ADDRESS, { kind: 'ci.failed', message, ...more });
  }

  /** Resolves when the events so far fulfil `ready`. Checks again with each event. */
  async until(ready: (events: readonly AgentEvent[]) => boolean): Promise<void> {
    while (!ready(this.events)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when the text, the reasoning or the call arguments that the agent has read so far end with `said`. */
  async heard(type: 'text' | 'reasoning' | 'tool_input', said: string): Promise<void> {
    await this.until((events) =>
      events
        .flatMap((event) => (event.type === type ? [event.delta] : []))
        .join('')
        .endsWith(said),
    );
  }

  async turns(n: number): Promise<void> {
    await this.until((events) => events.filter((event) => event.type === 'mode' && event.mode === 'idle').length >= n);
  }

  /**
   * Checks the rules for every conversation: the API accepts each request, each request extends the previous request, and the
   * last request contains each marker once.
   */
  check(markers: readonly string[], { except = [] as readonly string[] } = {}): void {
    // A refused request was not read, so the following request may differ.
    const read = this.requests.filter(({ status }) => status !== 400);
    for (const request of read) expect(validate(request, except), `request ${request.n}`).toEqual([]);
    expect(changes(read)).toEqual([]);
    for (const marker of markers) expect(find(this.requests, marker), marker).toMatchObject({ inLast: 1 });
  }

  /** Compares the golden file: the last request, and the number of parts of each request. */
  async golden(name: string): Promise<void> {
    const sent = this.requests.map(({ body }) => partsOf(body).length);
    const text = JSON.stringify({ sent, path: this.requests.at(-1)?.path, body: this.requests.at(-1)?.body }, null, 1);
    const mark = /\[ep (\w+)\]/.exec(text)?.[1];
    const normal = mark === undefined ? text : text.replaceAll(`ep ${mark}]`, 'ep MARK]');
    await expect(`${normal}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'golden', this.api, `${name}.json`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent?.close();
    await this.inbox.close();
    await this.model[Symbol.asyncDispose]();
  }
}

export const echo: Tool = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
  execute: async (args) => ({ content: `echo ${JSON.stringify(args)}` }),
};

/** Returns a tool whose work the test defines. */
export const doing = (name: string, execute: Tool['execute']): Tool => ({ ...echo, name, execute });
