/**
 * Runs the server that the MCP conformance suite requires, with the tools, resources and prompts that its scenarios name.
 *
 *   node e2e/gateway/fixture-server.ts stdio
 *   node e2e/gateway/fixture-server.ts http [PORT]     prints its URL
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport, type EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  isInitializeRequest,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type CallToolResult,
  type JSONRPCMessage,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Tool = {
  readonly description: string;
  readonly inputSchema?: object;
  readonly outputSchema?: object;
  readonly call: (args: Record<string, unknown>, extra: Extra) => CallToolResult | Promise<CallToolResult>;
};

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

const TOOLS: Readonly<Record<string, Tool>> = {
  test_simple_text: { description: 'Text', call: () => text('This is a simple text response for testing.') },
  test_image_content: {
    description: 'An image',
    call: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }),
  },
  test_audio_content: {
    description: 'A sound',
    call: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'A resource',
    call: () => ({
      content: [
        {
          type: 'resource',
          resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    description: 'Several things',
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
        },
      ],
    }),
  },
  test_structured: {
    description: 'Structured content with a schema that admits nothing else',
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false },
    call: () => ({ ...text('{"n":1}'), structuredContent: { n: 1 } }),
  },
  test_error_handling: {
    description: 'An error',
    call: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_logging: {
    description: 'Log messages while it runs',
    async call(_args, extra) {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
        await sleep(50);
      }
      return text('logged');
    },
  },
  test_tool_with_progress: {
    description: 'Progress while it runs',
    async call(_args, extra) {
      const progressToken = extra._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        await sleep(50);
      }
      return text('done');
    },
  },
  test_for_ever: {
    description: 'Never answers',
    call: () => new Promise<never>(() => {}),
  },
  test_sampling: {
    description: 'Asks the client for a completion',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    async call({ prompt }, extra) {
      const params = {
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } }],
        maxTokens: 100,
      };
      const result = await extra.sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema);
      return text(`LLM response: ${JSON.stringify(result.content)}`);
    },
  },
  test_elicitation: {
    description: 'Asks the user',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    call: ({ message }, extra) =>
      elicit(
        extra,
        String(message),
        {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        ['username', 'email'],
      ),
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks the user, with defaults',
    call: (_args, extra) =>
      elicit(extra, 'defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks the user to choose',
    call: (_args, extra) =>
      elicit(extra, 'choices', {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
      }),
  },
  json_schema_2020_12_tool: {
    description: 'JSON Schema 2020-12',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    call: (args) => text(JSON.stringify(args)),
  },
  test_reconnection: {
    description: 'Closes its event stream before it answers',
    async call(_args, extra) {
      extra.closeSSEStream?.();
      await sleep(100);
      return text('after the reconnection');
    },
  },
};

function titled(...titles: readonly string[]): object[] {
  return titles.map((title, index) => ({ const: `value${index + 1}`, title }));
}

async function elicit(
  extra: Extra,
  message: string,
  properties: object,
  required: readonly string[] = [],
): Promise<CallToolResult> {
  const requestedSchema = { type: 'object', properties, required };
  // The SDK's types cover fewer kinds of schemas than the protocol.
  const request = { method: 'elicitation/create', params: { message, requestedSchema } } as unknown as ServerRequest;
  const { action, content } = await extra.sendRequest(request, ElicitResultSchema);
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
}

const RESOURCES = [
  { uri: 'test://static-text', name: 'text', description: 'Text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'binary', description: 'An image', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched', description: 'One to subscribe to', mimeType: 'text/plain' },
];

const user = (content: object): object => ({ role: 'user', content });

const PROMPTS: Readonly<
  Record<string, { readonly arguments?: readonly string[]; readonly messages: (args: Record<string, string>) => object[] }>
> = {
  test_simple_prompt: { messages: () => [user({ type: 'text', text: 'This is a simple prompt for testing.' })] },
  test_prompt_with_arguments: {
    arguments: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
  },
  test_prompt_with_embedded_resource: {
    arguments: ['resourceUri'],
    messages: ({ resourceUri }) => [
      user({
        type: 'resource',
        resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      user({ type: 'text', text: 'Please process the embedded resource above.' }),
    ],
  },
  test_prompt_with_image: {
    messages: () => [
      user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
      user({ type: 'text', text: 'Please analyze the image above.' }),
    ],
  },
};

function makeServer(): Server {
  const server = new Server(
    { name: 'fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(
      ([name, { call: _call, ...tool }]) => ({ name, inputSchema: { type: 'object' as const }, ...tool }) as never,
    ),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = TOOLS[params.name];
    return tool ? tool.call(params.arguments ?? {}, extra) : { ...text(`there is no tool ${params.name}`), isError: true };
  });
  server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: ['paris', 'park', 'party'], total: 150, hasMore: false },
  }));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: RESOURCES }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', name: 'template', description: 'By id', mimeType: 'application/json' },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1];
    if (id !== undefined) {
      return {
        contents: [
          { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) },
        ],
      };
    }
    if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PIXEL }] };
    return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(PROMPTS).map(([name, prompt]) => ({
      name,
      description: name,
      arguments: (prompt.arguments ?? []).map((argument) => ({ name: argument, description: argument, required: true })),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: (PROMPTS[params.name]?.messages(params.arguments ?? {}) ?? []) as never,
  }));
  return server;
}

/** Stores events by id, so that a client can resume a closed stream. */
function memoryEvents(): EventStore {
  const events: { id: string; stream: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(stream, message) {
      const id = `${stream}_${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const from = events.findIndex(({ id }) => id === lastEventId);
      const stream = events[from]?.stream ?? '';
      for (const event of events.slice(from + 1))
        if (event.stream === stream && Object.keys(event.message).length > 0) await send(event.id, event.message);
      return stream;
    },
  };
}

async function serveHttp(port: number): Promise<void> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { host = '' } = request.headers;
    if (!/^(localhost|127\.0\.0\.1)(:\d+)?$/.test(host)) return void response.writeHead(403).end();
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const body: unknown = parts.length > 0 ? JSON.parse(Buffer.concat(parts).toString()) : undefined;
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? transports.get(id) : undefined;
    if (transport === undefined && isInitializeRequest(body)) {
      const made: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: memoryEvents(),
        retryInterval: 50,
        onsessioninitialized: (session) => void transports.set(session, made),
        onsessionclosed: (session) => void transports.delete(session),
      });
      transport = made;
      await makeServer().connect(made);
    }
    if (transport === undefined) return void response.writeHead(id === undefined ? 400 : 404).end();
    await transport.handleRequest(request, response, body);
  };
  const http = createServer((request, response) => void handle(request, response));
  http.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`));
}

const [, , mode, port = '0'] = process.argv;
if (mode === 'http') await serveHttp(Number(port));
else await makeServer().connect(new StdioServerTransport());
