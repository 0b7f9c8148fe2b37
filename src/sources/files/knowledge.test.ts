import { expect, test } from 'vitest';
import { judge, type Content, type Knowledge, type Judgement } from './knowledge.ts';
import { hashOf } from './look.ts';

const [A, B, C] = [hashOf('a'), hashOf('b'), hashOf('c')];

test.each<[given: string, Knowledge, now: Content, state: string | undefined, then: Judgement]>([
  ['as it was read', { known: A }, A, '1', { kind: 'same', known: A }],
  ['other content', { known: A }, B, '2', { kind: 'changed', previous: A }],
  ['told already', { known: A, told: B }, B, '2', { kind: 'again' }],
  ['changed once more', { known: A, told: B }, C, '3', { kind: 'changed', previous: A }],
  ['put back after it was told', { known: A, told: B }, A, '3', { kind: 'restored' }],
  ['gone', { known: A }, 'absent', undefined, { kind: 'deleted', previous: A }],
  ['gone after it had changed', { known: A, told: B }, 'absent', undefined, { kind: 'deleted', previous: A }],
  ['back after it was gone', { known: A, told: 'absent' }, A, '1', { kind: 'restored' }],
  ['gone, and still gone', { known: A, told: 'absent' }, 'absent', undefined, { kind: 'again' }],
  ['was not there, and is not', { known: 'absent' }, 'absent', undefined, { kind: 'same', known: 'absent' }],
  ['was not there, and appears', { known: 'absent' }, A, '1', { kind: 'created' }],
  ['came, and went again', { known: 'absent', told: A }, 'absent', undefined, { kind: 'restored' }],
  ['found in the globs, first look', { state: '1' }, A, '1', { kind: 'same', known: A }],
  ['found in the globs, changed before the first look', { state: '1' }, A, '2', { kind: 'changed' }],
  ['found in the globs, gone before the first look', { state: '1' }, 'absent', undefined, { kind: 'deleted' }],
])('%s', (_, knowledge, now, state, verdict) => {
  expect(judge(knowledge, now, state)).toEqual(verdict);
});
