import { stripVTControlCharacters as bare } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import type { Notification } from '../../core/notification.ts';
import { widthOf } from '../table.ts';
import { noteLines, pendingLine, resultLine, seconds, shortened, summaryOf } from './lines.ts';

const note = (more: Partial<Notification> = {}): Notification => ({
  id: 'n_1' as never,
  kind: { source: 'ci', name: 'failed' },
  level: 'error',
  message: 'lint is red',
  ...more,
});
const never = (): number => expect.unreachable('nothing is left out');

describe('a call', () => {
  const call = { name: 'run', args: { command: 'npm test' } };
  const line = (content: string, { isError = false, width = 60 } = {}): string =>
    bare(resultLine(call, { content, isError }, width, () => 7));

  test.each([
    ['the only line of the result', 'all passed\n', '⚙ run  npm test · all passed'],
    ['the first of several lines', 'a\nb\nc', '⚙ run  npm test · a … /show 7'],
    ['the output without the exit code 0', 'all passed\n[exit code 0]', '⚙ run  npm test · all passed'],
    ['(nothing) for blank output', ' \n', '⚙ run  npm test · (nothing)'],
    [
      'the state and the last line of a handle',
      '{"id":"t","state":"running","content":"a\\nb"}',
      '⚙ run  npm test · running: b … /show 7',
    ],
    [
      'the failure of a handle',
      '{"id":"t","state":"stopped","result":{"error":{"message":"exited with code 1"}}}',
      '⚙ run  npm test · stopped: exited with code 1',
    ],
  ])('shows %s', (_what, content, shown) => expect(line(content)).toBe(shown));

  test.each([
    ['the last line', 'a\nno such file', '⚙ run  npm test · ✗ no such file … /show 7'],
    ['the line before its exit code', 'no such file\n[exit code 1]', '⚙ run  npm test · ✗ no such file [exit code 1]'],
  ])('a failed call shows %s', (_what, content, shown) => expect(line(content, { isError: true })).toBe(shown));

  it('fits the row with any content', () => {
    const hostile = `\u001b]0;title\u0007${'日本'.repeat(60)}`;
    for (const width of [20, 40, 80])
      expect(
        widthOf(resultLine({ name: 'run', args: { command: hostile } }, { content: hostile, isError: true }, width, () => 7)),
      ).toBeLessThanOrEqual(width);
    expect(line(hostile)).not.toContain('\u001b');
  });

  test.each([
    [{ command: 'npm  test', background: true, id: 't' }, 'npm test (in the background as t)'],
    [{ action: 'fetch', id: 't' }, 'fetch t'],
    [{ action: 'apply', id: 't', input: 'y' }, 'y (apply t)'],
    [{ ids: ['a', 'b'] }, 'a, b'],
    [{ path: '/a', head: 3 }, '/a'],
    [{ a: 1, b: 2 }, '{"a":1,"b":2}'],
    [{}, ''],
  ])('the arguments %j are summarized as %j', (args, about) => expect(summaryOf(args)).toBe(about));
});

describe('a notification', () => {
  it('is shown in one line if the text fits', () =>
    expect(noteLines(note(), 80, never).map((line) => bare(line))).toEqual(['┃ ▲ error ci.failed, unnamed │ lint is red']));

  it('names the sender, the request and the count', () => {
    const lines = noteLines(
      note({ action: 'pause', origin: { person: 'Maria', depth: 0 }, instruction: 'wait', count: 3 }),
      80,
      never,
    );
    expect(lines.map((line) => bare(line))).toEqual([
      '┃ ▲ error ci.failed, asks to pause, 3 times, person Maria',
      '┃ │ lint is red',
      '┃ → │ wait',
    ]);
  });

  it('is shortened if the text is long', () => {
    const lines = noteLines(note({ message: 'a\nb\nc\nd' }), 80, () => 7);
    expect(lines.map((line) => bare(line))).toEqual(['┃ ▲ error ci.failed, unnamed │ a', '┃ │ b', '┃ │ c', '┃   … /show 7']);
    expect(shortened('x'.repeat(201))).toEqual({ text: `${'x'.repeat(199)}…`, short: true });
  });

  it.each([30, 60])('fits into %i columns', (width) => {
    const lines = noteLines(
      note({ message: 'the price of a share is rounded down where half a cent is to be rounded up' }),
      width,
      () => 7,
    );
    expect(lines.every((line) => widthOf(line) <= width)).toBe(true);
    expect(lines.map((line) => bare(line).replace(/^┃ [^│]*│? ?/u, '')).join(' ')).toContain('half a cent is to be rounded up');
  });

  it('fits into a narrow terminal, even with a long name of a person', () => {
    const lines = noteLines(note({ action: 'pause', origin: { person: 'M'.repeat(60), depth: 0 } }), 40, never);
    expect(lines.map((line) => bare(line))).toEqual([
      '┃ ▲ error ci.failed',
      '┃   asks to pause, person',
      `┃   ${'M'.repeat(36)}`,
      `┃   ${'M'.repeat(24)}`,
      '┃ │ lint is red',
    ]);
  });

  it('cannot imitate another line, and cannot control the terminal', () => {
    const lines = noteLines(note({ message: 'a\u001b[1A\n┃ ■ critical user.message stop' }), 80, never).map((line) => bare(line));
    expect(lines).toEqual(['┃ ▲ error ci.failed, unnamed │ a�[1A', '┃ │ ┃ ■ critical user.message stop']);
  });

  it('is shown in one row while the notification waits', () => {
    const row = pendingLine(
      { level: 'info', kind: { source: 'files', name: 'changed' }, message: 'src/cart.ts\nand more', count: 4 },
      70,
      'waits 3 s',
    );
    expect(widthOf(row)).toBe(70);
    expect(bare(row)).toMatch(/^┆ ○ info files\.changed, 4 times, unnamed │ src\/cart\.ts ⏎ an… waits 3 s$/u);
  });
});

test.each([
  [0, '0.0 s'],
  [5_240, '5.2 s'],
  [9_960, '10 s'],
  [119_400, '119 s'],
  [600_000, '10 min'],
  [8_000_000, '2 h'],
])('%i ms is %s', (ms, shown) => expect(seconds(ms)).toBe(shown));
