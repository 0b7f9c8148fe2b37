import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { clean, lastLineOf, looksLikePrompt, readable, wholeCharacters } from './text.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('readable', () => {
  it.each([
    ['\u001b[1;31mred\u001b[0m and \u001b]8;;http://x\u0007link\u001b]8;;\u0007', 'red and link'],
    ['10%\r20%\r30%\n', '30%\n'],
    ['one\r\ntwo\r\n', 'one\ntwo\n'],
    ['passwort\b\b\bord', 'password'],
    ['a\tb\n', 'a\tb\n'],
    ['bell\u0007', 'bell'],
  ])('%j', (raw, text) => {
    expect(readable(bytes(raw))).toBe(text);
  });

  it('shows only a note for binary output', () => {
    expect(readable(Uint8Array.from({ length: 300 }, (_, i) => 255 - (i % 100)))).toBe('[binary, 300 bytes]');
    expect(readable(bytes('a\0b'))).toBe('[binary, 3 bytes]');
  });

  it('never shows an incomplete character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.nat(20), fc.nat(20), (text, a, b) => {
        const all = bytes(text);
        const part = all.subarray(Math.min(a, all.length), Math.max(a, all.length - b));
        expect(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(wholeCharacters(part))).not.toContain(
          '\ufffd\ufffd\ufffd\ufffd',
        );
      }),
    );
  });
});

describe('the last line', () => {
  it('skips blank lines, and is cut to 200 characters', () => {
    expect(lastLineOf('one\n two \n\n  \n')).toBe('two');
    expect(lastLineOf('\n \n')).toBeUndefined();
    expect(lastLineOf('👂'.repeat(300))).toBe(`${'👂'.repeat(199)}…`);
  });

  it('removes commands for the terminal, and the beginnings of commands without an end', () => {
    expect(clean('\u001b]0;title\u0007a\u001b]8;;https://x\u001b\\link\u001b]8;;\u001b\\ b')).toBe('alink b');
    expect(clean('\u001b]0;no end\nnext')).toBe('0;no end\nnext');
    // Quadratic time would be more than a minute.
    expect(clean(`${'\u001b]'.repeat(500_000)}x`)).toBe('x');
    expect(clean(`${'a'.repeat(500_000)}${'\b'.repeat(500_000)}x`)).toBe('x');
  });
});

describe('a line that looks like a prompt', () => {
  it.each([
    'Name: ',
    'Continue? ',
    'Proceed [y/N]',
    '(1/2) Stage this hunk [y,n,q,a,d,e,?]? ',
    '$ ',
    '>>> ',
    'root@x:~# ',
    'Press any key',
    'mysql> ',
  ])('%j is recognized', (line) => expect(looksLikePrompt(line)).toBe(true));
  it.each([
    '',
    '   ',
    'Compiling 3/10',
    'fetching 45% [====>',
    '#####',
    'done.',
    'loading...',
    '[1/5] linking',
    '(3/10)',
    '--->',
  ])('%j is not recognized', (line) => expect(looksLikePrompt(line)).toBe(false));
});
