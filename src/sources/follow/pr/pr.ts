/** Follows a pull request of GitHub: its checks, reviews, comments, conflicts and end. */
import { defined } from '../../../core/defined.ts';
import type { Json } from '../../../core/json.ts';
import { at, textAt } from '../../webhooks/fields.ts';
import { CannotLook, type Follower, type Look, type News, type Standing } from '../follower.ts';
import type { What } from '../list.ts';
import { checksOf, type Check, type ChecksState } from './checks.ts';
import { get, gh, isSignedOut, type GhPlace } from './gh.ts';
import { bodyOf } from './pages.ts';
import { saidOn, type SaidState } from './said.ts';

/** The time between two polls: `PENDING_MS` while checks run, otherwise `QUIET_MS`. */
export const PENDING_MS = 30_000;
export const QUIET_MS = 60_000;

type PrWhat = Extract<What, { kind: 'pr' }>;

type PullState = {
  readonly etag?: string;
  readonly sha: string;
  readonly base: string;
  readonly dirty: boolean;
  readonly open: boolean;
  readonly merged: boolean;
  readonly by?: string;
  /** The time of the last change of the pull request, in ISO form. */
  readonly changedAt?: string;
};

type PrState = {
  readonly pull: PullState;
  readonly checks: ChecksState;
  readonly said: SaidState;
  readonly me: string | null;
  /** The commit whose checks had all passed before the first poll. These passed checks are not reported. */
  readonly passedBefore?: string;
};

export function prFollower(what: PrWhat, env: GhPlace['env'] = process.env): Follower {
  return { look: (state, signal) => lookAt(what, { host: what.host, env, signal }, state as unknown as PrState | undefined) };
}

async function lookAt(what: PrWhat, place: GhPlace, before: PrState | undefined): Promise<Look> {
  const { repo, number } = what;
  const answer = await get(place, `repos/${repo}/pulls/${number}`, before?.pull.etag);
  const isSame = answer.kind === 'same' && before !== undefined;
  const pull = isSame ? before.pull : pullOf(bodyOf(answer), answer.kind === 'ok' ? answer.etag : undefined, before?.pull);
  const me = before === undefined ? await whoAmI(place) : before.me;
  // A new review or comment changes the pull request, so an unchanged pull request has no new review or comment.
  const said = isSame
    ? { news: [], state: before.said }
    : await saidOn(place, what, { me: me ?? undefined, before: before?.said, changedAt: pull.changedAt });
  if (!pull.open) return ended(what, pull, { before, me, said });
  const checks = await checksOf(place, what, pull.sha, before?.checks);
  const went = countOf(checks.all);
  // A check that was not read may have failed.
  const isGreen = !checks.isCut && went.passed > 0 && went.failed + went.pending + went.other === 0;
  // If a check of this commit fails after the first poll, the agent must also learn that the checks pass again.
  const known = went.failed > 0 ? undefined : before?.passedBefore;
  const passedBefore = before === undefined && isGreen ? pull.sha : known;
  const standing = [
    ...checks.standing,
    ...(pull.dirty ? [conflictOf(what, pull)] : []),
    ...(isGreen && passedBefore !== pull.sha ? [passedOf(what, pull, went.passed)] : []),
  ];
  const state: PrState = {
    pull,
    checks: checks.state,
    said: said.state,
    me,
    ...defined({ passedBefore }),
  };
  return {
    standing,
    news: said.news,
    state: state as unknown as Json,
    summary: summaryOf(went, checks.isCut, pull),
    againMs: checks.isPart ? 0 : went.pending > 0 ? PENDING_MS : QUIET_MS,
  };
}

function pullOf(body: Json, etag: string | undefined, before: PullState | undefined): PullState {
  const sha = textAt(body, 'head.sha');
  const state = textAt(body, 'state');
  const mergeable = textAt(body, 'mergeable_state');
  if (sha === undefined || state === undefined) throw new CannotLook('GitHub answers with something other than a pull request');
  const by = textAt(body, 'merged_by.login', 80) ?? textAt(body, 'closed_by.login', 80);
  return {
    sha,
    base: textAt(body, 'base.ref', 120) ?? 'its base',
    // After a push, GitHub needs time to find conflicts. Until then, the earlier answer counts.
    dirty: mergeable === 'unknown' ? (before?.dirty ?? false) : mergeable === 'dirty',
    open: state === 'open',
    merged: at(body, 'merged') === true,
    ...defined({ etag, by, changedAt: textAt(body, 'updated_at') }),
  };
}

/** Returns the signed-in user; null if GitHub names no user, for example for a token of an app. */
async function whoAmI(place: GhPlace): Promise<string | null> {
  const answer = await get(place, 'user');
  return answer.kind === 'ok' ? (textAt(bodyOf(answer), 'login', 80) ?? null) : null;
}

type Counted = Readonly<Record<Check['went'], number>>;

