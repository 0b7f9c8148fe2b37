import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { limitsIn, RateLimits, type Headers } from './rate-limits.ts';

const NOW = Date.parse('2026-03-28T10:00:00Z');

describe('the headers of providers about their limits', () => {
  proves('sources:rate-limits');

  it.each<[string, Headers, object[]]>([
    [
      'Anthropic',
      {
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '4',
        'anthropic-ratelimit-requests-reset': '2026-03-28T10:00:30Z',
        'anthropic-ratelimit-input-tokens-limit': '1000',
        'anthropic-ratelimit-input-tokens-remaining': '900',
        'anthropic-ratelimit-unified-status': 'allowed',
        'request-id': 'x',
      },
      [
        { name: 'requests', limit: 50, remaining: 4, resetAt: NOW + 30_000 },
        { name: 'input-tokens', limit: 1_000, remaining: 900 },
      ],
    ],
    [
      'OpenAI',
      {
        'x-ratelimit-limit-tokens': '40000',
        'x-ratelimit-remaining-tokens': '100',
        'x-ratelimit-reset-tokens': '6m0.5s',
        'x-ratelimit-limit-requests': '10',
        'x-ratelimit-remaining-requests': '9',
        'x-ratelimit-reset-requests': '88ms',
      },
      [
        { name: 'tokens', limit: 40_000, remaining: 100, resetAt: NOW + 360_500 },
        { name: 'requests', limit: 10, remaining: 9, resetAt: NOW + 88 },
      ],
    ],
    [
      'others, in seconds',
      { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '20' },
      [{ name: 'requests', limit: 10, remaining: 1, resetAt: NOW + 20_000 }],
    ],
    [
      'others, as an epoch',
      { 'ratelimit-limit': '10', 'ratelimit-remaining': '1', 'ratelimit-reset': String((NOW + 20_000) / 1_000) },
      [{ name: 'requests', limit: 10, remaining: 1, resetAt: NOW + 20_000 }],
    ],
    ['a remainder without a limit', { 'x-ratelimit-remaining-tokens': '1' }, []],
    [
      'values that are not numbers',
      { 'x-ratelimit-limit': 'many', 'x-ratelimit-remaining': '', 'x-ratelimit-reset': 'soon' },
      [],
    ],
    ['a limit of 0', { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0' }, []],
  ])('%s', (_provider, headers, expected) => {
    expect(limitsIn(headers, NOW)).toEqual(expected);
  });

  const left = (remaining: number, resetIn = 20): Headers => ({
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': String(remaining),
    'x-ratelimit-reset-tokens': `${resetIn}s`,
  });

  it('a limit with only a tenth left is reported once, until the limit resets', () => {
    const limits = new RateLimits({ provider: 'openai' });
    expect(limits.heard(left(101), NOW)).toEqual([]);
    expect(limits.heard(left(100), NOW)).toMatchObject([
      {
        type: 'ratelimit.low',
        severity: 'warning',
        message: '100 of 1,000 tokens are left at openai (reset in 20 s)',
        ttlMs: 20_000,
        data: { provider: 'openai', limit: 1_000, remaining: 100, percentage: 10, reset_at: '2026-03-28T10:00:20.000Z' },
      },
    ]);
    expect(limits.heard(left(50, 10), NOW + 10_000)).toEqual([]);
    expect(limits.heard(left(20), NOW + 20_000)).toHaveLength(1);
  });

  it('the event of a refusal has the waiting time, if the provider names it', () => {
    const limits = new RateLimits({ provider: 'anthropic' });
    expect(limits.refused({ afterMs: 30_000 })).toMatchObject({
      type: 'ratelimit.exceeded',
      message: 'anthropic refused a request: the rate limit is exceeded; wait for 30 s',
      data: { provider: 'anthropic', retry_after_ms: 30_000 },
    });
    expect(limits.refused({}).message).toBe('anthropic refused a request: the rate limit is exceeded');
  });
});
