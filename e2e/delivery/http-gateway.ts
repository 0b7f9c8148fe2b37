/** Runs a gateway over HTTP in front of the echo server, with clients that identify themselves as a test requires. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CLI } from '../built.ts';
import { type Stage, type ToolResult } from './stage.ts';

const ECHO = join(import.meta.dirname, 'echo-server.ts');

export class HttpGateway implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
  }

  static async start(
    stage: Stage,
    env: Record<string, string> = {},
    server: readonly string[] = ['--', process.execPath, ECHO],
  ): Promise<HttpGateway> {
    const child = spawn(process.execPath, [CLI, 'gateway', '--http', '--port', '0', ...server], {
      cwd: stage.folder,
      env: stage.env({ CALL_LOG: join(stage.folder, 'calls.jsonl'), ...env }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    for await (const line of createInterface({ input: child.stderr })) {
      const [, url] = /listening on (\S+)/u.exec(line) ?? [];
      if (url !== undefined) return new HttpGateway(child, url);
    }
    throw new Error('the gateway ended before it listened');
  }

  /** Connects a client with a session. A client without a name does not identify itself. */
  async client(name?: string, headers: Record<string, string> = {}): Promise<HttpClient> {
    const client = new HttpClient(this.url, headers);
    await client.initialize(name);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGTERM');
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit');
  }
}

export class HttpClient {
  readonly #url: string;
  /** The headers of each request. After the handshake, the headers contain the session's id. */
  readonly headers: Record<string, string>;
  #next = 1;

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    };
  }

  /** Returns the result of the handshake. */
  async initialize(name?: string): Promise<{ instructions?: string }> {
    const { body, session } = await this.#post('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      ...(name === undefined ? {} : { clientInfo: { name, version: '1' } }),
    });
    if (session !== null) this.headers['mcp-session-id'] = session;
    return body as { instructions?: string };
  }

  async request(method: string, params: object): Promise<unknown> {
    return (await this.#post(method, params)).body;
  }

  async call(name: string, args: object = {}): Promise<ToolResult> {
    return (await this.request('tools/call', { name, arguments: args })) as ToolResult;
  }

  async #post(method: string, params: object): Promise<{ body: unknown; session: string | null }> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: this.headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: this.#next++, method, params }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.startsWith('text/event-stream')
      ? (text.split('\n').findLast((line) => line.startsWith('data: {')) ?? '').slice('data: '.length)
      : text;
    const { result, error } = JSON.parse(json) as { result?: unknown; error?: { message: string } };
    if (error !== undefined) throw new Error(error.message);
    return { body: result, session: response.headers.get('mcp-session-id') };
  }
}
