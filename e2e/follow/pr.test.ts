/** Tests a pull request that is followed with the real `gh` and reported to a real log. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import {
  add,
  findPr,
  following,
  lookOnce,
  stateOf,
  unfollow,
  type Followed,
  type State,
  type What,
} from '../../src/sources/follow/index.ts';
import { prFollower } from '../../src/sources/follow/pr/pr.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';
import { GitHub, HOST } from './github.ts';

const PR: Extract<What, { kind: 'pr' }> = { kind: 'pr', host: HOST, repo: 'acme/shop', number: 12 };

const FAILS = [
  ' RUN  v3.2.4 /build/shop',
  '\u001b[31m FAIL \u001b[39m cart.test.ts > rounds',
  'AssertionError: expected 3 to be 4',
  ' ❯ cart.test.ts:3:17',
];

let github: GitHub;
let shell: Shell;
let ear: LoadedInbox;
let followed: Followed;
let now: number;

beforeEach(async () => {
  github = await GitHub.start();
  shell = new Shell();
  ear = await shell.open();
  now = Date.now();
  followed = (await add(ear.store, 'shop', { uid: ear.ids.make('f'), what: PR, to: 'shop/coder' })).followed;
});
afterEach(async () => {
  await shell[Symbol.asyncDispose]();
  await github[Symbol.asyncDispose]();
});

/** The environment of a `gh` without the settings of this machine's user. */
const env = (): Record<string, string> => ({ ...shell.env(), GH_CONFIG_DIR: join(shell.folder, 'gh'), ...github.env });

async function look(): Promise<State | undefined> {
  return lookOnce(
    {
      store: ear.store,
      project: 'shop',
      emitter: ear.emitter,
      followerOf: () => prFollower(PR, env()),
      isAnyoneThere: () => Promise.resolve(true),
      now: () => now,
      sleep: () => Promise.resolve(),
      signal: new AbortController().signal,
    },
    { ...followed, tos: [followed.to], paces: [undefined] },
    await stateOf(ear.store, followed.uid),
  );
}

const open = async (): Promise<readonly string[]> =>
  (await ear.open('shop/coder')).map(
    ({ notification: { kind, level, message } }) => `${kind.source}.${kind.name} ${level}: ${message}`,
  );

/** A check that is not a job of GitHub Actions, so it has no log. */
const run = (id: number, conclusion: 'success' | 'failure'): Record<string, unknown> => ({
  id,
  name: `job ${id}`,
  status: 'completed',
  conclusion,
});