function countOf(checks: readonly Check[]): Counted {
  const counted = { pending: 0, passed: 0, failed: 0, other: 0 };
  for (const { went } of checks) counted[went]++;
  return counted;
}

function summaryOf({ pending, passed, failed, other }: Counted, isCut: boolean, { dirty }: PullState): string {
  const count = pending + passed + failed + other;
  const all = isCut ? `the first ${count}` : String(count);
  const parts = [
    ...(count === 0 ? ['no checks'] : []),
    ...(failed > 0 ? [`${failed} of ${all} checks failed`] : []),
    ...(pending > 0 ? [`${pending} of ${all} checks run`] : []),
    ...(failed + pending === 0 && passed > 0 ? [`${passed} of ${all} checks passed`] : []),
    ...(other > 0 ? [`${other} of ${all} checks ended without a result`] : []),
    ...(dirty ? ['conflicts'] : []),
  ];
  return parts.join(', ');
}

const conflictOf = ({ repo, number }: PrWhat, { base, sha }: PullState): Standing => ({
  key: 'conflict',
  fingerprint: base,
  type: 'pr.conflict',
  severity: 'warning',
  message: `${repo}#${number}: it conflicts with ${base}`,
  data: { repo, pr: number, base, commit: sha.slice(0, 12) },
});

const passedOf = ({ repo, number }: PrWhat, { sha }: PullState, count: number): Standing => ({
  key: 'passed',
  fingerprint: sha,
  type: 'pr.checks_passed',
  severity: 'info',
  message: `${repo}#${number}: ${count === 1 ? 'the check' : `all ${count} checks`} passed`,
  data: { repo, pr: number, checks: count, commit: sha.slice(0, 12) },
});

function ended(
  { repo, number }: PrWhat,
  pull: PullState,
  {
    before,
    me,
    said,
  }: {
    readonly before: PrState | undefined;
    readonly me: string | null;
    readonly said: { readonly news: readonly News[]; readonly state: SaidState };
  },
): Look {
  const did = pull.merged ? 'merged' : 'closed';
  const state: PrState = { pull, checks: before?.checks ?? NO_CHECKS, said: said.state, me };
  const by = pull.by === undefined || pull.by === me ? '' : ` by ${pull.by}`;
  return {
    standing: [],
    news: [
      ...said.news,
      {
        id: `${did}:${pull.sha}`,
        type: `pr.${did}`,
        severity: 'info',
        message: `${repo}#${number}: it was ${did}${by}`,
        data: { repo, pr: number, ...defined({ by: pull.by }) },
      },
    ],
    state,
    summary: did,
    againMs: QUIET_MS,
    over: did,
  };
}

const NO_CHECKS: ChecksState = { sha: '', runs: [], statuses: [], failed: {} };

/**
 * Finds a pull request by a number, a URL, a branch, or the branch of the folder. Throws `CannotLook` if `gh` returns no pull
 * request. Also throws for an ended pull request, unless `isFollowed` returns true: an existing follower still has to report the
 * end.
 */
export async function findPr(
  folder: string,
  which: string | undefined,
  { env, isFollowed }: { readonly env?: GhPlace['env']; readonly isFollowed?: (pr: PrWhat) => Promise<boolean> } = {},
): Promise<PrWhat> {
  const { code, out, said } = await gh(
    env === undefined ? {} : { env },
    ['pr', 'view', '--json', 'number,state,title,url', ...(which === undefined ? [] : ['--', which])],
    folder,
  );
  if (code !== 0 && /known GitHub host/u.test(said))
    throw new CannotLook(
      'no remote of this repository is on a GitHub host that gh knows; for another GitHub host: gh auth login --hostname <host>',
      { lasting: true },
    );
  if (code !== 0 && isSignedOut(said)) throw new CannotLook('gh is not signed in; sign in: gh auth login', { lasting: true });
  if (code !== 0 && /could not resolve to a PullRequest|no pull requests found/iu.test(said))
    throw new CannotLook(`${said}; gh pr list shows the open pull requests`);
  if (code !== 0) throw new CannotLook(said === '' ? `gh pr view ended with code ${code}` : said);
  const found = jsonIn(out);
  const address = textAt(found, 'url') ?? '';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, repo, number] = /^\/([\w.-]+\/[\w.-]+)\/pull\/(\d+)/u.exec(url?.pathname ?? '') ?? [];
  if (url === undefined || repo === undefined)
    throw new CannotLook(
      `gh pr view returned no URL of a pull request, but ${JSON.stringify(out.trim().slice(0, 80))}; run gh pr view --json url to see why`,
    );
  const title = textAt(found, 'title', 120) ?? '';
  const pr = { kind: 'pr', host: url.host, repo, number: Number(number), title } as const;
  const state = textAt(found, 'state') ?? 'OPEN';
  if (state !== 'OPEN' && !(await isFollowed?.(pr)))
    throw new CannotLook(`${address} is already ${state.toLowerCase()}; name an open pull request`);
  return pr;
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
