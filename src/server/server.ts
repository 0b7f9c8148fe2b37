/**
 * Makes the HTTP server: an API for programs, live streams, and the console. The server does not own the store and the inbox: the
 * caller closes them after `stop`.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { OpenAPIHono } from '@hono/zod-openapi';
import { HTTPException } from 'hono/http-exception';
import type { Context } from 'hono';
import type { SubscriberToggles } from '../bus/index.ts';
import type { Config } from '../config/index.ts';
import type { ConfigWriter } from '../config/change.ts';
import type { ShellInfo } from '../wire/api.ts';
import type { Emitter } from '../core/event.ts';
import { EarpieceError, GONE } from '../core/errors.ts';
import { callersWords, type Inbox } from '../inbox/index.ts';
import { complete, written } from './answer.ts';
import { bodies } from './bodies.ts';
import { consoleFrom } from './console.ts';
import type { Api, Deps, Env } from './context.ts';
import { Guards, isLoopbackHost } from './guards.ts';
import type { Rates } from './limits.ts';
import { Metrics } from './metrics.ts';
import { ProblemError, problemResponse, toldOf } from './problems.ts';
import { refusedBy } from './refused.ts';
import { activityRoutes } from './routes/activity.ts';
import { agentRoutes } from './routes/agents.ts';
import { conversationRoutes } from './routes/conversations.ts';
import { eventRoutes } from './routes/events.ts';
import { metaRoutes } from './routes/meta.ts';
import { muteRoutes } from './routes/mutes.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { forkRoutes } from './routes/forks.ts';
import { resumeRoutes } from './routes/resume.ts';
import { searchRoutes } from './routes/search.ts';
import { sessionRoutes } from './routes/session.ts';
import { settingsRoutes } from './routes/settings.ts';
import { streamRoutes } from './routes/stream.ts';
import { subscriberRoutes } from './routes/subscribers.ts';
import { taskRoutes } from './routes/tasks.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { loginUrl, makeCode, Sessions } from './sessions.ts';
import { Hub, type HubOptions } from './stream/hub.ts';
import { NO_TELEMETRY, type Telemetry } from './telemetry.ts';
import { Tokens } from './tokens.ts';

export type ServerOptions = ServerSettings & {
  readonly inbox: Inbox;
  /** The project of the server's working folder. */
  readonly project: string;
  readonly version: string;
  /** Returns the command with which a terminal reaches the same database. Default: a plain command without client names. */
  readonly shell?: () => ShellInfo;
  /** The tokens. Default: the tokens in the store of the inbox. */
  readonly tokens?: Tokens;
  /** Returns the current configuration, for the settings route. */
  readonly config?: () => Config;
  /** Changes settings. Without this option, settings are only shown. */
  readonly configWriter?: ConfigWriter;
  /** Emits incoming events. Without this option, events are refused. */
  readonly emitter?: Emitter;
  /** Returns the current subscribers of a project, and previews the notification of a subscriber. */
  readonly bus?: Deps['bus'];
  readonly toggles?: SubscriberToggles;
  /** Returns the current webhooks by name. Default: none. */
  readonly webhooks?: Deps['webhooks'];
  readonly streams?: Pick<HubOptions, 'heartbeatMs' | 'maxStreams' | 'maxBehindBytes'>;
  readonly telemetry?: Telemetry;
  /** Additional routes, with the same guards (`/api/…`). */
  readonly routes?: readonly ((api: Api, deps: Deps) => void)[];
};

export type ServerSettings = {
  /** The folder of the built console. Without this folder, the server has only the API. */
  readonly consoleFolder?: string;
  /** Host names that requests may use, in addition to the loopback names and the host that the server listens on. */
  readonly allowedHosts?: readonly string[];
  readonly rates?: Partial<Rates>;
  /** Reports errors that no client sees: one line each, safe to print. */
  readonly report?: (line: string) => void;
  /** Logs each request: one line, safe to print. */
  readonly log?: (line: string) => void;
  readonly timeouts?: Partial<Timeouts>;
};

/**
 * Time limits in ms: `headers` and `request` for the sending of a request, `keepAlive` for an idle connection, `stop` for open
 * requests.
 */
