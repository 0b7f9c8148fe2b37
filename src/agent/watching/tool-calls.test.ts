import { expect, it } from 'vitest';
import { ToolCalls, type CallEnd } from './tool-calls.ts';

const call = { id: 'c1', name: 'vault_search', args: { query: 'x' } };
const failed = (message: string, more: object = {}): CallEnd => ({
  kind: 'failed',
  failure: { type: 'error', message, ...more },
});

it('the event of a failed call has its error and its counts', () => {
  expect(new ToolCalls().ended(call, failed('no such\n vault'), 20)).toEqual([
    {
      type: 'tool.call.failure',
      severity: 'error',
      message: '`vault_search` failed: no such vault',
      data: {
        tool_name: 'vault_search',
        call_id: 'c1',
        error_type: 'error',
        error_message: 'no such vault',
        retry_count: 0,
        failures: 1,
        duration_ms: 20,
        message: '`vault_search` failed: no such vault',
      },
    },
  ]);
});

it('a timeout is reported as a timeout only, and not as a failure too', () => {
  expect(new ToolCalls().ended(call, failed('', { type: 'timeout', timeoutMs: 30_000 }), 30_002)).toMatchObject([
    {
      type: 'tool.call.timeout',
      severity: 'warning',
      message: '`vault_search` failed: timeout after 30 s',
      data: { error_type: 'timeout', error_message: 'timeout after 30 s', timeout_ms: 30_000 },
    },
  ]);
});

it('a call that fails again reports the number of its earlier failures in the turn', () => {
  const calls = new ToolCalls();
  const retries = (): unknown => calls.ended(call, failed('x'), 1)[0]?.data?.['retry_count'];
  expect([retries(), retries(), retries()]).toEqual([0, 1, 2]);
  expect(calls.ended({ ...call, args: {} }, failed('x'), 1)[0]?.data?.['retry_count']).toBe(0);
  calls.begin();
  expect(retries()).toBe(0);
});

it('the event of a failing tool counts consecutive failures, regardless of the arguments', () => {
  const calls = new ToolCalls();
  const ended = (end: CallEnd, more: object = {}): unknown => calls.ended({ ...call, ...more }, end, 1)[0]?.data?.['failures'];
  expect([ended(failed('x')), ended(failed('y'), { args: {} }), ended(failed('', { type: 'timeout' }))]).toEqual([1, 2, 3]);
  expect(ended(failed('x'), { name: 'other' })).toBe(1);
  ended({ kind: 'success', resultLength: 1 });
  expect([ended(failed('x')), ended(failed('x'))]).toEqual([1, 2]);
  calls.begin();
  expect(ended(failed('x'))).toBe(1);
});

it('a long error keeps its beginning and its end, in 300 characters', () => {
  const message = new ToolCalls().ended(call, failed(`BEGIN ${'x'.repeat(5_000)} [exit code 3]`), 1)[0]?.data?.['error_message'];
  expect(message).toMatch(/^BEGIN x+… x+ \[exit code 3\]$/u);
  expect(JSON.stringify(message).length).toBeLessThanOrEqual(302);
});

it('an interrupted call emits no event about its tool', () => {
  expect(new ToolCalls().ended(call, { kind: 'interrupted' }, 1)).toEqual([]);
});

it('the event of a batch counts its successes and failures', () => {
  const ends: CallEnd[] = [{ kind: 'success', resultLength: 3 }, failed('x'), { kind: 'interrupted' }];
  expect(new ToolCalls().batch({ id: 'b', ends, durationMs: 5 })).toMatchObject({
    type: 'tool.batch.complete',
    data: { batch_id: 'b', tool_count: 3, success_count: 1, failure_count: 1, total_duration_ms: 5 },
  });
});

it('long arguments are left out', () => {
  const calls = new ToolCalls();
  expect(calls.pending(call).data).toMatchObject({ arguments: { query: 'x' } });
  expect(calls.pending({ ...call, args: { text: 'x'.repeat(3_000) } }).data).not.toHaveProperty('arguments');
  expect(calls.count).toBe(2);
});
