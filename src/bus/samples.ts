/** A sample event of each known type. Previews and checks of subscribers, and `docs/subscribers.md`, use these samples. */
import type { EventInput } from '../core/event.ts';
import type { Json } from '../core/json.ts';
import { EVENT_TYPES, type KnownType } from './event-types.ts';
import { matchesType } from './matching.ts';
import type { Subscriber } from './subscriber.ts';

type Sample = { readonly message: string; readonly data: Readonly<Record<string, Json>> };

export const SAMPLES: Readonly<Record<KnownType, Sample>> = {
  'tool.call.pending': { message: '`vault_search` is called', data: { tool_name: 'vault_search', call_id: 'call_1' } },
  'tool.call.success': {
    message: '`read_file` answered after 1.2 s',
    data: { tool_name: 'read_file', call_id: 'call_2', duration_ms: 1_200, result_length: 54_321 },
  },
  'tool.call.failure': {
    message: '`vault_search` failed: connection refused',
    data: {
      tool_name: 'vault_search',
      call_id: 'call_3',
      error_type: 'HTTPError',
      error_message: 'connection refused',
      retry_count: 0,
    },
  },
  'tool.call.timeout': {
    message: '`vault_search` failed: timeout after 30 s',
    data: {
      tool_name: 'vault_search',
      call_id: 'call_4',
      error_type: 'timeout',
      error_message: 'timeout after 30 s',
      timeout_ms: 30_000,
      timeout_seconds: 30,
      retry_count: 0,
    },
  },
  'tool.batch.complete': {
    message: '3 calls ended after 1.5 s, 1 of them failed',
    data: { batch_id: 'batch_1', tool_count: 3, success_count: 2, failure_count: 1, total_duration_ms: 1_500 },
  },
  'tool.stopped': {
    message: 'Background shell "build" has stopped with exit code 0',
    data: { handle: 'build', tool: 'shell', exit_code: 0 },
  },
  'tool.waiting': {
    message: 'Background shell "deploy" is waiting for input: Continue? [y/N]',
    data: { handle: 'deploy', tool: 'shell', question: 'Continue? [y/N]' },
  },
  'tool.failed': {
    message: 'Background shell "build" failed with exit code 101: error: could not compile',
    data: { handle: 'build', tool: 'shell', exit_code: 101 },
  },
  'tool.content': {
    message: 'Background shell "server" has new output: listening on port 8080',
    data: { handle: 'server', tool: 'shell' },
  },
  'mcp.disconnected': {
    message: 'MCP server `files` has disconnected: its process ended',
    data: { server: 'files', detail: 'its process ended' },
  },
  'mcp.reconnected': {
    message: 'MCP server `files` is connected again, and has lost its state',
    data: { server: 'files' },
  },
  'subagent.complete': {
    message: 'The sub-agent task_7 is done',
    data: { task_id: 'task_7', result_summary: 'all 12 links work', duration_ms: 42_000 },
  },
  'subagent.failed': {
    message: 'The sub-agent task_8 has failed',
    data: { task_id: 'task_8', error_message: 'the tokens were used up' },
  },
  'budget.token.warning': {
    message: '85,000 of 100,000 tokens of this turn are used (85 %); 15,000 are left',
    data: { budget_type: 'token', current: 85_000, limit: 100_000, max: 100_000, remaining: 15_000, percentage: 85, percent: 85 },
  },
  'budget.token.exceeded': {
    message: 'The tokens of this turn are used up: 101,200 of 100,000',
    data: { budget_type: 'token', current: 101_200, limit: 100_000, max: 100_000, remaining: 0 },
  },
  'budget.iteration.warning': {
    message: '21 of 30 requests of this turn are used (70 %); 9 are left',
    data: { budget_type: 'iteration', current: 21, limit: 30, max: 30, remaining: 9, percentage: 70, percent: 70 },
  },
  'budget.iteration.exceeded': {
    message: 'The last turn was ended after 30 requests to the model, the maximum',
    data: { budget_type: 'iteration', current: 30, limit: 30, max: 30, remaining: 0 },
  },
  'budget.timeout.warning': {
    message: 'This turn has taken 4 min of 5 min (80 %); 1 min is left',
    data: { budget_type: 'timeout', elapsed_seconds: 240, limit_seconds: 300, remaining_seconds: 60, percentage: 80 },
  },
  'context.approaching_limit': {
    message: 'The context holds 140,000 of 200,000 tokens (70 %); 60,000 are left',
    data: { current_tokens: 140_000, max_tokens: 200_000, percent: 70, remaining_tokens: 60_000 },
  },
  'agent.loop.detected': {
    message: 'The same call was made 3 times in the last 6 steps: read_file(path: src/lib.rs)',
    data: {
      pattern: 'read_file(path: src/lib.rs)',
      repetitions: 3,
      count: 3,
      window_seconds: 12,
      suggestion: 'Calling it again will not change the results.',
    },
  },
  'agent.turn.start': { message: 'Turn 4 began', data: { turn_number: 4, session_id: 'shop/coder#main' } },
  'agent.turn.end': {
    message: 'Turn 4 ended: complete',
    data: { turn_number: 4, session_id: 'shop/coder#main', reason: 'complete', tool_calls: 7, tokens_used: 31_000 },
  },
  'agent.self.notify': {
    message: 'the tests need the database to be up',
    data: { message: 'the tests need the database to be up', category: 'discovery', priority: 'normal' },
  },
  'agent.self.remind': {
    message: 'run the slow tests before the end',
    data: { message: 'run the slow tests before the end', category: 'reminder', priority: 'high' },
  },
  'session.resumed': {
    message: 'This conversation is resumed, with 12 records; the last question was: where is the lock taken?',
    data: { tree_id: 'shop/coder#main', nodes_loaded: 12, last_question: 'where is the lock taken?' },
  },
  'session.end': { message: 'The conversation was left after 4 turns', data: { session_id: 'shop/coder#main', turns: 4 } },
  'query.start': { message: 'where is the lock taken?', data: { query: 'where is the lock taken?' } },
  'task.checkpoint': { message: 'half of the files are done', data: { message: 'half of the files are done', turn: 4 } },
  'source.stale': {
    message: '`notes/plan.md` has changed since it was read',
    data: { path: 'notes/plan.md', previous_hash: '9f2c', current_hash: 'e01b' },
  },
  'file.changed': { message: '`src/lib.rs` was changed', data: { path: 'src/lib.rs', change: 'changed' } },
  'file.deleted': { message: '`src/old.rs` was deleted', data: { path: 'src/old.rs', change: 'deleted' } },
  'file.created': { message: '`src/new.rs` was created', data: { path: 'src/new.rs', change: 'created' } },
  'file.restored': { message: '`src/lib.rs` has its earlier content again', data: { path: 'src/lib.rs' } },
  'git.branch_switched': { message: 'the branch is now `dev` (before: `main`)', data: { from: 'main', to: 'dev' } },
  'git.upstream_moved': {
    message: '`origin/main` has 3 new commits; `main` is 3 commits behind',
    data: {
      branch: 'main',
      upstream: 'origin/main',
      ahead: 0,
      behind: 3,
      commits: ['Round the total once', 'Test the cart', 'Faster builds'],
    },
  },
  'git.up_to_date': { message: '`main` has all of `origin/main`', data: { branch: 'main', upstream: 'origin/main' } },
  'git.conflict': {
    message: 'the merge stopped at a conflict in 2 files: `src/lib.rs`, `Cargo.lock`',
    data: { operation: 'merge', files: ['src/lib.rs', 'Cargo.lock'] },
  },
  'git.conflict_resolved': { message: 'no file is in conflict any more', data: {} },
  'config.tools_changed': {
    message: 'The tools have changed since the last turn: `deploy` is new',
    data: { added: ['deploy'], removed: [] },
  },
  'config.model_changed': {
    message: 'The model has changed since the last turn: from model-a to model-b',
    data: { from: 'model-a', to: 'model-b' },
  },
  'ratelimit.low': {
    message: '40 of 1,000 requests are left at anthropic (reset in 20 s)',
    data: { provider: 'anthropic', limit_name: 'requests', limit: 1_000, remaining: 40, reset_seconds: 20 },
  },
  'ratelimit.exceeded': {
    message: 'anthropic refused a request: the rate limit is exceeded; wait for 20 s',
    data: { provider: 'anthropic', status: 429, retry_after_seconds: 20 },
  },
  'timer.fired': { message: 'Reminder: look at the deployment', data: { message: 'look at the deployment' } },
  'process.ended': {
    message: '`npm run build` succeeded after 12 s: built in 11.8 s',
    data: { command: 'npm run build', exit_code: 0, duration_ms: 12_000, last_lines: ['built in 11.8 s'] },
  },
  'process.failed': {
    message: '`npm test` failed with exit code 1 after 12 s: 2 tests failed',
    data: {
      command: 'npm test',
      exit_code: 1,
      duration_ms: 12_000,
      last_lines: ['FAIL src/cart.test.ts', 'expected 3 to be 4', '2 tests failed'],
    },
  },
  'pr.check_failed': {
    message:
      'acme/shop#12: check "test" failed in step "Run tests": cart.test.ts > rounds: AssertionError: expected 3 to be 4 (cart.test.ts:3:17)',
    data: {
      repo: 'acme/shop',
      pr: 12,
      check: 'test',
      commit: '9f2c41d0aa31',
      step: 'Run tests',
      problem: 'cart.test.ts > rounds: AssertionError: expected 3 to be 4 (cart.test.ts:3:17)',
      lines: [' FAIL  cart.test.ts > rounds', 'AssertionError: expected 3 to be 4'],
      url: 'https://github.com/acme/shop/actions/runs/7/job/71',
    },
  },
  'pr.checks_passed': {
    message: 'acme/shop#12: all 5 checks passed',
    data: { repo: 'acme/shop', pr: 12, checks: 5, commit: '9f2c41d0aa31' },
  },
  'pr.review': {
    message: 'acme/shop#12: ann requested changes with 2 comments: “Please round once”',
    data: {
      repo: 'acme/shop',
      pr: 12,
      by: 'ann',
      verdict: 'changes_requested',
      lines: ['src/cart.ts:12: “This rounds twice”', 'src/cart.ts:30: “Name it”'],
    },
  },
  'pr.comment': {
    message: 'acme/shop#12: bob commented: “Does this need a migration?”',
    data: { repo: 'acme/shop', pr: 12, by: 'bob' },
  },
  'pr.conflict': {
    message: 'acme/shop#12: it conflicts with main',
    data: { repo: 'acme/shop', pr: 12, base: 'main', commit: '9f2c41d0aa31' },
  },
  'pr.merged': { message: 'acme/shop#12: it was merged by ann', data: { repo: 'acme/shop', pr: 12, by: 'ann' } },
  'pr.closed': { message: 'acme/shop#12: it was closed', data: { repo: 'acme/shop', pr: 12 } },
  'pr.offered': {
    message:
      'pull request acme/shop#12 is open and not followed; to get its checks and reviews: earpiece follow pr 12, or the tool follow with pull_request "12"',
    data: { repo: 'acme/shop', pr: 12 },
  },
  'problem.found': {
    message: "TS2322: Type 'string' is not assignable to type 'number'. (src/cart.ts:3:7)",
    data: {
      command: 'npm run dev',
      tool: 'tsc',
      problem: "Type 'string' is not assignable to type 'number'.",
      file: 'src/cart.ts',
      line: 3,
      column: 7,
      code: 'TS2322',
    },
  },
  'log.matched': {
    message: 'logs/app.log: ERROR no connection to the database',
    data: { file: 'logs/app.log', line: 'ERROR no connection to the database' },
  },
  'url.failed': {
    message: 'http://localhost:3000/health fails: 503 Service Unavailable',
    data: { url: 'http://localhost:3000/health', answers: '503 Service Unavailable' },
  },
  'url.changed': {
    message: 'http://localhost:3000/health: status is "ready", it was "starting"',
    data: { url: 'http://localhost:3000/health', path: 'status', value: '"ready"', before: '"starting"' },
  },
  'agent.blocked': { message: 'reviewer is blocked: Hold on, the schema changes', data: { agent: 'shop/reviewer' } },
  'follow.blind': {
    message:
      'pull request acme/shop#12 cannot be followed now: GitHub refuses the sign-in (HTTP 401); sign in again: gh auth login --hostname github.com',
    data: {
      follower: 'f1',
      reason: 'GitHub refuses the sign-in (HTTP 401); sign in again: gh auth login --hostname github.com',
    },
  },
  'follow.over': { message: 'the problem has ended', data: {} },
  'alert.firing': {
    message: 'HighLoad is firing: load is 20',
    data: { alertname: 'HighLoad', fingerprint: 'a1b2', summary: 'load is 20' },
  },
  'alert.resolved': {
    message: 'HighLoad is resolved',
    data: { alertname: 'HighLoad', fingerprint: 'a1b2', summary: 'load is 2' },
  },
  'github.*': {
    message: 'ann opened pull request #12 "Faster cart" in shop',
    data: { action: 'opened', repository: 'shop', sender: 'ann' },
  },
  'webhook.*': { message: 'An order was paid', data: { order: 'o-17' } },
  'cli.event': { message: 'the data was loaded', data: { event_name: 'data_loaded', data: { rows: 1_200, table: 'orders' } } },
};

/**
 * Makes a sample event for a subscriber. The event has the first known type in the subscriber's list. If no type is known, the
 * event has a message and no payload. The subscriber's condition or severity filter may still exclude this event.
 */
export function sampleEvent({
  events,
}: Pick<Subscriber, 'events'>): Pick<EventInput, 'type' | 'source' | 'severity' | 'message' | 'data'> {
  const known = Object.keys(EVENT_TYPES) as KnownType[];
  const [first = 'sample'] = events.types;
  const found = events.types
    .map((pattern) => known.find((type) => type === pattern || matchesType(pattern, type)))
    .find((type) => type !== undefined);
  const source = events.sources?.[0] ?? 'sample';
  if (found === undefined)
    return { type: exact(first), source, severity: events.severityFilter, message: `A sample of ${first}`, data: {} };
  return { type: exact(found), source, severity: EVENT_TYPES[found].severity, ...SAMPLES[found] };
}

const exact = (pattern: string): string => pattern.replace(/\.\*$/, '.sample');
