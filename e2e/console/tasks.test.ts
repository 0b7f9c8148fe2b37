/** Tests UC010 as the person sees it: a click blocks a task while an agent works on it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { nextFor, report, Tasks } from '../../src/tasks/index.ts';
import { verifies } from '../verifies.ts';
import { conversation, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const HOST = { host: 'claude-code', carrier: 'gateway:files', purpose: 'task', pulls: true, points: ['tool_result'] } as const;

verifies(
  'console:tasks',
  'UC010: a task is created, assigned and blocked while the agent works; the agent stops at its next call, and its report ends the work',
  async () => {
    await using stage = await Stage.open(browser);
    const worker = stage.ear.conversation('shop/coder#s1', HOST);
    await worker.seen();
    const tasks = new Tasks(stage.ear);
    const page = await stage.page();
    await page.goto(`${stage.url}/#/tasks`);
    await page.getByText('shop has no unfinished tasks').waitFor();
    await page.getByRole('textbox', { name: 'Title' }).fill('Count down');
    await page.getByLabel('For', { exact: true }).selectOption('coder');
    await page.getByRole('button', { name: 'Create task' }).click();
    const row = page.locator('[data-task=t1]');
    await row.getByText('Count down').waitFor();
    expect(await nextFor(tasks, worker)).toMatchObject({ kind: 'work' });
    await row.getByText('started').waitFor();
    expect(await worker.refuse({ on: 'read_file' })).toBeUndefined();

    await row.getByRole('button', { name: 'Block' }).click();
    await row.getByPlaceholder('a reason that the agent reads').fill('legal has to agree');
    await row.getByRole('button', { name: 'Block' }).click();
    await row.getByText('blocked: legal has to agree').waitFor();
    await row.getByText('asked to stop (blocked by').waitFor();
    const refusal = await worker.refuse({ on: 'read_file' });
    expect(refusal?.text).toContain('legal has to agree');
    await refusal?.offer?.confirm();
    await report(tasks, worker, { result: 'blocked', summary: 'stopped as I was told' });
    await row.getByText('reported blocked').waitFor();

    await row.getByRole('link', { name: 'coder#s1' }).click();
    await page.locator('article', { hasText: 'task.blocked' }).first().waitFor();
  },
);

verifies(
  'console:tasks',
  'if the task is unblocked before the agent read the interrupt, the interrupt is withdrawn',
  async () => {
    await using stage = await Stage.open(browser);
    const worker = stage.ear.conversation('shop/coder#s1', HOST);
    await worker.seen();
    const tasks = new Tasks(stage.ear);
    await tasks.create('shop', { title: 'Count down', assignee: 'coder' }, { kind: 'person', name: 'Mira' });
    await nextFor(tasks, worker);
    const page = await stage.page();
    await page.goto(`${stage.url}/#/tasks`);
    const row = page.locator('[data-task=t1]');
    await row.getByRole('button', { name: 'Block' }).click();
    await row.getByRole('button', { name: 'Block' }).click();
    await row.getByRole('link', { name: 'why' }).click();
    await staged(page, 'task.blocked').waitFor();
    await page.getByRole('complementary', { name: 'Why' }).getByText('the gate is up because of this notification').waitFor();
    await page.goBack();
    await row.getByRole('button', { name: 'Unblock' }).click();
    await row.getByRole('button', { name: 'Done' }).waitFor();
    expect(await worker.refuse({ on: 'read_file' })).toBeUndefined();
    await page.goto(conversation(stage, 'shop/coder', 's1'));
    await page.locator('article[data-state=ended]', { hasText: 'task.blocked' }).waitFor();
  },
);

verifies(
  'console:tasks',
  'a person writes and changes the description of a task, and the agent that takes the task reads it',
  async () => {
    await using stage = await Stage.open(browser);
    const worker = stage.ear.conversation('shop/coder#s1', HOST);
    await worker.seen();
    const tasks = new Tasks(stage.ear);
    const page = await stage.page();
    await page.goto(`${stage.url}/#/tasks`);
    const form = page.getByRole('form', { name: 'New task' });
    await form.getByRole('textbox', { name: 'Title' }).fill('Count down');
    await form.getByRole('textbox', { name: 'Description' }).fill('From ten.\nAloud.');
    await form.getByLabel('For', { exact: true }).selectOption('coder');
    await form.getByRole('textbox', { name: 'Description' }).press('Control+Enter');
    const row = page.locator('[data-task=t1]');
    await row.getByText('From ten.').waitFor();

    const edit = page.getByRole('form', { name: 'Edit t1' });
    const what = edit.getByRole('textbox', { name: 'Description' });
    await row.getByRole('button', { name: 'Edit t1' }).click();
    await what.fill('From twelve.');
    // Another person was faster: the typed text stays, and saving again replaces the other text.
    await tasks.edit('shop', 't1', { title: 'Count down slowly' }, { by: { kind: 'person', name: 'Mira' } });
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.getByRole('alert').waitFor();
    expect(await what.inputValue()).toBe('From twelve.');
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    await row.getByText('From twelve.').waitFor();
    expect(await nextFor(tasks, worker)).toMatchObject({ kind: 'work', task: { description: 'From twelve.' } });

    await page.getByRole('region', { name: 'in progress' }).locator('[data-task=t1]').waitFor();
    await row.getByRole('button', { name: 'Edit t1' }).click();
    await edit.getByText('coder has read the earlier text').waitFor();
    await what.fill('never mind');
    await what.press('Escape');
    await edit.waitFor({ state: 'detached' });
    await row.getByText('From twelve.').waitFor();
  },
);

verifies('console:tasks', 'Done also interrupts an agent that works on the task, so the page asks first', async () => {
  await using stage = await Stage.open(browser);
  const worker = stage.ear.conversation('shop/coder#s1', HOST);
  await worker.seen();
  const tasks = new Tasks(stage.ear);
  await tasks.create('shop', { title: 'Count down', assignee: 'coder' }, { kind: 'person', name: 'Mira' });
  await nextFor(tasks, worker);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/tasks`);
  const row = page.locator('[data-task=t1]');
  await row.getByRole('button', { name: 'Done' }).click();
  await row.getByText('coder works on this task and is interrupted. Why?').waitFor();
  expect(await stage.ear.open('shop/coder')).toEqual([]);
  await row.getByPlaceholder('a reason that the agent reads').fill('I did it');
  await row.getByRole('button', { name: 'Done' }).click();
  await row.waitFor({ state: 'detached' });
  expect((await worker.refuse({ on: 'read_file' }))?.text).toContain('I did it');
});

verifies('console:tasks', 'no page lists a task that no agent has started as work of its agent', async () => {
  await using stage = await Stage.open(browser);
  await stage.ear.conversation('shop/coder#s1', HOST).seen();
  const mira = { kind: 'person', name: 'Mira' } as const;
  await new Tasks(stage.ear).create('shop', { title: 'Count down', assignee: 'coder' }, mira);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/tasks`);
  const row = page.locator('[data-task=t1]');
  await row.getByRole('button', { name: 'Start' }).click();
  await row.getByText('coder has not started this task yet').waitFor();
  await row.getByRole('button', { name: 'Block' }).click();
  await row.getByText('coder has not started this task yet. Its active conversations are interrupted. Why?').waitFor();
  expect(await row.innerText()).not.toContain('works on');
});

verifies('console:tasks', 'the text that a person types stays, even if the task changes', async () => {
  await using stage = await Stage.open(browser);
  const worker = stage.ear.conversation('shop/coder#s1', HOST);
  await worker.seen();
  const tasks = new Tasks(stage.ear);
  const mira = { kind: 'person', name: 'Mira' } as const;
  await tasks.create('shop', { title: 'Count down', description: 'From ten.', assignee: 'coder' }, mira);
  const page = await stage.page();
  await page.goto(`${stage.url}/#/tasks`);
  const row = page.locator('[data-task=t1]');
  const edit = page.getByRole('form', { name: 'Edit t1' });
  const what = edit.getByRole('textbox', { name: 'Description' });
  const under = (name: string) => page.getByRole('region', { name }).locator('[data-task=t1]');

  await row.getByRole('button', { name: 'Edit t1' }).click();
  await what.fill('From twelve.');
  expect(await nextFor(tasks, worker)).toMatchObject({ kind: 'work' });
  await row.getByText('started').waitFor();
  await edit.getByText('coder has read the earlier text').waitFor();
  await page.keyboard.type(' Aloud.');
  expect(await what.inputValue()).toBe('From twelve. Aloud.');
  await under('to do').getByText('in progress The row moves when you close your text.').waitFor();
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.getByRole('alert').waitFor();
  await edit.getByRole('button', { name: 'Save' }).click();
  await under('in progress').getByText('From twelve. Aloud.').waitFor();

  await row.getByRole('button', { name: 'Edit t1' }).click();
  await what.fill('From a hundred.');
  await tasks.move('shop', 't1', 'done', { by: mira });
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.getByRole('alert').waitFor();
  expect(await what.inputValue()).toBe('From a hundred.');
  await edit.getByRole('button', { name: 'Leave the task unchanged' }).click();
  await row.waitFor({ state: 'detached' });
});
