/** Tests a person who types, reads or is about to click while records arrive, answers are late and rows move. */
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { configWriter } from '../../src/config/change.ts';
import { nextFor, Tasks } from '../../src/tasks/index.ts';
import { verifies } from '../verifies.ts';
import { conversation, rode, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { late } from './late.ts';
import { heldTool } from './morning.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const MIRA = { kind: 'person', name: 'Mira' } as const;
const GATEWAY = { host: 'claude-code', carrier: 'gateway:files', purpose: 'task', pulls: true, points: ['tool_result'] } as const;

const under = (page: Page, section: string, task: string): Locator =>
  page.getByRole('region', { name: section }).locator(`[data-task=${task}]`);

verifies(
  'console:hands',
  'agents that arrive while the palette is open are found, and the chosen entry stays chosen',
  async () => {
    await using stage = await Stage.open(browser);
    await stage.ear.queue('shop/coder', { kind: 'ci.failed', message: 'the nightly export failed' });
    const page = await stage.page();
    const agents = await late(page, 'GET', /^\/api\/agents\?/u);
    await page.reload();
    await agents.answered;
    await page.getByRole('navigation', { name: 'Places' }).waitFor();
    await page.keyboard.press('Control+k');
    const options = page.getByRole('dialog').getByRole('option');
    await options.filter({ hasText: 'the nightly export failed' }).waitFor();
    await page.keyboard.press('ArrowDown');
    const chosen = page.getByRole('option', { selected: true });
    await chosen.filter({ hasText: 'Activity' }).waitFor();
    agents.deliver();
    await options.filter({ hasText: 'shop/coder#main' }).waitFor();
    await chosen.filter({ hasText: 'Activity' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
  },
);

verifies(
  'console:hands',
  'a task that is submitted twice is created once, and text that is typed during the save belongs to the next task',
  async () => {
    await using stage = await Stage.open(browser);
    const page = await stage.page();
    await page.goto(`${stage.url}/#/tasks`);
    const form = page.getByRole('form', { name: 'New task' });
    const title = form.getByRole('textbox', { name: 'Title' });
    const what = form.getByRole('textbox', { name: 'Description' });
    const made = await late(page, 'POST', /^\/api\/tasks$/u);
    await title.fill('Count down');
    await what.fill('From ten.');
    await what.press('Control+Enter');
    await what.press('Control+Enter');
    await made.answered;
    await title.fill('Count up');
    made.deliver();
    await page.locator('[data-task=t1]').getByText('Count down').waitFor();
    await expect.poll(() => what.inputValue()).toBe('');
    expect(await title.inputValue()).toBe('Count up');
    expect(made.times()).toBe(1);

    await page.goto(`${stage.url}/#/settings/advanced`);
    const token = await late(page, 'POST', /^\/api\/tokens$/u);
    const name = page.getByRole('region', { name: 'Tokens' }).getByRole('textbox', { name: 'Name' });
    await name.fill('CI');
    await name.press('Enter');
    await name.press('Enter');
    await token.answered;
    token.deliver();
    await page.getByText('The token is shown only once.').waitFor();
    expect(token.times()).toBe(1);
  },
);

verifies('console:hands', 'a task with unsaved text stays on the page when the list changes', async () => {
  await using stage = await Stage.open(browser);
  const tasks = new Tasks(stage.ear);
  await tasks.create('shop', { title: 'Count down', description: 'From ten.' }, MIRA);
  await tasks.create('shop', { title: 'Count up' }, MIRA);
  await tasks.move('shop', 't2', 'cancelled', { by: MIRA });
  const page = await stage.page();
  await page.goto(`${stage.url}/#/tasks`);
  await page.getByRole('button', { name: 'Edit t1' }).click();
  const what = page.getByRole('form', { name: 'Edit t1' }).getByRole('textbox', { name: 'Description' });
  await what.fill('From twelve.');
  await page.getByRole('checkbox', { name: 'show finished tasks' }).check();
  await page.locator('[data-task=t2]').waitFor();
  expect(await what.inputValue()).toBe('From twelve.');
});

verifies('console:hands', 'the focus follows a row that moves', async () => {
  await using stage = await Stage.open(browser);
  const worker = stage.ear.conversation('shop/coder#s1', GATEWAY);
  await worker.seen();
  const tasks = new Tasks(stage.ear);
  await tasks.create('shop', { title: 'Count down', description: 'From ten.', assignee: 'coder' }, MIRA);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/tasks`);
  await under(page, 'to do', 't1').getByRole('button', { name: 'Edit t1' }).focus();
  expect(await nextFor(tasks, worker)).toMatchObject({ kind: 'work' });
  await under(page, 'in progress', 't1').locator('[data-deed=edit]:focus').waitFor();

  // If the row no longer has the focused button, the row itself gets the focus.
  await under(page, 'in progress', 't1').getByRole('button', { name: 'Block' }).focus();
  await tasks.move('shop', 't1', 'blocked', { by: MIRA, reason: 'legal has to agree' });
  await under(page, 'blocked', 't1').waitFor();
  await page.locator('[data-task=t1]:focus').waitFor();
});

verifies('console:hands', 'the error of a task is shown at the new place of the task', async () => {
  await using stage = await Stage.open(browser);
  const tasks = new Tasks(stage.ear);
  await tasks.create('shop', { title: 'Count down' }, MIRA);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/tasks`);
  await under(page, 'to do', 't1').waitFor();
  // The page does not know yet that another person has moved the task.
  const listed = await late(page, 'GET', /^\/api\/tasks\?/u);
  await tasks.move('shop', 't1', 'backlog', { by: MIRA });
  await listed.answered;
  const moved = await late(page, 'POST', /^\/api\/tasks\/t1\/status/u);
  await under(page, 'to do', 't1').getByRole('button', { name: 'Start' }).click();
  await moved.answered;
  listed.deliver();
  await under(page, 'backlog', 't1').waitFor();
  moved.deliver();
  await under(page, 'backlog', 't1').locator('.row-said.bad').waitFor();
});

verifies('console:hands', 'an answer from before a change does not undo the change on the page', async () => {
  await using stage = await Stage.open(browser);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/settings/notifications`);
  const toggle = page.getByRole('switch', { name: 'File changes' });
  await toggle.waitFor();
  await page.evaluate(`window.states = [];
    const toggle = document.querySelector('[data-subscriber=file_changes] [role=switch]');
    new MutationObserver(() => states.push(toggle.getAttribute('aria-checked'))).observe(toggle, { attributeFilter: ['aria-checked'] });`);
  const listed = await late(page, 'GET', /^\/api\/notifications\/subscribers/u);
  await stage.ear.toggles.disable(
    { kind: 'project', project: 'shop' },
    'process_ended',
    'Mira',
    stage.ear.bus.subscribers('shop'),
  );
  await listed.answered;
  await toggle.click();
  await page.locator('[data-subscriber=file_changes]').getByText('File changes is off from the next event on.').waitFor();
  listed.deliver();
  await page.locator('[data-subscriber=process_ended] [role=switch][aria-checked=false]').waitFor();
  expect(await page.evaluate('states')).toEqual(['false']);
});

verifies('console:hands', 'a control that is pressed by key keeps the focus during its action', async () => {
  await using stage = await Stage.open(browser);
  const tasks = new Tasks(stage.ear);
  await tasks.create('shop', { title: 'Count down' }, MIRA);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/settings/notifications`);
  const toggled = await late(page, 'POST', /toggle/u);
  await page.getByRole('switch', { name: 'File changes' }).press('Space');
  await toggled.answered;
  await frames(page);
  toggled.deliver();
  await page.locator('[data-subscriber=file_changes]').getByText('File changes is off from the next event on.').waitFor();
  await page.locator('[data-subscriber=file_changes] [role=switch]:focus').waitFor();

  await page.goto(`${stage.url}/#/tasks`);
  await page.getByRole('button', { name: 'Describe t1' }).click();
  const edit = page.getByRole('form', { name: 'Edit t1' });
  await tasks.edit('shop', 't1', { title: 'Count down slowly' }, { by: MIRA });
  const saved = await late(page, 'PATCH', /^\/api\/tasks\/t1/u);
  await edit.getByRole('button', { name: 'Save' }).press('Enter');
  await saved.answered;
  await frames(page);
  saved.deliver();
  await edit.getByRole('alert').waitFor();
  await edit.locator('button:focus', { hasText: 'Save' }).waitFor();
});

/** Waits for two frames of the browser. By then, a disabled element has lost the focus. */
const frames = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');

verifies('console:hands', 'a setting that changes during its save is saved again with the latest value', async () => {
  await using stage = await Stage.open(browser);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/settings/advanced`);
  const items = page.getByRole('textbox', { name: 'Lines of a message' });
  const saved = await late(page, 'PATCH', /^\/api\/settings/u);
  await items.fill('3');
  await items.press('Enter');
  await saved.answered;
  await items.fill('30');
  await items.press('Tab');
  await items.fill('300');
  saved.deliver();
  const row = page.locator("[data-setting='budget.max_items']");
  await row.getByText('saved: takes effect now').waitFor();
  expect(await items.inputValue()).toBe('300');
  await items.press('Escape');
  expect(await items.inputValue()).toBe('30');
  expect(stage.ear.conversation('shop/coder#main').policy()).toMatchObject({ maxItems: 30 });
});

verifies('console:hands', 'the second click of a double click does nothing', async () => {
  await using stage = await Stage.open(browser);
  await stage.agent('shop/coder#main', [{ text: 'I look.' }, { text: 'Again.' }]);
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  await stage.ear.queue('shop/coder#main', { kind: 'export.failed', level: 'error', message: 'the export failed' });
  await page.getByRole('group', { name: 'waiting for you' }).getByRole('button', { name: 'Discuss now' }).dblclick();
  await page.getByText('I look.').waitFor();
  await rode(page, 'export.failed').waitFor();
  await page.getByRole('button', { name: 'Pause', exact: true }).dblclick();
  await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
  const queued = (await stage.ear.store.read({ log: 'shop/coder' as never })).flatMap(({ body }) =>
    body.type === 'system_notification_queued' ? [body as unknown as { action?: string; message: string }] : [],
  );
  expect(queued.map(({ action, message }) => action ?? message)).toEqual([
    'the export failed',
    'Please read the waiting notifications.',
    'pause',
  ]);
});

verifies(
  'console:hands',
  'the settings at the time of opening the page decide whether a person is asked before an agent wakes',
  async () => {
    await using stage = await Stage.open(browser, { toml: '[wake]\nerror = "never"\n' });
    await stage.agent('shop/coder#main', []);
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await stage.ear.queue('shop/coder#main', { kind: 'export.failed', level: 'error', message: 'the export failed' });
    await staged(page, 'export.failed').waitFor();
    const env = {
      HOME: stage.folder,
      XDG_CONFIG_HOME: join(stage.folder, 'config'),
      XDG_STATE_HOME: join(stage.folder, 'state'),
    };
    await configWriter({ cwd: stage.folder, env }).change('project', [{ key: 'wake.error', to: { kind: 'text', text: 'ask' } }]);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.goBack();
    await page.getByRole('group', { name: 'waiting for you' }).getByText('export.failed waits').waitFor();
  },
);

verifies('console:hands', 'an open notification with the focus stays open and keeps the focus when it is delivered', async () => {
  await using stage = await Stage.open(browser);
  const held = heldTool('run', 'Runs a command.');
  const { agent } = await stage.agent('shop/coder#main', [{ calls: [{ id: 'c1', name: 'run' }] }, { text: 'I see.' }], {
    tools: [held.tool],
  });
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  const turn = agent.send('Work.');
  await held.called;
  await stage.ear.queue('shop/coder#main', {
    kind: 'ci.failed',
    level: 'error',
    message: `first line\n${'more '.repeat(60)}\nlast words`,
  });
  await staged(page, 'ci.failed').getByRole('button', { name: 'Show more' }).click();
  await staged(page, 'ci.failed').getByText('last words').waitFor();
  held.end('ok');
  await turn;
  await rode(page, 'ci.failed').getByText('last words').waitFor();
  await rode(page, 'ci.failed').locator('button:focus', { hasText: 'Show less' }).waitFor();
});

verifies('console:hands', 'a list that is older than the received records restores nothing', async () => {
  await using stage = await Stage.open(browser);
  const host = { host: 'codex', carrier: 'hook', points: ['turn_start'] } as const;
  await stage.ear.queue('shop/pair', { kind: 'ci.shared', message: 'for whoever comes first' });
  const page = await stage.page();
  const listed = await late(page, 'GET', /^\/api\/notifications\?.*state=open/u);
  await page.goto(conversation(stage, 'shop/pair'));
  await listed.answered;
  await (await stage.ear.conversation('shop/pair#other', host).offer({ at: 'turn_start' }))?.confirm();
  await stage.ear.queue('shop/pair#main', { kind: 'ci.marker', message: 'heard' });
  await staged(page, 'ci.marker').waitFor();
  listed.deliver();
  await page.getByRole('log', { name: 'timeline' }).and(page.locator('[aria-busy=false]')).waitFor();
  await staged(page, 'ci.marker').waitFor();
  expect(await staged(page, 'ci.shared').count()).toBe(0);
});
