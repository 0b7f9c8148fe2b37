import { expect, it } from 'vitest';
import { Narrator } from './narrator.ts';
import { PlainSurface } from './plain-surface.ts';

/** Returns what a pipe gets: a heading that other code prints, and then the blocks of the narrator. */
function printed(tell: (narrator: Narrator) => void): string {
  let all = '';
  const write = (text: string): void => void (all += text);
  const narrator = new Narrator(new PlainSurface({ text: write, lines: write, coloured: false }), undefined, () =>
    Promise.reject(new Error('nothing is delivered here')),
  );
  write('heading\n');
  narrator.apart();
  tell(narrator);
  return all;
}

it('a blank line separates the heading from the first block, whatever this block is', async () => {
  expect(printed((narrator) => narrator.note('one'))).toBe('heading\n\none\n');
  expect(printed((narrator) => narrator.said('one'))).toBe('heading\n\n› one\n');
  expect(printed((narrator) => narrator.lines(['one']))).toBe('heading\n\none\n');
  expect(printed((narrator) => void narrator.tell({ type: 'text', delta: 'one' }))).toBe('heading\n\none');
});

it('notes after the first note follow without a blank line', () => {
  expect(
    printed((narrator) => {
      narrator.note('one');
      narrator.note('two');
    }),
  ).toBe('heading\n\none\ntwo\n');
});
