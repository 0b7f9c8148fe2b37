import { describe, expect, it } from 'vitest';
import { NO_TELEMETRY, openTelemetry } from './telemetry.ts';

describe('OpenTelemetry', () => {
  it('does nothing if the package is not installed', async () => {
    const none = await openTelemetry(() => Promise.reject(new Error('Cannot find package')));
    expect(none).toBe(NO_TELEMETRY);
    expect(await none.span('x', {}, async (set) => (set({ a: 1 }), 7))).toBe(7);
    none.count('x', {});
    none.happened('x', 0, {});
  });

  it('records spans with late attributes and failures, and counters', async () => {
    const seen: unknown[] = [];
    const span = {
      setAttributes: (more: object) => seen.push(['attributes', more]),
      recordException: (error: Error) => seen.push(['exception', error.message]),
      setStatus: (status: object) => seen.push(['status', status]),
      end: (at?: number) => seen.push(['end', at]),
    };
    const api = {
      SpanStatusCode: { ERROR: 2 },
      trace: {
        getTracer: () => ({
          startActiveSpan: (name: string, options: object, work: (of: object) => unknown) => (
            seen.push([name, options]),
            work(span)
          ),
          startSpan: (name: string, options: object) => (seen.push([name, options]), span),
        }),
      },
      metrics: {
        getMeter: () => ({ createCounter: (name: string) => ({ add: (n: number, of: object) => seen.push([name, n, of]) }) }),
      },
    };
    const telemetry = await openTelemetry(() => Promise.resolve(api));
    await telemetry.span('GET', { path: '/x' }, async (set) => set({ status: 200 }));
    await expect(telemetry.span('POST', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    telemetry.count('queued', { kind: 'queued' });
    telemetry.count('queued', { kind: 'folded' });
    telemetry.happened('carry', 5, { log: 'a/b' });
    expect(seen).toEqual([
      ['GET', { attributes: { path: '/x' } }],
      ['attributes', { status: 200 }],
      ['end', undefined],
      ['POST', { attributes: {} }],
      ['exception', 'no'],
      ['status', { code: 2 }],
      ['end', undefined],
      ['queued', 1, { kind: 'queued' }],
      ['queued', 1, { kind: 'folded' }],
      ['carry', { startTime: 5, attributes: { log: 'a/b' } }],
      ['end', 5],
    ]);
  });

  it('uses an installed package, and has no effect without an SDK', async () => {
    const telemetry = await openTelemetry();
    expect(telemetry).not.toBe(NO_TELEMETRY);
    expect(await telemetry.span('x', {}, async () => 1)).toBe(1);
  });
});
