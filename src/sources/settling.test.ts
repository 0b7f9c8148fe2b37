import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Settling } from './settling.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each key is due when it has been quiet, with one timer for all', () => {
  const due: string[] = [];
  const settling = new Settling<string>({ quietMs: 100 }, (key) => due.push(key));
  settling.touch('a');
  vi.advanceTimersByTime(60);
  settling.touch('b');
  settling.touch('a');
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(99);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(due).toEqual(['b', 'a']);
  expect([settling.size, vi.getTimerCount()]).toEqual([0, 0]);
});

test('a key that keeps changing is due after the longest wait, and then waits again', () => {
  const due: number[] = [];
  const settling = new Settling<string>({ quietMs: 100, withinMs: 500 }, () => due.push(performance.now()));
  const from = performance.now();
  for (let i = 0; i < 20; i++) {
    settling.touch('log');
    vi.advanceTimersByTime(60);
  }
  vi.runAllTimers();
  expect(due.map((at) => at - from)).toEqual([580, 1180]);
});

test('flush makes all keys due, and clear forgets all keys; a key that changes in the callback waits', () => {
  const due: string[] = [];
  const settling = new Settling<string>({ quietMs: 100 }, (key) => {
    due.push(key);
    if (due.length === 1) settling.touch('again');
  });
  settling.touch('a');
  settling.touch('b');
  settling.flush();
  expect([due, settling.size]).toEqual([['a', 'b'], 1]);
  vi.advanceTimersByTime(100);
  expect(due).toEqual(['a', 'b', 'again']);
  settling.touch('c');
  settling.clear();
  vi.runAllTimers();
  expect([due.length, vi.getTimerCount()]).toEqual([3, 0]);
});
