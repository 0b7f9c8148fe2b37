/** Tests the console with the keyboard alone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { morning } from './morning.ts';
import { Stage } from './stage.ts';

let browser: Browser;
let stage: Stage;
beforeAll(async () => {
  browser = await openBrowser();
  stage = await Stage.open(browser);
  await morning(stage);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await browser.close();
});

const focused = (page: Page): Promise<string> =>
  page.evaluate("document.activeElement.dataset.log ?? document.activeElement.dataset.note ?? document.activeElement.id ?? ''");

verifies(
  'console:keys',
  'j and k move, Enter opens, w shows why, m begins a message, Escape goes back, and s asks before it acts',
  async () => {
    const page = await stage.page();
    await page.locator('a[data-log="shop/coder"]').waitFor();
    const rows = await page
      .locator('main a[data-log]')
      .evaluateAll((all) => all.map((row) => (row as unknown as { dataset: Record<string, string> }).dataset['log']));
    await page.keyboard.press('j');
    expect(await focused(page)).toBe(rows[0]);
    for (const key of ['j', 'j', 'k']) await page.keyboard.press(key);
    expect(await focused(page)).toBe(rows[1]);
    const away = rows.indexOf('shop/coder') - 1;
    for (let n = 0; n < Math.abs(away); n++) await page.keyboard.press(away > 0 ? 'j' : 'k');
    expect(await focused(page)).toBe('shop/coder');
    await page.keyboard.press('Enter');
    await page.locator('article[data-state=staged]', { hasText: 'user.message' }).waitFor();

    await page.keyboard.press('j');
    const newest = await focused(page);
    await page.keyboard.press('k');
    const chosen = await focused(page);
    expect(chosen).not.toBe(newest);
    const why = page.getByRole('complementary', { name: 'Why' });
    for (const out of ['w', 'Escape']) {
      await page.keyboard.press('w');
      await why.getByText('deploy.blocked · warning').waitFor();
      await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Why');
      await page.keyboard.press(out);
      await why.waitFor({ state: 'detached' });
      await expect.poll(() => focused(page)).toBe(chosen);
    }

    await page.keyboard.press('m');
    expect(await focused(page)).toBe('say');
    await page.keyboard.type('jkwps?');
    expect(await page.locator('#say').inputValue()).toBe('jkwps?');
    await page.keyboard.press('Escape');
    expect(await focused(page)).not.toBe('say');

    await page.keyboard.press('s');
    await page.getByRole('button', { name: 'Stop: aborts the stream' }).waitFor();
    expect(await page.evaluate('document.activeElement.dataset.deed')).toBe('stop-yes');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Stop: aborts the stream' }).waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.dataset.deed')).toBe('stop');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.close();
  },
);

verifies('console:keys', 'a task is chosen and edited without a mouse, and Escape leaves it unchanged', async () => {
  const page = await stage.page();
  await page.goto(`${stage.url}/#/tasks`);
  await page.locator('[data-task=t2]').waitFor();
  for (const key of ['j', 'j']) await page.keyboard.press(key);
  expect(await page.evaluate('document.activeElement.dataset.task')).toBe('t2');
  await page.keyboard.press('Enter');
  const title = page.getByRole('form', { name: 'Edit t2' }).getByRole('textbox', { name: 'Title' });
  await title.waitFor();
  expect(await title.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  await page.keyboard.type(', slowly');
  await page.keyboard.press('Escape');
  await title.waitFor({ state: 'detached' });
  await page.locator('[data-task=t2]').getByText('Say what a coupon is worth', { exact: true }).waitFor();
  await page.close();
});

verifies('console:keys', 'the palette finds agents, notifications and commands', async () => {
  const page = await stage.page();
  await page.keyboard.press('Control+k');
  const find = page.getByRole('combobox', { name: /^Find agents/u });
  await find.waitFor();
  await page.getByRole('option', { name: 'The nightly export' }).waitFor();
  await page.keyboard.type('nightly');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Why' }).getByText('ci.failed · error').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('advanced');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Budgets' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('theme dark');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('claude');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.getByText('delivered with').first().waitFor();
  expect(page.url()).toContain('#/agents/shop/claude-code/a41f');
  await page.close();
});

verifies('console:keys', 'the palette offers the actions of the keys, on pages where they apply', async () => {
  const page = await stage.page();
  const options = page.getByRole('dialog').getByRole('option');
  const command = async (name: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(name);
    await options.filter({ hasText: name }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await page.locator('a[data-log="docs/writer"]').waitFor();
  await page.keyboard.press('Control+k');
  await options.first().waitFor();
  expect(await options.filter({ hasText: 'Write a message' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.goto(`${stage.url}/#/agents/shop/coder/main`);
  await page.locator('article[data-state=staged]', { hasText: 'user.message' }).waitFor();
  await command('Write a message');
  await page.locator('#say:focus').waitFor();
  await page.keyboard.press('Escape');
  await command('Why');
  await page.getByRole('complementary', { name: 'Why' }).waitFor();
  await page.keyboard.press('Escape');
  await command('Stop');
  await page.getByRole('button', { name: 'Stop: aborts the stream' }).waitFor();
  await page.close();
});

verifies('console:keys', 'every element that Tab reaches shows that it has the focus', async () => {
  const page = await stage.page();
  for (const hash of ['#/agents', '#/agents/shop/coder/main', '#/activity', '#/settings/notifications', '#/settings/advanced']) {
    await visit(page, `${stage.url}/${hash}`);
    const unseen: unknown[] = [];
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      const seen = await page.evaluate(`(() => {
        const element = document.activeElement;
        if (element === document.body) return true;
        const style = getComputedStyle(element);
        const hit = element.querySelector('.hit');
        const drawn = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
        return drawn || (hit !== null && getComputedStyle(hit).strokeWidth === '2px') || element.outerHTML.slice(0, 120);
      })()`);
      if (seen !== true) unseen.push(seen);
    }
    expect(unseen, hash).toEqual([]);
  }
  await page.close();
});