describe('a followed pull request', () => {
  proves('follow:pr');

  verifies(
    'follow:pr',
    'a failed check gives the agent the job, the step and the failing line; a passed check withdraws the notification',
    async () => {
      github.job(71, 'build', 'success');
      github.job(72, 'test', 'failure', FAILS);
      const state = await look();
      expect(state).toMatchObject({ summary: '1 of 2 checks failed' });
      expect(await open()).toEqual([
        'pr.check_failed error: acme/shop#12: check "test" failed in step "Run tests": cart.test.ts > rounds: AssertionError: expected 3 to be 4 (cart.test.ts:3:17)',
      ]);
      const page = readFileSync(join(import.meta.dirname, '../../docs/guides/follow.md'), 'utf8');
      const { view } = await ear.conversation('shop/coder#main', { points: ['tool_result'] }).preview({ at: 'tool_result' });
      const words = (view?.text ?? '').split('\n').slice(1, -1);
      expect(words.map((line) => (page.includes(line) ? '' : line)).join('')).toBe('');
      expect(words.length).toBeGreaterThan(3);

      // An unchanged answer does not count against the rate limit, and queues nothing.
      github.asked.length = 0;
      await look();
      expect(github.asked.map(({ status }) => status)).toEqual([304, 304, 304]);
      expect(await open()).toHaveLength(1);

      github.job(73, 'test', undefined);
      expect(await look()).toMatchObject({ summary: '1 of 2 checks run', nextAt: now + 30_000 });
      expect(await open()).toEqual([]);
      github.job(73, 'test', 'success');
      expect(await look()).toMatchObject({ summary: '2 of 2 checks passed', nextAt: now + 60_000 });
      expect(await open()).toEqual(['pr.checks_passed info: acme/shop#12: all 2 checks passed']);
      // The check fails again in the same way, and is reported again.
      github.job(74, 'test', 'failure', FAILS);
      await look();
      expect(await open()).toEqual([expect.stringContaining('check "test" failed in step "Run tests": cart.test.ts')]);
    },
  );

  it('a check that had already passed is not reported; statuses of other systems are reported', async () => {
    github.job(71, 'build', 'success');
    await look();
    expect(await open()).toEqual([]);
    github.statuses = [
      { id: 5, context: 'ci/circle', state: 'error', description: 'Your tests failed', target_url: 'https://ci.test/5' },
    ];
    await look();
    expect(await open()).toEqual(['pr.check_failed error: acme/shop#12: check "ci/circle" failed: Your tests failed']);
  });

  it('a failure among 120 checks is reported, even if the last check fails', async () => {
    for (let id = 1; id <= 120; id++) github.job(id, `job ${id}`, id === 120 ? 'failure' : 'success', FAILS);
    expect(await look()).toMatchObject({ summary: '1 of 120 checks failed' });
    expect(await open()).toEqual([expect.stringContaining('check "job 120" failed')]);
  });

  it('a failed check after 500 passed checks is reported', async () => {
    github.runs = Array.from({ length: 520 }, (_, id) => run(id, id === 510 ? 'failure' : 'success'));
    expect(await look()).toMatchObject({ summary: '1 of 520 checks failed' });
    expect(await open()).toEqual(['pr.check_failed error: acme/shop#12: check "job 510" failed']);
  });

  it.each(['checks', 'statuses'])('exactly 2,000 %s that all pass are reported as passed', async (what) => {
    await look();
    if (what === 'checks') github.runs = Array.from({ length: 2_000 }, (_, id) => run(id, 'success'));
    else github.statuses = Array.from({ length: 2_000 }, (_, id) => ({ id, context: `status ${id}`, state: 'success' }));
    expect(await look()).toMatchObject({ summary: '2000 of 2000 checks passed' });
    expect(await open()).toEqual(['pr.checks_passed info: acme/shop#12: all 2000 checks passed']);
  });

  it('if a commit has more than 2,000 checks, no notification says that all checks pass', async () => {
    await look();
    github.runs = Array.from({ length: 2_001 }, (_, id) => run(id, id === 2_000 ? 'failure' : 'success'));
    expect(await look()).toMatchObject({ summary: '2000 of the first 2000 checks passed' });
    expect(await open()).toEqual([]);
  });

  verifies(
    'follow:pr',
    'a review with three comments is one line; comments of the user and old comments are not reported',
    async () => {
      const at = (minute: number): string => `2026-11-23T08:${minute}:00Z`;
      const by = (login: string): object => ({ login });
      github.comments = [{ id: 1, user: by('bob'), body: 'from before', created_at: at(10) }];
      await look();
      github.reviews = [
        { id: 50, user: by('ann'), body: 'Please round once', state: 'CHANGES_REQUESTED', submitted_at: at(20) },
        { id: 51, user: by('me'), body: 'I answer', state: 'COMMENTED', submitted_at: at(21) },
      ];
      github.inCode = ['This rounds twice', 'Name it', 'A test?'].map((body, i) => ({
        id: 60 + i,
        user: by('ann'),
        body,
        path: 'src/cart.ts',
        line: 12 + i,
        pull_request_review_id: 50,
        created_at: at(20),
      }));
      github.comments = [
        ...github.comments,
        { id: 2, user: by('bob'), body: 'Does this need\na migration?', created_at: at(22) },
        { id: 3, user: by('me'), body: 'no', created_at: at(23) },
      ];
      github.pull['updated_at'] = at(23);
      await look();
      expect(await open()).toEqual([
        'pr.review warning: acme/shop#12: ann requested changes with 3 comments: “Please round once”',
        'pr.comment info: acme/shop#12: bob commented: “Does this need a migration?”',
      ]);
      const { view } = await ear.conversation('shop/coder#main', { points: ['tool_result'] }).preview({ at: 'tool_result' });
      expect(view?.text).toContain('| src/cart.ts:13: "Name it"');
      github.pull['updated_at'] = at(24);
      await look();
      expect(await open()).toHaveLength(2);
    },
  );

  it('a review is reported with all its comments, even if they are older than comments that were read before', async () => {
    const at = (minute: number): string => `2026-11-23T08:${minute}:00Z`;
    const by = (login: string): object => ({ login });
    github.comments = [{ id: 1, user: by('bob'), body: 'from before', created_at: at(40) }];
    await look();
    const draft = { user: by('ann'), path: 'src/cart.ts', pull_request_review_id: 50, created_at: at(15), updated_at: at(15) };
    github.reviews = [{ id: 50, user: by('ann'), body: '', state: 'COMMENTED', submitted_at: at(41) }];
    github.inCode = [
      { ...draft, id: 60, line: 3, body: 'Name it' },
      { ...draft, id: 61, line: 9, body: 'A test?' },
    ];
    github.pull['updated_at'] = at(41);
    await look();
    expect(await open()).toEqual(['pr.review info: acme/shop#12: ann reviewed it with 2 comments']);
  });

  it('a review that a person submits while a poll reads the reviews is reported by a later poll', async () => {
    const at = (second: number): string => `2026-11-23T08:10:${second}Z`;
    const by = (login: string): object => ({ login });
    await look();
    github.asked.length = 0;
    github.mood = { kind: 'slow', ms: 200 };
    github.pull['updated_at'] = at(31);
    github.comments = [{ id: 2, user: by('eve'), body: 'Why?', created_at: at(31) }];
    const looking = look();
    await expect.poll(() => github.asked.some(({ path }) => path.includes('/reviews')), { interval: 5 }).toBe(true);
    github.reviews = [{ id: 51, user: by('dan'), body: 'No', state: 'CHANGES_REQUESTED', submitted_at: at(30) }];
    github.mood = { kind: 'well' };
    await looking;
    expect(await open()).toEqual(['pr.comment info: acme/shop#12: eve commented: “Why?”']);
    github.pull['updated_at'] = at(32);
    await look();
    await look();
    expect(await open()).toEqual([
      'pr.comment info: acme/shop#12: eve commented: “Why?”',
      'pr.review warning: acme/shop#12: dan requested changes: “No”',
    ]);
  });

  it('unfollow withdraws all of many unread comments, and leaves no count', async () => {
    const comment = (id: number, minute: number): object => ({
      id,
      user: { login: 'bob' },
      body: `remark ${id}`,
      created_at: `2026-11-23T08:${minute}:00Z`,
    });
    github.comments = [comment(1, 10)] as never;
    await look();
    github.comments = Array.from({ length: 130 }, (_, i) => comment(i + 2, 20)) as never;
    github.pull['updated_at'] = 'later';
    await look();
    expect((await ear.open('shop/coder')).reduce((sum, { count }) => sum + count, 0)).toBe(130);
    await unfollow({ store: ear.store, project: 'shop', emitter: ear.emitter }, followed.id);
    expect(await open()).toEqual([]);
  });

  it('a pull request with more than 500 old comments and reviews reports only a new comment and a new review', async () => {
    const at = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1_200_000).toISOString().replace('.000', '');
    const user = { login: 'bob' };
    const comment = (n: number): object => ({ id: n, user, body: `old ${n}`, created_at: at(n) });
    const review = (n: number): object => ({ id: n, user, body: `old ${n}`, state: 'COMMENTED', submitted_at: at(n) });
    github.comments = Array.from({ length: 600 }, (_, n) => comment(n)) as never;
    github.reviews = Array.from({ length: 510 }, (_, n) => review(n)) as never;
    github.pull['updated_at'] = at(600);
    await look();
    github.comments = [...github.comments, { ...comment(601), body: 'new' }] as never;
    github.reviews = [...github.reviews, { ...review(602), body: 'new' }] as never;
    github.pull['updated_at'] = at(602);
    await look();
    expect(await open()).toEqual([
      'pr.review info: acme/shop#12: bob reviewed it: “new”',
      'pr.comment info: acme/shop#12: bob commented: “new”',
    ]);
  });

  it('a new comment is reported after a bot has edited more than 500 old comments', async () => {
    const comment = (n: number, time: string): object => ({
      id: n,
      user: { login: 'bob' },
      body: `remark ${n}`,
      created_at: time,
    });
    github.comments = Array.from({ length: 520 }, (_, n) => comment(n, '2026-11-23T08:10:00Z')) as never;
    github.pull['updated_at'] = '2026-11-23T08:10:00Z';
    await look();
    const edited = github.comments.map((each) => ({ ...each, updated_at: '2026-11-23T09:10:00Z' }));
    github.comments = [...edited, comment(520, '2026-11-23T09:11:00Z')] as never;
    github.pull['updated_at'] = '2026-11-23T09:11:00Z';
    await look();
    expect(await open()).toEqual(['pr.comment info: acme/shop#12: bob commented: “remark 520”']);
  });

  it('two failed checks with one name are each reported once', async () => {
    const run = (id: number): object => ({
      id,
      name: 'test',
      status: 'completed',
      conclusion: 'failure',
      details_url: `http://ci.test/${id}`,
    });
    github.runs = [run(5), run(6)] as never;
    await look();
    const first = await ear.open('shop/coder');
    expect(first.map(({ notification: { message } }) => message)).toEqual(
      Array.from({ length: 2 }, () => 'acme/shop#12: check "test" failed'),
    );
    for (let n = 0; n < 3; n++) await look();
    expect((await ear.open('shop/coder')).map(({ id }) => id)).toEqual(first.map(({ id }) => id));
  });

  it('two failed jobs with one name are distinguished by their workflows', async () => {
    github.job(81, 'build', 'failure', FAILS);
    const other = { ...github.jobs[81], workflow_name: 'release' };
    github.jobs[81] = { ...github.jobs[81], workflow_name: 'ci' };
    github.jobs[82] = other;
    github.logs['82'] = github.logs['81'] ?? '';
    github.runs = github.runs.flatMap((run) => (run['id'] === 81 ? [run, { ...run, id: 82 }] : [run]));
    await look();
    expect(await open()).toEqual([
      expect.stringContaining('check "build" of workflow "ci" failed in step'),
      expect.stringContaining('check "build" of workflow "release" failed in step'),
    ]);
  });

  it('a commit that fails after it had passed is reported when it passes again; a cancelled check has not passed', async () => {
    github.job(71, 'build', 'success');
    await look();
    github.job(72, 'build', 'failure', FAILS);
    await look();
    expect(await open()).toEqual([expect.stringContaining('check "build" failed')]);
    github.job(73, 'build', 'success');
    await look();
    expect(await open()).toEqual(['pr.checks_passed info: acme/shop#12: the check passed']);
    github.job(74, 'test', 'success');
    github.runs = github.runs.map((each) => (each['name'] === 'test' ? { ...each, conclusion: 'cancelled' } : each));
    expect(await look()).toMatchObject({ summary: '1 of 2 checks passed, 1 of 2 checks ended without a result' });
    expect(await open()).toEqual([]);
  });

  it('the next poll follows at once if a poll has not read the logs of all failed checks', async () => {
    for (let id = 1; id <= 12; id++) github.job(id, `job ${id}`, 'failure', FAILS);
    expect(await look()).toMatchObject({ nextAt: now });
    expect(await look()).toMatchObject({ nextAt: now });
    expect(await look()).toMatchObject({ nextAt: now + 60_000 });
    expect(await open()).toHaveLength(12);
  });

  it('a conflict is reported and withdrawn; after the merge the pull request is no longer followed', async () => {
    github.pull['mergeable_state'] = 'dirty';
    expect(await look()).toMatchObject({ summary: 'no checks, conflicts' });
    github.pull['mergeable_state'] = 'unknown';
    await look();
    expect(await open()).toEqual(['pr.conflict warning: acme/shop#12: it conflicts with main']);
    github.pull['mergeable_state'] = 'clean';
    await look();
    expect(await open()).toEqual([]);
    Object.assign(github.pull, { state: 'closed', merged: true, merged_by: { login: 'ann' } });
    expect(await look()).toBeUndefined();
    expect(await open()).toEqual(['pr.merged info: acme/shop#12: it was merged by ann']);
    expect(await following(ear.store, 'shop')).toEqual([]);
  });

  it('is found by its branch, its number and its URL; for an unknown pull request, the message of gh is shown', async () => {
    const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: shell.folder, stdio: 'pipe' });
    git('init', '-q', '-b', 'round');
    git('remote', 'add', 'origin', `http://${HOST}/acme/shop.git`);
    const found = { ...PR, title: 'Round once' };
    expect(await findPr(shell.folder, '12', { env: env() })).toEqual(found);
    expect(await findPr(shell.folder, `http://${HOST}/acme/shop/pull/12`, { env: env() })).toEqual(found);
    expect(await findPr(shell.folder, undefined, { env: env() })).toEqual(found);
    Object.assign(github.pull, { state: 'closed', merged: true });
    await expect(findPr(shell.folder, '12', { env: env() })).rejects.toThrow('is already merged; name an open pull request');
    // The follower of this pull request still has to report the merge.
    expect(await findPr(shell.folder, '12', { env: env(), isFollowed: () => Promise.resolve(true) })).toEqual(found);
    Object.assign(github.pull, { state: 'open', merged: false });
    await expect(findPr(shell.folder, '13', { env: env() })).rejects.toThrow(
      /Could not resolve to a PullRequest.*; gh pr list shows the open pull requests$/u,
    );
    git('checkout', '-q', '-b', 'other');
    await expect(findPr(shell.folder, undefined, { env: env() })).rejects.toThrow('no pull requests found for branch "other"');
  });
});