export type Timeouts = { readonly headers: number; readonly request: number; readonly keepAlive: number; readonly stop: number };
const TIMEOUTS: Timeouts = { headers: 10_000, request: 30_000, keepAlive: 5_000, stop: 5_000 };

const MAX_HEADER_BYTES = 16_384;

export type Listening = { readonly url: string; readonly host: string; readonly port: number };

export interface Server {
  /** The app, for tests and for programs that call `app.fetch` from another HTTP server. */
  readonly app: OpenAPIHono<Env>;
  readonly tokens: Tokens;
  /** Starts to listen. Throws `bad_argument` for a port in use, and for a host other than loopback while no token exists. */
  listen(at?: { readonly host?: string; readonly port?: number }): Promise<Listening>;
  /** Makes a URL that logs in one browser, once. */
  loginUrl(): Promise<string>;
  /** Ends the streams, finishes the requests in flight, and resolves. */
  stop(): Promise<void>;
}

export function createServer(options: ServerOptions): Server {
  const { inbox, report = () => {}, telemetry = NO_TELEMETRY } = options;
  const { store } = inbox;
  const metrics = new Metrics();
  const tokens = options.tokens ?? new Tokens(inbox, () => inbox.witnesses.mayRemove());
  const hub = new Hub({ store, tokens, metrics, telemetry, report, ...options.streams });
  let listening: Listening | undefined;
  const guards = new Guards({ tokens, metrics, allowedHosts: options.allowedHosts ?? [], rates: options.rates });
  const deps: Deps = {
    inbox,
    tokens,
    hub,
    metrics,
    telemetry,
    report,
    queue: (to, input) =>
      telemetry.span('earpiece.queue', { 'earpiece.level': input.level ?? 'info' }, async (set) => {
        const queued = await inbox.queue(to, callersWords(input, inbox.speaker));
        set({ 'earpiece.id': queued.id, 'earpiece.outcome': queued.kind });
        metrics.count('earpiece_queued_total', { kind: queued.kind });
        telemetry.count('earpiece.queued', { kind: queued.kind });
        return queued;
      }),
    sessions: new Sessions(store, tokens),
    project: options.project,
    version: options.version,
    shell: options.shell ?? (() => ({ earpiece: 'earpiece', clients: [] })),
    config: options.config,
    configWriter: options.configWriter,
    emitter: options.emitter,
    bus: options.bus,
    toggles: options.toggles,
    webhooks: options.webhooks ?? (() => new Map()),
  };

  const app: Api = new OpenAPIHono<Env>({
    defaultHook: (result, c) => {
      if (result.success) return;
      const { data } = result as { readonly data?: unknown };
      throw refusedBy(result.error, data, result.target, knownKeys(app, c, result.target));
    },
  });
  app.onError(async (error, c) => {
    const notJson = error instanceof HTTPException && error.status === 400;
    const { code } = toldOf(error);
    if (code === 'internal') report(`${c.get('answer')}: ${safe(error.stack ?? error.message)}`);
    if (code === 'outdated') report(GONE);
    const answer = problemResponse(error, c.get('answer'), notJson ? await sentText(c) : undefined);
    complete(answer, c.get('answer'));
    return answer;
  });
  app.notFound((c) => {
    throw new ProblemError(
      'no_such_route',
      `${c.req.method} ${c.req.path.slice(0, 200)} does not exist; /openapi.json lists all routes`,
    );
  });

  app.use(async (c, next) => {
    c.set('answer', randomUUID());
    if (c.env?.direct) noteHeaders(c);
    const startedAt = performance.now();
    const { method, path } = c.req;
    await telemetry.span(known(method), { 'http.request.method': method, 'url.path': path }, async (set, failed) => {
      await next();
      const route = routeOf(c.req.routePath, path);
      set({ 'http.route': route, 'http.response.status_code': c.res.status });
      // Hono has already converted the error to an answer, so `next` throws no exception.
      if (c.res.status >= 500) failed(`answered ${c.res.status}`);
      const seconds = (performance.now() - startedAt) / 1_000;
      metrics.request(known(method), route, c.res.status, seconds);
      telemetry.count('earpiece.http.requests', { route, status: c.res.status });
      complete(c.res, c.get('answer'));
      options.log?.(safe(`${method} ${path} ${c.res.status} ${(seconds * 1_000).toFixed(1)} ms ${c.get('answer')}`));
    });
  });
  app.use(guards.place);
  app.use(async (c, next) => (isPublic(c.req.method, c.req.path) ? guards.anyone : guards.token)(c, next));
  app.use(bodies);

  metaRoutes(app, deps);
  sessionRoutes(app, deps, guards);
  agentRoutes(app, deps);
  conversationRoutes(app, deps);
  resumeRoutes(app, deps);
  searchRoutes(app, deps);
  forkRoutes(app, deps);
  // These routes are registered first, because the later routes accept any id in the same place.
  subscriberRoutes(app, deps);
  muteRoutes(app, deps);
  notificationRoutes(app, deps);
  streamRoutes(app, deps);
  tokenRoutes(app, deps);
  eventRoutes(app, deps, { guards });
  settingsRoutes(app, deps);
  activityRoutes(app, deps);
  taskRoutes(app, deps);
  for (const mount of options.routes ?? []) mount(app, deps);

  const pages = consoleFrom(options.consoleFolder, options.version);
  app.get('*', async (c, next) => {
    if (c.req.path.startsWith('/api/')) return next();
    return pages(c) ?? next();
  });
  app.all('*', (c) => {
    const allowed = methodsOf(app, c.req.path);
    if (allowed.length === 0)
      throw new ProblemError(
        'no_such_route',
        `there is nothing at ${JSON.stringify(c.req.path.slice(0, 200))}; /openapi.json lists all routes`,
      );
    throw new ProblemError(
      'method_not_allowed',
      `${c.req.path.slice(0, 200)} accepts ${allowed.join(', ')}, got ${known(c.req.method)}`,
      { headers: { allow: allowed.join(', ') } },
    );
  });

  const running = new Running(app, { ...TIMEOUTS, ...options.timeouts });
  return {
    app,
    tokens,
    listen: async ({ host = '127.0.0.1', port = 4747 } = {}) => {
      if (!isLoopbackHost(host) && !(await tokens.any()))
        throw new EarpieceError(
          'bad_argument',
          `listening on ${JSON.stringify(host)} lets other machines reach this server, but no token exists yet; create a token first: earpiece token create --kind admin --name <name>`,
        );
      if (listening !== undefined)
        throw new EarpieceError(
          'bad_argument',
          `this server already listens at ${listening.url}; create another server to listen on a second port`,
        );
      guards.listensOn(host);
      const taken = await running.listen(host, port);
      listening = { host, port: taken, url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}` };
      if (telemetry !== NO_TELEMETRY) void hub.watch();
      return listening;
    },
    loginUrl: async () => {
      if (listening === undefined)
        throw new EarpieceError('bad_argument', 'the server is not listening yet; call listen() first');
      const { host, port, url } = listening;
      return loginUrl(/^(0\.0\.0\.0|::)$/u.test(host) ? `http://127.0.0.1:${port}` : url, await makeCode(inbox));
    },
    stop: async () => {
      const streams = hub.stop();
      await running.stop();
      await streams;
    },
  };
}

