/**
 * Checks every request before its route, in this order. The Host header must name this server, because the host name of a hostile
 * page may resolve to this machine. The URL must not contain a token. The Origin must not be another site, because a page or form
 * of another site could send the request. A public route then checks the rate limit of the client's IP address. Any other route
 * checks the token and its rate limit.
 */
import { hostname } from 'node:os';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import type { Env } from './context.ts';
import { Buckets, DEFAULT_RATES, type Rates } from './limits.ts';
import type { Metrics } from './metrics.ts';
import { ProblemError } from './problems.ts';
import type { Principal, Tokens } from './tokens.ts';

export type GuardOptions = {
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  /** Host names that a request may use for this server, in addition to the loopback names. */
  readonly allowedHosts: readonly string[];
  readonly rates?: Partial<Rates> | undefined;
};

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const WILDCARD = new Set(['0.0.0.0', '::', '[::]', '']);
export const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/iu.test(host);

/**
 * Whether a host name is an IP address. A server that listens on all IP addresses accepts any IP address and the name of the
 * machine as Host.
 */
const isNumeric = (name: string): boolean => /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/iu.test(name);

export class Guards {
  readonly #options: GuardOptions;
  readonly #names: Set<string>;
  readonly #rates: { readonly [K in keyof Rates]: Buckets };
  #anyAddress = false;
  /** The last accepted Host, kept because most requests repeat it. */
  #accepted: string | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#names = new Set([...LOOPBACK, ...options.allowedHosts].map((name) => name.toLowerCase()));
    const rates = { ...DEFAULT_RATES, ...options.rates };
    this.#rates = {
      token: new Buckets(rates.token),
      sendToken: new Buckets(rates.sendToken),
      anonymous: new Buckets(rates.anonymous),
      failures: new Buckets(rates.failures),
    };
  }

  /** Sets the host that the server listens on, which decides which host names requests may use. */
  listensOn(host: string): void {
    // A URL normalizes the form of a host: `0` becomes 0.0.0.0.
    const name = nameOf(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`) ?? host.toLowerCase();
    if (WILDCARD.has(host) || WILDCARD.has(name)) {
      this.#anyAddress = true;
      this.#names.add(hostname().toLowerCase());
    } else this.#names.add(name);
  }

  /** Checks Host, URL and Origin on all routes. */
  readonly place: MiddlewareHandler<Env> = async (c, next) => {
    const host = c.req.header('host') ?? '';
    if (host !== this.#accepted) {
      const name = nameOf(`http://${host}`);
      if (name === undefined || !(this.#names.has(name) || (this.#anyAddress && isNumeric(name))))
        throw this.#refuse(
          'bad_host',
          `Host ${JSON.stringify(host.slice(0, 80))} is not a name of this server; to allow the name, start the server with --allow-host ${name ?? '<name>'}`,
        );
      this.#accepted = host;
    }
    for (const key of c.req.url.includes('?') ? new URL(c.req.url).searchParams.keys() : [])
      if (/^(access_?token|token|api_?key|authorization|bearer)$/iu.test(key))
        throw this.#refuse(
          'token_in_url',
          `${key} is in the URL, but logs and histories keep URLs; revoke this token, and send a new token as Authorization: Bearer <token>`,
        );
    const origin = c.req.header('origin');
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase())
      throw this.#refuse(
        'bad_origin',
        `Origin ${JSON.stringify(origin.slice(0, 80))} is not the Host ${JSON.stringify(host.slice(0, 80))} of this request. Pages of other sites may not use this server. If there is a proxy, let the proxy pass Host unchanged`,
      );
    await next();
  };

  /** Checks the token and its rate limit. */
  readonly token: MiddlewareHandler<Env> = async (c, next) => {
    const asked = credentialOf(c);
    if (asked === undefined)
      throw this.#refuse(
        'unauthorized',
        'a token is required: Authorization: Bearer <token>; create a token with: earpiece token create',
      );
    if (asked.by === 'cookie') mustBeOwnPage(c, (code, detail) => this.#refuse(code, detail));
    const who = await this.#options.tokens.check(asked.text);
    if (who === undefined)
      throw this.failed(
        c,
        new ProblemError('unauthorized', 'the token is unknown, revoked or expired; create a token with: earpiece token create'),
      );
    const busy = (who.kind === 'send' ? this.#rates.sendToken : this.#rates.token).take(who.id);
    if (busy !== undefined) throw this.#tooMany('requests', busy);
    c.set('who', who);
    await next();
  };

  /** Checks the rate limit of the client's IP address, on routes that need no token. */
  readonly anyone: MiddlewareHandler<Env> = async (c, next) => {
    const wait = this.#rates.anonymous.take(addressOf(c));
    if (wait !== undefined) throw this.#tooMany('requests', wait);
    await next();
  };

  /**
   * Returns the error for a wrong token, code or signature: `why`, or `rate_limited` after several failures from one IP address.
   * A valid token is still accepted after such failures, because all processes of this machine have the same IP address.
   */
  failed(c: Context<Env>, why: ProblemError): ProblemError {
    const wait = this.#rates.failures.take(addressOf(c));
    if (wait !== undefined) return this.#tooMany('wrong tokens', wait);
    this.#options.metrics.count('earpiece_refused_total', { reason: why.code });
    return why;
  }

  #refuse(code: ConstructorParameters<typeof ProblemError>[0], detail: string): ProblemError {
    this.#options.metrics.count('earpiece_refused_total', { reason: code });
    return new ProblemError(code, detail);
  }

  #tooMany(what: string, seconds: number): ProblemError {
    this.#options.metrics.count('earpiece_refused_total', { reason: 'rate_limited' });
    return new ProblemError('rate_limited', `too many ${what} in a short time; try again in ${seconds} s`, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}

