/** Reads the content of a conversation's page as short words. */
import type { Locator, Page } from 'playwright-core';
import { routeOf } from '../../console/src/addresses.ts';
import { visible } from '../../console/src/state/text.ts';

/** Returns the state and the kind of each notification in order, such as `staged ci.failed`. */
export const notesOn = (page: Page): Promise<string[]> =>
  page
    .locator('article[data-note]')
    .evaluateAll((articles) =>
      (
        articles as unknown as { dataset: Record<string, string>; querySelector(s: string): { textContent: string } | null }[]
      ).map((article) => `${article.dataset['state']} ${article.querySelector('.kind')?.textContent ?? ''}`),
    );

export const staged = (page: Page, kind: string): Locator => page.locator('article[data-state=staged]', { hasText: kind });
export const rode = (page: Page, kind: string): Locator => page.locator('article[data-state=rode]', { hasText: kind });

export const conversation = (stage: { readonly url: string }, log: string, name = 'main'): string =>
  `${stage.url}/#/agents/${log.split('/').map(encodeURIComponent).join('/')}/${encodeURIComponent(name)}`;

/** Opens a place of the console, and waits until it has loaded its first data. */
export async function visit(page: Page, url: string): Promise<void> {
  const route = routeOf(new URL(url).hash);
  await page.goto(url);
  await page
    .locator(
      route.kind === 'conversation'
        ? `section[aria-label=${JSON.stringify(visible(`Conversation ${route.log}#${route.conversation}`))}]`
        : route.kind === 'settings'
          ? `#tab-${route.tab}[aria-selected=true]`
          : `.page-${route.kind}`,
    )
    .waitFor({ state: 'attached' });
  // A page shows that it is loading from its first frame on.
  await page.locator('.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' });
}
