/** Tests settings and charts: a person's change takes effect, and each chart links to its notifications. */
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { conversation, notesOn, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { morning } from './morning.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const changed = (stage: Stage, path: string): Promise<unknown> =>
  stage.ear.bus.emit({ type: 'file.changed', source: 'files', subject: 'shop/coder#main', severity: 'info', data: { path } });

verifies(
  'console:subscribers',
  'US5(a), US5(b), FR-027, FR-028, FR-031, SC-005, SC-007: at most three clicks switch a subscriber off, and its next event queues nothing',
  async () => {
    await using stage = await Stage.open(browser);
    await stage.ear.conversation('shop/coder#main', { host: 'codex', points: ['turn_start'] }).seen();
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await changed(stage, 'a.ts');
    await staged(page, 'a.ts').waitFor();

    let clicks = 0;
    await page.getByRole('link', { name: 'Settings' }).click();
    clicks++;
    const toggle = page.getByRole('switch', { name: 'File changes' });
    await toggle.click();
    clicks++;
    const row = page.locator('[data-subscriber=file_changes]');
    await row.getByText('File changes is off from the next event on.').waitFor();
    expect(clicks).toBeLessThanOrEqual(3);
    expect(await toggle.getAttribute('aria-checked')).toBe('false');
    await changed(stage, 'b.ts');
    await page.goto(conversation(stage, 'shop/coder'));
    await staged(page, 'a.ts').waitFor();
    expect(await notesOn(page)).toEqual(['staged file.changed']);

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('switch', { name: 'File changes' }).click();
    await row.getByText('File changes is on from the next event on.').waitFor();
    await changed(stage, 'c.ts');
    await page.goto(conversation(stage, 'shop/coder'));
    await staged(page, 'c.ts').waitFor();
  },
);

verifies(
  'console:subscribers',
  'US5(c), FR-029: a core subscriber is locked, with the reason; a row shows its events and its number of notifications',
  async () => {
    await using stage = await Stage.open(browser);
    const page = await stage.page();
    await page.goto(`${stage.url}/#/settings/notifications`);
    const core = page.locator('[data-subscriber=budget_exceeded]');
    const locked = core.getByRole('switch');
    expect(await locked.isDisabled()).toBe(true);
    expect(await locked.getAttribute('aria-checked')).toBe('true');
    expect(await locked.getAttribute('aria-describedby')).toBe('lock-budget_exceeded');
    expect(await core.innerText()).toContain('agents must not miss the notifications of a core subscriber');
    expect(await core.locator('.badge').innerText()).toBe('critical');
    const tools = page.locator('[data-subscriber=background_tool]');
    expect(await tools.locator('code').allInnerTexts()).toEqual(['tool.stopped', 'tool.waiting', 'tool.failed']);
    const more = tools.getByRole('button', { name: 'events of Background tools' });
    expect(await more.innerText()).toBe('+1 more');
    await more.click();
    expect(await more.getAttribute('aria-expanded')).toBe('true');
    expect(await tools.locator('code').allInnerTexts()).toHaveLength(4);
    expect(await tools.innerText()).toContain('silent for 7 days');
  },
);

verifies('console:foretells', 'Test predicts when a real notification would be delivered, and sends nothing', async () => {
  await using stage = await Stage.open(browser);
  const { ear } = stage;
  const points = ['turn_start', 'tool_result', 'turn_end', 'idle', 'forced'] as const;
  const hooked = ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook', points });
  await hooked.seen();
  await ear.conversation('shop/wrapped#main', { host: 'cursor', carrier: 'gateway:stdio files', points: ['tool_result'] }).seen();
  const page = await stage.page();
  const test = async (id: string): Promise<Locator> => {
    await page.goto(`${stage.url}/#/settings/notifications`);
    await page
      .locator(`[data-subscriber=${id}]`)
      .getByRole('button', { name: /^Test /u })
      .click();
    return page.getByRole('dialog');
  };
  const foretells = (dialog: Locator, log: string) => dialog.getByLabel('What would a real event do').selectOption(log);

  let dialog = await test('large_result');
  const head = await ear.store.head();
  await foretells(dialog, 'shop/coder');
  await dialog.getByText('Waiting: the notification arrives at the end of this turn.').waitFor();
  await foretells(dialog, 'shop/wrapped');
  await dialog.getByText(/^Waiting for the next result of a wrapped tool of shop\/wrapped#main\./u).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();

  dialog = await test('budget_exceeded');
  await foretells(dialog, 'shop/coder');
  await dialog.getByText('The notification interrupts: the gate of shop/coder goes up. Tool calls are refused until').waitFor();
  await foretells(dialog, 'shop/wrapped');
  await dialog.getByText('until the agent has read the notification; built-in tools still run.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  expect(await ear.store.head()).toBe(head);

  dialog = await test('process_ended');
  await foretells(dialog, 'shop/coder');
  await dialog.getByText('Waiting for the next message to shop/coder#main.').waitFor();
  await ear.queue('shop/coder#main', { id: 'full', kind: 'disk.full', level: 'critical', message: 'the disk is full' });
  await dialog.getByText('Waiting: the gate of shop/coder is up because of full (“the disk is full”).').waitFor();
  await ear.withdraw('shop/coder', { id: 'full' }, { by: 'mira', reason: 'it is not' });
  await ear.mute('shop/coder', 'process', { by: 'mira' });
  await dialog
    .getByText(
      'Muted: mira muted process for shop/coder until a person lifts the mute. The notification will be filtered at the next message.',
    )
    .waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await ear.toggles.disable({ kind: 'project', project: 'shop' }, 'process_ended', 'mira', ear.bus.subscribers('shop'));
  dialog = await test('process_ended');
  await dialog.getByText('This subscriber is off in project shop: no event causes a notification.').waitFor();
  await foretells(dialog, 'shop/coder');
  await dialog.getByText('Nothing, because this subscriber is off. With the subscriber on: Muted: mira muted process').waitFor();
});

verifies(
  'console:subscribers',
  'Test reports the sent text and when it will be delivered; a subscriber that the command line switched off is shown as off',
  async () => {
    await using stage = await Stage.open(browser);
    await stage.ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook', points: ['turn_start'] }).seen();
    const page = await stage.page();
    await page.goto(`${stage.url}/#/settings/notifications`);
    const row = page.locator('[data-subscriber=process_ended]');
    await row.getByRole('button', { name: 'Test Processes' }).click();
    const dialog = page.getByRole('dialog', { name: 'Test Processes' });
    await dialog.getByLabel('What would a real event do').selectOption('shop/coder');
    await dialog.getByRole('button', { name: 'Send as a test' }).click();
    await dialog.getByText('The test was sent to shop/coder. Waiting for the next message to shop/coder#main.').waitFor();
    await stage.ear.mute('shop/coder', 'test.*', { by: 'mira' });
    await dialog.getByRole('button', { name: 'Send as a test' }).click();
    await dialog
      .getByText('The test was sent to shop/coder. Muted: mira muted test.* for shop/coder until a person lifts the mute.')
      .waitFor();
    await stage.ear.mute('shop/coder', 'test.*', { by: 'mira', off: true });
    await stage.ear.queue('shop/coder', { kind: 'user.pause', action: 'pause', message: 'Pause.', origin: { person: 'Mira' } });
    await dialog.getByRole('button', { name: 'Send as a test' }).click();
    await dialog.getByText('The test was sent to shop/coder. Waiting: shop/coder is paused by Mira since').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await stage.ear.toggles.disable(
      { kind: 'project', project: 'shop' },
      'process_ended',
      'somebody else',
      stage.ear.bus.subscribers('shop'),
    );
    await page.locator('[data-subscriber=process_ended] [role=switch][aria-checked=false]').waitFor();
    await page.goto(conversation(stage, 'shop/coder'));
    await page.locator('article[data-state=staged]').first().waitFor();
  },
);

verifies(
  'console:activity',
  'a point of a chart is a link to its notifications, and a notification is a link to its history',
  async () => {
    await using stage = await Stage.open(browser);
    await morning(stage);
    const page = await stage.page();
    // A bar covers half an hour. The stage's clock starts at 10:15, so one bar contains all events.
    await page.goto(`${stage.url}/#/activity?range=24h`);
    const chart = page.locator('figure', { has: page.getByRole('heading', { name: 'Queued, by level' }) });
    const point = chart.locator('a.point').last();
    const said = await point.getAttribute('aria-label');
    expect(said).toMatch(/\d\d:\d\d: \d+ info, \d+ warning, \d+ error, \d+ critical/u);
    const counted = (said ?? '').match(/\d+ (?=info|warning|error|critical)/gu)?.reduce((sum, n) => sum + Number(n), 0);
    await chart.getByRole('button', { name: 'as a table' }).click();
    await chart.getByRole('table').waitFor();
    await chart.getByRole('button', { name: 'as a chart' }).click();
    await point.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Notifications' }).waitFor();
    await page.locator('a.row').first().waitFor();
    // The chart counts no folded notification, and a folded notification has no row.
    expect(await page.locator('a.row').count()).toBe(counted);
    await page.locator('a.row', { hasText: 'main is red' }).click();
    await page.getByRole('complementary', { name: 'Why' }).getByText('main is red: 2 jobs failed').first().waitFor();
    expect(page.url()).toContain('#/agents/shop/claude-code/a41f?why=');
  },
);

verifies('console:login', 'the login URL works once, and the page removes its code; an admin token also logs in', async () => {
  await using stage = await Stage.open(browser);
  const address = await stage.server.loginUrl();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('heading', { name: 'No agent has made contact yet' }).waitFor();
  expect(page.url()).toBe(`${stage.url}/#/agents`);
  expect(await page.evaluate('document.cookie')).toBe('');
  await page.reload();
  await page.getByRole('heading', { name: 'No agent has made contact yet' }).waitFor();
  await page.goto(`${stage.url}/#/settings/account`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('earpiece token login').waitFor();
  await context.close();

  const other = await browser.newContext();
  const second = await other.newPage();
  await second.goto(address);
  await second.getByText('the login code was already used or has expired').waitFor();
  const sender = await stage.server.tokens.create({ kind: 'send', name: 'ci', project: 'shop' });
  await second.getByRole('textbox', { name: 'Token' }).fill(sender.token);
  await second.getByRole('button', { name: 'Log in' }).click();
  await second.getByText('A send token cannot read').waitFor();
  await second.reload();
  await second.getByRole('textbox', { name: 'Token' }).waitFor();
  const { token } = await stage.server.tokens.create({ kind: 'admin', name: 'me' });
  await second.getByRole('textbox', { name: 'Token' }).fill(token);
  await second.getByRole('button', { name: 'Log in' }).click();
  await second.getByRole('heading', { name: 'No agent has made contact yet' }).waitFor();
  expect(await second.getByRole('alert').allInnerTexts()).toEqual([]);
  await other.close();
});
