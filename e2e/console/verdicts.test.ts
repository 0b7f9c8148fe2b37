/**
 * Tests that *Why* begins with a verdict and its cures. With CONSOLE_SHOTS=<folder> the test saves a screenshot of each
 * verdict.
 */
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { begin } from '../../src/inbox/index.ts';
import { verifies } from '../verifies.ts';
import { visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';
import { TOML, VERDICTS, verdicts } from './verdicts.ts';

const SHOTS = process.env['CONSOLE_SHOTS'];

let browser: Browser;
let stage: Stage;
beforeAll(async () => {
  browser = await openBrowser();
  stage = await Stage.open(browser, { toml: TOML });
  await verdicts(stage);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await browser.close();
});

const whyOf = (name: string): string => `${stage.url}/#/agents/shop/${name}/main?why=n-${name}`;
const box = (page: Page): Locator => page.getByRole('complementary', { name: 'Why' }).locator('[data-verdict]');
const cure = (page: Page, name: string): Locator => box(page).locator('[data-cure]', { hasText: name });

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  for (const width of [1280, 390])
    verifies(
      'console:verdict',
      `${colorScheme}, ${width} wide: each verdict is shown with its cures, without a serious fault`,
      async () => {
        const page = await stage.page({ colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' });
        for (const [name, { kind, says, cures }] of Object.entries(VERDICTS)) {
          await visit(page, whyOf(name));
          await box(page).waitFor();
          expect([name, await box(page).getAttribute('data-verdict')]).toEqual([name, kind]);
          expect(await box(page).locator('.verdict-says').innerText()).toMatch(says);
          expect(await box(page).locator('[data-cure]').allInnerTexts()).toEqual(cures);
          // The verdict is visible above all other content, without scrolling.
          const place = await box(page).boundingBox();
          expect((place?.y ?? 9_999) + (place?.height ?? 0)).toBeLessThan(800);
          expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
          expect(await faults(page)).toEqual([]);
          if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `verdict-${name}-${width}-${colorScheme}.png`) });
        }
        await page.context().close();
      },
    );
});

verifies('console:verdict', 'the button of a suggested action runs that action, and the verdict changes', async () => {
  await using own = await Stage.open(browser, { toml: TOML });
  await verdicts(own);
  const page = await own.page();
  const of = async (name: string): Promise<void> => {
    await page.goto(`${own.url}/#/agents/shop/${name}/main?why=n-${name}`);
    await box(page).waitFor();
  };
  const becomes = (kind: string): Promise<void> => page.locator(`[data-verdict=${kind}]`).waitFor();

  await of('muted');
  await page
    .locator('[data-note=n-muted] footer')
    .getByText('muted by mira: the next message will filter this notification')
    .waitFor();
  await cure(page, 'Lift the mute').click();
  await becomes('due');
  expect(await own.ear.mutes('shop/muted' as never)).toEqual([]);

  await of('paused');
  await cure(page, 'Resume the agent').click();
  await becomes('due');
  expect(await own.ear.store.items('shop/paused' as never, { kind: 'gate' })).toEqual([]);

  await of('gate');
  await cure(page, 'Mark read').click();
  await becomes('delivered');
  await page.getByText('The notification was marked as read by a person in the console. Nothing proves').waitFor();
  const foot = page.locator('[data-note=n-gate] footer > span').first();
  for (const _ of ['by the record', 'by the list']) {
    await expect.poll(() => foot.innerText()).toMatch(/ · marked as read by a person in the console$/u);
    await page.reload();
  }
  await page.goto(`${own.url}/#/notifications?log=shop/gate`);
  await page.getByRole('main').locator('a.row').getByText('marked as read by a person in the console').waitFor();
  await of('gate');
  expect(await own.ear.conversation('shop/gate#main').refuse({ on: 'write_file' })).toBeUndefined();

  await of('superseded');
  await cure(page, 'Show that notification').click();
  await becomes('delivered');
  expect(page.url()).toContain('why=n-newer');

  await of('filtered');
  await cure(page, 'Open the setting').click();
  await page.getByRole('tabpanel').waitFor();
  await page.locator('.found').waitFor();
  expect(await page.locator('.found').getAttribute('data-setting')).toBe('conversation.notifications.kinds."lint.warned"');
});

