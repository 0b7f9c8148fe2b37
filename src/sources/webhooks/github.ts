/** Converts GitHub's webhooks to events `github.<event>.<action>`, each with a message for people. */
import type { EventInput, Severity } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';
import { at, textAt, typePart } from './fields.ts';
import { Refused, type Payload } from './receiver.ts';

export type GithubEvent = Pick<EventInput, 'type' | 'severity' | 'message' | 'data'> &
  Partial<Pick<EventInput, 'key' | 'supersede' | 'time'>>;

type Told = {
  readonly message: string;
  readonly severity?: Severity;
  readonly data?: Readonly<Record<string, Json | undefined>>;
  /** The key of a state: the newest notification of the state replaces the older notifications. */
  readonly state?: string;
};

type Context = {
  readonly payload: Payload;
  readonly event: string;
  readonly action: string | undefined;
  readonly sender: string;
  readonly repository: string;
};

/** Makes the event of a delivery, whose id from GitHub is `delivery`; returns undefined for a ping. */
export function githubEvent(payload: Payload, event: string, delivery: string): GithubEvent | undefined {
  if (!/^[a-z0-9_]{1,64}$/u.test(event))
    throw new Refused(
      400,
      'malformed',
      `x-github-event is ${JSON.stringify(event.slice(0, 40))}, which is not an event of GitHub`,
    );
  if (event === 'ping') return undefined;
  const action = textAt(payload, 'action', 60);
  const sender = textAt(payload, 'sender.login', 100) ?? 'somebody';
  const repository = textAt(payload, 'repository.full_name', 150) ?? textAt(payload, 'organization.login', 100) ?? 'GitHub';
  const context = { payload, event, action, sender, repository };
  const told = (TELLERS.get(event) ?? generic)(context);
  const url = urlOf(payload, event);
  const data: Readonly<Record<string, Json | undefined>> = { action, repository, sender, ...told.data, url, delivery };
  return {
    type: ['github', event, ...(action === undefined ? [] : [typePart(action)])].join('.'),
    severity: told.severity ?? 'info',
    message: told.message,
    data: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as Record<string, Json>,
    ...(told.state === undefined ? {} : { key: `${repository}:${told.state}`, supersede: true }),
  };
}

const TELLERS = tableOf<(context: Context) => Told>({
  push,
  pull_request: pullRequest,
  pull_request_review: review,
  issues,
  issue_comment: comment,
  pull_request_review_comment: comment,
  release,
  check_run: (context) => check(context, 'check_run', 'Check'),
  check_suite: (context) => check(context, 'check_suite', 'Checks'),
  workflow_run: (context) => check(context, 'workflow_run', 'Workflow'),
});

