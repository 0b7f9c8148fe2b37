/** Tests that, after a reload, a restart or a lost connection, the page has all records, and says if it may be out of date. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { conversation, notesOn, rode, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { heldTool } from './morning.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

verifies(
  'console:resumes',
  'SC-008: after a restart of the server, the page says that it is out of date, and then shows each missed record once',
  async () => {
    await using stage = await Stage.open(browser);
    const held = heldTool('run', 'Runs a command.');
    const { agent } = await stage.agent('shop/coder#main', [{ calls: [{ id: 'c1', name: 'run' }] }, { text: 'All done.' }], {
      tools: [held.tool],
    });
    const turn = agent.send('Work.');
    await held.called;
    await stage.ear.queue('shop/coder#main', { kind: 'ci.before', message: 'before' });
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await staged(page, 'ci.before').waitFor();
    const say = page.getByRole('textbox', { name: /^Say something/u });

    await stage.stopServer();
    const banner = page.locator('.banner');
    await banner.getByText('Reconnecting').waitFor();
    expect(await banner.innerText()).toMatch(/the shown data is [\d.]+ s old/u);
    // The agent continues, because it needs the log and not the server.
    await stage.ear.queue('shop/coder#main', { kind: 'ci.meanwhile', message: 'meanwhile' });
    held.end('ok');
    await turn;
    await stage.ear.queue('shop/coder#main', { kind: 'ci.after', message: 'after' });
    // A person's action cannot be sent now, but is not lost.
    await say.fill('are you there?');
    await say.press('Enter');
    const pending = page.locator('article[data-state=pending]');
    await pending.getByText('not sent').waitFor();
    await say.fill('half a sente');

    await stage.serve();
    await rode(page, 'ci.meanwhile').waitFor();
    await staged(page, 'ci.after').waitFor();
    await banner.waitFor({ state: 'detached' });
    await page.getByText('All done.').waitFor();
    expect(await notesOn(page)).toEqual(['rode ci.before', 'rode ci.meanwhile', 'staged ci.after', 'pending message']);
    expect(await page.getByText('All done.').count()).toBe(1);

    await page.reload();
    await staged(page, 'ci.after').waitFor();
    expect(await notesOn(page)).toEqual(['rode ci.before', 'rode ci.meanwhile', 'staged ci.after', 'pending message']);
    expect(await say.inputValue()).toBe('half a sente');
    // Several tries queue the action once.
    await pending.getByRole('button', { name: 'Try again' }).click();
    await rode(page, 'user.message').waitFor();
    expect(await pending.count()).toBe(0);
    const { items } = await (
      await import('../../src/wire/client/index.ts')
    )
      .createClient({ url: stage.url, token: (await stage.server.tokens.create({ kind: 'admin', name: 't' })).token })
      .notifications({ log: 'shop/coder' });
    expect(items.filter(({ kind }) => kind === 'user.message')).toHaveLength(1);
  },
);

verifies('console:resumes', 'a failed request is repeated automatically until it succeeds', async () => {
  await using stage = await Stage.open(browser);
  await stage.ear.queue('shop/coder#main', { kind: 'ci.failed', message: 'CI failed' });
  const page = await stage.page();
  const main = page.getByRole('main');
  for (const [hash, text] of [
    ['#/agents/shop/coder/main', 'CI failed'],
    ['#/tasks', 'shop has no unfinished tasks'],
    ['#/notifications', 'CI failed'],
    ['#/activity', 'Waiting, by level'],
  ] as const) {
    await page.goto(`${stage.url}/#/settings/account`);
    await main.getByText('Another browser').waitFor();
    await page.context().setOffline(true);
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await main.getByText('the server cannot be reached').waitFor();
    await page.context().setOffline(false);
    await main.getByText(text).first().waitFor();
    await main.getByText('the server cannot be reached').waitFor({ state: 'detached' });
  }
});

verifies('console:resumes', 'every page is the same after a reload', async () => {
  await using stage = await Stage.open(browser);
  await stage.ear.queue('shop/coder#main', { id: 'n/1?#', kind: 'ci.failed', message: 'CI failed' });
  const page = await stage.page();
  for (const [hash, text] of [
    ['#/agents?find=cod', 'coder'],
    ['#/agents/shop/coder/main?why=n%2F1%3F%23', 'What was sent'],
    ['#/activity?range=24h', 'Waiting, by level'],
    ['#/notifications?level=info', 'CI failed'],
    ['#/tasks', 'Tasks'],
    ['#/settings/account', 'Another browser'],
    ['#/settings/models', 'agent.model'],
    ['#/settings/notifications?find=loop', 'Loop'],
    ['#/settings/advanced', 'Tokens'],
  ] as const) {
    await page.goto(`${stage.url}/${hash}`);
    await page.getByRole('main').getByText(text).first().waitFor();
    await page.reload();
    await page.getByRole('main').getByText(text).first().waitFor();
    expect(page.url()).toBe(`${stage.url}/${hash}`);
  }
});

verifies('console:agents', 'the page shows active agents and their current work without a reload', async () => {
  await using stage = await Stage.open(browser);
  const page = await stage.page();
  await page.getByRole('heading', { name: 'No agent has made contact yet' }).waitFor();
  const held = heldTool('run', 'Runs a command.');
  const { agent } = await stage.agent('shop/coder#main', [{ calls: [{ id: 'c1', name: 'run' }] }, { text: 'Done.' }], {
    tools: [held.tool],
  });
  const turn = agent.send('Work.');
  await held.called;
  const row = page.locator('a[data-log="shop/coder"]');
  await row.getByText('calling run').waitFor();
  await row.getByText('exactly once · can abort').waitFor();
  await stage.ear.queue('shop/coder', { level: 'error', message: 'one' });
  await stage.ear.queue('shop/coder', { level: 'error', message: 'two' });
  await stage.ear.queue('shop/coder', { message: 'three', deliver: { afterTurns: 5 } });
  await row.getByText('open: 2 error, 1 info').waitFor({ state: 'attached' });
  held.end('ok');
  await turn;
  await row.getByText('open: 1 info').waitFor({ state: 'attached' });
  await row.getByText('idle').waitFor();
  await stage.ear.queue('shop/coder', { action: 'pause', level: 'critical', message: 'wait' });
  await row.getByText('paused').waitFor();
  await stage.ear.queue('docs/writer', { message: 'hello' });
  await page.locator('a[data-log="docs/writer"]').getByText('never seen').waitFor();
});
