/**
 * Tests every page, light and dark, at a desk and on a phone. With CONSOLE_SHOTS=<folder> the test saves a screenshot of each
 * page.
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { morning } from './morning.ts';
import { Stage } from './stage.ts';

const SHOTS = process.env['CONSOLE_SHOTS'];

const PAGES: Readonly<Record<string, string>> = {
  agents: '#/agents',
  conversation: '#/agents/shop/coder/main',
  'conversation at a host': '#/agents/shop/claude-code/a41f',
  'conversation of nobody': '#/agents/shop/nobody/main',
  activity: '#/activity',
  notifications: '#/notifications?project=shop',
  tasks: '#/tasks?over=yes',
  'agents none found': '#/agents?find=nobody',
  account: '#/settings/account',
  models: '#/settings/models',
  subscribers: '#/settings/notifications',
  advanced: '#/settings/advanced',
};

let browser: Browser;
let stage: Stage;
let empty: Stage;
beforeAll(async () => {
  browser = await openBrowser();
  [stage, empty] = await Promise.all([Stage.open(browser), Stage.open(browser)]);
  await morning(stage);
});
afterAll(async () => {
  await Promise.all([stage[Symbol.asyncDispose](), empty[Symbol.asyncDispose]()]);
  await browser.close();
});

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  for (const width of [1280, 390])
    verifies(
      'console:accessible',
      `${colorScheme}, ${width} wide: no moderate or serious fault, no element wider than the screen, and no logged error`,
      async () => {
        const page = await stage.page({ colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' });
        const errors: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
        });
        page.on('pageerror', (error) => errors.push(error.message));
        for (const [name, hash] of Object.entries(PAGES)) {
          await visit(page, `${stage.url}/${hash}`);
          await check(page, `${name}-${width}-${colorScheme}`);
          if (name !== 'conversation') continue;
          await page.getByRole('button', { name: 'Why tool.call.failure' }).first().click();
          await page.getByRole('complementary', { name: 'Why' }).getByText('What was sent').waitFor();
          await check(page, `why-${width}-${colorScheme}`);
          // On a phone, *Why* fills the screen and has a button that leads back to the conversation.
          await page.locator('.timeline').waitFor({ state: width > 760 ? 'visible' : 'hidden' });
          await page.getByRole('button', { name: width > 760 ? 'Close why' : 'Back to the conversation' }).click();
          await page.locator('.timeline').waitFor();
        }
        await visit(page, `${stage.url}/#/tasks`);
        await page.getByRole('textbox', { name: 'Title' }).fill('Another');
        await page.getByRole('button', { name: 'Edit t1' }).click();
        await page.getByRole('button', { name: 'Save' }).waitFor();
        await check(page, `task-edit-${width}-${colorScheme}`);
        await page.getByRole('button', { name: /command palette/iu }).click();
        await page.getByRole('dialog').getByRole('option').first().waitFor();
        await check(page, `palette-${width}-${colorScheme}`);
        await page.keyboard.press('Escape');
        expect(errors).toEqual([]);
        await page.context().close();
      },
    );
});

verifies(
  'console:teaches',
  'a server without agents offers commands to copy on every page, and an empty filtered list names the filter',
  async () => {
    const page = await empty.page();
    await page.getByText('earpiece install').waitFor();
    await check(page, 'nobody');
    await page.getByText('earpiece gateway --print claude').waitFor({ state: 'hidden' });
    await page.getByText('Another MCP client, your own loop, or no agent yet').click();
    await page.getByText('earpiece gateway --print claude').waitFor();
    await page.getByText('npm install earpiece').waitFor();
    await page.goto(`${empty.url}/#/activity`);
    await page.getByText('No notifications in the last hour').waitFor();
    await check(page, 'activity-nobody');
    await page.goto(`${empty.url}/#/agents/shop/coder/main`);
    await page.getByText("earpiece send --to 'shop/coder#main'").waitFor();
    await page.getByText('No agent with this name has made contact yet').waitFor();
    await page.getByText('No notification is open. This agent has not made contact yet.').waitFor();
    // An agent for which only notifications were queued has made no contact, so the page still shows how to connect an agent.
    // After the first contact, the page hides the commands that connect an agent.
    await empty.ear.queue('shop/coder', { message: 'for later' });
    await page.goto(`${empty.url}/#/agents`);
    await page.getByText('never seen').waitFor();
    await page.getByText('earpiece install').waitFor();
    await check(page, 'never-seen');
    await page.goto(`${stage.url}/`);
    const other = await stage.page();
    await other.goto(`${stage.url}/#/agents?find=nobody&only=paused`);
    await other.getByText('The filter (paused, name contains “nobody”) hides all 5 agents.').waitFor();
    await other.getByRole('button', { name: 'Clear the filter' }).click();
    await other.locator('a[data-log="shop/coder"]').waitFor();
    await other.getByText('earpiece install').waitFor({ state: 'hidden' });
    await other.getByText('Connect another agent').click();
    await other.getByText('earpiece install').waitFor();
    await other.goto(`${stage.url}/#/settings/notifications?find=zzz`);
    await other.getByRole('button', { name: 'Clear the filter' }).click();
    await other.getByRole('switch', { name: 'File changes' }).waitFor();
    const login = await (await browser.newContext()).newPage();
    await login.goto(stage.url);
    await login.getByText('earpiece token login').waitFor();
    await check(login, 'login');
  },
);

async function check(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name.replaceAll(' ', '_')}.png`) });
  expect(
    await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    `${name} fits`,
  ).toBe(true);
  // On a phone, *Why* covers the conversation with the page's first heading.
  const impacts = name.startsWith('why-390')
    ? (['serious', 'critical'] as const)
    : (['moderate', 'serious', 'critical'] as const);
  expect(await faults(page, impacts), name).toEqual([]);
}
