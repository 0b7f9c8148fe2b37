/**
 * Tests a person who changes settings on the page and in a file while agents work. The changes take effect at an agent's next
 * carrier.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { configWriter } from '../../src/config/change.ts';
import { verifies } from '../verifies.ts';
import { advanced, row, userFile } from './advanced-page.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const projectFile = (stage: Stage): string => join(stage.folder, 'earpiece.toml');

verifies(
  'console:settings',
  'a filtered kind is left out of the next carrier, as why says; its notification is delivered when the kind is enabled again',
  async () => {
    await using stage = await Stage.open(browser);
    const { agent, model } = await stage.agent('shop/coder#main', [{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
    const told = (): string => JSON.stringify(model.requests.at(-1)?.prompt);
    const happens = (message: string): Promise<unknown> =>
      stage.ear.queue('shop/coder#main', { id: message, kind: 'ci.finished', message });
    await happens('build-1-is-green');
    await agent.send('Go on.');
    expect(told()).toContain('build-1-is-green');

    const page = await advanced(stage);
    await page.getByRole('combobox', { name: 'Kind, or source.*' }).fill('ci.finished');
    await page.getByRole('button', { name: 'Filter it' }).click();
    const kind = row(page, 'conversation.notifications.kinds."ci.finished"');
    await kind.waitFor();
    await page.getByText('saved: ci.finished is filtered now, from the next carrier on').waitFor();
    expect(await kind.getByRole('switch', { name: 'ci.finished' }).getAttribute('aria-checked')).toBe('false');
    expect(readFileSync(userFile(stage), 'utf8')).toBe('[conversation.notifications.kinds]\n"ci.finished" = false\n');

    await happens('build-2-is-green');
    await agent.send('Go on.');
    expect(told()).not.toContain('build-2-is-green');
    await page.goto(`${stage.url}/#/agents/shop/coder/main?why=build-2-is-green`);
    await page.getByText('conversation.notifications.kinds."ci.finished" = false').first().waitFor();

    await page.goto(`${stage.url}/#/settings/advanced`);
    await kind.getByRole('switch').click();
    await kind.getByText('saved: takes effect now, from the next carrier on').waitFor();
    await happens('build-3-is-green');
    await agent.send('Go on.');
    expect(told()).toContain('build-3-is-green');

    await kind.getByRole('button', { name: 'Remove ci.finished' }).click();
    await kind.waitFor({ state: 'detached' });
    expect(readFileSync(userFile(stage), 'utf8')).toBe('');
    // The button has been removed, and the focus is on the next input.
    await page.locator('.kind-form input:focus').waitFor();
  },
);

verifies(
  'console:settings',
  'budgets, the view, waking, the level and sources are saved, and the page says where the value comes from and when the change takes effect',
  async () => {
    await using stage = await Stage.open(browser);
    const page = await advanced(stage);
    const items = page.getByRole('textbox', { name: 'Lines of a message' });
    await items.fill('3');
    await items.press('Enter');
    await row(page, 'budget.max_items').getByText('saved: takes effect now, from the next carrier on').waitFor();
    await row(page, 'budget.max_items')
      .getByText(`decided by user file ${userFile(stage)}:2:1`)
      .waitFor();
    const tokens = page.getByRole('textbox', { name: 'Tokens of a message' });
    await tokens.fill('300');
    // Leaving the field saves the value too.
    await tokens.press('Tab');
    await page.getByRole('combobox', { name: 'View' }).selectOption('xml');
    await row(page, 'budget.max_tokens').getByText('saved').waitFor();
    await row(page, 'view').getByText('saved').waitFor();
    await page.getByRole('combobox', { name: 'Lowest level' }).selectOption('warning');
    await row(page, 'min_level').getByText('saved').waitFor();
    await page.getByRole('combobox', { name: 'Wake for an error' }).selectOption('auto');
    await row(page, 'wake.error').getByText('saved: takes effect now, from the next notification on').waitFor();
    await page.getByRole('switch', { name: 'Git' }).click();
    await row(page, 'sources.git.enable')
      .getByText('saved: takes effect at the next start of earpiece chat or earpiece run')
      .waitFor();
    // The agents' inbox, which reads the same files, has the new values.
    const policy = (): object => stage.ear.conversation('shop/coder#main').policy();
    expect(policy()).toMatchObject({ maxItems: 3, maxTokens: 300, view: 'xml', minLevel: 'warning', wake: { error: 'auto' } });
    await page.getByRole('button', { name: 'Remove Lines of a message' }).click();
    await row(page, 'budget.max_items').getByText('decided by default').waitFor();
    expect(await items.inputValue()).toBe('10');
    expect(policy()).toMatchObject({ maxItems: 10, maxTokens: 300 });
    await page.reload();
    await row(page, 'view').waitFor();
    expect(await page.getByRole('combobox', { name: 'View' }).inputValue()).toBe('xml');
  },
);

verifies(
  'console:settings',
  'an invalid value shows an error and is not saved, Escape restores the current value, and a broken file has a message',
  async () => {
    await using stage = await Stage.open(browser);
    const page = await advanced(stage);
    const items = page.getByRole('textbox', { name: 'Lines of a message' });
    for (const [typed, said] of [
      ['0', 'budget.max_items is 0; write a whole number from 1 to 1000'],
      ['ten', 'budget.max_items is "ten"; write a whole number from 1 to 1000'],
    ] as const) {
      await items.fill(typed);
      await items.press('Enter');
      await row(page, 'budget.max_items').getByText(said).waitFor();
      expect(await items.getAttribute('aria-invalid')).toBe('true');
    }
    await items.fill('7');
    await items.press('Escape');
    expect(await items.inputValue()).toBe('10');
    await page.getByRole('combobox', { name: 'Kind, or source.*' }).fill('two words');
    await page.getByRole('button', { name: 'Filter it' }).click();
    await page
      .locator('.kind-form')
      .getByText('kinds."two words" is not a valid source: letters, digits, "_" and "-", at most 64 characters')
      .waitFor();
    expect(existsSync(userFile(stage))).toBe(false);

    writeFileSync(projectFile(stage), 'project = "shop"\nview =\n');
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await page
      .getByRole('alert')
      .getByText(`${projectFile(stage)}:2:7: is not valid TOML`)
      .waitFor();
  },
);

verifies(
  'console:settings',
  "if the project's file decides, the page says so and offers to change that file; the rest of the file stays unchanged",
  async () => {
    const toml = '# how we like it\nview = "toon" # for the small one\n';
    await using stage = await Stage.open(browser, { toml });
    const page = await advanced(stage);
    const view = row(page, 'view');
    expect(await view.getByRole('combobox').isDisabled()).toBe(true);
    await view
      .getByText(`decided by project file ${projectFile(stage)}:3:1, which has higher priority: change that file`)
      .waitFor();
    await view.getByRole('button', { name: 'Change this setting in the project file' }).click();
    expect(await page.getByRole('radio', { name: 'the project file of shop' }).isChecked()).toBe(true);
    await page.locator('[data-setting=view] select:focus').waitFor();
    await view.getByRole('combobox').selectOption('json');
    await view.getByText('saved: takes effect now').waitFor();
    expect(readFileSync(projectFile(stage), 'utf8')).toBe(`project = "shop"\n${toml.replace('toon', 'json')}`);
    expect(existsSync(userFile(stage))).toBe(false);
  },
);

verifies(
  'console:settings',
  'changes of the command line are shown when a person returns to the page, and are not lost',
  async () => {
    await using stage = await Stage.open(browser);
    const page = await advanced(stage);
    const env = {
      HOME: stage.folder,
      XDG_CONFIG_HOME: join(stage.folder, 'config'),
      XDG_STATE_HOME: join(stage.folder, 'state'),
    };
    await configWriter({ cwd: stage.folder, env }).change('user', [{ key: 'view', to: { kind: 'text', text: 'toon' } }]);
    await page.getByRole('combobox', { name: 'Lowest level' }).selectOption('error');
    await row(page, 'min_level').getByText('saved').waitFor();
    expect(await page.getByRole('combobox', { name: 'View' }).inputValue()).toBe('toon');
    expect(readFileSync(userFile(stage), 'utf8')).toBe('view = "toon"\nmin_level = "error"\n');
    await configWriter({ cwd: stage.folder, env }).change('user', [{ key: 'view', to: { kind: 'text', text: 'json' } }]);
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await expect.poll(() => page.getByRole('combobox', { name: 'View' }).inputValue()).toBe('json');
  },
);

for (const width of [1280, 390])
  verifies('console:settings', `works by keyboard alone, ${width} wide, and axe finds no fault in any state`, async () => {
    await using stage = await Stage.open(browser, { toml: 'view = "toon"\n' });
    const page = await advanced(stage, { viewport: { width, height: 800 }, colorScheme: width === 390 ? 'dark' : 'light' });
    const master = page.getByRole('switch', { name: 'Notifications' });
    await page.getByRole('radio', { name: 'your file' }).focus();
    await page.keyboard.press('Tab');
    for (let i = 0; i < 4 && !(await focused(master)); i++) await page.keyboard.press('Tab');
    expect(await focused(master)).toBe(true);
    await page.keyboard.press('Space');
    await row(page, 'conversation.notifications.enable').getByText('saved').waitFor();
    expect([await focused(master), await master.getAttribute('aria-checked')]).toEqual([true, 'false']);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await row(page, 'conversation.notifications.enable').getByText('removed: takes effect now').waitFor();
    await page.locator("[data-setting='conversation.notifications.enable'] [role=switch]:focus").waitFor();
    const items = page.getByRole('textbox', { name: 'Lines of a message' });
    await items.fill('0');
    await items.press('Enter');
    await row(page, 'budget.max_items').getByText('write a whole number').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
    expect(await faults(page, ['moderate', 'serious', 'critical'])).toEqual([]);
  });

const focused = (of: Locator): Promise<boolean> => of.evaluate((element) => element.matches(':focus'));
