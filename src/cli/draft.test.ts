import { describe, expect, test } from 'vitest';
import { Draft } from './draft.ts';

function isOpenAfter(...presses: string[]): boolean {
  const draft = new Draft();
  for (const keys of presses) draft.press(Buffer.from(keys));
  return draft.isOpen;
}

describe('the input box holds unsent text', () => {
  test.each([['d'], ['é'], ['go on\r', 'd'], ['\u001B[200~a\r\nb\u001B[201~'], ['\u001B[A'], ['\u001BOA'], ['d', '\u001B[I']])(
    'after %j',
    (...presses) => {
      expect(isOpenAfter(...presses)).toBe(true);
    },
  );
});

describe('the input box holds no unsent text', () => {
  test.each([[''], ['d', '\r'], ['go on\r'], ['d', '\u0003'], ['\u001B[A', '\r'], ['\u001B']])('after %j', (...presses) => {
    expect(isOpenAfter(...presses)).toBe(false);
  });

  test.each([
    '\u001B[I',
    '\u001B[1;1R',
    '\u001B[?62;22c\u001B[?1u',
    '\u001B]11;rgb:0000/0000/0000\u0007',
    '\u001BP>|xterm(1)\u001B\\',
    '\u001B[<35;10;2M\u001B[<0;1;2m',
  ])('a reply of the terminal does not count as unsent text: %j', (reply) => {
    expect(isOpenAfter(reply)).toBe(false);
  });
});
