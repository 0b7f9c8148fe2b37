import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { LastLines } from './last-lines.ts';

const lastOf = (n: number, ...chunks: readonly (string | Buffer)[]): readonly string[] => {
  const last = new LastLines(n);
  const stream = last.stream();
  for (const chunk of chunks) stream(Buffer.from(chunk as string));
  return last.read();
};

describe('the last lines', () => {
  proves('sources:processes');

  it('are complete, without blank lines, and include an unfinished line', () => {
    expect(lastOf(3, 'one\ntwo\n\n  \nthr', 'ee\r\nfour\nfi', 've')).toEqual(['three', 'four', 'five']);
    expect(lastOf(3)).toEqual([]);
    expect(lastOf(0, 'one\ntwo')).toEqual([]);
  });

  it('have no escape sequences, and only the last state of a progress bar', () => {
    expect(lastOf(2, '\u001b[1;31mFAIL\u001b[0m a.test.ts\n', '10%\r55%\r100%\n')).toEqual(['FAIL a.test.ts', '100%']);
    expect(lastOf(1, '\u001b]8;;https://example.com\u0007link\u001b]8;;\u0007 \u001b[', '2Kdone\n')).toEqual(['link done']);
  });

  it('are the same for any chunks, even within a character', () => {
    const text = 'größe 漢字 🦊\nétat ✖ 1 テスト\nend 🏁';
    fc.assert(
      fc.property(fc.array(fc.nat(Buffer.byteLength(text)), { maxLength: 12 }), (cuts) => {
        const bytes = Buffer.from(text);
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        expect(lastOf(3, ...chunks)).toEqual(text.split('\n'));
      }),
    );
  });

  it('lines of two streams are not mixed', () => {
    const last = new LastLines(3);
    const [out, err] = [last.stream(), last.stream()];
    out(Buffer.from('half a '));
    err(Buffer.from('a warning\n'));
    out(Buffer.from('line\n'));
    expect(last.read()).toEqual(['a warning', 'half a line']);
  });

  it('are limited in the length of each line and in total', () => {
    expect(lastOf(1, 'x'.repeat(5_000))[0]).toHaveLength(400);
    const many = lastOf(200, `${'y'.repeat(390)}\n`.repeat(300));
    expect(many.join('').length).toBeLessThanOrEqual(80_000);
    expect(many.length).toBe(200);
    const last = new LastLines(5);
    const stream = last.stream();
    for (let i = 0; i < 2_000; i++) stream(Buffer.alloc(65_536, 'z'));
    expect(last.read()[0]).toHaveLength(400);
  });

  it('are readable text, even if the output is binary', () => {
    const told = lastOf(2, Buffer.from([0xff, 0xfe, 0x00, 0x41, 0x0a, 0xc3]));
    expect(told.join('').isWellFormed()).toBe(true);
    expect(told.join('')).not.toContain('\0');
    const noise = Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i % 40 === 0 ? 0x0a : 0x80 + ((i * 7) % 0x40))));
    expect(lastOf(3, 'begins\n', noise, '\nends with a bad \ufffd byte\n')).toEqual([
      'begins',
      '(no text)',
      'ends with a bad \ufffd byte',
    ]);
  });
});
