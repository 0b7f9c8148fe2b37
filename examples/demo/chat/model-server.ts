/**
 * Runs a server on 127.0.0.1 that speaks OpenAI's chat API and answers with the texts of a script, word by word. The agent cannot
 * distinguish this server from a real model.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { nextOf, type Message, type Says, type Step } from './script.ts';

export type Asked = {
  readonly step: Step;
  readonly messages: readonly Message[];
  /** The time at which the agent closed the connection before the answer was complete, epoch ms. */
  cutOffAt?: number;
};

export type ModelServerOptions = {
  /** Awaited before the answer begins. */
  readonly before: (step: Step) => Promise<void> | void;
  /** Returns the delay until the next word, in ms. Called after each word with the number of words so far. */
  readonly pace: (step: Step, words: number) => number;
  /** Returns the next answer of a conversation. Default: the script of the story. */
  readonly script?: (messages: readonly Message[]) => Says;
};

export class ModelServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #options: ModelServerOptions;
  readonly #server = createServer((request, response) => void this.#answer(request, response).catch(() => response.destroy()));
  #ended = false;

  private constructor(options: ModelServerOptions) {
    this.#options = options;
  }

  static async start(options: ModelServerOptions): Promise<ModelServer> {
    const server = new ModelServer(options);
    await new Promise<void>((resolve, reject) => server.#server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** The base URL for an OpenAI-compatible client. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { messages } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { messages: readonly Message[] };
    const says = (this.#options.script ?? nextOf)(messages);
    const asked: Asked = { step: says.step, messages };
    this.asked.push(asked);
    response.once('close', () => {
      if (!response.writableFinished && !this.#ended) asked.cutOffAt = Date.now();
    });
    await this.#options.before(says.step);
    if (response.destroyed) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await this.#say(says, response);
  }

  async #say({ step, text, calls, endless }: Says, response: ServerResponse): Promise<void> {
    const { pace } = this.#options;
    const write = (delta: object, finish: string | null = null): void =>
      void response.write(
        `data: ${JSON.stringify({ id: 'script', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    write({ role: 'assistant' });
    for (const [n, word] of text.split(/(?<= )/u).entries()) {
      if (response.destroyed) return;
      write({ content: word });
      await sleep(pace(step, n + 1));
    }
    // The text has ended, but the answer does not end until the agent aborts the request.
    while (endless && !response.destroyed && !this.#ended) await sleep(50);
    for (const [index, { name, args }] of calls.entries())
      write({
        tool_calls: [
          {
            index,
            id: `call_${this.asked.length}_${index}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(args) },
          },
        ],
      });
    write({}, calls.length > 0 ? 'tool_calls' : 'stop');
    response.end('data: [DONE]\n\n');
  }
}