function push({ payload, sender, repository }: Context): Told {
  const ref = textAt(payload, 'ref') ?? '';
  const branch = ref.replace(/^refs\/(?:heads|tags)\//u, '');
  const what = ref.startsWith('refs/tags/') ? 'tag' : 'branch';
  if (at(payload, 'deleted') === true)
    return { message: `${sender} deleted ${what} ${branch} of ${repository}`, data: { branch } };
  const commits = at(payload, 'commits');
  const count = Array.isArray(commits) ? commits.length : 0;
  const title = subjectOf(at(payload, 'head_commit.message'));
  const about = title === undefined ? '' : `: ${title}`;
  const forced = at(payload, 'forced') === true;
  const data = { branch, commits: count, commit: textAt(payload, 'after', 64), title, ...(forced ? { forced } : {}) };
  if (forced) return { message: `${sender} force-pushed ${branch} of ${repository}${about}`, severity: 'warning', data };
  if (at(payload, 'created') === true && count === 0)
    return { message: `${sender} made ${what} ${branch} in ${repository}${about}`, data };
  return {
    message: `${sender} pushed ${count} ${count === 1 ? 'commit' : 'commits'} to ${branch} of ${repository}${about}`,
    data,
  };
}

function pullRequest({ payload, action, sender, repository }: Context): Told {
  const merged = action === 'closed' && at(payload, 'pull_request.merged') === true;
  const data = {
    number: at(payload, 'pull_request.number'),
    title: textAt(payload, 'pull_request.title'),
    branch: textAt(payload, 'pull_request.head.ref'),
    base: textAt(payload, 'pull_request.base.ref'),
    ...(merged ? { merged } : {}),
  };
  return { message: `${sender} ${merged ? 'merged' : did(action)} pull request ${item(data)} of ${repository}`, data };
}

function review({ payload, action, sender, repository }: Context): Told {
  const state = textAt(payload, 'review.state', 40)?.toLowerCase();
  const data = {
    number: at(payload, 'pull_request.number'),
    title: textAt(payload, 'pull_request.title'),
    state,
    text: textAt(payload, 'review.body', 500),
  };
  const said = REVIEWS.get(state ?? '') ?? `${did(action)} a review of`;
  return {
    message: `${sender} ${said} pull request ${item(data)} of ${repository}${data.text === undefined ? '' : `: ${data.text}`}`,
    severity: state === 'changes_requested' ? 'warning' : 'info',
    data,
  };
}

const REVIEWS = tableOf<string>({
  approved: 'approved',
  changes_requested: 'wants changes in',
  commented: 'commented on',
});

function issues({ payload, action, sender, repository }: Context): Told {
  const data = {
    number: at(payload, 'issue.number'),
    title: textAt(payload, 'issue.title'),
    assignee: textAt(payload, 'assignee.login', 100),
    label: textAt(payload, 'label.name', 100),
  };
  const extra =
    action === 'labeled' && data.label
      ? ` (${data.label})`
      : action === 'assigned' && data.assignee
        ? ` to ${data.assignee}`
        : '';
  return { message: `${sender} ${did(action)} issue ${item(data)} of ${repository}${extra}`, data };
}

function comment({ payload, action, sender, repository }: Context): Told {
  const about = at(payload, 'issue') === undefined ? 'pull_request' : 'issue';
  const isPull = about === 'pull_request' || at(payload, 'issue.pull_request') !== undefined;
  const data = {
    number: at(payload, `${about}.number`),
    title: textAt(payload, `${about}.title`),
    text: textAt(payload, 'comment.body', 500),
    path: textAt(payload, 'comment.path'),
  };
  const said = action === 'created' ? 'commented on' : `${did(action)} a comment on`;
  return {
    message: `${sender} ${said} ${isPull ? 'pull request' : 'issue'} ${item(data)} of ${repository}${data.text === undefined || action === 'deleted' ? '' : `: ${data.text}`}`,
    data,
  };
}

function release({ payload, action, sender, repository }: Context): Told {
  const data = {
    tag: textAt(payload, 'release.tag_name'),
    name: textAt(payload, 'release.name'),
    ...(at(payload, 'release.prerelease') === true ? { prerelease: true } : {}),
  };
  const name = data.name === undefined || data.name === data.tag ? '' : ` (${data.name})`;
  return { message: `${sender} ${did(action)} release ${data.tag ?? 'without a tag'}${name} of ${repository}`, data };
}

const CONCLUSIONS = tableOf<{ readonly said: string; readonly severity: Severity }>({
  success: { said: 'succeeded', severity: 'info' },
  failure: { said: 'failed', severity: 'error' },
  timed_out: { said: 'timed out', severity: 'error' },
  startup_failure: { said: 'could not start', severity: 'error' },
  action_required: { said: 'waits for somebody', severity: 'warning' },
  cancelled: { said: 'was cancelled', severity: 'warning' },
  stale: { said: 'is stale', severity: 'warning' },
  neutral: { said: 'ended neutral', severity: 'info' },
  skipped: { said: 'was skipped', severity: 'info' },
});

function check({ payload, action, repository }: Context, what: string, word: string): Told {
  const conclusion = textAt(payload, `${what}.conclusion`, 40);
  const status = textAt(payload, `${what}.status`, 40) ?? action ?? 'changed';
  const name = textAt(payload, `${what}.name`) ?? textAt(payload, `${what}.app.name`);
  const branch = textAt(payload, `${what}.head_branch`) ?? textAt(payload, `${what}.check_suite.head_branch`);
  const commit = textAt(payload, `${what}.head_sha`, 64);
  const ended = conclusion === undefined ? undefined : CONCLUSIONS.get(conclusion);
  const title = textAt(payload, `${what}.output.title`) ?? textAt(payload, `${what}.display_title`);
  const where = `${branch === undefined ? '' : ` on ${branch}`}${commit === undefined ? '' : ` (${commit.slice(0, 7)})`} of ${repository}`;
  const how = conclusion === undefined ? `is ${status.replaceAll('_', ' ')}` : (ended?.said ?? `ended ${conclusion}`);
  const plural =
    word === 'Checks'
      ? how
          .replace(/^was /u, 'were ')
          .replace(/^is /u, 'are ')
          .replace(/^waits/u, 'wait')
      : how;
  return {
    message: `${word}${name === undefined ? '' : ` ${word === 'Checks' ? 'of ' : ''}${name}`} ${plural}${where}${title === undefined ? '' : `: ${title}`}`,
    severity: ended?.severity ?? 'info',
    data: { name, status, conclusion, branch, commit, title },
    state: [what, name ?? '', branch ?? commit ?? ''].join(':').slice(0, 150),
  };
}

function generic({ event, action, sender, repository }: Context): Told {
  const what = [event, ...(action === undefined ? [] : [action])].join(' ').replaceAll('_', ' ');
  return { message: `${what} in ${repository} by ${sender}` };
}

/** Returns the verb of an action. Most of GitHub's actions are participles, which stay unchanged. */
const did = (action: string | undefined): string =>
  action === 'synchronize'
    ? 'pushed to'
    : action === 'ready_for_review'
      ? 'made ready'
      : (action ?? 'changed').replaceAll('_', ' ');

const item = ({ number, title }: { readonly number: Json | undefined; readonly title: string | undefined }): string =>
  `#${typeof number === 'number' ? number : '?'}${title === undefined ? '' : ` "${title}"`}`;

const subjectOf = (message: Json | undefined): string | undefined =>
  typeof message === 'string' ? textAt({ line: message.trimStart().split('\n')[0] ?? '' }, 'line') : undefined;

const LINKS = tableOf<string>({
  push: 'compare',
  issue_comment: 'comment.html_url',
  pull_request_review_comment: 'comment.html_url',
  pull_request_review: 'review.html_url',
  pull_request: 'pull_request.html_url',
  issues: 'issue.html_url',
  release: 'release.html_url',
  check_run: 'check_run.html_url',
  workflow_run: 'workflow_run.html_url',
});

function urlOf(payload: Payload, event: string): string | undefined {
  const link = LINKS.get(event);
  return (link === undefined ? undefined : textAt(payload, link, 500)) ?? textAt(payload, 'repository.html_url', 500);
}

/** Makes a map for lookups by untrusted words, in which `constructor` is an ordinary word. */
function tableOf<T>(entries: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(entries));
}
