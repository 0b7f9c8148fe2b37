/**
 * Tests a long conversation with 300 waiting notifications: a person can read the whole conversation, although the page
 * contains only a part of the conversation.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { conversationId } from '../../src/core/address.ts';
import { verifies } from '../verifies.ts';
import { conversation, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';

const TURNS = 500;
const OPEN = 300;
const MAIN = conversationId('main');
const MOST_ELEMENTS = 4_000;

let browser: Browser;
let stage: Stage;
beforeAll(async () => {
  browser = await openBrowser();
  stage = await Stage.open(browser);
  const main = stage.ear.conversation('shop/coder#main', { host: 'earpiece', carrier: 'agent', points: ['idle'] });
  await main.seen();
  for (let turn = 0; turn < TURNS; turn += 50)
    await stage.ear.store.append(
      main.log,
      Array.from({ length: 50 }, (_, n) => turn + n).flatMap((n) => [
        { type: 'chat_request', id: `q${n}`, conversation: MAIN, content: `Question ${n}`, source: 'user' },
        { type: 'tool_call_request', id: `c${n}`, conversation: MAIN, name: 'read', arguments: { path: `${n}.ts` } },
        { type: 'tool_call_response', id: `c${n}`, conversation: MAIN, content: 'x', is_error: false },
        { type: 'chat_response', id: `a${n}`, conversation: MAIN, message: `Answer ${n}` },
      ]),
    );
  for (let n = 0; n < OPEN; n++)
    await stage.ear.queue('shop/coder#main', {
      kind: `ci.n${n}`,
      level: n % 10 === 0 ? 'error' : 'info',
      message: `Waits ${n}`,
      deliver: 'turn_end',
    });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await browser.close();
});

/** Waits until the page has handled the scroll event. */
const framesOf = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');

/** Scrolls up to the first loaded entry. The page then loads earlier entries. */
async function toTop(page: Page): Promise<void> {
  await page.getByRole('log', { name: 'timeline' }).evaluate((element) => element.scrollTo(0, 0));
  await framesOf(page);
}

const elements = (page: Page): Promise<number> => page.evaluate("document.querySelectorAll('*').length");

verifies(
  'console:long',
  'the newest of the waiting notifications are shown, with the number of the earlier notifications by level',
  async () => {
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await staged(page, `Waits ${OPEN - 1}`).waitFor();
    await page.getByText(`waiting for delivery · ${OPEN}`).waitFor();
    expect(await page.locator('article[data-state=staged]').count()).toBe(25);
    // The waiting notifications do not hide the messages.
    await page.getByText(`Answer ${TURNS - 1}`).waitFor({ state: 'attached' });
    const before = page.locator('.waiting-more');
    expect(await before.innerText()).toMatch(/275 earlier notifications:\s*28 error\s*247 info/u);
    expect(await faults(page)).toEqual([]);
    await before.getByRole('button', { name: 'Show 100 more' }).click();
    await staged(page, 'Waits 175').waitFor();
    await before.getByRole('link', { name: '18 error' }).click();
    await page.locator('a.row', { hasText: 'Waits 0' }).waitFor();
    expect(await page.locator('a.row').count()).toBe(30);
    // *Why* opens, and the page shows the card of even the oldest waiting notification.
    await page.locator('a.row', { hasText: 'Waits 0' }).click();
    await page.getByRole('complementary', { name: 'Why' }).getByText('Waits 0').waitFor();
    await staged(page, 'Waits 0').waitFor();
    await page.close();
  },
);

