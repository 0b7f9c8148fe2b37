/**
 * The typed client of the HTTP API, for Node and browsers. The console, the tests and commands with `--server` use this client.
 *
 * ```ts
 * const client = createClient({ url: 'http://127.0.0.1:4747', token: process.env.EARPIECE_TOKEN });
 *
 * await client.session();                                // whose token this is; in a browser: client.logIn({ code })
 * await client.agents({ project: 'shop' });              // agents, one page at a time
 * await client.conversations('shop/coder');
 * const page = await client.records('shop/coder#main', { newest: true });   // the latest records, oldest first
 * for await (const record of client.stream({ log: 'shop/coder', after: page.head })) …   // then new records, across reconnects
 *
 * await client.say('shop/coder#main', { content: 'use tabs' });
 * await client.interrupt('shop/coder', { action: 'pause' });
 *
 * const { id } = await client.queue({ to: 'shop/coder', kind: 'ci.failed', level: 'error', message: 'CI failed' });
 * await client.notifications({ log: 'shop/coder', state: 'open' });
 * await client.why(id, 'shop/coder');                    // history: steps, decisions, the exact texts for the model
 * await client.receipt(id, { until: 'delivered', withinMs: 30_000 });
 * await client.withdraw(id, { log: 'shop/coder' });
 * ```
 *
 * In a browser, omit `url` and `token`: requests send the browser's cookie, and the header that the server requires for changes.
 * A refused call throws `ApiError` with a stable `code`.
 */
import { defined } from '../../core/defined.ts';
import type { Call, CallOptions, Client, CloudEventInput } from './calls.ts';
import { agentPath, anyPath, conversationPath, notificationPath as id } from './paths.ts';
import { errorOf, notEarpiece, unreachable } from './problem.ts';
import { records } from './stream.ts';

export type ClientOptions = {
  /** The server's origin, without a path. Default: the origin of the page. */
  readonly url?: string;
  readonly token?: string;
  readonly fetch?: typeof fetch;
  /** The longest wait for an answer, in addition to the call's own wait. Default: the limit of `fetch`. */
  readonly timeoutMs?: number;
};

