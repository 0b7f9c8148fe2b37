/** Tests the console with the token of one agent, which may read, but not lead agents. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { Tasks } from '../../src/tasks/index.ts';
import { verifies } from '../verifies.ts';
import { visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Opens a browser window that is logged in with the token of `shop/coder`. */
async function asCoder(stage: Stage): Promise<Page> {
  const { token } = await stage.server.tokens.create({ kind: 'agent', name: 'ci', project: 'shop', agent: 'coder' });
  const page = await stage.page();
  await page.context().clearCookies();
  await page.goto(stage.url);
  await page.reload();
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Places' }).waitFor({ state: 'attached' });
  return page;
}

const enabled = (of: Locator): Promise<string[]> => of.locator('button:enabled, select:enabled').allInnerTexts();

verifies('console:teaches', 'with the token of an agent, each page says which actions the token does not allow', async () => {
  await using stage = await Stage.open(browser);
  const { ear } = stage;
  const person = { kind: 'person', name: 'Mira' } as const;
  const tasks = new Tasks(ear);
  await ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook', points: ['turn_start'] }).seen();
  await ear.queue('shop/coder#main', { id: 'n1', kind: 'ci.failed', message: 'main is red' });
  await tasks.create('shop', { title: 'of another agent', assignee: 'other' }, person);
  const page = await asCoder(stage);
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 403 && response.request().method() !== 'GET') refused.push(response.url());
  });

  await visit(page, `${stage.url}/#/agents/shop/coder/main?why=n1`);
  const composer = page.getByRole('form', { name: 'Say something' });
  await composer.getByText('You can read shop/coder, and send notes in the name of this agent.').waitFor();
  expect(await composer.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
  expect(await composer.getByRole('button', { name: 'Stop' }).isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: /^(?:Mute|Withdraw|Queue again)/u }).count()).toBe(0);
  // The token may send notes, so the box sends a note.
  await composer.getByRole('textbox', { name: /^Say something/u }).fill('seen');
  await composer.getByRole('button', { name: 'Send' }).click();
  await page.locator('article[data-state=staged]', { hasText: 'seen' }).getByText('from the agent shop/coder').waitFor();
  expect(await faults(page)).toEqual([]);

  await visit(page, `${stage.url}/#/tasks`);
  await page.getByRole('heading', { name: 'shop/coder has no unfinished tasks' }).waitFor();
  await page.getByText('The page shows only the tasks of shop/coder, and you cannot change them.').waitFor();
  expect(await page.getByRole('form', { name: 'New task' }).count()).toBe(0);
  await tasks.create('shop', { title: 'of this agent', description: 'Do it.', assignee: 'coder' }, person);
  const row = page.locator('[data-task]', { hasText: 'of this agent' });
  await row.waitFor();
  expect(await enabled(row)).toEqual([]);
  expect(await faults(page)).toEqual([]);

  await visit(page, `${stage.url}/#/settings/advanced`);
  await page.getByText('listing tokens exceeds the rights of the agent token').waitFor();
  expect(await page.getByRole('button', { name: 'Create token' }).count()).toBe(0);
  expect(refused).toEqual([]);
});
