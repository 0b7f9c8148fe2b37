/** Tests the list of agents: agents that need a person are first, with the reason, and no row moves under a pointer or a key. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { AGENTS, AWAY, crowd, nameOf, PAUSED } from './crowd.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const row = (page: Page, log: string): Locator => page.getByRole('main').locator(`a[data-log="${log}"]`);
const order = (page: Page): Promise<(string | null)[]> =>
  page
    .getByRole('main')
    .locator('a[data-log]')
    .evaluateAll((rows) => rows.map((each) => (each as unknown as { dataset: Record<string, string> }).dataset['log'] ?? null));
const HOOKS = { host: 'codex', carrier: 'hook', points: ['turn_start', 'tool_result', 'forced'] } as const;

verifies(
  'console:needs',
  'an agent whose calls are refused is shown as held, with the reason, the sender and the time',
  async () => {
    await using stage = await Stage.open(browser);
    const { ear } = stage;
    const busy = ear.conversation('shop/busy#main', HOOKS);
    await busy.seen();
    await ear.conversation('shop/idle#main', HOOKS).seen();
    await ear.queue('shop/busy#main', {
      kind: 'user.stop',
      level: 'critical',
      message: 'The database is being moved.',
      origin: { person: 'Mira' },
    });
    for (const tool of ['write_file', 'run_tests']) await (await busy.refuse({ on: tool }))?.offer?.confirm();
    const page = await stage.page();
    await visit(page, `${stage.url}/#/agents`);
    const its = row(page, 'shop/busy');
    await its.getByText(/^held/u).waitFor();
    await its.getByText('The database is being moved.').waitFor();
    await its.getByText(/^by Mira, since \d\d:\d\d, 2 calls refused$/u).waitFor();
    await page.getByRole('region', { name: 'Needs you' }).locator('[data-log="shop/busy"]').waitFor();
    await page.getByRole('region', { name: 'Idle' }).locator('[data-log="shop/idle"]').waitFor();
    await page
      .locator('.side-list')
      .getByRole('link', { name: /^shop\/busy held/u })
      .waitFor();
    expect(await page.locator('.side-list h2').allInnerTexts()).toEqual(['Needs you', 'shop']);

    // A muted critical notification of a kind outside of the core refuses no call, so it blocks no agent.
    await ear.queue('shop/idle#main', { kind: 'disk.full', level: 'critical', message: 'The disk is full.' });
    await row(page, 'shop/idle').getByText('The disk is full.').waitFor();
    await ear.mute('shop/idle', 'disk.*', { by: 'Mira' });
    await row(page, 'shop/idle').getByText('The disk is full.').waitFor({ state: 'detached' });
    await ear.withdraw('shop/busy', { id: (await ear.gates('shop/busy' as never))[0]?.id ?? '' }, { by: 'Mira', reason: 'done' });
    await its.getByText(/^held/u).waitFor({ state: 'detached' });
  },
);

verifies(
  'console:needs',
  'an idle agent that asks, an agent over its budget and a failed agent come before other agents',
  async () => {
    await using stage = await Stage.open(browser);
    const { ear } = stage;
    const { agent } = await stage.agent('shop/asking#main', [{ text: 'Hello.' }]);
    await agent.send('Hello.');
    await ear.queue('shop/asking#main', { kind: 'ci.failed', level: 'error', message: 'CI failed on main' });
    for (const name of ['a-idle', 'spent', 'failed']) await ear.conversation(`shop/${name}#main`, HOOKS).seen();
    await ear.queue('shop/spent#main', {
      kind: 'budget.exceeded',
      level: 'critical',
      message: '101,200 of 100,000 tokens are used',
    });
    await ear.store.append('shop/failed' as never, [
      { type: 'agent_failed', conversation: 'main', reason: 'the provider is down' } as never,
    ]);
    const page = await stage.page();
    await visit(page, `${stage.url}/#/agents`);
    await row(page, 'shop/asking')
      .getByText(/^asks you whether to begin/u)
      .waitFor();
    await row(page, 'shop/spent')
      .getByText(/^over budget/u)
      .waitFor();
    await row(page, 'shop/failed')
      .getByText(/^the last turn failed/u)
      .waitFor();
    expect(await order(page)).toEqual(['shop/asking', 'shop/spent', 'shop/failed', 'shop/a-idle']);
  },
);

verifies(
  'console:needs',
  'with 60 agents, the page keeps the order and the filter through a reload, the keys and the way back',
  async () => {
    await using stage = await Stage.open(browser);
    await crowd(stage);
    const page = await stage.page();
    await visit(page, `${stage.url}/#/agents`);
    await row(page, AWAY).waitFor();
    const all = await order(page);
    expect(all).toHaveLength(AGENTS);
    const critical = [9, 19, 29, 39, 49, 59].map(nameOf);
    const held = all.slice(0, 8);
    expect(new Set(held)).toEqual(new Set([...critical, ...PAUSED]));
    expect(all.at(-1)).toBe(AWAY);

    await page.getByLabel('Show', { exact: true }).selectOption('held');
    await expect.poll(() => order(page)).toEqual(held);
    expect(page.url()).toMatch(/only=held/u);
    await page.reload();
    await expect.poll(() => order(page)).toEqual(held);
    await page.getByLabel('Show', { exact: true }).blur();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: `Conversation ${held[1]}#main` }).waitFor();
    await page.goBack();
    await expect.poll(() => order(page)).toEqual(held);
  },
);

verifies('console:needs', 'no row moves while the focus is in the list; the page says so and offers to sort again', async () => {
  await using stage = await Stage.open(browser);
  const { ear } = stage;
  for (const name of ['a', 'b', 'c']) await ear.conversation(`shop/${name}#main`, HOOKS).seen();
  const page = await stage.page();
  await visit(page, `${stage.url}/#/agents`);
  await row(page, 'shop/c').waitFor();
  await row(page, 'shop/a').focus();
  await ear.queue('shop/c#main', { kind: 'disk.full', level: 'critical', message: 'The disk is full.' });
  await row(page, 'shop/c').getByText('The disk is full.').waitFor();
  expect(await order(page)).toEqual(['shop/a', 'shop/b', 'shop/c']);
  expect(await page.evaluate('document.activeElement.dataset.log')).toBe('shop/a');
  await page.getByRole('button', { name: 'Sort again' }).click();
  await expect.poll(() => order(page)).toEqual(['shop/c', 'shop/a', 'shop/b']);
  await page.getByText('The order has changed.').waitFor({ state: 'detached' });
});
