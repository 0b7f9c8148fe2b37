/** Reads the reviews and comments of people on a pull request. */
import { defined } from '../../../core/defined.ts';
import type { Json } from '../../../core/json.ts';
import { textAt } from '../../webhooks/fields.ts';
import type { News } from '../follower.ts';
import type { Pull } from './checks.ts';
import type { GhPlace } from './gh.ts';
import { listOf, pages } from './pages.ts';

/**
 * The comments that were read. `since` is the time of the newest comment, in ISO form. `seen` holds the ids of the comments in
 * that second.
 */
export type SaidState = { readonly since: string; readonly seen: readonly string[] };

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
  const since = before === undefined ? '' : `?since=${encodeURIComponent(before.since)}`;
  const read = async (path: string, kind: string): Promise<readonly Said[]> =>
    (
      await pages(place, {
        path: `repos/${pull.repo}/${path}`,
        itemsOf: listOf,
        keep: (item) => saidOf(item, kind),
      })
    ).flatMap(({ items }) => items);
  const reviews = await read(`pulls/${pull.number}/reviews`, 'review');
  const inCode = await read(`pulls/${pull.number}/comments${since}`, 'code');
  const comments = await read(`issues/${pull.number}/comments${since}`, 'comment');
  const all = [...reviews, ...inCode, ...comments].filter(({ at }) => at !== '');
  const newest = all.reduce((latest, { at }) => (at > latest ? at : latest), before?.since ?? EPOCH);
  const state = { since: newest, seen: all.filter(({ at }) => at === newest).map(({ id }) => id) };
  if (before === undefined) return { news: [], state };
  const known = new Set(before.seen);
  const isNew = ({ id, at, by }: Said): boolean => at >= before.since && !known.has(id) && by !== me;
  return { news: newsOf(pull, { reviews, inCode, comments }, isNew), state };
}

const EPOCH = '1970-01-01T00:00:00Z';

type All = { readonly reviews: readonly Said[]; readonly inCode: readonly Said[]; readonly comments: readonly Said[] };

function newsOf(pull: Pull, { reviews, inCode, comments }: All, isNew: (said: Said) => boolean): readonly News[] {
  const fresh = inCode.filter(isNew);
  const told = new Set<Said>();
  const ofReviews = reviews.filter(isNew).flatMap((review): readonly News[] => {
    const own = fresh.filter((comment) => comment.review === review.id.slice('review:'.length));
    own.forEach((comment) => told.add(comment));
    if (own.length === 0 && review.text === '' && review.verdict === 'COMMENTED') return [];
    return [reviewNews(pull, review, own)];
  });
  const single = [...fresh.filter((comment) => !told.has(comment)), ...comments.filter(isNew)];
  return [...ofReviews, ...single.map((comment) => commentNews(pull, comment))];
}

function reviewNews({ repo, number }: Pull, { id, by, text, verdict }: Said, comments: readonly Said[]): News {
  const did = verdict === 'APPROVED' ? 'approved it' : verdict === 'CHANGES_REQUESTED' ? 'requested changes' : 'reviewed it';
  const counted = comments.length === 0 ? '' : ` with ${comments.length} comment${comments.length === 1 ? '' : 's'}`;
  return {
    id,
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
  type: 'pr.comment',
  severity: 'info',
  message: `${repo}#${number}: ${by} commented${place === undefined ? '' : ` on ${place}`}: “${text}”`,
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
