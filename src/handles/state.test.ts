import { describe, expect, it } from 'vitest';

import { assertTransition, errorOf, ToolFailure, type Phase } from './state.ts';

const PHASES: readonly Phase[] = [
  { type: 'running' },
  { type: 'waiting', question: '?' },
  { type: 'stopped', result: { ok: '' } },
];
const ALLOWED = ['running waiting', 'running stopped', 'waiting running', 'waiting stopped'];

describe('the states of a handle', () => {
  it.each(PHASES.flatMap((from) => PHASES.map((to) => [from, to] as const)))('%o → %o', (from, to) => {
    const assert = (): void => assertTransition('job', from, to);
    if (ALLOWED.includes(`${from.type} ${to.type}`)) expect(assert).not.toThrow();
    else expect(assert).toThrow(`handle job: invalid transition ${from.type} → ${to.type}`);
  });
});

describe('a tool that throws', () => {
  it.each([
    [new Error('x', { cause: new Error('y', { cause: 'z' }) }), { message: 'x', trace: ['y'], transient: false }],
    [new ToolFailure('x', { trace: ['a'], transient: true }), { message: 'x', trace: ['a'], transient: true }],
    ['text', { message: 'text', trace: [], transient: false }],
    [new Error(''), { message: 'failed without a reason', trace: [], transient: false }],
  ])('%o fails with a message, the messages of its causes, and the flag transient', (thrown, error) =>
    expect(errorOf(thrown)).toEqual(error),
  );
});
