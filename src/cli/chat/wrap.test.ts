import { expect, it, test } from 'vitest';
import fc from 'fast-check';
import { widthOf } from '../table.ts';
import { Flow, wrap, wrapAll } from './wrap.ts';

test.each([
  ['at a space', 'one two three', 8, ['one two', 'three']],
  ['inside a long word', 'abcdefgh', 3, ['abc', 'def', 'gh']],
  ['before a long word', 'a bcdefgh', 3, ['a', 'bcd', 'efg', 'h']],
  ['keeping the first indent', '    if (x) {', 20, ['    if (x) {']],
  ['by columns, not characters', '日本語の文', 6, ['日本語', 'の文']],
  ['nothing if the line fits', 'one two', 7, ['one two']],
])('wraps %s', (_how, line, width, rows) => expect(wrap(line, width)).toEqual(rows));

it('continued rows are indented', () => {
  expect(wrapAll('one two three\nfour', 10, '› ', '  ')).toEqual(['› one two', '  three', '  four']);
});

it('untrusted text cannot control the terminal', () => {
  expect(wrapAll('a\u001b[2Jb\u202ec\td', 40)).toEqual(['a�[2Jb�c    d']);
});

it('a text in one piece and in several pieces gives the same rows', () => {
  const text = fc.stringMatching(/^[a-z \n日é\u{1f600}]{0,80}$/u);
  fc.assert(
    fc.property(text, fc.array(fc.nat(80), { maxLength: 8 }), fc.integer({ min: 4, max: 30 }), (text, cuts, width) => {
      const flow = new Flow();
      const rows: string[] = [];
      let from = 0;
      for (const to of [...cuts.toSorted((a, b) => a - b), text.length]) {
        rows.push(...flow.add(text.slice(from, to), width));
        from = Math.max(from, to);
      }
      rows.push(...flow.end());
      const once = new Flow();
      expect(rows).toEqual([...once.add(text, width), ...once.end()]);
      expect(rows.every((row) => widthOf(row) <= width)).toBe(true);
    }),
  );
});
