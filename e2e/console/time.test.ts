/** Tests times: agents that are stuck, and messages of another day. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { conversation } from './articles.ts';
import { openBrowser } from './browser.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const MIN = 60_000;

verifies(
  'console:agents',
  'an active agent with a notification that is open for more than a minute counts as stuck',
  async () => {
    await using stage = await Stage.open(browser);
    const { ear } = stage;
    for (const name of ['quick', 'slow'])
      await ear.conversation(`shop/${name}#main`, { host: 'codex', carrier: 'hook', points: ['turn_start'] }).seen();
    await ear.queue('shop/slow#main', { message: 'waits' });
    await ear.queue('shop/gone', { message: 'waits, too, and nobody is there' });
    const page = await stage.page();
    await page.clock.install();
    await page.goto(`${stage.url}/#/agents?only=stuck`);
    await page.reload();
    await page.getByText('hides all 3 agents.').waitFor();
    await page.clock.fastForward(2 * MIN);
    await page
      .locator('a[data-log="shop/slow"]')
      .getByText(/^oldest 2 min/u)
      .waitFor();
    expect(await page.locator('a[data-log]').count()).toBe(1);
  },
);

verifies('console:history', 'messages of another day are below the date of that day', async () => {
  await using stage = await Stage.open(browser);
  const { agent } = await stage.agent('shop/coder#main', [{ text: 'Good morning.' }]);
  await agent.send('Hello.');
  const page = await stage.page();
  await page.clock.install();
  await page.goto(conversation(stage, 'shop/coder'));
  await page.reload();
  await page.getByText('Good morning.').waitFor();
  const day = page.locator('.timeline .day');
  expect(await day.count()).toBe(0);
  await page.clock.fastForward(25 * 60 * MIN);
  await stage.ear.queue('shop/coder#main', { message: 'woken', level: 'error' });
  await day.first().waitFor();
  expect(await day.count()).toBe(1);
  expect(await day.first().innerText()).toMatch(/^\d{1,2} \w+ \d{4}$/u);
});
