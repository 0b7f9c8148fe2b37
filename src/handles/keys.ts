/** Turns names of keys into the bytes that a terminal sends. */
import { didYouMean, EarpieceError } from '../core/errors.ts';

const NAMED: Readonly<Record<string, string>> = {
  enter: '\r',
  return: '\r',
  tab: '\t',
  'shift-tab': '\x1b[Z',
  space: ' ',
  esc: '\x1b',
  escape: '\x1b',
  backspace: '\x7f',
  delete: '\x1b[3~',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  home: '\x1b[H',
  end: '\x1b[F',
  'page-up': '\x1b[5~',
  'page-down': '\x1b[6~',
  insert: '\x1b[2~',
  f1: '\x1bOP',
  f2: '\x1bOQ',
  f3: '\x1bOR',
  f4: '\x1bOS',
  f5: '\x1b[15~',
  f6: '\x1b[17~',
  f7: '\x1b[18~',
  f8: '\x1b[19~',
  f9: '\x1b[20~',
  f10: '\x1b[21~',
  f11: '\x1b[23~',
  f12: '\x1b[24~',
};

/**
 * Returns the bytes of a key: a single character, or a key such as `enter`, `ctrl-c`, `alt-b` or `up`. Throws `bad_argument` for
 * an unknown name.
 */
export function keyBytes(name: string): string {
  const key =
    name.length === 1
      ? name
      : name
          .trim()
          .toLowerCase()
          .replaceAll(/[\s_+]+/gu, '-');
  if ([...key].length === 1) return key;
  const named = NAMED[key];
  if (named !== undefined) return named;
  const control = /^(?:ctrl|control|c)-(.)$/u.exec(key)?.[1];
  if (control !== undefined && /[a-z@[\\\]^_]/u.test(control))
    return String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f);
  const alt = /^(?:alt|meta|m)-(.)$/u.exec(key)?.[1];
  if (alt !== undefined) return `\x1b${alt}`;
  const meant = didYouMean(key, [...Object.keys(NAMED), 'ctrl-c', 'ctrl-d', 'ctrl-z']);
  throw new EarpieceError(
    'bad_argument',
    `no key is called ${JSON.stringify(name)}${meant === undefined ? '.' : `; did you mean ${meant}?`} Valid keys are single characters and names: enter, tab, esc, up, down, left, right, home, page-up, backspace, delete, f1, ctrl-c, alt-b and others`,
  );
}
