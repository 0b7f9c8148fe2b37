/**
 * Tests that an open, silent connection counts as lost: the page shows the same banner as for a closed connection, and tries
 * again.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { conversation, notesOn, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { HoldingProxy } from './holding-proxy.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

verifies(
  'console:resumes',
  'while the connection is silent, the banner shows the age of the page, and it disappears when data arrives',
  async () => {
    await using stage = await Stage.open(browser);
    await using proxy = await HoldingProxy.before(stage.url);
    const page = await stage.page();
    await page.clock.install();
    await page.goto(`${proxy.url}/${new URL(await stage.server.loginUrl()).hash}`);
    await stage.ear.queue('shop/coder#main', { kind: 'ci.before', message: 'before' });
    await page.goto(conversation({ url: proxy.url }, 'shop/coder'));
    await staged(page, 'ci.before').waitFor();
    const connection = page.locator('.connection');
    await connection.getByText('live').waitFor();
    const banner = page.locator('.banner');
    expect(await banner.count()).toBe(0);

    proxy.hold();
    await stage.ear.queue('shop/coder#main', { kind: 'ci.meanwhile', message: 'meanwhile' });
    let asked = proxy.asked('GET /api/stream');
    await page.clock.fastForward(30_000);
    await banner.getByText('Reconnecting').waitFor();
    await banner.getByText(/the shown data is (2[5-9]|[3-9]\d) s old.*nothing has arrived for \d\d s/u).waitFor();
    await connection.getByText('reconnecting').waitFor();
    await asked;

    // The next try gets no answer either, and the page does not wait for the answer forever.
    asked = proxy.asked('GET /api/stream');
    await page.clock.fastForward(30_000);
    await asked;
    await banner.getByText(/the shown data is ([5-9]\d s|1 min|\d+ min) old/u).waitFor();

    proxy.release();
    await staged(page, 'ci.meanwhile').waitFor();
    await banner.waitFor({ state: 'detached' });
    await connection.getByText('live').waitFor();
    expect(await notesOn(page)).toEqual(['staged ci.before', 'staged ci.meanwhile']);
  },
);
