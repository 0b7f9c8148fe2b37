/**
 * Reads the checks of a pull request's newest commit. For each failed job of GitHub Actions, reads the failing step and the lines
 * with the cause.
 */
import { defined } from '../../../core/defined.ts';
import type { Json } from '../../../core/json.ts';
import { at, textAt } from '../../webhooks/fields.ts';
import { CannotLook, type Standing } from '../follower.ts';
import { get, type GhPlace } from './gh.ts';
import { failureIn } from './job-log.ts';
import { bodyOf, isCut, listOf, pages, type Page } from './pages.ts';

export type Check = {
  /** The id of the check, which changes with each run. */
  readonly id: string;
  readonly name: string;
  readonly went: 'pending' | 'passed' | 'failed' | 'other';
  readonly url?: string;
  readonly title?: string;
  /** Whether the check is a job of GitHub Actions, which has steps and a log. */
  readonly isJob?: true;
};

/** `failed` contains the details of failing checks, by id. */
export type ChecksState = {
  readonly sha: string;
  readonly runs: readonly Page<Check>[];
  readonly statuses: readonly Page<Check>[];
  readonly failed: Readonly<Record<string, Standing>>;
};

/**
 * The checks of a commit. With `isPart`, the logs of some failed checks wait for the next poll of the pull request. With `isCut`,
 * the commit may have more checks.
 */
export type Checks = {
  readonly state: ChecksState;
  readonly all: readonly Check[];
  readonly standing: readonly Standing[];
  readonly isPart: boolean;
  readonly isCut: boolean;
};

export type Pull = { readonly repo: string; readonly number: number };

/** The maximum number of failed checks whose logs one poll reads. */
const MAX_DETAILS = 5;

export async function checksOf(place: GhPlace, pull: Pull, sha: string, before: ChecksState | undefined): Promise<Checks> {
  const known = before?.sha === sha ? before : undefined;
  const base = `repos/${pull.repo}/commits/${sha}`;
  const runs = await pages(place, {
    path: `${base}/check-runs?filter=latest`,
    known: known?.runs,
    itemsOf: (body) => listOf(at(body, 'check_runs')),
    totalOf,
    keep: checkOf,
  });
  const statuses = await pages(place, {
    path: `${base}/status`,
    known: known?.statuses,
    itemsOf: (body) => listOf(at(body, 'statuses')),
    totalOf,
    keep: statusOf,
  });
  const all = [...runs, ...statuses].flatMap(({ items }) => items);
  const failed: Record<string, Standing> = {};
  let details = 0;
  for (const check of all) {
    if (check.went !== 'failed') continue;
    const found = known?.failed[check.id];
    if (found === undefined && check.isJob && ++details > MAX_DETAILS) continue;
    const isNameShared = all.some((each) => each !== check && each.name === check.name);
    failed[check.id] = found ?? (await standingOf(place, pull, sha, { ...check, isNameShared }));
  }
  return {
    state: { sha, runs, statuses, failed },
    all,
    standing: Object.values(failed),
    isPart: details > MAX_DETAILS,
    isCut: isCut(runs) || isCut(statuses),
  };
}

function totalOf(body: Json): number | undefined {
  const total = at(body, 'total_count');
  return typeof total === 'number' ? total : undefined;
}

const WENT: Readonly<Record<string, Check['went']>> = {
  success: 'passed',
  neutral: 'passed',
  skipped: 'passed',
  failure: 'failed',
  timed_out: 'failed',
  startup_failure: 'failed',
  action_required: 'failed',
  error: 'failed',
  pending: 'pending',
};

function checkOf(run: Json): Check {
  const done = textAt(run, 'status') === 'completed';
  const url = textAt(run, 'details_url', 500) ?? textAt(run, 'html_url', 500);
  const title = textAt(run, 'output.title', 300) ?? textAt(run, 'output.summary', 300);
  return {
    id: `run:${textAt(run, 'id') ?? ''}`,
    name: textAt(run, 'name', 120) ?? 'check',
    went: done ? (WENT[textAt(run, 'conclusion') ?? ''] ?? 'other') : 'pending',
    ...defined({ url, title }),
    ...(textAt(run, 'app.slug') === 'github-actions' ? { isJob: true as const } : {}),
  };
}

function statusOf(status: Json): Check {
  const url = textAt(status, 'target_url', 500);
  const title = textAt(status, 'description', 300);
  return {
    id: `status:${textAt(status, 'id') ?? ''}`,
    name: textAt(status, 'context', 120) ?? 'status',
    went: WENT[textAt(status, 'state') ?? ''] ?? 'other',
    ...defined({ url, title }),
  };
}

async function standingOf(
  place: GhPlace,
  { repo, number }: Pull,
  sha: string,
  check: Check & { readonly isNameShared: boolean },
): Promise<Standing> {
  const { step, says, lines, workflow } = check.isJob ? await jobOf(place, repo, check) : { ...NO_JOB };
  // Two workflows may have jobs with the same name.
  const ofWorkflow = check.isNameShared && workflow !== undefined ? ` of workflow ${JSON.stringify(workflow)}` : '';
  const inStep = step === undefined ? '' : ` in step ${JSON.stringify(step)}`;
  const why = says ?? check.title;
  return {
    key: `check:${check.id}`,
    fingerprint: check.id,
    type: 'pr.check_failed',
    severity: 'error',
    message: `${repo}#${number}: check ${JSON.stringify(check.name)}${ofWorkflow} failed${inStep}${why === undefined ? '' : `: ${why}`}`,
    data: {
      repo,
      pr: number,
      check: check.name,
      commit: sha.slice(0, 12),
      lines: [...lines],
      ...defined({ workflow, step, problem: why, url: check.url }),
    },
  };
}

type Job = { readonly workflow?: string; readonly step?: string; readonly says?: string; readonly lines: readonly string[] };
const NO_JOB: Job = { lines: [] };

/** Returns the details of a job. If the job or its log cannot be read, the check is reported without these details. */
async function jobOf(place: GhPlace, repo: string, { id }: Check): Promise<Job> {
  const path = `repos/${repo}/actions/jobs/${id.slice('run:'.length)}`;
  const job = await ifReadable(place, async () => bodyOf(await get(place, path)));
  if (job === undefined) return NO_JOB;
  const failing = listOf(at(job, 'steps')).find((step) => WENT[textAt(step, 'conclusion') ?? ''] === 'failed');
  const step = textAt(failing, 'name', 120);
  const named = defined({ workflow: textAt(job, 'workflow_name', 120), step });
  const log = await ifReadable(place, () => get(place, `${path}/logs`));
  // The log was deleted or cannot be read, for example because this sign-in may not read logs.
  if (log?.kind !== 'ok') return { ...named, lines: [] };
  const [startedAt, completedAt] = [textAt(failing, 'started_at'), textAt(failing, 'completed_at')];
  return { ...named, ...failureIn(log.body, defined({ startedAt, completedAt })) };
}

/**
 * Returns the result of `read`. Returns undefined if only this request fails. A request for a log may fail alone, because GitHub
 * keeps the logs on another host than its API. Throws `CannotLook` if the next requests would fail too: without a valid sign-in,
 * at a rate limit, or when this process ends.
 */
async function ifReadable<T>(place: GhPlace, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CannotLook) || place.signal?.aborted) throw error;
    const isRateLimit = error.againMs !== undefined;
    const isSignIn = error.lasting && error.message.includes('401');
    if (isRateLimit || isSignIn) throw error;
    return undefined;
  }
}
