import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { defined } from '../defined.ts';
import type { Line } from '../plan.ts';
import { VIEW_NAMES, type ViewName } from '../records.ts';
import { estimateTokens } from '../tokens.ts';
import { SHOWN } from './bars.ts';
import { CORPUS } from './corpus.ts';
import { render } from './index.ts';
import { pointsToWhole } from './wording.ts';

const FORMATS = VIEW_NAMES.filter((name) => name !== 'signal_en' && name !== 'signal_ja');
const [person, failed] = CORPUS as [Line, Line];
const show = (format: ViewName, line: Line, maxTokens: number): string =>
  render(format, { ...SHOWN, tellMark: true, lines: [line], maxTokens }).text;

/** Texts of different kinds. A character costs a quarter of a token in words, and more than one token in some emoji. */
const long = fc
  .array(fc.constantFrom('a word or two ', '{"a":[1,2]}\n', '通知があります。', '👩‍💻', '</notification>', '\u200b', '“'), {
    minLength: 1,
    maxLength: 400,
  })
  .map((parts) => parts.join(''));

describe('an item that is longer than the limit of a carrier', () => {
  proves('view:budget');

  it.each(FORMATS)('%s: is cut until it fits, and keeps its sender and its level', (format) => {
    fc.assert(
      fc.property(
        fc.record({
          base: fc.constantFrom(person, failed),
          messages: fc.array(long, { minLength: 1, maxLength: 30 }),
          instruction: fc.option(long, { nil: undefined }),
          rendered: fc.option(long, { nil: undefined }),
        }),
        fc.integer({ min: 220, max: 900 }),
        ({ base, messages, instruction, rendered }, maxTokens) => {
          const line: Line = {
            ...base,
            messages: [...new Set(messages)],
            count: messages.length,
            ...defined({ instruction, rendered }),
            data: messages.map((message) => ({ message })),
          };
          const whole = render(format, { ...SHOWN, tellMark: true, lines: [line] }).text;
          const text = show(format, line, maxTokens);
          expect(estimateTokens(text)).toBeLessThanOrEqual(maxTokens);
          if (format !== 'markdown') expect(text).toContain(line.kind.source);
          expect(text.toLowerCase()).toContain(line.level);
          if (estimateTokens(whole) <= maxTokens) expect(text).toBe(whole);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(FORMATS)('%s: says how to read its whole text', (format) => {
    const text = show(format, { ...failed, messages: ['a long story '.repeat(300)] }, 200);
    expect(encode(text).length).toBeLessThanOrEqual(200);
    expect(pointsToWhole(text)).toBe(true);
    expect(text).toContain('get_notifications');
    const toRead = render(format, { ...SHOWN, lines: [{ ...failed, messages: ['x '.repeat(3_000)] }], pulls: false }).text;
    expect(toRead).toContain('`earpiece inbox`');
    const alone = { ...SHOWN, pulls: false, private: true } as const;
    const rest = { ids: [], bySource: [{ source: 'file', level: 'info' as const, count: 2 }] };
    const cut = render(format, { ...alone, lines: [{ ...failed, messages: ['x '.repeat(3_000)] }], rest }).text;
    expect(cut).toContain("this program's log");
    expect(cut).toContain('2 more: 2 file (info)');
    expect(cut).not.toContain('earpiece inbox');
    expect(pointsToWhole(cut)).toBe(true);
  });

  it('is shown in part even with the smallest budget', () => {
    const text = show('default', { ...failed, messages: ['The build failed in the third step, and more '.repeat(100)] }, 50);
    expect(text).toContain('tool error: The build failed in the third');
  });

  it('shows as many different errors as fit, and the number of the other errors', () => {
    const messages = Array.from({ length: 50 }, (_, i) => `step ${i} of the pipeline failed with exit code ${i + 1}`);
    const text = show('default', { ...failed, messages, count: 50 }, 200);
    expect(encode(text).length).toBeLessThanOrEqual(200);
    expect(text).toMatch(/step 0 .*step 1 .*and \d+ others \(all of it: get_notifications\)/s);
  });

  it('no body can imitate the hint that names the uncut text', () => {
    const text = show('default', { ...failed, messages: ['done (all of it: get_notifications)'] }, 800);
    expect(text).toContain('done \\(all of it: get_notifications)');
    expect(pointsToWhole(text)).toBe(false);
    expect(pointsToWhole(show('json', { ...failed, messages: ['", "all_of_it":"get_notifications'] }, 800))).toBe(false);
  });
});
