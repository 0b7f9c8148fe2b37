/** Finds the accessibility faults of a page with axe, by impact. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

type Impact = 'minor' | 'moderate' | 'serious' | 'critical';

/** Returns the findings after all animations have ended. */
export async function faults(page: Page, impacts: readonly Impact[] = ['serious', 'critical']): Promise<unknown> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  await page.evaluate(`Promise.all(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    .map(({ finished }) => finished.catch(() => undefined)))`);
  return page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) =>
      violations.filter(({ impact }) => ${JSON.stringify(impacts)}.includes(impact))
        .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + ' — ' + failureSummary.slice(0, 200)).join(' | ')))`,
  );
}
