/**
 * Tests the navigation with 60 agents, and the effect of a subscriber's Test button. With CONSOLE_SHOTS=<folder> the test saves
 * screenshots of both.
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';

const SHOTS = process.env['CONSOLE_SHOTS'];
const AGENTS = 60;

let browser: Browser;
let stage: Stage;
beforeAll(async () => {
  browser = await openBrowser();
  stage = await Stage.open(browser);
  for (let n = 0; n < AGENTS; n++) {
    const log = `${['shop', 'docs', 'infra'][n % 3]}/agent-${String(n).padStart(2, '0')}`;
    await stage.ear.conversation(`${log}#main`, { host: 'codex', carrier: 'hook' }).seen();
    if (n % 4 === 0) await stage.ear.queue(`${log}#main`, { kind: 'ci.failed', level: 'warning', message: 'main is red' });
  }
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await browser.close();
});

const draw = async (page: Page, name: string): Promise<void> => {
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
};
const inView = (page: Page, name: string): Promise<boolean> =>
  page
    .getByRole('navigation', { name: 'Places' })
    .getByRole('link', { name, exact: true })
    .evaluate((link) => {
      const { top, bottom, left, right } = (
        link as unknown as { getBoundingClientRect(): Readonly<Record<'top' | 'bottom' | 'left' | 'right', number>> }
      ).getBoundingClientRect();
      const { innerWidth, innerHeight } = globalThis as unknown as { innerWidth: number; innerHeight: number };
      return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
    });

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  for (const width of [1280, 390])
    verifies(
      'console:places',
      `${colorScheme}, ${width} wide: each place is in view and works, with ${AGENTS} agents`,
      async () => {
        const page = await stage.page({ colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' });
        await visit(page, `${stage.url}/#/agents`);
        for (const name of ['Agents', 'Activity', 'Tasks', 'Settings'])
          expect([name, await inView(page, name)]).toEqual([name, true]);
        expect(await faults(page)).toEqual([]);
        await draw(page, `places-${width}-${colorScheme}`);
        if (width > 760) {
          // The agents scroll in a separate area, and the filter stays above it.
          const filter = page.getByRole('searchbox', { name: 'Filter the agents in the side list' });
          await page.locator('.side-list a', { hasText: 'agent-59' }).scrollIntoViewIfNeeded();
          expect(await inView(page, 'Settings')).toBe(true);
          await filter.fill('agent-5');
          expect(await page.locator('.side-list a').count()).toBe(10);
          await filter.fill('zzz');
          await page.getByText('no agent has “zzz” in its name').waitFor();
          await filter.fill('');
        }
        await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Settings', exact: true }).click();
        await page.getByRole('tab', { name: 'Notifications' }).waitFor();
        await page.context().close();
      },
    );
});

verifies('console:places', 'Tab reaches each place before any agent', async () => {
  const page = await stage.page();
  await visit(page, `${stage.url}/#/activity`);
  const reached: string[] = [];
  await page.getByRole('link', { name: 'Earpiece' }).focus();
  for (let n = 0; n < 7; n++) {
    await page.keyboard.press('Tab');
    reached.push(
      String(await page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')),
    );
  }
  expect(reached.slice(1, 6)).toEqual(['Agents', 'Activity', 'Tasks', 'Settings', 'Filter the agents in the side list']);
  await page.context().close();
});

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  for (const width of [1280, 390])
    verifies(
      'server:test',
      `${colorScheme}, ${width} wide: Test shows the text and sends nothing until an agent is chosen`,
      async () => {
        const page = await stage.page({ colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' });
        await visit(page, `${stage.url}/#/settings/notifications?find=budget_exceeded`);
        const before = await stage.ear.store.head();
        await page.getByRole('button', { name: 'Test Budget exceeded' }).click();
        const dialog = page.getByRole('dialog', { name: 'Test Budget exceeded' });
        await dialog.getByText('101,200 of 100,000').waitFor();
        await dialog.getByText('Nothing was sent.').waitFor();
        const send = dialog.getByRole('button', { name: 'Send as a test' });
        expect(await send.isDisabled()).toBe(true);
        expect(await stage.ear.store.head()).toBe(before);
        expect(await faults(page)).toEqual([]);
        await draw(page, `test-${width}-${colorScheme}`);
        await dialog.getByLabel('What would a real event do').selectOption('shop/agent-03');
        await send.click();
        await dialog.getByText(/^The test was sent to shop\/agent-03\./u).waitFor();
        const [sent] = await stage.ear.store.items('shop/agent-03' as never, { kind: 'latest', limit: 1 });
        expect(sent?.notification).toMatchObject({ kind: { source: 'test', name: 'budget.exceeded' }, level: 'info' });
        expect(sent?.notification.message).toMatch(/^Only a test: nothing happened/u);
        await page.goto(`${stage.url}/#/agents/shop/agent-03/main`);
        await page.getByText('test.budget.exceeded').first().waitFor();
        await draw(page, `test-sent-${width}-${colorScheme}`);
        await page.context().close();
      },
    );
});

verifies(
  'console:text',
  'in the navigation, the name of an agent begins next to its dot, in each direction of writing',
  async () => {
    await using own = await Stage.open(browser);
    for (const name of ['coder', '\u05E2\u05D5\u05D6\u05E8', '\u0648\u0643\u064A\u0644'])
      await own.ear.conversation(`shop/${name}#main`, { host: 'codex', carrier: 'hook' }).seen();
    const page = await own.page();
    const rows = page.locator('.side-agents a');
    await rows.nth(2).waitFor();
    // The distance between the dot and the first pixel of the name.
    const gaps = await page.evaluate(`[...document.querySelectorAll('.side-agents a')].map((row) => {
    const name = document.createRange();
    name.selectNodeContents(row.querySelector('.words'));
    return name.getBoundingClientRect().left - row.firstElementChild.getBoundingClientRect().right;
  })`);
    expect((gaps as number[]).map((gap) => gap < 12)).toEqual([true, true, true]);
  },
);