/**
 * Throws unless a request with a cookie comes from a page of this server. Browsers send cookies with every request, but only a
 * page of this server can set the header that changes need.
 */
function mustBeOwnPage(c: Context<Env>, refuse: (code: 'bad_origin', detail: string) => Error): void {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') {
    const site = c.req.header('sec-fetch-site');
    if (site === undefined || site === 'same-origin' || site === 'none') return;
    throw refuse('bad_origin', `this request came from another site (${site}); only this server's own pages may use its cookie`);
  }
  if (c.req.header('origin') === undefined || c.req.header('x-earpiece') !== '1')
    throw refuse('bad_origin', 'a change with a cookie also needs the Origin of this server and the header x-earpiece: 1');
}

function credentialOf(c: Context<Env>): { by: 'bearer' | 'cookie'; text: string } | undefined {
  const authorization = c.req.header('authorization');
  if (authorization !== undefined) {
    const [, text] = /^Bearer +([\x21-\x7e]{1,200})$/iu.exec(authorization) ?? [];
    return { by: 'bearer', text: text ?? '' };
  }
  const text = cookieOf(c.req.header('cookie') ?? '', cookieName(c));
  return text === undefined ? undefined : { by: 'cookie', text };
}

/**
 * Returns the name of the cookie for the host and port that the browser uses. Browsers send a host's cookies to all of its ports,
 * so the name contains the port. The servers behind one proxy share a cookie, even if their own ports differ.
 */
export const cookieName = (c: Context<Env>): string => `earpiece_${/:(\d+)$/u.exec(c.req.header('host') ?? '')?.[1] ?? ''}`;

export function cookieOf(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Returns the IP address of the connection. Headers in which a proxy names another IP address are ignored. */
export function addressOf(c: Context<Env>): string {
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
  return incoming?.socket.remoteAddress ?? 'unknown';
}

export const principalOf = (c: Context<Env>): Principal => c.get('who');

function nameOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  // A valid Host consists only of a name and a port.
  return parsed === null || parsed.pathname !== '/' || parsed.username !== '' || parsed.search !== '' || parsed.hash !== ''
    ? undefined
    : parsed.hostname.toLowerCase();
}

/**
 * Returns the name and port of an origin, in the form of a Host header. Returns undefined for the origin `null`, which a page
 * without an origin sends.
 */
function hostOf(origin: string): string | undefined {
  const parsed = URL.parse(origin);
  return parsed === null || !/^https?:$/u.test(parsed.protocol) ? undefined : parsed.host.toLowerCase();
}