verifies('console:long', 'scrolling up reaches the first message, and the visible lines stay in place', async () => {
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  await staged(page, `Waits ${OPEN - 1}`).waitFor();
  const timeline = page.getByRole('log', { name: 'timeline' });
  const question = page.getByText('Question 0', { exact: true });
  let most = 0;
  await timeline.hover();
  await page.mouse.wheel(0, -4_000);
  while ((await question.count()) === 0) {
    await toTop(page);
    most = Math.max(most, await elements(page));
  }
  expect(most).toBeLessThan(MOST_ELEMENTS);
  await timeline.evaluate((element) => element.scrollTo(0, 100));
  await framesOf(page);
  const stands = (await question.boundingBox())?.y;
  await stage.ear.queue('shop/coder#main', { kind: 'ci.new', message: 'Just now' });
  const newest = page.getByRole('button', { name: new RegExp(`newer entries and ${OPEN + 1} waiting notifications`, 'u') });
  await newest.waitFor();
  expect((await question.boundingBox())?.y).toBe(stands);
  expect(await faults(page)).toEqual([]);
  await newest.click();
  await staged(page, 'Just now').waitFor();
  expect(await question.count()).toBe(0);
  expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
  await page.close();
});

verifies(
  'console:hands',
  'a person who has just scrolled up stays there, even if a record arrives at the same moment',
  async () => {
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await staged(page, `Waits ${OPEN - 1}`).waitFor();
    await framesOf(page);
    // The test scrolls as a key does, and changes the page before the browser fires its scroll event.
    const [before, after] = await page.evaluate<[number, number]>(`(() => {
    const timeline = document.querySelector('.timeline');
    timeline.scrollTop -= 900;
    const row = [...timeline.querySelectorAll('[data-entry]')].find((each) => each.getBoundingClientRect().top > 200);
    const stands = () => row.getBoundingClientRect().top;
    const before = stands();
    document.querySelector('[aria-label="All records"]').click();
    return [before, stands()];
  })()`);
    expect(Math.abs(after - before)).toBeLessThan(2);
    await page.close();
  },
);

verifies('console:history', 'a fork shows the lines of its origin up to the fork, and its own notifications', async () => {
  await using small = await Stage.open(browser);
  const { agent } = await small.agent('shop/coder#main', [{ text: 'Good morning.' }, { text: 'Later.' }]);
  await agent.send('Hello.');
  const { conversation: name } = await small.ear.fork(small.ear.conversation('shop/coder#main'), { to: 'side' });
  await agent.send('Not in the fork.');
  await small.ear.queue('shop/coder#side', { kind: 'ci.side', message: 'for the fork' });
  const page = await small.page();
  await page.goto(conversation(small, 'shop/coder', name));
  await staged(page, 'ci.side').waitFor();
  await page.getByText('forked from #main: the lines above belong to that conversation').waitFor();
  await page.getByText('Good morning.').waitFor();
  expect(await page.getByText('Not in the fork.').count()).toBe(0);
  await page.close();
});

verifies(
  'console:long',
  'notifications that another conversation took, or that were delivered long ago, are not shown as waiting',
  async () => {
    await using small = await Stage.open(browser);
    const { ear } = small;
    const host = { host: 'codex', carrier: 'hook', points: ['turn_start'] } as const;
    await ear.queue('shop/pair', { kind: 'ci.shared', message: 'for whoever comes first' });
    await (await ear.conversation('shop/pair#other', host).offer({ at: 'turn_start' }))?.confirm();
    await ear.queue('shop/pair#main', { kind: 'ci.early', message: 'taken long ago' });
    const main = ear.conversation('shop/pair#main', host);
    await (await main.offer({ at: 'turn_start' }))?.confirm();
    // These notifications fill more than the first list and the first page, so the page knows the carrier before it loads the
    // notifications.
    for (let n = 0; n < 260; n++) {
      await ear.queue('shop/pair#main', { kind: 'ci.passing', message: `passing ${n}`, key: 'p' });
      await ear.withdraw(main.log, { key: 'p' }, { by: 'test', reason: 'over' });
    }
    const page = await small.page();
    await page.goto(conversation(small, 'shop/pair'));
    await page.getByText('No notification is open.').waitFor();
    const early = page.locator('article[data-state=rode]', { hasText: 'taken long ago' });
    while ((await early.count()) === 0) await toTop(page);
    await early.waitFor();
    await page.getByRole('button', { name: 'Show earlier entries' }).waitFor({ state: 'detached' });
    await page.getByRole('log', { name: 'timeline' }).evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByText('No notification is open.').waitFor();
    expect(await page.locator('article[data-state=staged]').count()).toBe(0);
    await page.close();
  },
);