/** Runs Node's server for the app, limits the time of each client, and finishes requests in flight at its stop. */
class Running {
  readonly #server: NodeServer;
  readonly #timeouts: Timeouts;
  /**
   * All open connections. This set is needed because Node's `closeIdleConnections` skips connections without a first request,
   * which browsers keep in reserve.
   */
  readonly #open = new Set<Socket>();
  readonly #busy = new Set<Socket>();
  #stopped: Promise<void> | undefined;

  constructor(app: OpenAPIHono<Env>, timeouts: Timeouts) {
    this.#timeouts = timeouts;
    this.#server = createAdaptorServer({
      fetch: async (request, bindings) => {
        const node = bindings as HttpBindings;
        return written(await app.fetch(request, { ...node, direct: true }), node.outgoing);
      },
      overrideGlobalObjects: false,
      serverOptions: { maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: Math.min(1_000, timeouts.headers) },
    }) as NodeServer;
    this.#server.headersTimeout = timeouts.headers;
    this.#server.requestTimeout = timeouts.request;
    this.#server.keepAliveTimeout = timeouts.keepAlive;
    this.#server.maxHeadersCount = 100;
    this.#server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      if (this.#stopped !== undefined) response.setHeader('connection', 'close');
      this.#busy.add(socket);
      response.once('close', () => {
        this.#busy.delete(socket);
        if (this.#stopped !== undefined) socket.end();
      });
    });
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      // This listener is never removed: a connection that fails later (too many open files) must not end the server.
      this.#server.on('error', (error: NodeJS.ErrnoException) =>
        reject(
          new EarpieceError(
            'bad_argument',
            error.code === 'EADDRINUSE'
              ? `port ${port} of ${host} is in use, perhaps by another earpiece serve; choose another port with --port, or 0 for any free port`
              : `cannot listen on port ${port} of ${JSON.stringify(host)} (${error.code ?? error.message}); choose another --port or --host`,
            { cause: error },
          ),
        ),
      );
      this.#server.listen({ port, host, backlog: 4_096 }, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      if (!this.#server.listening) return;
      const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
      for (const socket of this.#open) if (!this.#busy.has(socket)) socket.destroy();
      const late = setTimeout(() => this.#server.closeAllConnections(), this.#timeouts.stop);
      await closed;
      clearTimeout(late);
    })();
    return this.#stopped;
  }
}