export function createClient(options: ClientOptions = {}): Client {
  const url = (options.url ?? '').replace(/\/+$/u, '');
  const send = options.fetch ?? ((...args: Parameters<typeof fetch>) => globalThis.fetch(...args));
  const { token, timeoutMs } = options;

  const request = async (path: string, { forMs = 0, ...init }: RequestInit & { forMs?: number }): Promise<Response> => {
    const headers = new Headers(init.headers);
    // In a browser, this header proves that the request comes from the server's own page. Pages of other sites cannot send this
    // header.
    headers.set('x-earpiece', '1');
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const late = new AbortController();
    const signal = init.signal == null ? late.signal : AbortSignal.any([init.signal, late.signal]);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => late.abort(new DOMException('no answer', 'TimeoutError')), timeoutMs + forMs);
    try {
      return await send(`${url}${path}`, { ...init, signal, headers, credentials: 'same-origin', redirect: 'error' });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw unreachable(url === '' ? 'the server' : url, error);
    } finally {
      // The timeout covers only the head of the response, because a stream does not end.
      clearTimeout(timer);
    }
  };

  const call = async <T>(
    method: string,
    path: string,
    { query, body, headers, signal, forMs = 0, alsoStatus }: CallOptions = {},
  ): Promise<T> => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
    const response = await request(`${path}${search.size === 0 ? '' : `?${search.toString()}`}`, {
      method,
      forMs,
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...defined({ signal }),
    });
    const isJson = /\bjson\b/u.test(response.headers.get('content-type') ?? '');
    if (!(response.ok || response.status === alsoStatus) || !isJson) throw await errorOf(response);
    try {
      return (await response.json()) as T;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw error instanceof SyntaxError
        ? notEarpiece(response, 'did not answer with JSON', { cause: error })
        : unreachable(url === '' ? 'the server' : url, error);
    }
  };

  const once = (key: string | undefined): Pick<CallOptions, 'headers'> =>
    key === undefined ? {} : { headers: { 'idempotency-key': key } };
  const of = ({ signal }: Call): Call => defined({ signal });

  return {
    url,
    call,
    health: (options = {}) => call('GET', '/healthz', { alsoStatus: 503, ...of(options) }),
    logIn: (by) => call('POST', '/api/session', { body: by }),
    session: (options = {}) => call('GET', '/api/session', of(options)),
    logOut: async () => void (await call('DELETE', '/api/session')),

    agents: ({ signal, ...query } = {}) => call('GET', '/api/agents', { query, ...(signal ? { signal } : {}) }),
    conversations: (agent, { signal, ...query } = {}) =>
      call('GET', `${agentPath(agent)}/conversations`, { query, ...(signal ? { signal } : {}) }),
    records: (conversation, { signal, ...query } = {}) =>
      call('GET', `${conversationPath(conversation)}/records`, { query, ...(signal ? { signal } : {}) }),
    search: (conversation, { signal, ...query }) =>
      call('GET', `${conversationPath(conversation)}/search`, { query, ...(signal ? { signal } : {}) }),
    forks: (conversation, { signal, ...query } = {}) =>
      call('GET', `${conversationPath(conversation)}/forks`, { query, ...(signal ? { signal } : {}) }),
    log: ({ signal, ...query } = {}) => call('GET', '/api/records', { query, ...(signal ? { signal } : {}) }),
    stream: (options = {}) => records(options, (path, headers, signal) => request(path, { headers, signal })),

    say: (conversation, message, { idempotencyKey, ...options } = {}) =>
      call('POST', `${conversationPath(conversation)}/messages`, { body: message, ...once(idempotencyKey), ...of(options) }),
    interrupt: (address, asked, { idempotencyKey, ...options } = {}) =>
      call('POST', `${anyPath(address)}/interrupt`, { body: asked, ...once(idempotencyKey), ...of(options) }),

    resume: (to, asked = {}, options = {}) => call('POST', '/api/resume', { body: { to, ...asked }, ...of(options) }),

    queue: (notification, { idempotencyKey, ...options } = {}) => {
      const { kind } = notification;
      const body = { ...notification, ...(typeof kind === 'object' ? { kind: `${kind.source}.${kind.name}` } : {}) };
      return call('POST', '/api/notifications', { body, ...once(idempotencyKey), ...of(options) });
    },
    notifications: ({ signal, ...query } = {}) => call('GET', '/api/notifications', { query, ...(signal ? { signal } : {}) }),
    why: (which, log, options = {}) => call('GET', id(which), { query: { log }, ...of(options) }),
    withdraw: (which, { log, reason, ...options } = {}) =>
      call('POST', `${id(which)}/withdraw`, { query: { log }, body: defined({ reason }), ...of(options) }),
    read: (which, { log, ...options } = {}) => call('POST', `${id(which)}/read`, { query: { log }, ...of(options) }),
    requeue: (which, { log, ...options } = {}) => call('POST', `${id(which)}/requeue`, { query: { log }, ...of(options) }),
    receipt: (which, { log, until, withinMs, ...options } = {}) =>
      call('GET', `${id(which)}/receipt`, {
        query: { log, until, wait: withinMs === undefined ? undefined : withinMs / 1_000 },
        forMs: withinMs ?? 0,
        ...of(options),
      }),

    emit: (events, options = {}) => {
      const several = Array.isArray(events);
      const whole = (event: CloudEventInput): CloudEventInput => ({ specversion: '1.0', ...event });
      return call('POST', '/api/events', {
        body: several ? (events as readonly CloudEventInput[]).map(whole) : whole(events as CloudEventInput),
        headers: { 'content-type': `application/cloudevents${several ? '-batch' : ''}+json` },
        ...of(options),
      });
    },

    subscribers: ({ project, ...options } = {}) =>
      call('GET', '/api/notifications/subscribers', { query: { project }, ...of(options) }),
    toggleSubscriber: (which, enabled, { project, ...options } = {}) =>
      call('POST', `/api/notifications/subscribers/${encodeURIComponent(which)}/toggle`, {
        query: { project },
        body: { enabled },
        ...of(options),
      }),
    testSubscriber: (which, { project, to, for: whom, ...options } = {}) =>
      call('POST', `/api/notifications/subscribers/${encodeURIComponent(which)}/test`, {
        query: { project },
        body: { ...defined({ to, for: whom }) },
        ...of(options),
      }),
    disabledSubscribers: async ({ project, ...options } = {}) =>
      (await call<Disabled>('GET', '/api/settings/notifications', { query: { project }, ...of(options) })).disabled_subscribers,
    setDisabledSubscribers: async (ids, { project, ...options } = {}) =>
      (
        await call<Disabled>('PUT', '/api/settings/notifications', {
          query: { project },
          body: { disabled_subscribers: ids },
          ...of(options),
        })
      ).disabled_subscribers,
    mutes: ({ log, project, ...options } = {}) => call('GET', '/api/mutes', { query: { log, project }, ...of(options) }),
    mute: (log, pattern, { until = null, ...options } = {}) =>
      call('POST', '/api/mutes', { body: { to: log, pattern, until }, ...of(options) }),
    unmute: (log, pattern, options = {}) => call('DELETE', '/api/mutes', { query: { log, pattern }, ...of(options) }),
    settings: (options = {}) => call('GET', '/api/settings', of(options)),
    changeSettings: (settings, { scope, ...options } = {}) =>
      call('PATCH', '/api/settings', { body: { settings, ...defined({ scope }) }, ...of(options) }),
    activity: ({ project, from, to, bucketMs, ...options } = {}) =>
      call('GET', '/api/activity', { query: { project, from, to, bucket: bucketMs }, ...of(options) }),

    tasks: ({ signal, status, ...query } = {}) =>
      call('GET', '/api/tasks', {
        query: { ...query, status: typeof status === 'object' ? status.join(',') : status },
        ...(signal ? { signal } : {}),
      }),
    task: (which, { project, ...options } = {}) => call('GET', taskPath(which), { query: { project }, ...of(options) }),
    createTask: (task, { idempotencyKey, ...options } = {}) =>
      call('POST', '/api/tasks', { body: task, ...once(idempotencyKey), ...of(options) }),
    editTask: (which, edit, { project, ...options } = {}) =>
      call('PATCH', taskPath(which), { query: { project }, body: edit, ...of(options) }),
    moveTask: (which, to, { project, ...options } = {}) =>
      call('POST', `${taskPath(which)}/status`, { query: { project }, body: to, ...of(options) }),
    taskExecutions: (which, { project, ...options } = {}) =>
      call('GET', `${taskPath(which)}/executions`, { query: { project }, ...of(options) }),

    tokens: (options = {}) => call('GET', '/api/tokens', of(options)),
    createToken: (request_, options = {}) => call('POST', '/api/tokens', { body: request_, ...of(options) }),
    revokeToken: async (which, options = {}) =>
      void (await call('DELETE', `/api/tokens/${encodeURIComponent(which)}`, of(options))),
  };
}

type Disabled = { readonly disabled_subscribers: readonly string[] };

const taskPath = (id: string): string => `/api/tasks/${encodeURIComponent(id)}`;
