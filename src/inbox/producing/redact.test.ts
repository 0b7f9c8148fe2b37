import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { redactedJson, redactor, UNUSABLE } from './redact.ts';

describe('redact', () => {
  proves('queue:patterns');
  it('a text is stored whole when no pattern is set', () => {
    expect(redactor([])('sk-12345')).toBe('sk-12345');
  });

  it.each(['(?<=key )\\w+', '(', 'x*', '(a)\\1'])(
    'with the invalid pattern %s no text is stored, even if another pattern matches',
    (bad) => {
      const clean = redactor(['sk-\\w+', bad]);
      expect(clean('the key 12345 and sk-1')).toBe(UNUSABLE);
      expect(redactedJson({ key: '12345', n: 1, list: ['a'], empty: '' }, clean)).toEqual({
        key: UNUSABLE,
        n: 1,
        list: [UNUSABLE],
        empty: '',
      });
    },
  );

  it('a text that is too long for its patterns is cut, and no part of a secret stays at the cut', () => {
    const slow = ['[a-y]{289}z', '[b-z]{289}a'];
    const secret = `${'y'.repeat(289)}z`;
    const text = `${secret}${' '.repeat(290)}`.repeat(1_000);
    const stored = redactor(slow)(text);
    expect(stored).toMatch(
      /^(?:\[redacted\] {290})+(?:\[redacted\])? *\[redacted: the rest; the text has 580000 characters, and at most \d+ can be searched\]$/u,
    );
    expect(stored).not.toContain('yyy');
  });
});
