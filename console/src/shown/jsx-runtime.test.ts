import { expect, test } from 'vitest';
import { Fragment, jsx, jsxs } from './jsx-runtime.ts';

const propsOf = (element: unknown): unknown => (element as { props: unknown }).props;

test('no text of an element contains an invisible character; values of fields and URLs of links stay unchanged', () => {
  expect(propsOf(jsx('b', { children: 'a\u202Eb', title: '\u2066t', 'aria-label': '\u200Bl' }))).toEqual({
    children: 'a\\u{202E}b',
    title: '\\u{2066}t',
    'aria-label': '\\u{200B}l',
  });
  expect(propsOf(jsx('option', { value: 'a\u202Eb', children: 'x' }))).toEqual({ value: 'a\u202Eb', children: 'x' });
  expect(propsOf(jsx('a', { href: '#/\u202E', children: null }))).toEqual({ href: '#/\u202E', children: null });
  expect(propsOf(jsxs('p', { children: ['\u202A', ['\u202B'], 1, null] }))).toEqual({
    children: ['\\u{202A}', ['\\u{202B}'], 1, null],
  });
  expect(propsOf(jsx(Fragment, { children: '\u202E' }))).toEqual({ children: '\\u{202E}' });
  const Part = (): null => null;
  expect(propsOf(jsx(Part, { children: '\u202E', text: '\u202E' }))).toEqual({ children: '\u202E', text: '\u202E' });
});
