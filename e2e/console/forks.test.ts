/**
 * Tests that the page of an Earpiece agent's conversation describes a fork in words, and shows the command that makes the fork.
 * Origin and forks are links.
 */
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { chooseConversation, type Wish } from '../../src/cli/chat/conversation-choice.ts';
import { verifies } from '../verifies.ts';
import { conversation } from './articles.ts';
import { openBrowser } from './browser.ts';
import { heldTool } from './morning.ts';
import { Stage } from './stage.ts';

const SHOTS = process.env['CONSOLE_SHOTS'];

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

async function threeTurns(stage: Stage): Promise<void> {
  const { agent } = await stage.agent('shop/coder#main', [
    { text: 'Tabs it is.' },
    { text: 'Spaces it is.' },
    { text: 'Both, then.' },
  ]);
  for (const message of ['Use tabs.', 'Use spaces.', 'Use both.']) await agent.send(message);
}

const person = (page: Page, text: string): Locator => page.locator('.entry-person', { hasText: text });
/** Makes the fork that the shown command would make. */
async function typed(stage: Stage, command: string): Promise<string> {
  const option = (name: string): string => new RegExp(`--${name} (\\S+)`, 'u').exec(command)?.[1] ?? '';
  const turns = option('turns');
  const wish: Wish = { as: option('as'), fork: option('fork'), kind: 'chat', ...(turns === '' ? {} : { turns: Number(turns) }) };
  return (await chooseConversation(stage.ear, wish)).conversation;
}

verifies(
  'console:forks',
  'the command for a fork from a turn makes a fork that has the messages up to that turn and links to its origin',
  async () => {
    await using stage = await Stage.open(browser);
    await threeTurns(stage);
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await page.getByText('Both, then.').waitFor();
    await person(page, 'Use spaces.').hover();
    await person(page, 'Use spaces.').getByRole('button', { name: 'Fork after this turn' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork after this turn' });
    await dialog.getByText('A fork is a new conversation that begins with a copy of this conversation').waitFor();
    await dialog.getByText('The fork is a copy up to turn 2.').waitFor();
    const command = await dialog.locator('.command code').innerText();
    expect(command).toMatch(/ chat --as shop\/coder --fork main --turns 2$/u);
    expect(await dialog.getByRole('region', { name: 'Forks of this conversation' }).count()).toBe(0);

    const name = await typed(stage, command);
    const fork = dialog.getByRole('link', { name: `#${name}` });
    await fork.waitFor();
    await fork.click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'shop/coder' }).waitFor();
    expect(page.url()).toBe(conversation(stage, 'shop/coder', name));
    await page.getByText('Spaces it is.').waitFor();
    expect(await page.getByText('Both, then.').count()).toBe(0);

    await page.getByRole('link', { name: '#main', exact: true }).click();
    await page.getByText('Both, then.').waitFor();
    // The link leads to the last line that the fork has copied.
    await page.locator('.came-to').getByText('Spaces it is.').waitFor();
    await page.getByRole('button', { name: 'Fork this conversation, which has 1 fork' }).waitFor();
  },
);

verifies(
  'console:forks',
  'a fork of the whole conversation is made by keyboard; a conversation at another host offers no fork',
  async () => {
    await using stage = await Stage.open(browser);
    await threeTurns(stage);
    await stage.ear.conversation('shop/codex#main', { host: 'codex', points: ['turn_start'] }).seen();
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await page.getByText('Both, then.').waitFor();
    const button = page.getByRole('button', { name: 'Fork this conversation' });
    await button.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Fork #main' });
    const command = await dialog.locator('.command code').innerText();
    expect(command).toMatch(/ chat --as shop\/coder --fork main$/u);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
    const name = await typed(stage, command);
    await page.getByRole('button', { name: 'Fork this conversation, which has 1 fork' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Fork this conversation, which has 1 fork' }).click();
    await dialog.getByRole('link', { name: `#${name}` }).waitFor();

    await page.goto(conversation(stage, 'shop/codex'));
    await page.locator('.talk-facts').getByText('codex').waitFor();
    expect(await page.getByRole('button', { name: /^Fork/u }).count()).toBe(0);
  },
);

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    verifies('console:accessible', `axe finds no fault on a fork and its origin, ${colorScheme}, ${width} wide`, async () => {
      await using stage = await Stage.open(browser);
      await threeTurns(stage);
      const name = await typed(stage, 'earpiece chat --as shop/coder --fork main --turns 2');
      await typed(stage, `earpiece chat --as shop/coder --fork ${name} --turns 1`);
      const page = await stage.page({ colorScheme, viewport: { width, height: 800 } });
      const check = async (state: string): Promise<void> => {
        if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `fork-${state}-${width}-${colorScheme}.png`) });
        expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
        await page.evaluate(axe.source);
        expect(
          await page.evaluate(`axe.run(document).then(({ violations }) =>
            violations.filter(({ impact }) => impact !== 'minor').map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200)))`),
        ).toEqual([]);
      };
      await page.goto(conversation(stage, 'shop/coder', name));
      await page.getByText('Spaces it is.').waitFor();
      await page.getByText('forked from #main').first().waitFor();
      await check('page');
      await person(page, 'Use spaces.').hover();
      await person(page, 'Use spaces.').getByRole('button', { name: 'Fork after this turn' }).click();
      await page.getByRole('dialog').getByText('The fork is a copy up to turn 2.').waitFor();
      await check('dialog');
    });

verifies('console:forks', 'a running turn offers no fork after it until the turn has ended', async () => {
  await using stage = await Stage.open(browser);
  const held = heldTool('run', 'Runs a command.');
  const { agent } = await stage.agent(
    'shop/coder#main',
    [{ text: 'Tabs it is.' }, { calls: [{ id: 'c1', name: 'run' }] }, { text: 'Formatted.' }],
    { tools: [held.tool] },
  );
  await agent.send('Use tabs.');
  const turn = agent.send('Format the file.');
  await held.called;
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  const offers = (text: string): Locator => person(page, text).getByRole('button', { name: 'Fork after this turn' });
  await offers('Use tabs.').waitFor({ state: 'attached' });
  await person(page, 'Format the file.').waitFor();
  expect(await offers('Format the file.').count()).toBe(0);
  held.end('formatted');
  await turn;
  await offers('Format the file.').waitFor({ state: 'attached' });
});
