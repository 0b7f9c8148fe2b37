/** Reads lists of GitHub's API, with the ETag of each page. */
import { defined } from '../../../core/defined.ts';
import type { Json } from '../../../core/json.ts';
import { CannotLook } from '../follower.ts';
import { get, type GhAnswer, type GhPlace } from './gh.ts';

/** A page that was read: its ETag, and the kept parts of its items. `total`: the number of items of all pages, if known. */
export type Page<T> = {
  readonly etag?: string;
  readonly items: readonly T[];
  readonly isFull: boolean;
  readonly total?: number;
};

const PER_PAGE = 100;
/**
 * The maximum number of pages of a list that are read. GitHub lists the oldest reviews and comments first, so a lower limit could
 * miss the newest.
 */
const MAX_PAGES = 20;

export type PageQuery<T> = {
  /** The path of the list, without `per_page` and `page`. */
  readonly path: string;
  readonly known?: readonly Page<T>[] | undefined;
  readonly itemsOf: (body: Json) => readonly Json[];
  readonly keep: (item: Json) => T;
  readonly totalOf?: (body: Json) => number | undefined;
};

/** Reads the pages of a list. An unchanged page does not count against the rate limit. Throws `CannotLook` as `get` does. */
export async function pages<T>(place: GhPlace, query: PageQuery<T>): Promise<readonly Page<T>[]> {
  const { path, known = [] } = query;
  const read: Page<T>[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const before = known[page - 1];
    const answer = await get(place, `${path}${path.includes('?') ? '&' : '?'}per_page=${PER_PAGE}&page=${page}`, before?.etag);
    const now = answer.kind === 'same' && before !== undefined ? before : pageOf(answer, query);
    read.push(now);
    if (!now.isFull) break;
  }
  return read;
}

/** Whether a list has more items than the pages that were read, or may have more. */
export function isCut(read: readonly Page<unknown>[]): boolean {
  const last = read.at(-1);
  if (last === undefined || read.length < MAX_PAGES || !last.isFull) return false;
  return last.total === undefined || last.total > read.reduce((sum, { items }) => sum + items.length, 0);
}

function pageOf<T>(answer: GhAnswer, { itemsOf, keep, totalOf }: PageQuery<T>): Page<T> {
  const body = bodyOf(answer);
  const items = itemsOf(body);
  const etag = answer.kind === 'ok' ? answer.etag : undefined;
  return { ...defined({ etag, total: totalOf?.(body) }), items: items.map(keep), isFull: items.length >= PER_PAGE };
}

/**
 * Returns the JSON of an answer. Throws `CannotLook` with the reason if GitHub refused the request, or if it answered with HTTP 304
 * or with something other than JSON.
 */
export function bodyOf(answer: GhAnswer): Json {
  if (answer.kind === 'same') throw new CannotLook('GitHub answers HTTP 304, but the request had no ETag');
  if (answer.kind === 'refused') throw refusal(answer.status);
  try {
    return JSON.parse(answer.body) as Json;
  } catch {
    throw new CannotLook('GitHub answers with something other than JSON');
  }
}

function refusal(status: number): CannotLook {
  const why: Readonly<Record<number, string>> = {
    403: 'your sign-in cannot read this pull request (HTTP 403); run gh auth refresh',
    404: 'the pull request no longer exists, or your sign-in cannot read it (HTTP 404)',
    410: 'the pull request no longer exists (HTTP 410)',
    451: 'GitHub has blocked the pull request (HTTP 451)',
  };
  return new CannotLook(why[status] ?? `GitHub answers HTTP ${status}`, { lasting: status in why });
}

export const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? (json as readonly Json[]) : []);