describe('a follower whose GitHub does not answer as it should', () => {
  proves('follow:trouble');

  /** Returns the last column of `earpiece following`. */
  const listed = async (): Promise<unknown> => (await shell.json(['following']))[0]?.['says'];
  const blind = (says: string): string => `follow.blind warning: pull request acme/shop#12 cannot be followed now: ${says}`;

  it('reports a revoked sign-in and a deleted repository at once, and withdraws the report when GitHub answers', async () => {
    github.job(72, 'test', 'failure', FAILS);
    await look();
    const [failed] = await open();
    for (const [status, says] of [
      [401, 'GitHub refuses the sign-in (HTTP 401); sign in again: gh auth login --hostname github.localhost'],
      [404, 'the pull request no longer exists, or your sign-in cannot read it (HTTP 404)'],
    ] as const) {
      github.mood = { kind: 'status', status };
      expect(await look()).toMatchObject({ trouble: { says, lasting: true }, nextAt: now + (status === 401 ? 60_000 : 120_000) });
      // At the next delivery, the notification with the newer reason supersedes the older notification.
      expect((await open()).at(-1)).toBe(blind(says));
      expect(await listed()).toContain(`${says} (${status === 401 ? 'one failure' : '2 failures'}, the first`);
    }
    github.mood = { kind: 'well' };
    expect((await look())?.trouble).toBeUndefined();
    expect(await open()).toEqual([failed]);
  });

  it('reports a 502 after three failed checks, and names a host that does not answer', async () => {
    github.mood = { kind: 'status', status: 502 };
    for (const times of [1, 2]) {
      expect(await look()).toMatchObject({ trouble: { says: 'GitHub answers HTTP 502', times } });
      expect(await open()).toEqual([]);
    }
    await look();
    expect(await open()).toEqual([blind('GitHub answers HTTP 502')]);
    expect(await listed()).toMatch(/^GitHub answers HTTP 502 \(3 failures, the first \d+ s ago; next check in 1 min\)$/u);
    github.mood = { kind: 'silent' };
    expect((await look())?.trouble?.says).toContain('gh got no answer from github.localhost');
  });

  it('a rate limit delays the checks until the time that GitHub names', async () => {
    const reset = String(Math.ceil(Date.now() / 1_000) + 1_200);
    github.mood = { kind: 'status', status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } };
    const state = await look();
    expect(state?.trouble?.says).toMatch(/^GitHub's rate limit is exceeded; the next request is at \d\d:\d\d UTC$/u);
    expect((state?.nextAt ?? 0) - now).toBeGreaterThan(15 * 60_000);
    expect(await listed()).toMatch(
      /^GitHub's rate limit is exceeded; the next request is at \d\d:\d\d UTC \(one failure, the first .*; next check in \d\d min\)$/u,
    );
    github.mood = { kind: 'status', status: 429, headers: { 'retry-after': '120' } };
    const limited = await look();
    expect((limited?.nextAt ?? 0) - now).toBe(120_000);
    expect(limited?.trouble?.says).toBe("GitHub's rate limit is exceeded");
  });

  it('slow answers are awaited, and a failed check whose log was deleted is reported without lines', async () => {
    github.mood = { kind: 'slow', ms: 100 };
    github.job(80, 'lint', 'failure');
    delete github.jobs[80];
    await look();
    expect(await open()).toEqual(['pr.check_failed error: acme/shop#12: check "lint" failed']);
  });

  it('if only the log of a failed check cannot be read, the check is reported once without lines', async () => {
    const expected = [];
    for (const [id, mood] of [
      [80, { kind: 'silent', only: /^\/logs\/80$/u }],
      [81, { kind: 'status', status: 502, only: /\/jobs\/81\/logs$/u }],
    ] as const) {
      github.job(id, `job ${id}`, 'failure', FAILS);
      github.mood = mood;
      await look();
      expected.push(`pr.check_failed error: acme/shop#12: check "job ${id}" failed in step "Run tests"`);
      expect(await open()).toEqual(expected);
    }
    const told = await ear.open('shop/coder');
    github.mood = { kind: 'well' };
    await look();
    expect((await ear.open('shop/coder')).map(({ id }) => id)).toEqual(told.map(({ id }) => id));
  });

  it('if the job of a failed check cannot be read, the check is reported once without its step and lines', async () => {
    const expected = [];
    for (const [id, mood] of [
      [90, { kind: 'status', status: 502, only: /\/jobs\/90$/u }],
      [91, { kind: 'silent', only: /\/jobs\/91$/u }],
    ] as const) {
      github.job(id, `job ${id}`, 'failure', FAILS);
      github.mood = mood;
      expect((await look())?.trouble).toBeUndefined();
      expected.push(`pr.check_failed error: acme/shop#12: check "job ${id}" failed`);
      expect(await open()).toEqual(expected);
    }
    const told = await ear.open('shop/coder');
    github.mood = { kind: 'well' };
    await look();
    expect((await ear.open('shop/coder')).map(({ id }) => id)).toEqual(told.map(({ id }) => id));
  });

  it('a rate limit or a revoked sign-in while a job or a log is read fails the poll; a later poll reports the check with its lines', async () => {
    const headers = { 'retry-after': '120' };
    let times = 0;
    for (const only of [/\/logs$/u, /\/jobs\/82$/u])
      for (const status of [429, 401]) {
        github.job(82, 'test', 'failure', FAILS);
        github.mood = { kind: 'status', status, headers, only };
        expect((await look())?.trouble).toMatchObject({ times: ++times });
      }
    github.mood = { kind: 'well' };
    await look();
    expect(await open()).toEqual([expect.stringContaining('check "test" failed in step "Run tests": cart.test.ts')]);
  });

  it('an unexpected answer of gh is named, and its last line is shown without escape sequences', async () => {
    const answers = async (says: string, exit = 0): Promise<unknown> => {
      writeFileSync(join(shell.folder, 'gh'), `#!/bin/sh\n${says}\nexit ${exit}\n`, { mode: 0o755 });
      return findPr(shell.folder, '12', { env: { ...env(), PATH: `${shell.folder}:/bin` } });
    };
    await expect(answers('echo not json')).rejects.toThrow(
      'gh pr view returned no URL of a pull request, but "not json"; run gh pr view --json url to see why',
    );
    await expect(answers(`echo '{"url":5}'`)).rejects.toThrow('gh pr view returned no URL of a pull request');
    expect(await answers(`echo '{"url":"https://github.com/acme/shop/pull/7"}'`)).toMatchObject({ number: 7, title: '' });
    await expect(answers(`printf '\\033[31mno network\\033[0m\\n' >&2`, 1)).rejects.toThrow(/^no network$/u);
  });

  it('the error for a missing gh or sign-in says what to do', async () => {
    const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: shell.folder, stdio: 'pipe' });
    git('init', '-q', '-b', 'round');
    git('remote', 'add', 'origin', 'https://gitlab.com/acme/shop.git');
    await expect(findPr(shell.folder, undefined, { env: { ...env(), GH_HOST: undefined } })).rejects.toThrow(
      'no remote of this repository is on a GitHub host that gh knows',
    );
    const nowhere = { ...env(), PATH: shell.folder };
    await expect(findPr(shell.folder, '12', { env: nowhere })).rejects.toThrow(
      'gh, the command line of GitHub, is not installed',
    );
    await expect(
      findPr(shell.folder, `http://${HOST}/acme/shop/pull/12`, { env: { ...env(), GH_TOKEN: undefined } }),
    ).rejects.toThrow('gh is not signed in; sign in: gh auth login');
    const stranger = prFollower(PR, { ...env(), GH_TOKEN: undefined });
    await expect(stranger.look(undefined, new AbortController().signal)).rejects.toThrow(
      /gh auth login --hostname github\.localhost$/u,
    );
  });
});
