/** Tests that a search covers the whole log, not only the loaded part, and each hit links to its place. */
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { conversationId } from '../../src/core/address.ts';
import { verifies } from '../verifies.ts';
import { conversation, rode } from './articles.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';

const SHOTS = process.env['CONSOLE_SHOTS'];
/** The number of turns. Their records are more than the server searches for one answer. */
const TURNS = 1_400;
const MAIN = conversationId('main');

let browser: Browser;
let stage: Stage;
beforeAll(async () => {
  browser = await openBrowser();
  stage = await Stage.open(browser);
  const { ear } = stage;
  const main = ear.conversation('shop/coder#main', { host: 'codex', points: ['turn_start', 'tool_result'] });
  await main.seen();
  await ear.queue('shop/coder#main', { id: 'old', kind: 'ci.failed', level: 'error', message: 'The lighthouse job failed.' });
  const offer = await main.offer({ at: 'tool_result', on: 'read' });
  await offer?.confirm();
  for (let turn = 0; turn < TURNS; turn += 50)
    await ear.store.append(
      main.log,
      Array.from({ length: 50 }, (_, n) => turn + n).flatMap((n) => [
        { type: 'chat_request', id: `q${n}`, conversation: MAIN, content: `Question ${n}`, source: 'user' },
        { type: 'tool_call_request', id: `c${n}`, conversation: MAIN, name: 'read', arguments: { path: `${n}.ts` } },
        {
          type: 'tool_call_response',
          id: `c${n}`,
          conversation: MAIN,
          content: n === 20 ? 'score of the Lighthouse: 98' : 'x',
          is_error: false,
        },
        {
          type: 'chat_response',
          id: `a${n}`,
          conversation: MAIN,
          message: n === 1_300 ? 'The lighthouse is green.' : `Answer ${n}`,
        },
      ]),
    );
  for (let n = 0; n < 80; n++)
    await ear.queue(`shop/agent-${n % 4}`, { kind: 'ci.finished', message: `Build no-${n}-x is green` });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await browser.close();
});

const panel = (page: Page): Locator => page.getByRole('region', { name: 'Search this conversation' });
const hits = (page: Page): Promise<string[]> => panel(page).locator('.hits a > span:last-child').allInnerTexts();
const inView = (of: Locator): Promise<boolean> =>
  of.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    const box = element.closest('.timeline')?.getBoundingClientRect();
    return box !== undefined && top < box.bottom && bottom > box.top;
  });

