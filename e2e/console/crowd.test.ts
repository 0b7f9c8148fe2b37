/** Tests the console with 60 agents and 300 notifications: its lists, its cards, Why and accessibility. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { conversation, rode, staged, visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { AGENTS, AWAY, crowd, nameOf, PAUSED } from './crowd.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';

let browser: Browser;
let stage: Stage;
beforeAll(async () => {
  browser = await openBrowser();
  stage = await Stage.open(browser);
  await crowd(stage);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await browser.close();
});

const row = (page: Page, log: string) => page.getByRole('main').locator(`a[data-log="${log}"]`);

verifies('console:agents', 'the filter shows the number of agents in each state, including inactive agents', async () => {
  const page = await stage.page();
  await visit(page, `${stage.url}/#/agents`);
  const show = page.getByLabel('Show', { exact: true });
  await expect
    .poll(() => show.locator('option').allInnerTexts())
    .toEqual(
      expect.arrayContaining([`all (${AGENTS})`, `active (${AGENTS - 1})`, 'not active (1)', `paused (${PAUSED.length})`]),
    );
  await show.selectOption('away');
  await row(page, AWAY).waitFor();
  expect(await page.getByRole('main').locator('a[data-log]').count()).toBe(1);
});

verifies('console:agents', 'an answered call is not shown as running', async () => {
  const page = await stage.page();
  await visit(page, `${stage.url}/#/agents`);
  await row(page, nameOf(16))
    .getByText(/^last called read_file \d+ s ago$/u)
    .waitFor();
  expect(await page.getByText('calling read_file').count()).toBe(0);
});

verifies('console:agents', 'the project stays in view above its agents at every scroll position', async () => {
  const page = await stage.page();
  await visit(page, conversation(stage, nameOf(2)));
  const heading = page.locator('.side-list h2', { hasText: 'infra' });
  const chosen = page.locator('.side-list a[aria-current=true]');
  await expect
    .poll(async () => {
      const [above, own] = [await heading.boundingBox(), await chosen.boundingBox()];
      return (own?.y ?? -1) >= (above?.y ?? 0) + (above?.height ?? 0) - 1;
    })
    .toBe(true);
  await page.locator('.side-list a', { hasText: 'agent-59' }).scrollIntoViewIfNeeded();
  const [list, box] = [await page.locator('.side-list').boundingBox(), await heading.boundingBox()];
  expect(box?.y ?? -1).toBeGreaterThanOrEqual((list?.y ?? 0) - 1);
});

verifies('console:history', 'each card shows when its notification was delivered or ended', async () => {
  const page = await stage.page();
  await visit(page, conversation(stage, nameOf(2)));
  await rode(page, 'disk.full')
    .locator('header time')
    .getByText(/^\d\d:\d\d$/u)
    .waitFor();
  await visit(page, conversation(stage, nameOf(1)));
  await page
    .locator('article[data-state=ended] header time')
    .getByText(/^\d\d:\d\d$/u)
    .waitFor();
});

verifies('console:person', 'a waiting interrupt names its effect at this host', async () => {
  const page = await stage.page();
  await visit(page, conversation(stage, nameOf(9)));
  await staged(page, 'files.changed').getByText('refuses the next tool call').waitFor();
  await visit(page, conversation(stage, nameOf(10)));
  await stage.ear.queue(`${nameOf(10)}#main`, { kind: 'disk.full', level: 'critical', message: 'full' });
  await staged(page, 'disk.full').getByText('refuses the next call of a wrapped tool').waitFor();
});

verifies(
  'console:why',
  'the head of a conversation leaves room for its actions next to Why, and takes at most three lines',
  async () => {
    const page = await stage.page({ viewport: { width: 1100, height: 640 } });
    await visit(page, `${conversation(stage, nameOf(2))}?why=n2`);
    await page.getByRole('complementary', { name: 'Why' }).getByText('What was sent').waitFor();
    const box = await page.locator('.talk-head').boundingBox();
    expect(box?.height).toBeLessThan(90);
  },
);

verifies('console:keys', 'the promises of a host are explained without a mouse', async () => {
  const page = await stage.page({ viewport: { width: 390, height: 800 } });
  await visit(page, conversation(stage, nameOf(0)));
  const promise = page.locator('.talk-facts summary', { hasText: 'leased · wrapped tools only' });
  await promise.focus();
  await page.keyboard.press('Enter');
  await page
    .getByText('Until the agent has read a critical notification, and during a pause, the gateway refuses calls of wrapped tools')
    .waitFor();
  expect(await faults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
});

verifies('console:activity', 'notifications are filtered by state and level on their page', async () => {
  const page = await stage.page();
  await visit(page, `${stage.url}/#/notifications`);
  const rows = page.getByRole('main').locator('a.row');
  await page.getByLabel('State', { exact: true }).selectOption('closed');
  await page.getByLabel('Level', { exact: true }).selectOption('warning');
  await expect
    .poll(() =>
      rows
        .locator('.kind')
        .allInnerTexts()
        .then((kinds) => [...new Set(kinds)]),
    )
    .toEqual(['disk.full']);
  expect(page.url()).toMatch(/state=closed/u);
  await page.getByLabel('State', { exact: true }).selectOption('');
  await page.getByLabel('Level', { exact: true }).selectOption('');
  await expect.poll(() => page.url()).toBe(`${stage.url}/#/notifications`);
});

verifies('console:hands', 'the text of a new task is kept when a person leaves the page and returns', async () => {
  const page = await stage.page();
  await visit(page, `${stage.url}/#/tasks`);
  await page.getByRole('textbox', { name: 'Title' }).fill('Round prices in one');
  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Agents', exact: true }).click();
  await row(page, AWAY).waitFor();
  await page.goBack();
  expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Round prices in one');
  await page.getByRole('button', { name: 'Create task' }).click();
  await page.getByRole('main').getByText('Round prices in one').waitFor();
  await page.reload();
  await expect.poll(() => page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('');
});

verifies(
  'console:why',
  'Why shows the answer of get_notifications, and names only once the person who marked a notification as read',
  async () => {
    const main = stage.ear.conversation(`${nameOf(11)}#main`, {
      host: 'codex',
      carrier: 'gateway:stdio files',
      pulls: true,
    });
    await stage.ear.queue(`${nameOf(11)}#main`, { id: 'pulled', kind: 'ci.failed', message: 'the nightly build is red' });
    await (await main.pull({ mark: true })).offer?.confirm();
    const page = await stage.page();
    await visit(page, `${conversation(stage, nameOf(11))}?why=pulled`);
    const why = page.getByRole('complementary', { name: 'Why' });
    await why.locator('pre.sent', { hasText: 'the nightly build is red' }).waitFor();
    await visit(page, `${conversation(stage, nameOf(2))}?why=n2`);
    await why.locator('.step-detail', { hasText: /^by Mira in the console$/u }).waitFor();
  },
);

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    verifies('console:accessible', `axe finds no fault on a busy day, ${colorScheme}, ${width} wide`, async () => {
      const page = await stage.page({ colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' });
      for (const hash of [
        'agents',
        `agents/${nameOf(3)}/main`,
        `agents/${nameOf(2)}/main`,
        'notifications?state=closed',
        'tasks',
      ]) {
        await visit(page, `${stage.url}/#/${hash}`);
        expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
        expect([hash, await faults(page)]).toEqual([hash, []]);
      }
      // The shortened label still names the records.
      await visit(page, conversation(stage, nameOf(3)));
      const says = await page.locator('.talk-head .toggle').evaluate((label) => {
        const { content } = (
          globalThis as unknown as { getComputedStyle(of: unknown, part: string): { content: string } }
        ).getComputedStyle(label, '::after');
        return `${(label as unknown as { innerText: string }).innerText}${content === 'none' ? '' : content}`;
      });
      expect(says).toMatch(/records/u);
    });

verifies(
  'console:person',
  'a conversation that the list of agents leaves out shows its host, its last contact and the effect of Stop',
  async () => {
    await using own = await Stage.open(browser);
    for (let n = 0; n < 25; n++)
      await own.ear
        .conversation(`shop/many#s${n}`, { host: 'claude-code', carrier: 'hook', points: ['tool_result', 'forced'] })
        .seen();
    const page = await own.page();
    await visit(page, conversation(own, 'shop/many', 's0'));
    await page.locator('.talk-facts').getByText('leased · can refuse tools').waitFor();
    await page.getByText(/^No notification is open\. The last contact was/u).waitFor();
    await page.getByRole('button', { name: 'Stop refuses the next tool call' }).waitFor();
    await visit(page, conversation(own, 'shop/many', 'typo'));
    await page.getByText('No notification is open. This agent has not made contact yet.').waitFor();
  },
);
