import { encode } from '@toon-format/toon';
import { describe, expect, test } from 'vitest';
import { bodyOf, firstOf, firstOfSpeech, mostOf, tableIn, word, visible, visibleOrEmpty } from './text.ts';

describe('a long text', () => {
  test.each([
    ['200 characters', 'x'.repeat(200), null],
    ['201 characters', 'x'.repeat(201), `${'x'.repeat(99)}…`],
    ['three lines', 'a\nb\nc', null],
    ['four lines', 'a\nb\nc\nd', 'a'],
    ['a first line that is blank', '\n \nfirst\nb\nc', 'first'],
    ['a first line of 100 characters', `${'y'.repeat(100)}\n\n\n\n`, 'y'.repeat(100)],
  ])('above 200 characters or three lines shows only its first line that is not blank: %s', (_, text, first) => {
    expect(firstOf(text)).toBe(first);
  });

  test('is cut between characters, and never inside a character', () => {
    const family = '👩‍👩‍👧‍👦';
    expect(firstOf(family.repeat(100))).toBe(`${family.repeat(9)}…`);
    expect(firstOf('e\u0301'.repeat(200))).toBe(`${'e\u0301'.repeat(49)}…`);
    expect(firstOf(`z${'\u0301'.repeat(1_000)}`)?.length).toBe(100);
  });

  test('shows at most its first 50,000 characters', () => {
    expect(mostOf('x'.repeat(50_000))).toHaveLength(50_000);
    expect(mostOf('x'.repeat(1_000_000))).toHaveLength(50_000);
    expect(mostOf(`${'x'.repeat(49_999)}👩‍👩‍👧‍👦${'x'.repeat(99)}`)).toBe('x'.repeat(49_999));
  });

  test('the text of a message may be longer than other texts', () => {
    expect(firstOfSpeech('x'.repeat(6_000))).toBeNull();
    expect(firstOfSpeech('x'.repeat(6_001))).toBe(`${'x'.repeat(2_000)} …`);
  });
});

test('a name is quoted as one word of a command line, and never becomes a second command', () => {
  expect(word('shop/coder')).toBe('shop/coder');
  expect(word('shop/coder#main')).toBe("'shop/coder#main'");
  expect(word("a/b'; rm -rf ~; '$(x)")).toBe("'a/b'\\''; rm -rf ~; '\\''$(x)'");
});

describe('a TOON table', () => {
  const rows = [
    { tool: 'npm_test', message: '3 failed: a, b' },
    { tool: 'search', message: '"quoted", too' },
  ];
  test('is read back as the encoder wrote it', () => {
    const columns = ['tool', 'message'];
    expect(tableIn(encode({ tool_fails: rows }))).toEqual({ name: 'tool_fails', columns, rows });
    expect(tableIn(encode(rows))).toEqual({ name: '', columns, rows });
    expect(Object.getPrototypeOf(tableIn('a[1]{__proto__}:\n  x')?.rows[0] ?? {})).toBe(Object.prototype);
  });

  test.each([
    'tool_fails[3]{tool,error}:\n  a,b\n  c',
    'the disk is full',
    'note: this: is no table',
    'note: wait\nand: see',
    'two words: a\nfails[1]{a,b}:\n  1,2',
    'fails[1]{a,b}:\n  1,2\nand: more',
    'names[2]: a,b',
    `a[1]{b}:\n  ${'x'.repeat(70_000)}`,
  ])('is nothing else: %.40j', (text) => expect(tableIn(text)).toBeNull());
});

describe('the words in a line of the sent text', () => {
  const table = 'tool_fails[2]{tool,error}:\n  a,b\n  c,d';
  const indented = table.replaceAll('\n', '\n    ');
  test.each([
    ['default', `tool error: ${indented}`, table],
    ['default', 'file info: file_changed: src/cart.ts', 'file_changed: src/cart.ts'],
    ['markdown', `- ${indented}`, table],
    ['xml', `<notification source="tool" level="error">\n${table}\n</notification>`, table],
    ['json', '{"level":"error"}', '{"level":"error"}'],
    [null, table, table],
  ])('%s', (format, line, body) => {
    expect(bodyOf(line, format)).toBe(body);
  });
});

describe('invisible characters', () => {
  test('are shown escaped, so they cannot change the order of other characters', () => {
    expect(visible('gepj.\u202Eexe\u200B')).toBe('gepj.\\u{202E}exe\\u{200B}');
    expect(visible('\u0007\u001B[31mred\u009B\u007F')).toBe('\\u{0007}\\u{001B}[31mred\\u{009B}\\u{007F}');
    expect(visible('two\tcells\r\nand a line')).toBe('two\tcells\r\nand a line');
    expect(visible('👩\u200D👧 می\u200Cخواهم')).toBe('👩\u200D👧 می\u200Cخواهم');
  });
  test.each(['', ' \n', '\u200D', '\u3164'])('%j says that it is empty', (text) => expect(visibleOrEmpty(text)).toBe('(empty)'));
});
