/** Runs a host without a model: an MCP client that makes scripted calls, and keeps the results that its model would get. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AGENT, complaintIn, EARPIECE, type Stage } from './stage.ts';

export type Given = {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The text blocks in order. The last block may be Earpiece's. */
  readonly blocks: readonly string[];
  readonly isError: boolean;
};

const LONGEST_MS = 15_000;

export class Agent {
  readonly given: Given[] = [];
  #client: Client;
  #trouble: () => string;

  private constructor(client: Client, trouble: () => string) {
    this.#client = client;
    this.#trouble = trouble;
  }

  /** Starts `earpiece gateway -- <server>` as a process and connects with it. */
  static async connect(stage: Stage, server: readonly string[]): Promise<Agent> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [EARPIECE, 'gateway', '--', ...server],
      cwd: stage.project,
      // The demo has its own conversation, even if an agent started this process.
      env: { ...stage.env, EARPIECE_ADDRESS: `${AGENT}#main` },
      stderr: 'pipe',
    });
    let said = '';
    transport.stderr?.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-2_000)));
    const trouble = (): string => complaintIn(said);
    const client = new Client({ name: 'coder', version: '1.0.0' });
    stage.onEnd(() => client.close());
    try {
      await client.connect(transport, { timeout: LONGEST_MS });
      // Like a host, the agent lists the tools. From then on, the client checks each structured result against its output schema.
      await client.listTools(undefined, { timeout: LONGEST_MS });
      return new Agent(client, trouble);
    } catch (error) {
      throw new Error(`the gateway did not start: ${trouble() || messageOf(error)}`, { cause: error });
    }
  }

  async call(tool: string, args: Given['args'] = {}): Promise<Given> {
    try {
      const result = await this.#client.callTool({ name: tool, arguments: args }, { timeout: LONGEST_MS });
      const blocks = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
      const given: Given = { tool, args, blocks, isError: result.isError === true };
      this.given.push(given);
      return given;
    } catch (error) {
      throw new Error(`${tool} got no answer: ${this.#trouble() || messageOf(error)}`, { cause: error });
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
