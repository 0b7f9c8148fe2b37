/** Reads the reviews and comments of people on a pull request. */
import { defined } from '../../../core/defined.ts';
import type { Json } from '../../../core/json.ts';
import { textAt } from '../../webhooks/fields.ts';
import type { News } from '../follower.ts';
import type { Pull } from './checks.ts';
import type { GhPlace } from './gh.ts';
import { listOf, pages } from './pages.ts';

/**
 * The items of one list that were read. `since` is the time of the newest item, in ISO form. If no item is newer than the last
 * change of the pull request at the first read, `since` is the time of that change. `seen` contains the ids of the items of the
 * last `OVERLAP_MS` before `since`, because GitHub may show an older item after a newer item.
 */
type Mark = { readonly since: string; readonly seen: readonly string[] };

/**
 * The items that were read of each list. A person may write a comment while Earpiece reads the lists, so each list has a separate
 * `Mark`.
 */
export type SaidState = { readonly reviews: Mark; readonly inCode: Mark; readonly comments: Mark };

type Said = {
  readonly id: string;
  readonly at: string;
  readonly by: string;
  readonly text: string;
  /** The verdict of a review: `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`. */
  readonly verdict?: string;
  /** The id of the review to which a comment on the code belongs. */
  readonly review?: string;
  readonly place?: string;
};

const MAX_SHOWN = 5;

/**
 * Returns the new reviews and comments, except those of `me`, the signed-in user. Without `before`, nothing is new: all reviews
 * and comments so far count as known. `changedAt` is the time at which the pull request changed last, in ISO form.
 */
export async function saidOn(
  place: GhPlace,
  pull: Pull,
  {
    me,
    before,
    changedAt = EPOCH,
  }: { readonly me: string | undefined; readonly before: SaidState | undefined; readonly changedAt: string | undefined },
): Promise<{ readonly news: readonly News[]; readonly state: SaidState }> {
  const read = async (path: string, kind: string): Promise<readonly Said[]> => {
    const keep = (item: Json): Said => saidOf(item, kind);
    const read = await pages(place, { path: `repos/${pull.repo}/${path}`, itemsOf: listOf, keep });
    return read.flatMap(({ items }) => items).filter(({ at }) => at !== '');
  };
  const start = { since: changedAt, seen: [] };
  const marks = before ?? { reviews: start, inCode: start, comments: start };
  const from = ({ since }: Mark): string => `since=${encodeURIComponent(earlier(since))}`;
  const reviews = await read(`pulls/${pull.number}/reviews`, 'review');
  const inCode = await read(`pulls/${pull.number}/comments?${from(marks.inCode)}`, 'code');
  const comments = await read(`issues/${pull.number}/comments?${from(marks.comments)}`, 'comment');
  const state = {
    reviews: markAfter(reviews, marks.reviews),
    inCode: markAfter(inCode, marks.inCode),
    comments: markAfter(comments, marks.comments),
  };
  if (before === undefined) return { news: [], state };
  const fresh = (all: readonly Said[], mark: Mark): readonly Said[] =>
    all.filter(({ id, at, by }) => at >= earlier(mark.since) && !mark.seen.includes(id) && by !== me);
  const news: News[] = [];
  for (const review of fresh(reviews, before.reviews)) {
    // A comment of a review has the time of its draft, which may be before the time of the newest item. So the comments of each
    // new review are read.
    const own = await read(`pulls/${pull.number}/reviews/${review.id.slice('review:'.length)}/comments`, 'code');
    if (own.length > 0 || review.text !== '' || review.verdict !== 'COMMENTED') news.push(reviewNews(pull, review, own));
  }
  // A comment of a review is reported with its review.
  const single = [
    ...fresh(inCode, before.inCode).filter(({ review }) => review === undefined),
    ...fresh(comments, before.comments),
  ];
  return { news: [...news, ...single.map((comment) => commentNews(pull, comment))], state };
}

const OVERLAP_MS = 10 * 60_000;

/**
 * Returns the time `OVERLAP_MS` before this time. GitHub may show an item of this span late. Times in this form can be compared
 * as texts.
 */
const earlier = (at: string): string => {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? at : `${new Date(Math.max(0, ms - OVERLAP_MS)).toISOString().slice(0, 19)}Z`;
};

function markAfter(all: readonly Said[], before: Mark): Mark {
  const since = all.reduce((latest, { at }) => (at > latest ? at : latest), before.since);
  const late = all.filter(({ at }) => at >= earlier(since)).map(({ id }) => id);
  return { since, seen: [...new Set([...(since === before.since ? before.seen : []), ...late])] };
}

const EPOCH = '1970-01-01T00:00:00Z';

function reviewNews({ repo, number }: Pull, { id, by, text, verdict }: Said, comments: readonly Said[]): News {
  const did = verdict === 'APPROVED' ? 'approved it' : verdict === 'CHANGES_REQUESTED' ? 'requested changes' : 'reviewed it';
  const counted = comments.length === 0 ? '' : ` with ${comments.length} comment${comments.length === 1 ? '' : 's'}`;
  return {
    id,
    key: 'reviews',
    type: 'pr.review',
    severity: verdict === 'CHANGES_REQUESTED' ? 'warning' : 'info',
    message: `${repo}#${number}: ${by} ${did}${counted}${text === '' ? '' : `: “${text}”`}`,
    data: {
      repo,
      pr: number,
      by,
      verdict: (verdict ?? '').toLowerCase(),
      lines: comments.slice(0, MAX_SHOWN).map(({ place, text: says }) => `${place ?? 'comment'}: “${says}”`),
    },
  };
}

const commentNews = ({ repo, number }: Pull, { id, by, text, place }: Said): News => ({
  id,
  key: 'comments',
  type: 'pr.comment',
  severity: 'info',
  message: `${repo}#${number}: ${by} commented${place === undefined ? '' : ` on ${place}`}${text === '' ? '' : `: “${text}”`}`,
  data: { repo, pr: number, by, ...defined({ place }) },
});

function saidOf(item: Json, kind: string): Said {
  const path = textAt(item, 'path', 200);
  const line = textAt(item, 'line') ?? textAt(item, 'original_line');
  const verdict = textAt(item, 'state');
  const review = textAt(item, 'pull_request_review_id');
  return {
    id: `${kind}:${textAt(item, 'id') ?? ''}`,
    // A draft review has no time. Only its author can read such a review.
    at: textAt(item, 'submitted_at') ?? textAt(item, 'created_at') ?? '',
    by: textAt(item, 'user.login', 80) ?? 'somebody',
    text: textAt(item, 'body', 300) ?? '',
    ...defined({ verdict, review }),
    ...(path === undefined ? {} : { place: line === undefined ? path : `${path}:${line}` }),
  };
}
