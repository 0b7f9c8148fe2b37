/**
 * Runs a model server on 127.0.0.1 that streams its script's answers in the format of the requested API, and keeps the bytes of
 * every request. Unlike the mock, this server signs reasoning, can wait at any place of an answer, and detects that the client
 * closed the socket.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, Ending, Wire } from './answer.ts';
import { asObject, parseJson, type JsonObject } from './json.ts';
import type { Recorded } from './tap.ts';
import { anthropic } from './wires/anthropic.ts';
import { chat } from './wires/chat.ts';
import { gemini } from './wires/gemini.ts';
import { responses } from './wires/responses.ts';

export type WireName = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

const WIRES: Readonly<Record<WireName, Wire>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  anthropic,
  gemini,
};

export type Request = Recorded & {
  readonly body: JsonObject;
  readonly wire: WireName;
  /**
   * The time on the machine's monotonic clock when the client closed the socket before the end of the answer. Otherwise
   * undefined.
   */
  readonly cutOff: Promise<bigint | undefined>;
};

export type Step = {
  readonly says?: Answer;
  readonly ends?: Ending;
  /** Replaces the answer. */
  readonly refuses?: { readonly status: number; readonly body: JsonObject };
  /** The headers of the response, for an answer or a refusal. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The server waits for this function before it sends the headers of the answer. */
  readonly before?: (request: Request) => Promise<unknown> | void;
  /**
   * The server waits for `do` before it sends this chunk. Part -1 is the start of the answer, and part `says.length` is its end.
   */
  readonly at?: readonly {
    readonly part: number;
    readonly delta: number | 'end';
    readonly do: (request: Request) => Promise<unknown> | void;
  }[];
};

export interface Model<R = Request> extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly R[];
}

/** Starts the server, which calls `stepOf` for each request, with the number of earlier requests. */
export async function startModel(stepOf: (request: Request, n: number) => Step): Promise<Model> {
  const requests: Request[] = [];
  const server = http.createServer((incoming, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const request = recordedOf(incoming, response, Buffer.concat(chunks), requests.length + 1);
      requests.push(request);
      try {
        await play(stepOf(request, requests.length - 1), request, response);
      } catch (error) {
        // The error of the script reaches the agent as an error of the model, so the test shows its reason.
        request.status = 500;
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: String(error), type: 'server_error' } }));
      }
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Gives the n-th request the n-th step, and later requests the last step. */
export const inOrder =
  (steps: readonly Step[]): ((request: Request, n: number) => Step) =>
  (_request, n) =>
    steps[Math.min(n, steps.length - 1)] ?? {};

/** Returns the API of a path. Throws for an API that the server does not support. */
export function wireOf(path: string): WireName {
  if (path.includes('/chat/completions')) return 'openai-chat';
  if (path.includes('/responses')) return 'openai-responses';
  if (path.includes('/messages')) return 'anthropic';
  if (path.includes(':streamGenerateContent')) return 'gemini';
  throw new Error(`no API of the scripted model has the path ${path}`);
}

function recordedOf(incoming: http.IncomingMessage, response: http.ServerResponse, raw: Buffer, n: number): Request {
  const text = raw.toString('utf8');
  const path = incoming.url ?? '/';
  const recorded: Request = {
    n,
    at: new Date().toISOString(),
    method: incoming.method ?? '?',
    path,
    raw,
    text,
    body: asObject(parseJson(text)) ?? {},
    wire: wireOf(path),
    status: null,
    bytes: 0,
    aborted: null,
    cutOff: new Promise((resolve) => {
      response.once('close', () => {
        const now = process.hrtime.bigint();
        if (!response.writableFinished) recorded.aborted = 'client';
        resolve(response.writableFinished ? undefined : now);
      });
    }),
  };
  return recorded;
}

async function play(step: Step, request: Request, response: http.ServerResponse): Promise<void> {
  await step.before?.(request);
  if (response.destroyed) return;
  if (step.refuses) {
    request.status = step.refuses.status;
    response
      .writeHead(request.status, { 'content-type': 'application/json', ...step.headers })
      .end(JSON.stringify(step.refuses.body));
    return;
  }
  request.status = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream', ...step.headers }).flushHeaders();
  for (const { part, delta, sse } of WIRES[request.wire](step.says ?? [], request.n, step.ends)) {
    for (const stop of step.at ?? []) if (stop.part === part && stop.delta === delta) await stop.do(request);
    if (response.destroyed) return;
    request.bytes += Buffer.byteLength(sse);
    if (sse !== '') response.write(sse);
  }
  response.end();
}