/** Reads a body that is not valid JSON; returns undefined if the body ended early. */
async function sentText(c: Context<Env>): Promise<string | undefined> {
  try {
    return await c.req.text();
  } catch {
    return undefined;
  }
}

/** Records that a route calls `c.header`, because `reply` must then use Hono's answer: a `JsonAnswer` has no such headers. */
function noteHeaders(c: Context<Env>): void {
  const { header } = c;
  c.header = (...said) => {
    c.set('headers', true);
    header(...said);
  };
}

/** Whether a route needs no token: health, the API document, login, webhooks, and the console's files. */
function isPublic(method: string, path: string): boolean {
  if (path === '/healthz' || path === '/openapi.json') return true;
  if (path === '/api/session') return method === 'POST';
  // A webhook needs no token, because its signature identifies the sender.
  if (path.startsWith('/api/webhooks/')) return true;
  return !path.startsWith('/api/') && path !== '/api' && path !== '/metrics';
}

// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Makes text of a client safe to print: the text can neither start a new line nor control a terminal. */
const safe = (text: string): string =>
  text.slice(0, 2_000).replaceAll(UNSAFE, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const known = (method: string): string => (METHODS.includes(method) ? method : 'OTHER');

/** Returns the label of a request in the metrics: the path of its route, because labels with ids would be unbounded. */
const routeOf = (route: string, path: string): string =>
  route === '*' || route === '/*' ? (path.startsWith('/api/') ? 'unknown' : 'console') : route;

function methodsOf(app: OpenAPIHono<Env>, path: string): string[] {
  return METHODS.filter((method) => {
    if (method === 'HEAD' || method === 'OPTIONS') return false;
    return app.routes.some(
      (route) => route.method === method && route.path !== '*' && route.path !== '/*' && patternOf(route.path).test(path),
    );
  });
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:[a-z]+/gu, '[^/]+')}$`, 'u');

/** Lists the keys that the route accepts, to suggest a correction for a misspelled key. */
function knownKeys(app: Api, c: Context<Env>, target: string): readonly string[] {
  const path = c.req.routePath.replaceAll(/:([a-z]+)/gu, '{$1}');
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== 'route' || definition.route.path !== path) continue;
    if (definition.route.method.toUpperCase() !== c.req.method) continue;
    const { query, body } = definition.route.request ?? {};
    const media = body?.content['application/json'] as { readonly schema?: unknown } | undefined;
    const schema = (target === 'query' ? query : media?.schema) as { readonly shape?: object } | undefined;
    return Object.keys(schema?.shape ?? {});
  }
  return [];
}
