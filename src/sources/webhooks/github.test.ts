import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import type { Json } from '../../core/json.ts';
import { githubEvent, type GithubEvent } from './github.ts';

const told = (event: string, payload: Record<string, Json>): GithubEvent => {
  const common = { repository: { full_name: 'acme/shop', html_url: 'https://github.com/acme/shop' }, sender: { login: 'anna' } };
  const made = githubEvent({ ...common, ...payload }, event, 'd-1');
  if (made === undefined) throw new Error('it is a greeting');
  return made;
};

const PULL = {
  number: 12,
  title: 'Faster search',
  html_url: 'https://github.com/acme/shop/pull/12',
  head: { ref: 'faster' },
  base: { ref: 'main' },
  merged: false,
};
const RUN = {
  name: 'ci',
  status: 'completed',
  head_branch: 'main',
  head_sha: 'abcdef0123456789',
  html_url: 'https://github.com/acme/shop/actions/runs/1',
};

describe('the events of GitHub', () => {
  proves('sources:webhooks');

  it.each<[string, Record<string, Json>, string, string, string]>([
    [
      'push',
      { ref: 'refs/heads/main', commits: [{}, {}, {}], head_commit: { message: 'Fix the till\n\nIt was open.' } },
      'github.push',
      'info',
      'anna pushed 3 commits to main of acme/shop: Fix the till',
    ],
    [
      'push',
      { ref: 'refs/heads/a/b', commits: [{}], forced: true, head_commit: { message: 'x' } },
      'github.push',
      'warning',
      'anna force-pushed a/b of acme/shop: x',
    ],
    [
      'push',
      { ref: 'refs/heads/old', deleted: true, head_commit: null, commits: [] },
      'github.push',
      'info',
      'anna deleted branch old of acme/shop',
    ],
    ['push', { ref: 'refs/tags/v1', created: true, commits: [] }, 'github.push', 'info', 'anna made tag v1 in acme/shop'],
    [
      'pull_request',
      { action: 'opened', pull_request: PULL },
      'github.pull_request.opened',
      'info',
      'anna opened pull request #12 "Faster search" of acme/shop',
    ],
    [
      'pull_request',
      { action: 'closed', pull_request: { ...PULL, merged: true } },
      'github.pull_request.closed',
      'info',
      'anna merged pull request #12 "Faster search" of acme/shop',
    ],
    [
      'pull_request',
      { action: 'synchronize', pull_request: PULL },
      'github.pull_request.synchronize',
      'info',
      'anna pushed to pull request #12 "Faster search" of acme/shop',
    ],
    [
      'pull_request_review',
      { action: 'submitted', pull_request: PULL, review: { state: 'changes_requested', body: 'No tests' } },
      'github.pull_request_review.submitted',
      'warning',
      'anna wants changes in pull request #12 "Faster search" of acme/shop: No tests',
    ],
    [
      'pull_request_review',
      { action: 'submitted', pull_request: PULL, review: { state: 'approved', body: null } },
      'github.pull_request_review.submitted',
      'info',
      'anna approved pull request #12 "Faster search" of acme/shop',
    ],
    [
      'issues',
      { action: 'labeled', issue: { number: 7, title: 'It burns' }, label: { name: 'bug' } },
      'github.issues.labeled',
      'info',
      'anna labeled issue #7 "It burns" of acme/shop (bug)',
    ],
    [
      'issue_comment',
      { action: 'created', issue: { number: 7, title: 'It burns' }, comment: { body: 'Still\n\nburning' } },
      'github.issue_comment.created',
      'info',
      'anna commented on issue #7 "It burns" of acme/shop: Still burning',
    ],
    [
      'issue_comment',
      { action: 'deleted', issue: { number: 12, title: 'Faster search', pull_request: {} }, comment: { body: 'oops' } },
      'github.issue_comment.deleted',
      'info',
      'anna deleted a comment on pull request #12 "Faster search" of acme/shop',
    ],
    [
      'release',
      { action: 'published', release: { tag_name: 'v1.2.0', name: 'Spring' } },
      'github.release.published',
      'info',
      'anna published release v1.2.0 (Spring) of acme/shop',
    ],
    [
      'workflow_run',
      { action: 'completed', workflow_run: { ...RUN, conclusion: 'failure', display_title: 'Fix the till' } },
      'github.workflow_run.completed',
      'error',
      'Workflow ci failed on main (abcdef0) of acme/shop: Fix the till',
    ],
    [
      'workflow_run',
      { action: 'requested', workflow_run: { ...RUN, status: 'queued', conclusion: null } },
      'github.workflow_run.requested',
      'info',
      'Workflow ci is queued on main (abcdef0) of acme/shop',
    ],
    [
      'check_run',
      {
        action: 'completed',
        check_run: {
          ...RUN,
          name: 'lint',
          head_branch: null,
          check_suite: { head_branch: 'faster' },
          conclusion: 'success',
          output: { title: '0 problems' },
        },
      },
      'github.check_run.completed',
      'info',
      'Check lint succeeded on faster (abcdef0) of acme/shop: 0 problems',
    ],
    [
      'check_run',
      { action: 'completed', check_run: { ...RUN, conclusion: 'action_required' } },
      'github.check_run.completed',
      'warning',
      'Check ci waits for somebody on main (abcdef0) of acme/shop',
    ],
    [
      'check_suite',
      { action: 'completed', check_suite: { ...RUN, name: null, conclusion: 'timed_out', app: { name: 'GitHub Actions' } } },
      'github.check_suite.completed',
      'error',
      'Checks of GitHub Actions timed out on main (abcdef0) of acme/shop',
    ],
    [
      'deployment_status',
      { action: 'created' },
      'github.deployment_status.created',
      'info',
      'deployment status created in acme/shop by anna',
    ],
    [
      'watch',
      { action: 'started', sender: null, repository: null },
      'github.watch.started',
      'info',
      'watch started in GitHub by somebody',
    ],
    [
      'projects_v2_item',
      { action: 'edited', repository: null, organization: { login: 'acme' } },
      'github.projects_v2_item.edited',
      'info',
      'projects v2 item edited in acme by anna',
    ],
  ])('%s %# has its type, severity and message', (event, payload, type, severity, message) => {
    expect(told(event, payload)).toMatchObject({ type, severity, message });
  });

  it('the data is small and has a link', () => {
    expect(told('pull_request', { action: 'opened', pull_request: { ...PULL, body: 'x'.repeat(100_000) } }).data).toEqual({
      action: 'opened',
      repository: 'acme/shop',
      sender: 'anna',
      number: 12,
      title: 'Faster search',
      branch: 'faster',
      base: 'main',
      url: 'https://github.com/acme/shop/pull/12',
      delivery: 'd-1',
    });
    expect(told('star', { action: 'created' }).data).toMatchObject({ url: 'https://github.com/acme/shop' });
  });

  it('a new state replaces the earlier state, while single events stay', () => {
    const run = (more: object): GithubEvent => told('workflow_run', { action: 'completed', workflow_run: { ...RUN, ...more } });
    expect(run({ conclusion: 'failure' })).toMatchObject({ key: 'acme/shop:workflow_run:ci:main', supersede: true });
    expect(run({ conclusion: 'success' }).key).toBe(run({ conclusion: 'failure' }).key);
    expect(run({ head_branch: 'faster' }).key).not.toBe(run({}).key);
    expect(told('issues', { action: 'opened' }).key).toBeUndefined();
  });

  it('an unexpected payload still becomes an event with a message and a valid type', () => {
    const odd: Json[] = [null, 7, 'x', [], {}, { a: [] }];
    for (const event of [
      'push',
      'pull_request',
      'pull_request_review',
      'issues',
      'issue_comment',
      'release',
      'check_run',
      'check_suite',
      'workflow_run',
      'constructor',
    ])
      for (const value of odd) {
        const made = told(event, {
          action: value,
          [event]: value,
          commits: value,
          issue: value,
          repository: value,
          sender: value,
        });
        expect(made.message?.length).toBeGreaterThan(5);
        expect(made.type).toMatch(/^github(\.[\w-]+)+$/u);
      }
    expect(told('issue_comment', { action: 'created', comment: { body: 'y'.repeat(10_000) } }).message?.length).toBeLessThan(700);
  });

  it('a ping is not an event', () => {
    expect(githubEvent({ zen: 'Keep it logically awesome.' }, 'ping', 'd-1')).toBeUndefined();
  });
});
