/** Delays an answer to the page until the test releases the answer, as over a slow network. */
import type { Page, Route } from 'playwright-core';

export type Late = {
  /** Resolves when the server has answered. */
  readonly answered: Promise<void>;
  /** Returns the number of requests so far. */
  readonly times: () => number;
  /** Gives the page the held answer, and from now on every answer at once. */
  deliver(): void;
};

/** Holds back the answer of each request with this method and path. */
export async function late(page: Page, method: string, path: RegExp): Promise<Late> {
  const answered = Promise.withResolvers<void>();
  const delivered = Promise.withResolvers<void>();
  let times = 0;
  await page.route(
    (url) => path.test(`${url.pathname}${url.search}`),
    async (route: Route) => {
      if (route.request().method() !== method) return route.fallback();
      times++;
      const response = await route.fetch();
      answered.resolve();
      await delivered.promise;
      // The page may have stopped waiting for this answer.
      await route.fulfill({ response }).catch(() => undefined);
    },
  );
  return { answered: answered.promise, times: () => times, deliver: () => delivered.resolve() };
}
