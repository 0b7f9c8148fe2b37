/** Calls to the server that run at the same time: a few, because more would only wait there. */
const AT_ONCE = 32;

/** Does the work for each, a few at the same time, and returns the results in their order. */
export async function inTurns<A, B>(all: readonly A[], work: (one: A) => Promise<B>): Promise<B[]> {
  const done: B[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE)
    done.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(work))));
  return done;
}
