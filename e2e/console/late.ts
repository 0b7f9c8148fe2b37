/** An answer that comes when the test says so: between it and the page there is a network that takes its time. */
import type { Page, Route } from 'playwright-core';

export type Late = {
  /** The server has answered. */
  readonly answered: Promise<void>;
  /** How often it was asked so far. */
  readonly times: () => number;
  /** The page gets what the server said then, and from now on whatever it asks at once. */
  deliver(): void;
};

/** Holds back the answer of each such request. */
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
