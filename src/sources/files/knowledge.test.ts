import { expect, test } from 'vitest';
import { judge, type Content, type Knowledge, type Judgement } from './knowledge.ts';
import { hashOf } from './look.ts';

const [A, B, C] = [hashOf('a'), hashOf('b'), hashOf('c')];

test.each<[given: string, Knowledge, now: Content, state: string | undefined, then: Judgement]>([
  ['unchanged content needs no event', { known: A }, A, '1', { kind: 'same', known: A }],
  ['other content is changed', { known: A }, B, '2', { kind: 'changed', previous: A }],
  ['content that was reported is not reported again', { known: A, told: B }, B, '2', { kind: 'again' }],
  ['other content after a report is changed', { known: A, told: B }, C, '3', { kind: 'changed', previous: A }],
  ['a file that has the content of the last read again is restored', { known: A, told: B }, A, '3', { kind: 'restored' }],
  ['a missing file is deleted', { known: A }, 'absent', undefined, { kind: 'deleted', previous: A }],
  [
    'a missing file after a reported change is deleted',
    { known: A, told: B },
    'absent',
    undefined,
    { kind: 'deleted', previous: A },
  ],
  [
    'a deleted file that has the content of the last read again is restored',
    { known: A, told: 'absent' },
    A,
    '1',
    { kind: 'restored' },
  ],
  ['a deletion that was reported is not reported again', { known: A, told: 'absent' }, 'absent', undefined, { kind: 'again' }],
  [
    'a file that was missing and still is needs no event',
    { known: 'absent' },
    'absent',
    undefined,
    { kind: 'same', known: 'absent' },
  ],
  ['a file that was missing and now exists is created', { known: 'absent' }, A, '1', { kind: 'created' }],
  ['a created file that is missing again is restored', { known: 'absent', told: A }, 'absent', undefined, { kind: 'restored' }],
  ['an unchanged file of the globs is known after its first check', { state: '1' }, A, '1', { kind: 'same', known: A }],
  ['a file of the globs that changed before its first check is changed', { state: '1' }, A, '2', { kind: 'changed' }],
  ['a file of the globs that is missing at its first check is deleted', { state: '1' }, 'absent', undefined, { kind: 'deleted' }],
])('%s', (_, knowledge, now, state, verdict) => {
  expect(judge(knowledge, now, state)).toEqual(verdict);
});
