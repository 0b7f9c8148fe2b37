/** Makes tools for Earpiece's agent from the tools of MCP servers. */
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Tool, ToolOutcome } from '../handles/tool.ts';
import { McpClient, Unanswered, type ServerEvent } from '../mcp/client.ts';
import { linksTo } from '../mcp/links.ts';
import type { Upstream } from '../mcp/upstream.ts';
import { outcomeOf, type CallResult, type ResultLimits } from './mcp-results.ts';

export type McpTools = { readonly tools: readonly Tool[]; close(): Promise<void> };

export type McpToolsOptions = ResultLimits & {
  /** Gets an event when a server fails, disconnects or reconnects. */
  readonly onUpstream?: (event: ServerEvent) => void;
  readonly report?: (line: string) => void;
  /** How long a server may take to list its tools. Default 30,000 ms. With several servers, at most 12,000 ms. */
  readonly withinMs?: number;
};

type ToolDefinition = {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { readonly [key: string]: Json };
};

/** Separates the server's name from the tool's name if there are several servers. */
const SEPARATOR = '__';
const WITHIN_MS = 30_000;
/**
 * How long each of several servers may take to list its tools. The agent lists tools only once, so it waits for slow servers. A
 * hanging server must not delay the start for long.
 */
const OTHERS_WITHIN_MS = 12_000;

/**
 * Starts the servers and lists their tools. With several servers, broken servers are reported and left out. Rejects with
 * `upstream` if the only server does not work.
 */
export async function mcpTools(upstreams: readonly Upstream[], options: McpToolsOptions): Promise<McpTools> {
  const several = upstreams.length > 1;
  const { report = (line) => void process.stderr.write(`earpiece: ${line}\n`), onUpstream: tell = () => {} } = options;
  const withinMs = Math.min(options.withinMs ?? WITHIN_MS, several ? OTHERS_WITHIN_MS : Number.POSITIVE_INFINITY);
  const link = await linksTo(upstreams);
  const clients = upstreams.map(
    (upstream) => new McpClient({ upstream, link, info: { name: 'earpiece', version: '1' }, report, tell }),
  );
  const close = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.close({ graceMs: 0 })));
  };
  const lists = await Promise.all(
    clients.map(async (client, index): Promise<readonly Tool[] | EarpieceError> => {
      const { name } = upstreams[index]!;
      try {
        return (await definitionsOf(client, AbortSignal.timeout(withinMs))).map((tool) =>
          toolOf(several ? `${name}${SEPARATOR}${tool.name}` : tool.name, { tool, client, limits: options }),
        );
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        return new EarpieceError(
          'upstream',
          `MCP server ${name} did not answer: ${why}; start the server, or correct its command or URL`,
          { cause },
        );
      }
    }),
  );
  for (const failure of lists) {
    if (!(failure instanceof EarpieceError)) continue;
    if (several) {
      report(`${failure.message}; the tools of this server are missing`);
      continue;
    }
    await close();
    throw failure;
  }
  return { tools: lists.flatMap((tools) => (tools instanceof EarpieceError ? [] : tools)), close };
}

/** Reads all pages of a server's tools. */
async function definitionsOf(client: McpClient, within: AbortSignal): Promise<readonly ToolDefinition[]> {
  await client.start(within);
  const tools: ToolDefinition[] = [];
  for (let cursor: string | undefined; ;) {
    const page = (await client.request('tools/list', defined({ cursor }), within)) as {
      readonly tools: readonly ToolDefinition[];
      readonly nextCursor?: string;
    };
    tools.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor === undefined) return tools;
  }
}

const toolOf = (
  name: string,
  {
    tool: { name: its, description, inputSchema },
    client,
    limits,
  }: { readonly tool: ToolDefinition; readonly client: McpClient; readonly limits: ResultLimits },
): Tool => ({
  name,
  description: description ?? name,
  inputSchema,
  async execute(args, { signal }): Promise<ToolOutcome> {
    try {
      return outcomeOf((await client.request('tools/call', { name: its, arguments: args }, signal)) as CallResult, limits);
    } catch (error) {
      if (error instanceof Unanswered) return { content: error.message, isError: true };
      throw error;
    }
  },
});
