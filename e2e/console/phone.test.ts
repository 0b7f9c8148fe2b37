/** Tests a phone: the palette works by touch, and no text pushes an element out of the page. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { Tasks } from '../../src/tasks/index.ts';
import { verifies } from '../verifies.ts';
import { visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { morning } from './morning.ts';
import { Stage } from './stage.ts';

const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true } as const;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

verifies(
  'console:phone',
  'the palette opens by a tap on a page or in a conversation, and leads to pages and conversations',
  async () => {
    await using stage = await Stage.open(browser);
    await morning(stage);
    const page = await stage.page(PHONE);
    const options = page.getByRole('dialog', { name: 'Command palette' }).getByRole('option');
    await page.getByRole('button', { name: /command palette/iu }).tap();
    await options.filter({ hasText: 'shop/coder#main' }).tap();
    await page.locator('article[data-state=staged]', { hasText: 'deploy.blocked' }).waitFor();
    // The page names the effect of Stop in advance, even if the button has no room for it.
    await expect
      .poll(() => page.evaluate("getComputedStyle(document.querySelector('.result'), '::after').content"))
      .toBe('"Stop aborts the stream. Pause lets the agent finish its turn, then holds the agent until you resume it."');
    await page.getByRole('button', { name: /command palette/iu }).tap();
    await options.filter({ hasText: 'Tasks' }).first().tap();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    // No loaded page contains this agent.
    await page.getByRole('button', { name: /command palette/iu }).tap();
    await page.getByRole('combobox', { name: /^Find agents/u }).fill('far/away#side');
    await options.filter({ hasText: 'far/away#side' }).tap();
    await page.getByRole('heading', { name: 'far/away' }).waitFor();
    await page.close();
  },
);

const WORD = 'W'.repeat(10_000);
const ARABIC = 'فشل البناء الليلي للمرة الثالثة على التوالي '.repeat(8);
const EMOJI = '👩‍👩‍👧‍👦🏳️‍🌈🔥'.repeat(300);
const BIDI = `${'\u202Eevil\u2066x'.repeat(50)}end`;
const NAME = 'n'.repeat(120);

verifies('console:phone', 'no name and no text extends beyond the page, regardless of its length or direction', async () => {
  await using stage = await Stage.open(browser, { toml: '[coalesce]\nwindow = "0s"\n' });
  const { ear } = stage;
  const to = `shop/${NAME}#${'c'.repeat(120)}`;
  const tool = `tool_${'t'.repeat(55)}`;
  const kind = `${'k'.repeat(50)}.${'k'.repeat(50)}`;
  const queueAll = async (deliver?: 'turn_end'): Promise<void> => {
    for (const message of [WORD, ARABIC, EMOJI, BIDI, 'M'.repeat(1_000_000), `rows[1]{${'col'.repeat(40)}}:\n  ${WORD}`])
      await ear.queue(to, { kind, level: 'error', message, data: { WORD }, ...(deliver === undefined ? {} : { deliver }) });
  };
  const { agent } = await stage.agent(
    to,
    [
      { reasoning: { text: WORD }, text: WORD, calls: [{ id: 'c1', name: tool, args: { [WORD]: WORD } }] },
      { text: ARABIC + EMOJI },
    ],
    {
      tools: [
        {
          name: tool,
          description: 'x',
          inputSchema: { type: 'object' },
          execute: async () => {
            await queueAll();
            return { content: WORD };
          },
        },
      ],
    },
  );
  await agent.send(WORD, { author: 'A'.repeat(100) });
  await queueAll('turn_end');
  const tasks = new Tasks(ear);
  const author = { kind: 'person', name: 'M'.repeat(100) } as const;
  await tasks.create('shop', { title: 'T'.repeat(200), description: WORD, priority: 'urgent', assignee: NAME }, author);
  await tasks.create('shop', { title: ARABIC.slice(0, 200), description: ARABIC }, author);

  const page = await stage.page(PHONE);
  const slug = to.replace('#', '/');
  for (const hash of ['#/agents', '#/activity', '#/notifications', '#/tasks', `#/agents/${slug}`]) {
    await visit(page, `${stage.url}/${hash}`);
    expect(await outside(page), hash).toEqual([]);
  }
  // A long name takes only a part of the page.
  expect((await page.locator('.talk-head').boundingBox())?.height).toBeLessThan(180);
  await page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
  await page.getByRole('button', { name: 'Show more' }).last().click();
  // On a phone, the page renders only the first part of a megabyte.
  const megabyte = page.locator('article[data-state=staged]', { hasText: 'MMMM' });
  await megabyte.getByRole('button', { name: 'Show more' }).click();
  await megabyte.getByText('the first 50,000 of 1,000,000 characters').waitFor();
  expect(await outside(page), 'opened').toEqual([]);
  await page.locator('.why-button').last().click();
  await page.getByRole('complementary', { name: 'Why' }).getByText('What was sent').waitFor();
  expect(await outside(page), 'why').toEqual([]);
  await page.close();
});

verifies('console:phone', 'the question of Stop fits on the screen, for each host and with a reason', async () => {
  await using stage = await Stage.open(browser);
  await stage.ear.conversation('shop/plugin#main', { host: 'opencode', carrier: 'hook', points: ['forced'] }).seen();
  await stage.ear.conversation('shop/loop#main', { host: 'loop', carrier: 'loop', points: ['turn_start'] }).seen();
  const page = await stage.page(PHONE);
  for (const width of [360, 390, 430]) {
    await page.setViewportSize({ width, height: 800 });
    for (const [log, does] of [
      ['shop/plugin', 'refuses the next tool call, and in a terminal aborts the running request'],
      ['shop/loop', 'arrives with the next message to the agent'],
      ['shop/nobody', 'waits until the agent makes contact'],
    ] as const) {
      await visit(page, `${stage.url}/#/agents/${log}/main`);
      await page.getByRole('textbox', { name: /^Say something/u }).fill('The plan is wrong.');
      await page.getByRole('button', { name: 'Stop' }).tap();
      const yes = page.getByRole('button', { name: `Stop: ${does}, with your words as the reason` });
      await yes.waitFor();
      expect(await outside(page), `${log} at ${width}`).toEqual([]);
      await page.getByRole('button', { name: 'Do not stop' }).tap();
      await yes.waitFor({ state: 'detached' });
    }
  }
  await page.close();
});

/** Returns the elements beyond the edges of the screen, except those that scroll. */
const outside = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const width = document.documentElement.clientWidth;
    return [...document.querySelectorAll('#console *')]
      .filter((element) => {
        const { left, right, width: own } = element.getBoundingClientRect();
        return own > 1 && (right > width + 1 || left < -1) && element.closest('.scroll-x, pre, .skip, .hidden-text') === null;
      })
      .slice(0, 5)
      .map((element) => element.tagName + '.' + element.getAttribute('class'));
  })()`);
