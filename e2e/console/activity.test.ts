/** Tests that each point of a chart links to the notifications that the point counts. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { openBrowser } from './browser.ts';
import { morning } from './morning.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const chart = (page: Page, name: string): Locator =>
  page.locator('figure', { has: page.getByRole('heading', { name, exact: true }) });

verifies(
  'console:activity',
  'every chart and number links to its notifications, and a chart shows the time to delivery',
  async () => {
    await using stage = await Stage.open(browser);
    await morning(stage);
    const page = await stage.page();
    const rows = page.locator('a.row');
    // A bar covers half an hour. The stage's clock starts at 10:15, so one bar contains all events.
    const activity = `${stage.url}/#/activity?range=24h`;
    await page.goto(activity);
    const number = page.getByRole('definition').filter({ has: page.getByRole('link') });
    await number.first().waitFor();
    const delivered = Number(
      await page
        .locator('.numbers div', { hasText: /^delivered/u })
        .locator('dd')
        .innerText(),
    );
    expect(delivered).toBeGreaterThan(2);

    const times = chart(page, 'Time to delivery');
    expect(await times.locator('a.point').last().getAttribute('aria-label')).toMatch(
      /^\d\d:\d\d: [\d.]+ m?s median, [\d.]+ m?s 95 %$/u,
    );
    for (const open of [
      () => times.locator('a.point').last().click(),
      () => chart(page, 'Queued and delivered').locator('a.point').last().click(),
      () => chart(page, 'Tokens spent on notifications').locator('a.point').last().click(),
      () =>
        page
          .locator('.numbers div', { hasText: /^delivered/u })
          .getByRole('link')
          .click(),
      () => page.locator('.numbers div', { hasText: 'time to delivery, 95 %' }).getByRole('link').click(),
    ]) {
      await page.goto(activity);
      await open();
      await page.getByRole('heading', { name: 'Notifications' }).waitFor();
      await rows.first().waitFor();
      expect(await rows.filter({ hasText: 'delivered' }).count()).toBe(await rows.count());
      expect(await rows.count()).toBe(delivered);
    }
    await page.close();
  },
);

verifies(
  'console:activity',
  'a filtered list of notifications drops a notification that no longer passes the filter',
  async () => {
    await using stage = await Stage.open(browser);
    const { ear } = stage;
    await ear.queue('shop/coder#main', { kind: 'ci.old', message: 'waits for long' });
    const page = await stage.page();
    await page.goto(`${stage.url}/#/notifications?state=open&receipt=read`);
    await page.locator('a.row', { hasText: 'waits for long' }).getByText('waits', { exact: true }).waitFor();
    expect(await page.locator('main').innerText()).not.toContain('queued');
    // The page shows only the filters that it applies.
    expect(await page.getByRole('list', { name: 'filters' }).count()).toBe(0);
    const main = ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook', points: ['turn_start'] });
    await (await main.offer({ at: 'turn_start' }))?.confirm();
    await page.getByText('No notification passes these filters').waitFor();
    await page.close();
  },
);

verifies('console:activity', 'the page counts the notifications that ended without delivery, and links to them', async () => {
  await using stage = await Stage.open(browser, { toml: '[coalesce]\nwindow = "0s"\n' });
  const { ear } = stage;
  for (const id of ['a', 'b', 'c']) await ear.queue('shop/coder#main', { id, kind: `ci.${id}`, message: `number ${id}` });
  await ear.withdraw('shop/coder', { id: 'a' }, { by: 'Mira', reason: 'over' });
  await ear.withdraw('shop/coder', { id: 'b' }, { by: 'Mira', reason: 'over' });
  const page = await stage.page();
  await page.goto(`${stage.url}/#/activity`);
  await page.getByText('Neither waiting nor delivered: at least 2 of the queued notifications.').waitFor();
  await page.getByRole('link', { name: 'Show the closed notifications' }).click();
  await page.locator('a.row', { hasText: 'number b' }).waitFor();
  expect(await page.locator('a.row').allInnerTexts()).toHaveLength(2);
});
