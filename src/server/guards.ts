/**
 * The checks before every route, in this order. Host: refuses a page whose host name was pointed at this machine. Address: it
 * must not contain a token. Origin: refuses pages of other sites, and their forms. Then the token is checked, and the rate limit.
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
  /** The cookie's name; a server on another port uses another one. */
  readonly cookie: () => string;
};

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const WILDCARD = new Set(['0.0.0.0', '::', '[::]', '']);
export const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/iu.test(host);

/** A server that listens on all addresses accepts any of them, as a number or as the machine's name. */
const isNumeric = (name: string): boolean => /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/iu.test(name);

export class Guards {
  readonly #options: GuardOptions;
  readonly #names: Set<string>;
  readonly #rates: { readonly [K in keyof Rates]: Buckets };
  #anyAddress = false;
  /** The last accepted Host, because most requests repeat it. */
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

  /** The address that the server listens on decides which host names requests may use. */
  listensOn(host: string): void {
    // A URL changes the form of a host: `0` becomes 0.0.0.0.
    const name = nameOf(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`) ?? host.toLowerCase();
    if (WILDCARD.has(host) || WILDCARD.has(name)) {
      this.#anyAddress = true;
      this.#names.add(hostname().toLowerCase());
    } else this.#names.add(name);
  }

  /** Checks Host, address and Origin, for all routes. */
  readonly place: MiddlewareHandler<Env> = async (c, next) => {
    const host = c.req.header('host') ?? '';
    if (host !== this.#accepted) {
      const name = nameOf(`http://${host}`);
      if (name === undefined || !(this.#names.has(name) || (this.#anyAddress && isNumeric(name))))
        throw this.#refuse(
          'bad_host',
          `Host ${JSON.stringify(host.slice(0, 80))} is not a name of this server; if it is one, start it with --allow-host ${name ?? '<name>'}`,
        );
      this.#accepted = host;
    }
    for (const key of c.req.url.includes('?') ? new URL(c.req.url).searchParams.keys() : [])
      if (/^(access_?token|token|api_?key|authorization|bearer)$/iu.test(key))
        throw this.#refuse(
          'token_in_url',
          `${key} is in the address, which ends up in logs and histories; send it as Authorization: Bearer <token>, and revoke this token`,
        );
    const origin = c.req.header('origin');
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase())
      throw this.#refuse(
        'bad_origin',
        `Origin ${JSON.stringify(origin.slice(0, 80))} is not this server (its Host was ${JSON.stringify(host.slice(0, 80))}), and pages of other sites may not use it; a proxy in front of it must pass on Host unchanged`,
      );
    await next();
  };

  /** Checks the token, for the routes after it. */
  readonly token: MiddlewareHandler<Env> = async (c, next) => {
    const asked = credentialOf(c, this.#options.cookie());
    if (asked === undefined)
      throw this.#refuse(
        'unauthorized',
        'a token is required: Authorization: Bearer <token>; create one with: earpiece token create',
      );
    if (asked.by === 'cookie') mustBeOwnPage(c, (code, detail) => this.#refuse(code, detail));
    const who = await this.#options.tokens.check(asked.text);
    if (who === undefined) throw this.failed(c, new ProblemError('unauthorized', 'the token is not valid, or no longer valid'));
    const busy = (who.kind === 'send' ? this.#rates.sendToken : this.#rates.token).take(who.id);
    if (busy !== undefined) throw this.#tooMany('requests', busy);
    c.set('who', who);
    await next();
  };

  /** For routes that need no token. */
  readonly anyone: MiddlewareHandler<Env> = async (c, next) => {
    const wait = this.#rates.anonymous.take(addressOf(c));
    if (wait !== undefined) throw this.#tooMany('requests', wait);
    await next();
  };

  /**
   * The answer to a wrong token, code or signature: `why`, and after some failures from one address `rate_limited`. A right
   * token is still accepted: all processes of this machine have the same address.
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
 * Browsers send cookies by themselves. A change must come from a page of this server, and only such a page can send this
 * header.
 */
function mustBeOwnPage(c: Context<Env>, refuse: (code: 'bad_origin', detail: string) => Error): void {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') {
    const site = c.req.header('sec-fetch-site');
    if (site === undefined || site === 'same-origin' || site === 'none') return;
    throw refuse('bad_origin', `this request came from another site (${site}); only this server's own pages may use its cookie`);
  }
  if (c.req.header('origin') === undefined || c.req.header('x-earpiece') !== '1')
    throw refuse('bad_origin', 'with a cookie, a change needs the Origin of this server and the header x-earpiece: 1');
}

function credentialOf(c: Context<Env>, cookie: string): { by: 'bearer' | 'cookie'; text: string } | undefined {
  const authorization = c.req.header('authorization');
  if (authorization !== undefined) {
    const [, text] = /^Bearer +([\x21-\x7e]{1,200})$/iu.exec(authorization) ?? [];
    return { by: 'bearer', text: text ?? '' };
  }
  const text = cookieOf(c.req.header('cookie') ?? '', cookie);
  return text === undefined ? undefined : { by: 'cookie', text };
}

export function cookieOf(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** The address of the connection. A proxy's claim about another address does not count. */
export function addressOf(c: Context<Env>): string {
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
  return incoming?.socket.remoteAddress ?? 'unknown';
}

export const principalOf = (c: Context<Env>): Principal => c.get('who');

function nameOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  // A Host consists only of a name and a port.
  return parsed === null || parsed.pathname !== '/' || parsed.username !== '' || parsed.search !== '' || parsed.hash !== ''
    ? undefined
    : parsed.hostname.toLowerCase();
}

/** Name and port as a Host header gives them. Undefined for a page without an origin (`null`). */
function hostOf(origin: string): string | undefined {
  const parsed = URL.parse(origin);
  return parsed === null || !/^https?:$/u.test(parsed.protocol) ? undefined : parsed.host.toLowerCase();
}
