/** The maximum number of elements in work at the same time. The calls of further elements would only wait at the server. */
const AT_ONCE = 32;

/** Runs the work for each element, at most `AT_ONCE` at the same time, and returns the results in the order of the elements. */
export async function inTurns<A, B>(all: readonly A[], work: (one: A) => Promise<B>): Promise<B[]> {
  const done: B[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE)
    done.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(work))));
  return done;
}
