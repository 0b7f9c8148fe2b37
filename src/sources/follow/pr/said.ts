/** Reads the reviews and comments of people on a pull request. */
import { defined } from '../../../core/defined.ts';
import type { Json } from '../../../core/json.ts';
import { textAt } from '../../webhooks/fields.ts';
import type { News } from '../follower.ts';
import type { Pull } from './checks.ts';
import type { GhPlace } from './gh.ts';
import { listOf, pages } from './pages.ts';

/**
 * The items of one list that were read. `since` is the time of the newest item, in ISO form. `seen` holds the ids of the items of
 * the last `OVERLAP_MS` before this time, because GitHub may show an item later than a newer one.
 */
type Mark = { readonly since: string; readonly seen: readonly string[] };

/** The mark of each list. A person may write while the lists are read, so the lists have separate marks. */
export type SaidState = { readonly reviews: Mark; readonly inCode: Mark; readonly comments: Mark };

type Said = {
  readonly id: string;
  readonly at: string;
  readonly by: string;
  readonly text: string;
  /** The verdict of a review: `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`. */
  readonly verdict?: string;
  /** The review of a comment on the code. */
  readonly review?: string;
  readonly place?: string;
};

const MAX_SHOWN = 5;

/**
 * Returns the new reviews and comments, except those of `me`, the signed-in user. Without `before`, all existing reviews and
 * comments count as known.
 */
export async function saidOn(
  place: GhPlace,
  pull: Pull,
  { me, before }: { readonly me: string | undefined; readonly before: SaidState | undefined },
): Promise<{ readonly news: readonly News[]; readonly state: SaidState }> {
  const read = async (path: string, kind: string, mark?: Mark): Promise<readonly Said[]> => {
    const since = mark === undefined ? '' : `?since=${encodeURIComponent(earlier(mark.since))}`;
    const query = { path: `repos/${pull.repo}/${path}${since}`, itemsOf: listOf, keep: (item: Json) => saidOf(item, kind) };
    return (await pages(place, query)).flatMap(({ items }) => items).filter(({ at }) => at !== '');
  };
  const reviews = await read(`pulls/${pull.number}/reviews`, 'review');
  const inCode = await read(`pulls/${pull.number}/comments`, 'code', before?.inCode);
  const comments = await read(`issues/${pull.number}/comments`, 'comment', before?.comments);
  const state = {
    reviews: markAfter(reviews, before?.reviews),
    inCode: markAfter(inCode, before?.inCode),
    comments: markAfter(comments, before?.comments),
  };
  if (before === undefined) return { news: [], state };
  const fresh = (all: readonly Said[], mark: Mark): readonly Said[] =>
    all.filter(({ id, at, by }) => at >= earlier(mark.since) && !mark.seen.includes(id) && by !== me);
  const news: News[] = [];
  for (const review of fresh(reviews, before.reviews)) {
    // The times of these comments are those of their drafts, which may be older than comments that were read before.
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

/** Returns the beginning of the time in which items may appear late. Times of GitHub compare as text. */
const earlier = (at: string): string => {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? at : `${new Date(Math.max(0, ms - OVERLAP_MS)).toISOString().slice(0, 19)}Z`;
};

function markAfter(all: readonly Said[], before: Mark = { since: EPOCH, seen: [] }): Mark {
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
    // A draft review has no time; only its author can read such a review.
    at: textAt(item, 'submitted_at') ?? textAt(item, 'created_at') ?? '',
    by: textAt(item, 'user.login', 80) ?? 'somebody',
    text: textAt(item, 'body', 300) ?? '',
    ...defined({ verdict, review }),
    ...(path === undefined ? {} : { place: line === undefined ? path : `${path}:${line}` }),
  };
}
