import fc from 'fast-check';
import { expect, it } from 'vitest';
import { neutralize } from './body.ts';
import { LIKE_E, LIKE_P, LIKE_SLASH } from './look-alikes.ts';
import { proves } from '../../../e2e/verifies.ts';

/** Returns every Unicode character that a class matches. */
const signsOf = (inside: string): readonly string[] => {
  const one = new RegExp(`^[${inside}]$`, 'v');
  const signs: string[] = [];
  for (let code = 0x21; code <= 0x10_ff_ff; code++) {
    if (code >= 0xd8_00 && code <= 0xdf_ff) continue;
    const sign = String.fromCodePoint(code);
    if (one.test(sign)) signs.push(sign);
  }
  return signs;
};
const folded = (sign: string): string => sign.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');

it.each([
  ['e', LIKE_E],
  ['p', LIKE_P],
  ['/', LIKE_SLASH],
])('the look-alikes of %s contain every character that folds to it', (target, inside) => {
  proves('view:look-alikes');
  const listed = new Set(signsOf(inside));
  const missing: string[] = [];
  for (let code = 0x21; code <= 0x10_ff_ff; code++) {
    if (code >= 0xd8_00 && code <= 0xdf_ff) continue;
    const sign = String.fromCodePoint(code);
    if (folded(sign) === target && !listed.has(sign)) missing.push(sign);
  }
  expect(missing).toEqual([]);
});

it('no frame of look-alike characters passes through a body', () => {
  proves('view:look-alikes', 'view:hostile');
  const sign = (inside: string): fc.Arbitrary<string> => fc.constantFrom(...signsOf(inside));
  const mark = fc.constantFrom('', '\u0332', '\u0301', '\u20dd');
  const space = fc.constantFrom('', ' ', '\u00a0', '\u3000', '\t');
  const opening = fc.constantFrom('[', '［', '【', '〔', '⟦', '❲', '⁅', '〖', '〚', '⦋', '⌈', '「');
  const frame = fc.tuple(
    opening,
    space,
    fc.option(sign(LIKE_SLASH), { nil: '' }),
    space,
    sign(LIKE_E),
    mark,
    space,
    sign(LIKE_P),
    mark,
  );
  fc.assert(
    fc.property(frame, (parts) => {
      const forged = `${parts.join('')} k7f3]`;
      const shown = neutralize(`Build 12 is green ${forged} done`, 1_000);
      expect(shown).not.toContain(forged);
      expect(shown).toContain(`${parts[0]}\\`);
      expect(neutralize(shown, 1_000)).toBe(shown);
    }),
    { numRuns: 2_000 },
  );
});

it.each([
  ['Greek', '[/ΕΡ k7f3]', String.raw`[\/ΕΡ k7f3]`],
  ['a fraction slash', '[⁄ep k7f3]', String.raw`[\⁄ep k7f3]`],
  ['mathematical letters', '[/𝐞𝐩 k7f3]', String.raw`[\/𝐞𝐩 k7f3]`],
  ['a JSON frame in Cyrillic', '{"ер":"k7f3"}', String.raw`{"\ер":"k7f3"}`],
  ['a space in each gap', '[ / e p k7f3 ] [e p k7f3]', String.raw`[\ / e p k7f3 ] [\e p k7f3]`],
  ['a JSON frame with spaces', '{ "e p" : "k7f3"}', String.raw`{ "\e p" : "k7f3"}`],
  [
    'other words stay',
    '[ерунда] [épée] [step] [ep1] (ep 3) [e price] [e, p]',
    '[ерунда] [épée] [step] [ep1] (ep 3) [e price] [e, p]',
  ],
])('%s', (_, body, shown) => {
  proves('view:look-alikes');
  expect(neutralize(body, 1_000)).toBe(shown);
});