verifies(
  'console:verdict',
  'the page of an ended session names the session that continues it, and how to connect the agent',
  async () => {
    await using own = await Stage.open(browser);
    const at = (name: string) =>
      own.ear.conversation(`shop/sec#${name}`, {
        host: 'claude-code',
        carrier: 'gateway:stdio fs',
        points: ['tool_result'],
        folder: '/srv/shop',
      } as never);
    const first = at('s1');
    await first.seen();
    await own.ear.queue('shop/sec#s1', { kind: 'ci.failed', message: 'main is red' });
    await first.ended();
    const next = at('s2');
    await next.seen();
    await begin(next);
    await (await next.offer({ at: 'tool_result', on: 'read_file' }))?.confirm();
    await own.ear.queue('shop/sec#s1', { id: 'n-late', kind: 'ci.passed', message: 'main is green' });
    const page = await own.page();
    await page.goto(`${own.url}/#/agents/shop/sec/s1?why=n-late`);
    await box(page).getByText('shop/sec#s2 has taken over: send the notification to that conversation.').waitFor();
    const on = page.getByRole('note').getByRole('link', { name: 'shop/sec#s2' });
    await on.waitFor();
    expect(await page.locator('#say').count()).toBe(0);
    await on.click();
    await page.locator('#say').waitFor();

    await page.goto(`${own.url}/#/agents?connect=shop/sec`);
    const help = page.getByRole('region', { name: 'Connect shop/sec' });
    await help.getByText('gateway --print claude --as shop/sec -- npx').waitFor();
    expect(await help.locator('code').allInnerTexts()).toEqual([
      expect.stringMatching(/server-filesystem \/srv\/shop$/u),
      'npm install earpiece',
      expect.stringMatching(/ chat$/u),
      expect.stringContaining('send --to shop/sec '),
    ]);
  },
);

verifies(
  'console:mute',
  'a mute that a person sets on a card for today is shown above the timeline and in Settings, and can be lifted',
  async () => {
    await using own = await Stage.open(browser);
    const main = own.ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook', points: ['turn_start'] } as never);
    await main.seen();
    await own.ear.queue('shop/coder#main', { id: 'n1', kind: 'ci.failed', message: 'main is red' });
    const page = await own.page();
    await page.goto(`${own.url}/#/agents/shop/coder/main`);
    await page.getByRole('button', { name: 'Mute ci.failed' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Mute for shop/coder' });
    await dialog.getByText('everything from ci').click();
    expect(await faults(page)).toEqual([]);
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, 'mute-dialog.png') });
    await dialog.getByRole('button', { name: 'Mute today' }).click();
    await dialog.waitFor({ state: 'detached' });
    const muted = page.getByRole('list', { name: 'Muted' });
    await muted.getByText('ci.*').waitFor();
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, 'muted.png') });
    const [held] = await own.ear.mutes('shop/coder' as never);
    expect(new Date(held?.until ?? 0).toTimeString().slice(0, 8)).toBe('00:00:00');
    await main.offer({ at: 'turn_start' });
    expect((await own.ear.why('n1'))?.items[0]?.verdict).toMatchObject({ kind: 'muted', over: true });

    await page.goto(`${own.url}/#/agents/shop/coder/main?why=n1`);
    await cure(page, 'Queue again').waitFor();
    await box(page).getByText('If you queue this notification again now, the mute filters it again.').waitFor();

    await page.goto(`${own.url}/#/settings/notifications`);
    await muted.getByText('is muted for shop/coder').waitFor();
    await page.getByRole('button', { name: 'Lift the mute of ci.* for shop/coder' }).click();
    await muted.waitFor({ state: 'detached' });
    expect(await own.ear.mutes('shop/coder' as never)).toEqual([]);
  },
);

verifies(
  'console:mute',
  'a card still says that a mute will filter its notification if a later request for the verdict fails',
  async () => {
    await using own = await Stage.open(browser);
    await own.ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook', points: ['turn_start'] } as never).seen();
    await own.ear.mute('shop/coder', 'ci.failed', { by: 'mira', forMs: 3_600_000 });
    await own.ear.queue('shop/coder#main', { id: 'n1', kind: 'ci.failed', message: 'main is red' });
    const page = await own.page();
    await page.goto(`${own.url}/#/agents/shop/coder/main`);
    const muted = page.getByText('muted by mira: the next message will filter this notification');
    await muted.waitFor();
    const failed = new Set<string>();
    page.on('requestfailed', (request) => failed.add(new URL(request.url()).pathname));
    await page.route('**/api/notifications/*?*', (route) => route.abort());
    await own.ear.queue('shop/coder#main', { id: 'n2', kind: 'docs.changed', message: 'one page changed' });
    await expect.poll(() => failed.has('/api/notifications/n2')).toBe(true);
    // The page shows the answers of all requests together, in its next frame.
    await page.evaluate('new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))');
    expect(await muted.count()).toBe(1);
  },
);
