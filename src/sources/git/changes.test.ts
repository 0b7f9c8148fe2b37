import { expect, test } from 'vitest';
import { changesBetween, NOTHING_TOLD, type Change, type Told } from './changes.ts';
import { gitEvent } from './events.ts';
import type { GitState } from './state.ts';

const ONE = '1'.repeat(40);
const TWO = '2'.repeat(40);
const main: GitState = { branch: 'main', head: ONE, upstream: undefined, conflict: undefined };
const at = (upstream: string | undefined, behind = 0, ahead = 0): GitState => ({
  ...main,
  upstream: { name: 'origin/main', at: upstream, ahead, behind },
});
const rebasing = (step: string, ...files: string[]): GitState => ({ ...main, conflict: { operation: 'rebase', step, files } });
const told = (what: Partial<Told>): Told => ({ ...NOTHING_TOLD, ...what });

test.each<[given: string, before: GitState, now: GitState, told: Told, kinds: Change['kind'][]]>([
  ['an unchanged repository has no change', main, main, NOTHING_TOLD, []],
  ['a commit is no change', main, { ...main, head: TWO }, NOTHING_TOLD, []],
  ['the first commit is no change', { ...main, head: undefined }, main, NOTHING_TOLD, []],
  ['another branch is a switch', main, { ...main, branch: 'x' }, NOTHING_TOLD, ['switched']],
  ['a HEAD that is detached at its commit is a switch', main, { ...main, branch: undefined }, NOTHING_TOLD, ['switched']],
  [
    'a detached HEAD that moves is a switch',
    { ...main, branch: undefined },
    { ...main, branch: undefined, head: TWO },
    NOTHING_TOLD,
    ['switched'],
  ],
  ['a new upstream is no change', main, at(ONE, 3), NOTHING_TOLD, []],
  ['an upstream with new commits is a move', at(ONE), at(TWO, 1), NOTHING_TOLD, ['moved']],
  ['a push from this repository is no change', at(ONE, 0, 1), at(TWO), NOTHING_TOLD, []],
  [
    'an upstream with more commits after a reported move is a move',
    at(ONE, 1),
    at(TWO, 2),
    told({ upstream: 'origin/main' }),
    ['moved'],
  ],
  [
    'a pull after a reported move brings the branch up to date',
    at(TWO, 1),
    at(TWO),
    told({ upstream: 'origin/main' }),
    ['up_to_date'],
  ],
  ['a pull after an unreported move is no change', at(TWO, 1), at(TWO), NOTHING_TOLD, []],
  ['a deleted upstream is no change', at(ONE, 1), at(undefined), NOTHING_TOLD, []],
  [
    'another branch with its upstream at another commit is only a switch',
    at(ONE),
    { ...at(TWO, 1), branch: 'x' },
    NOTHING_TOLD,
    ['switched'],
  ],
  ['the first file in conflict is a conflict', main, rebasing('a', 'f'), NOTHING_TOLD, ['conflict']],
  [
    'one more file in conflict is a conflict',
    rebasing('a', 'f'),
    rebasing('a', 'f', 'g'),
    told({ conflict: true }),
    ['conflict'],
  ],
  ['one file less in conflict is no change', rebasing('a', 'f', 'g'), rebasing('a', 'g'), told({ conflict: true }), []],
  [
    'the same file in the next step of a rebase is a conflict',
    rebasing('a', 'f'),
    rebasing('b', 'f'),
    told({ conflict: true }),
    ['conflict'],
  ],
  [
    'no file in conflict after a reported conflict is a resolution',
    rebasing('a', 'f'),
    main,
    told({ conflict: true }),
    ['resolved'],
  ],
  ['no file in conflict after an unreported conflict is no change', rebasing('a', 'f'), main, NOTHING_TOLD, []],
])('%s', (_, before, now, was, kinds) => {
  expect(changesBetween(before, now, was).map(({ kind }) => kind)).toEqual(kinds);
});

test('each change has its text for the agent', () => {
  const moved = (ahead: number, behind: number): Change => ({
    kind: 'moved',
    branch: 'main',
    upstream: { name: 'origin/main', at: TWO, ahead, behind },
    before: ONE,
  });
  const conflict = (operation: 'rebase' | 'other', count: number): Change => ({
    kind: 'conflict',
    conflict: { operation, step: undefined, files: Array.from({ length: count }, (_, i) => `f${i}`) },
  });
  const switched = { kind: 'switched', from: 'main', to: 'a`b\n', detached: false, wasDetached: false } as const;
  const events = [
    gitEvent('/r', switched, { by: 'Ada' }, false),
    gitEvent('/r', { ...switched, to: '1234567890', detached: true }, {}, false),
    gitEvent(
      '/r',
      moved(0, 1),
      { arrived: { commits: ['Fix\u001b[31m it', 'x'.repeat(200)], count: 1, rewritten: false } },
      false,
    ),
    gitEvent('/r', moved(2, 7), { arrived: { commits: [], count: 7, rewritten: true } }, false),
    gitEvent('/r', { kind: 'up_to_date', branch: 'main', upstream: 'origin/main' }, {}, false),
    gitEvent('/r', conflict('rebase', 1), {}, false),
    gitEvent('/r', conflict('other', 30), {}, false),
    gitEvent('/r', { kind: 'resolved' }, {}, false),
    gitEvent('/r', { kind: 'resolved' }, {}, true),
  ];
  expect(events.map(({ severity, type, message }) => `${severity} ${type}: ${message}`)).toEqual([
    'warning git.branch_switched: the branch is now `a\\u0060b\\u000a` (before: `main`)',
    'warning git.branch_switched: HEAD is now detached at `1234567890` (before: `main`)',
    'info git.upstream_moved: `origin/main` has 1 new commit; `main` is 1 commit behind',
    'info git.upstream_moved: `origin/main` was rewritten; `main` is 2 commits ahead and 7 behind',
    'debug git.up_to_date: `main` has all of `origin/main`',
    'error git.conflict: the rebase stopped at a conflict in 1 file: `f0`',
    'error git.conflict: there is a conflict in 30 files: `f0`, `f1`, `f2`, `f3`, `f4` and 25 more',
    'info git.conflict_resolved: no file is in conflict any more',
    'debug git.conflict_resolved: no file is in conflict any more',
  ]);
  expect(events[0]?.data).toEqual({ from: 'main', to: 'a`b\n', by: 'Ada' });
  expect(events[2]?.data).toEqual({
    branch: 'main',
    upstream: 'origin/main',
    ahead: 0,
    behind: 1,
    commits: ['Fix\\u001b[31m it', `${'x'.repeat(99)}…`],
  });
  expect(events[6]?.data).toMatchObject({ operation: 'other', more: 10 });
  expect(new Set(events.map(({ key }) => key))).toEqual(new Set(['git.branch /r', 'git.upstream /r main', 'git.conflict /r']));
});
