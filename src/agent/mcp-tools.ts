/** Tools of MCP servers for our own agent: the gateway's upstream side, spoken to in memory. */
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import type { Json } from '../core/json.ts';
import { EarpieceError } from '../core/errors.ts';
import { noRider, startGateway, type Gateway, type Rider, type Upstream } from '../gateway/index.ts';
import type { Tool, ToolOutcome } from '../handles/tool.ts';
import { outcomeOf, type CallResult, type ResultLimits } from './mcp-results.ts';

export type McpTools = { readonly tools: readonly Tool[]; close(): Promise<void> };

type ToolDefinition = {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { readonly [key: string]: Json };
};

/** Starts the servers and lists their tools. Rejects with `upstream` when they cannot be had within `withinMs`. */
export async function mcpTools(
  upstreams: readonly Upstream[],
  options: ResultLimits & {
    readonly onUpstream?: Rider['upstream'];
    readonly report?: (line: string) => void;
    readonly withinMs?: number;
  },
): Promise<McpTools> {
  if (upstreams.length === 0) return { tools: [], close: async () => {} };
  const input = new PassThrough();
  const output = new PassThrough();
  const gateway: Gateway = await startGateway({
    front: { kind: 'stdio', input, output },
    upstreams,
    rider: { ...noRider, ...(options.onUpstream ? { upstream: options.onUpstream } : {}) },
    ...(options.report ? { report: options.report } : {}),
  });
  const line = new Line(input, output);
  const close = async (): Promise<void> => {
    input.end();
    await gateway.close({ now: true });
    await gateway.closed;
  };
  try {
    const within = AbortSignal.timeout(options.withinMs ?? 30_000);
    await line.request(
      'initialize',
      { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'earpiece', version: '1' } },
      within,
    );
    line.notify('notifications/initialized');
    const tools: Tool[] = [];
    for (let cursor: string | undefined; ;) {
      const page = (await line.request('tools/list', cursor === undefined ? {} : { cursor }, within)) as {
        tools: readonly ToolDefinition[];
        nextCursor?: string;
      };
      tools.push(...page.tools.map((tool) => toolOf(tool, line, options)));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    return { tools, close };
  } catch (cause) {
    await close();
    throw new EarpieceError(
      'upstream',
      `MCP servers ${upstreams.map((u) => u.name).join(', ')} did not answer: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

const toolOf = ({ name, description, inputSchema }: ToolDefinition, line: Line, limits: ResultLimits): Tool => ({
  name,
  description: description ?? name,
  inputSchema,
  async execute(args, { signal }): Promise<ToolOutcome> {
    const result = (await line.request('tools/call', { name, arguments: args }, signal)) as CallResult;
    return outcomeOf(result, limits);
  },
});

/** JSON-RPC over two streams, one frame a line. */
class Line {
  readonly #input: PassThrough;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #next = 1;

  constructor(input: PassThrough, output: PassThrough) {
    this.#input = input;
    createInterface({ input: output })
      .on('line', (text) =>
        this.#heard(JSON.parse(text) as { id?: number; method?: string; result?: unknown; error?: { message: string } }),
      )
      .on('close', () => {
        for (const waiter of this.#waiting.values()) waiter.reject(new Error('the servers have ended'));
        this.#waiting.clear();
      });
  }

  notify(method: string, params: object = {}): void {
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  async request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const id = this.#next++;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    const abort = (): void => {
      this.#waiting.delete(id);
      this.notify('notifications/cancelled', { requestId: id, reason: 'interrupted' });
      answer.reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    try {
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  #heard({ id, method, result, error }: { id?: number; method?: string; result?: unknown; error?: { message: string } }): void {
    if (method !== undefined) {
      // A server that asks us something (roots, sampling, elicitation): we have none of it.
      if (id !== undefined)
        this.#input.write(
          `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: `${method} is not supported` } })}\n`,
        );
      return;
    }
    const waiter = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiter === undefined) return;
    this.#waiting.delete(id);
    if (error) waiter.reject(new Error(error.message));
    else waiter.resolve(result);
  }
}
