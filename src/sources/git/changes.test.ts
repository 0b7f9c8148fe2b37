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
  ['nothing', main, main, NOTHING_TOLD, []],
  ['a commit', main, { ...main, head: TWO }, NOTHING_TOLD, []],
  ['the first commit', { ...main, head: undefined }, main, NOTHING_TOLD, []],
  ['another branch', main, { ...main, branch: 'x' }, NOTHING_TOLD, ['switched']],
  ['HEAD is detached where it is', main, { ...main, branch: undefined }, NOTHING_TOLD, ['switched']],
  [
    'a detached HEAD moves',
    { ...main, branch: undefined },
    { ...main, branch: undefined, head: TWO },
    NOTHING_TOLD,
    ['switched'],
  ],
  ['an upstream is set', main, at(ONE, 3), NOTHING_TOLD, []],
  ['the upstream moves', at(ONE), at(TWO, 1), NOTHING_TOLD, ['moved']],
  ['the upstream moves by a push from here', at(ONE, 0, 1), at(TWO), NOTHING_TOLD, []],
  ['the upstream moves while it is told', at(ONE, 1), at(TWO, 2), told({ upstream: 'origin/main' }), ['moved']],
  ['a pull', at(TWO, 1), at(TWO), told({ upstream: 'origin/main' }), ['up_to_date']],
  ['a pull of what was not told', at(TWO, 1), at(TWO), NOTHING_TOLD, []],
  ['the upstream is deleted', at(ONE, 1), at(undefined), NOTHING_TOLD, []],
  ['another branch with an upstream elsewhere', at(ONE), { ...at(TWO, 1), branch: 'x' }, NOTHING_TOLD, ['switched']],
  ['a conflict', main, rebasing('a', 'f'), NOTHING_TOLD, ['conflict']],
  ['one more file', rebasing('a', 'f'), rebasing('a', 'f', 'g'), told({ conflict: true }), ['conflict']],
  ['one file less', rebasing('a', 'f', 'g'), rebasing('a', 'g'), told({ conflict: true }), []],
  ['the next step, the same file', rebasing('a', 'f'), rebasing('b', 'f'), told({ conflict: true }), ['conflict']],
  ['no conflict any more', rebasing('a', 'f'), main, told({ conflict: true }), ['resolved']],
  ['no conflict any more, the agent had made it', rebasing('a', 'f'), main, NOTHING_TOLD, []],
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
    'warning git.branch_switched: the branch is now `a\\u0060b\\u000a`, it was `main`',
    'warning git.branch_switched: HEAD is now detached at `1234567890`, it was `main`',
    'info git.upstream_moved: `origin/main` has 1 new commit; `main` is 1 behind it',
    'info git.upstream_moved: `origin/main` was rewritten; `main` is 2 ahead and 7 behind it',
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
