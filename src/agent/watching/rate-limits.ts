/**
 * Reads the remaining rate limits of a model's provider from the headers of its answers, and recognizes refusals because of a
 * limit. A low limit is reported once until it resets.
 */
import { defined } from '../../core/defined.ts';
import { plainDuration, plainNumber, seen, type Seen } from './seen.ts';

export type Headers = Readonly<Record<string, string | undefined>>;

/** One rate limit. `resetAt` is in milliseconds since the epoch. */
export type Limit = { readonly name: string; readonly limit: number; readonly remaining: number; readonly resetAt?: number };

const LOW_AT = 0.1;
/** The assumed time until a limit resets, in ms, if the provider does not report it. */
const WINDOW_MS = 60_000;
/**
 * The time after which the notification about a refusal expires, counted from the end of the delay that the provider requests.
 */
const REFUSED_TTL_MS = 10 * 60_000;

export class RateLimits {
  readonly #provider: string;
  readonly #lowAt: number;
  /** For each limit, the time until which it counts as already reported, epoch ms. */
  readonly #told = new Map<string, number>();

  constructor({ provider, lowAt = LOW_AT }: { readonly provider: string; readonly lowAt?: number }) {
    this.#provider = provider;
    this.#lowAt = lowAt;
  }

  /** Returns the events about low limits in an answer's headers, whose names are in lower case. */
  heard(headers: Headers, now: number): readonly Seen[] {
    return limitsIn(headers, now).flatMap(({ name, limit, remaining, resetAt }) => {
      if (remaining > limit * this.#lowAt || (this.#told.get(name) ?? 0) > now) return [];
      const until = resetAt ?? now + WINDOW_MS;
      this.#told.set(name, until);
      const resets = resetAt === undefined ? '' : ` (reset in ${plainDuration(resetAt - now)})`;
      return [
        seen(
          `${plainNumber(remaining)} of ${plainNumber(limit)} ${name.replaceAll('-', ' ')} are left at ${this.#provider}${resets}`,
          {
            type: 'ratelimit.low',
            severity: 'warning',
            key: `ratelimit:${this.#provider}:${name}`,
            supersede: true,
            // The notification expires when the limit resets.
            ttlMs: Math.max(1_000, until - now),
            data: {
              provider: this.#provider,
              limit_name: name,
              limit,
              remaining,
              percentage: Math.floor((remaining / limit) * 100),
              ...(resetAt === undefined
                ? {}
                : { reset_at: new Date(resetAt).toISOString(), reset_seconds: Math.max(0, Math.ceil((resetAt - now) / 1_000)) }),
            },
          },
        ),
      ];
    });
  }

  /** Returns the event for a request that was refused with 429. `afterMs` is the delay that the provider requests. */
  refused({ afterMs }: { readonly afterMs?: number | undefined }): Seen {
    const after = afterMs === undefined ? '' : `; wait for ${plainDuration(afterMs)}`;
    return seen(`${this.#provider} refused a request: the rate limit is exceeded${after}`, {
      type: 'ratelimit.exceeded',
      severity: 'warning',
      key: `ratelimit:${this.#provider}:exceeded`,
      ttlMs: REFUSED_TTL_MS + (afterMs ?? 0),
      data: {
        provider: this.#provider,
        status: 429,
        ...(afterMs === undefined ? {} : { retry_after_ms: afterMs, retry_after_seconds: Math.ceil(afterMs / 1_000) }),
      },
    });
  }
}

/**
 * Returns every limit whose size and remainder are both in the headers:
 * - `anthropic-ratelimit-<name>-{limit,remaining,reset}`, reset as RFC 3339 (Anthropic's API reference, "Rate limits");
 * - `x-ratelimit-{limit,remaining,reset}[-<name>]`, reset as "6m0s", seconds or epoch (OpenAI's "Rate limits" and compatible
 *   APIs);
 * - `ratelimit-{limit,remaining,reset}`, reset in seconds (drafts of the IETF's RateLimit fields).
 */
export function limitsIn(headers: Headers, now: number): readonly Limit[] {
  const found = new Map<string, { limit?: number; remaining?: number; resetAt?: number }>();
  for (const [header, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const [, anthropic, theirs] = /^anthropic-ratelimit-(.+)-(limit|remaining|reset)$/u.exec(header) ?? [];
    const [, other, name] = /^(?:x-)?ratelimit-(limit|remaining|reset)(?:-(.+))?$/u.exec(header) ?? [];
    const what = theirs ?? other;
    if (what === undefined) continue;
    const of = anthropic ?? name ?? 'requests';
    const limit = found.get(of) ?? {};
    found.set(of, limit);
    if (what === 'reset') {
      const resetAt = resetOf(value, now);
      if (resetAt !== undefined) limit.resetAt = resetAt;
    } else {
      const number = value.trim() === '' ? Number.NaN : Number(value);
      if (Number.isFinite(number) && number >= 0) limit[what as 'limit' | 'remaining'] = number;
    }
  }
  return [...found].flatMap(([name, { limit, remaining, resetAt }]) =>
    limit === undefined || remaining === undefined || limit === 0 ? [] : [{ name, limit, remaining, ...defined({ resetAt }) }],
  );
}

/**
 * Returns the time of a reset in milliseconds since the epoch. `value` is a date, a duration such as "1m30.5s", seconds from now,
 * or an epoch in seconds or milliseconds.
 */
function resetOf(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+(\.\d+)?$/u.test(text)) {
    const number = Number(text);
    return number > 1e11 ? number : number > 1e9 ? number * 1_000 : now + number * 1_000;
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|us|µs|ns|d|h|m|s)/gu)];
  if (parts.length > 0 && parts.map(([part]) => part).join('') === text)
    return now + parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNIT_MS[unit ?? ''] ?? 0), 0);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