verifies('console:search', 'an old word is found in the log, part by part, and the hit links to its line', async () => {
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  await page.getByText(`Answer ${TURNS - 1}`).waitFor();
  expect(await page.getByText(/lighthouse/iu).count()).toBe(0);
  await page.keyboard.press('/');
  await page.keyboard.type('LIGHTHOUSE');
  await page.keyboard.press('Enter');
  await panel(page)
    .getByText(/^1 found, looked back to \d/u)
    .waitFor();
  expect(await hits(page)).toEqual(['The lighthouse is green.']);
  expect(await panel(page).locator('mark').allInnerTexts()).toEqual(['lighthouse']);
  await panel(page).getByRole('button', { name: 'Look further back' }).click();
  await panel(page).getByText('3 found in the whole log').waitFor();
  expect((await hits(page)).slice(0, 2)).toEqual(['The lighthouse is green.', 'score of the Lighthouse: 98']);

  await panel(page)
    .getByRole('link', { name: /score of the Lighthouse/u })
    .click();
  const line = page.locator('.timeline .came-to');
  await line.getByText('score of the Lighthouse: 98').waitFor();
  expect(await line.locator('.args').innerText()).toBe('20.ts');
  await expect.poll(() => inView(line)).toBe(true);
  expect(await line.evaluate((element) => element.matches(':focus'))).toBe(true);
  await panel(page).locator('a[aria-current=true]').getByText('score of the Lighthouse').waitFor();

  // The URL contains the position of the hit, so a reload and a shared link lead to the hit.
  await page.reload();
  await line.getByText('score of the Lighthouse: 98').waitFor();
  await expect.poll(() => inView(line)).toBe(true);

  await panel(page).getByRole('button', { name: 'Close the search' }).click();
  await panel(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(conversation(stage, 'shop/coder'));
  await page.locator('.find-words:focus').waitFor();
});

verifies('console:search', 'a notification is found by its words, and its link opens its history at its carrier', async () => {
  const page = await stage.page();
  await page.goto(`${conversation(stage, 'shop/coder')}?find=${encodeURIComponent('job lighthouse')}`);
  await panel(page)
    .getByText(/^Nothing found, looked back to \d/u)
    .waitFor();
  await panel(page).getByRole('button', { name: 'Look further back' }).click();
  await panel(page).getByText('1 found in the whole log').waitFor();
  await panel(page)
    .getByRole('link', { name: /The lighthouse job failed/u })
    .click();
  await page.getByRole('complementary', { name: 'Why' }).getByText('What was sent').waitFor();
  const ride = rode(page, 'ci.failed');
  await ride.waitFor();
  await expect.poll(() => inView(ride)).toBe(true);
  // The page says that no message contains this word.
  const words = panel(page).getByRole('searchbox');
  await words.fill('no-such-word');
  await words.press('Enter');
  const further = panel(page).getByRole('button', { name: 'Look further back' });
  await further.click();
  await panel(page).getByText('Nothing found in the whole log').waitFor();
  expect([await hits(page), await further.count()]).toEqual([[], 0]);
});

verifies('console:search', 'the search of the list of notifications covers the whole log, and ⌘K offers it', async () => {
  const page = await stage.page();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('lighthouse job');
  await page.getByRole('option', { name: /Search all notifications for “lighthouse job”/u }).click();
  const main = page.getByRole('main');
  await main.getByText('1 found in the whole log').waitFor();
  const row = main.locator('a.row');
  expect(await row.locator('mark').allInnerTexts()).toEqual(['lighthouse', 'job']);
  const box = main.getByRole('searchbox');
  expect(await box.inputValue()).toBe('lighthouse job');
  await page.reload();
  await main.getByText('1 found in the whole log').waitFor();
  await row.click();
  await page.getByRole('complementary', { name: 'Why' }).getByText('What was sent').waitFor();
  await page.goBack();
  await box.fill('build no-3');
  await box.press('Enter');
  await main.getByText('11 found in the whole log').waitFor();
  await main.getByRole('button', { name: 'Clear “build no-3”' }).click();
  await main.getByRole('button', { name: 'Show more' }).waitFor();
  expect(page.url()).toBe(`${stage.url}/#/notifications`);
});

verifies(
  'console:search',
  'records between two times are found, with words or without, and the URL contains the search',
  async () => {
    await using own = await Stage.open(browser);
    const main = own.ear.conversation('shop/coder#main', { host: 'codex', points: ['tool_result'] });
    await main.seen();
    await own.ear.queue('shop/coder#main', { kind: 'ci.failed', message: 'The lighthouse is red.' });
    await own.ear.store.append(main.log, [
      { type: 'chat_request', id: 'q1', conversation: MAIN, content: 'What is the lighthouse?', source: 'user' },
      { type: 'chat_response', id: 'a1', conversation: MAIN, message: 'A job.' },
    ]);
    const at = own.ear.store.now();
    const local = (ms: number): string => {
      const date = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
      return date.toISOString().slice(0, 16);
    };
    const HOUR = 3_600_000;
    const page = await own.page();
    for (const address of [conversation(own, 'shop/coder'), `${own.url}/#/notifications`]) {
      await page.goto(address);
      const isHere = address.includes('agents');
      if (isHere) await page.getByRole('button', { name: 'Search this conversation' }).click();
      const where = page.getByRole('search');
      const [from, until] = [where.getByLabel('from', { exact: true }), where.getByLabel('to', { exact: true })];
      const found = isHere ? panel(page).locator('.hits a') : page.getByRole('main').locator('a.row');
      await from.fill(local(at - HOUR));
      await until.fill(local(at + HOUR));
      await until.press('Enter');
      await expect.poll(() => found.count()).toBe(isHere ? 3 : 1);
      await page.reload();
      await expect.poll(() => found.count()).toBe(isHere ? 3 : 1);
      expect([await from.inputValue(), await until.inputValue()]).toEqual([local(at - HOUR), local(at + HOUR)]);
      await where.getByRole('searchbox').fill('lighthouse');
      await where.getByRole('searchbox').press('Enter');
      await page.getByText(isHere ? '2 found in this period' : '1 found in this period').waitFor();
      await until.fill(local(at - HOUR + 60_000));
      await until.press('Enter');
      await page.getByText('Nothing found in this period').waitFor();
      // The field refuses an end before the beginning, and keeps the typed text.
      await until.fill(local(at - 2 * HOUR));
      await until.press('Enter');
      expect(await until.evaluate((field) => field.matches(':invalid'))).toBe(true);
      expect(await from.inputValue()).toBe(local(at - HOUR));
    }
    await page.getByRole('button', { name: /^Clear queued / }).click();
    await page.getByRole('main').locator('a.row').waitFor();
    expect(await page.getByRole('search').getByLabel('from', { exact: true }).inputValue()).toBe('');
  },
);

verifies(
  'console:search',
  'a search from a minute to the same minute finds all records that the page shows with that minute',
  async () => {
    await using own = await Stage.open(browser);
    const main = own.ear.conversation('shop/coder#main', { host: 'codex', points: ['tool_result'] });
    await main.seen();
    await own.ear.queue('shop/coder#main', { kind: 'ci.failed', message: 'The lighthouse is red.' });
    await (await main.offer({ at: 'tool_result', on: 'read_file' }))?.confirm();
    const zone = 'Asia/Kolkata';
    const page = await own.page({ timezoneId: zone });
    await page.goto(conversation(own, 'shop/coder'));
    const shown = page.locator('.timeline article header time').first();
    const minute = await shown.innerText();
    expect(minute).toMatch(/^\d\d:\d\d$/u);
    const day = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(own.ear.store.now());
    const typed = `${day}T${minute}`;
    for (const address of [conversation(own, 'shop/coder'), `${own.url}/#/notifications`]) {
      await page.goto(address);
      const isHere = address.includes('agents');
      if (isHere) await page.getByRole('button', { name: 'Search this conversation' }).click();
      const where = page.getByRole('search');
      const [from, until] = [where.getByLabel('from', { exact: true }), where.getByLabel('to', { exact: true })];
      await from.fill(typed);
      await until.fill(typed);
      await until.press('Enter');
      const found = isHere ? panel(page).locator('.hits a time') : page.getByRole('main').locator('a.row time');
      await expect.poll(() => found.first().innerText()).toBe(minute);
      await page.reload();
      await expect.poll(() => found.first().innerText()).toBe(minute);
      expect([await from.inputValue(), await until.inputValue()]).toEqual([typed, typed]);
    }
    await page.getByRole('button', { name: `Clear queued from ${minute} to ${minute}` }).waitFor();
  },
);

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    verifies('console:accessible', `axe finds no fault in a search and its hits, ${colorScheme}, ${width} wide`, async () => {
      const page = await stage.page({ colorScheme, viewport: { width, height: 800 } });
      const check = async (name: string): Promise<void> => {
        if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `search-${name}-${width}-${colorScheme}.png`) });
        expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
        expect(await faults(page, ['moderate', 'serious', 'critical'])).toEqual([]);
      };
      await page.goto(conversation(stage, 'shop/coder'));
      await page.getByRole('button', { name: 'Search this conversation' }).click();
      await panel(page).getByRole('searchbox').fill('lighthouse');
      await panel(page).getByRole('searchbox').press('Enter');
      await panel(page).getByRole('button', { name: 'Look further back' }).click();
      await panel(page).getByText('3 found in the whole log').waitFor();
      await panel(page)
        .getByRole('link', { name: /score of the Lighthouse/u })
        .click();
      await page.locator('.timeline .came-to').getByText('score of the Lighthouse').waitFor();
      await check('conversation');
      await page.goto(`${stage.url}/#/notifications?q=green`);
      await page.getByText('50 found').waitFor();
      await check('notifications');
    });
