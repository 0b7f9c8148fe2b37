import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { viewBars } from './bars.ts';
import { CORPUS } from './corpus.ts';
import { proves } from '../../../e2e/verifies.ts';

const tokens = (text: string): number => encode(text).length;

describe('the tokens of the views in o200k', () => {
  proves('view:tokens');
  it('are measured on ten mixed messages of 144 tokens in total', () => {
    expect(CORPUS).toHaveLength(10);
    expect(CORPUS.flatMap((line) => line.messages).reduce((sum, message) => sum + tokens(message), 0)).toBe(144);
  });

  it.each(viewBars(tokens))('$what: $value, at most $bar', ({ reached, value, bar }) => {
    expect(value).toBeLessThanOrEqual(bar);
    expect(reached).toBe(true);
  });
});
