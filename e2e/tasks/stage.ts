/** Starts agents that work on tasks, each with its own gateway, and a person at a server: all on one database. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient, type Client } from '../../src/wire/client/index.ts';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { createServer } from '../../src/server/index.ts';
import { Tasks } from '../../src/tasks/index.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { CLI } from '../built.ts';
import { Stage } from '../delivery/stage.ts';

const ECHO = join(import.meta.dirname, '../delivery/echo-server.ts');

export type Answer = { readonly text: string; readonly isError: boolean };

export class Office extends Stage {
  readonly #leaving: (() => Promise<unknown>)[] = [];

  private constructor(toml: string) {
    super();
    this.config(toml);
  }

  static async open(toml = '[gateway]\ntasks = true\n'): Promise<Office & { ear: LoadedInbox; tasks: Tasks; person: Client }> {
    const office = new Office(toml);
    const ear = await office.open();
    const server = createServer({ inbox: ear, project: 'shop', version: '0.0.0' });
    const { url } = await server.listen({ port: 0 });
    office.#leaving.push(() => server.stop());
    const { token } = await server.tokens.create({ kind: 'project', project: 'shop', name: 'Ann' });
    return Object.assign(office, { ear, tasks: new Tasks(ear), person: createClient({ url, token }) });
  }

  /** Opens an agent's session: a real MCP client in front of a real gateway. */
  async agent(conversation = 's1', { agent = 'coder', purpose = 'task' } = {}): Promise<Agent> {
    const client = new McpClient({ name: 'some-agent', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [CLI, 'gateway', '--', process.execPath, ECHO],
        cwd: this.folder,
        env: this.env({
          CALL_LOG: join(this.folder, 'calls.jsonl'),
          EARPIECE_ADDRESS: `shop/${agent}#${conversation}`,
          EARPIECE_PURPOSE: purpose,
        }),
      }),
    );
    this.#leaving.push(() => client.close());
    return new Agent(client);
  }

  /** Waits until the gateway has recorded the presence of the session. The gateway does so while it works. */
  async seen(conversation: string): Promise<void> {
    const { ear } = this as unknown as { ear: LoadedInbox };
    const of = { log: logKey('shop', 'coder'), conversation: conversation as ConversationId };
    while ((await ear.store.presence(of)).length === 0) await sleep(10);
  }

  /** Creates a task, and lets this session work on it. */
  async working(agent: Agent, title = 'Fix the login', assignee = 'coder'): Promise<string> {
    const { person } = this as unknown as { person: Client };
    const { id } = await person.createTask({ title, assignee });
    const next = await agent.does('get_next_action');
    if (next['action'] !== 'work') throw new Error(`get_next_action said ${JSON.stringify(next)}`);
    return id;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const leave of this.#leaving.toReversed()) await leave();
    await super[Symbol.asyncDispose]();
  }
}

export class Agent {
  readonly client: McpClient;

  constructor(client: McpClient) {
    this.client = client;
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    const { content, isError } = await this.client.callTool({ name, arguments: args });
    const text = (content as { text: string }[]).map((block) => block.text).join('\n');
    return { text, isError: isError === true };
  }

  /** Calls a tool of the gateway. Returns the JSON of its first block, or the text of an error as `refused`. */
  async does(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { content, isError } = await this.client.callTool({ name, arguments: args });
    const [first] = content as { text: string }[];
    return isError ? { refused: first?.text } : (JSON.parse(first?.text ?? '') as Record<string, unknown>);
  }

  async tools(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }
}
