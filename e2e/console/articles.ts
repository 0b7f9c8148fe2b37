/** What stands on the page of a conversation, as a person would tell it. */
import type { Locator, Page } from 'playwright-core';

/** Each notification in its order: `staged ci.failed`, `rode ci.failed`. */
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
