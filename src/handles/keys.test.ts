import { describe, expect, it } from 'vitest';

import { keyBytes } from './keys.ts';

describe('keys by name', () => {
  it.each([
    ['enter', '\r'],
    ['Ctrl+C', '\u0003'],
    ['ctrl-[', '\u001b'],
    ['ctrl-@', '\0'],
    ['ALT-b', '\u001bb'],
    ['page_down', '\u001b[6~'],
    ['y', 'y'],
    ['Y', 'Y'],
    ['ß', 'ß'],
    [' ', ' '],
  ])('%j', (name, bytes) => expect(keyBytes(name)).toBe(bytes));

  it('the error for an unknown key suggests the nearest name', () => {
    expect(() => keyBytes('pgdn')).toThrow('no key is called "pgdn"');
    expect(() => keyBytes('escap')).toThrow('did you mean escape?');
  });
});
