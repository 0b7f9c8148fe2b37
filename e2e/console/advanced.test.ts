/** Tests Settings, Advanced: durations, lists and named settings are shown, changed, refused and removed, and take effect. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { advanced, row, userFile } from './advanced-page.ts';
import { openBrowser } from './browser.ts';
import { faults } from './faults.ts';
import { Stage } from './stage.ts';

const SHOTS = process.env['CONSOLE_SHOTS'];

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

verifies('console:settings', 'a duration is typed as in the file, and an invalid duration has its error next to it', async () => {
  await using stage = await Stage.open(browser);
  const page = await advanced(stage);
  const ttl = page.getByRole('textbox', { name: 'An info notification waits for' });
  expect(await ttl.inputValue()).toBe('1d');
  await ttl.fill('3');
  await ttl.press('Enter');
  await row(page, 'ttl.info')
    .getByText('ttl.info is "3"; write a duration such as "3d", from "1s" to "3650d", or "never"')
    .waitFor();
  expect([await ttl.getAttribute('aria-invalid'), existsSync(userFile(stage))]).toEqual(['true', false]);
  await ttl.fill('never');
  await ttl.press('Enter');
  await row(page, 'ttl.info').getByText('saved: takes effect now, from the next notification on').waitFor();
  await row(page, 'ttl.info')
    .getByText(`decided by user file ${userFile(stage)}:2:1`)
    .waitFor();
  // A setting without a value does not show 0.
  const tokens = page.getByRole('textbox', { name: 'Tokens of a turn' });
  expect(await tokens.inputValue()).toBe('');
  await tokens.fill('5000');
  await tokens.press('Enter');
  await row(page, 'agent.budget.tokens')
    .getByText('saved: takes effect at the next start of earpiece chat or earpiece run')
    .waitFor();
  const deferred = page.getByRole('textbox', { name: 'Longest wait for a contact point' });
  await deferred.fill('1h 30m');
  // Leaving the field saves the value too.
  await deferred.press('Tab');
  await row(page, 'max_defer').getByText('saved').waitFor();
  expect(readFileSync(userFile(stage), 'utf8')).toBe(
    'max_defer = "1h 30m"\n\n[ttl]\ninfo = "never"\n\n[agent.budget]\ntokens = 5000\n',
  );
  expect(stage.ear.conversation('shop/coder#main').policy()).toMatchObject({ maxDeferMs: 5_400_000, ttlMs: { info: null } });
  await row(page, 'ttl.info').getByRole('button', { name: 'Remove An info notification waits for' }).click();
  await row(page, 'ttl.info').getByText('removed').waitFor();
  expect(await ttl.inputValue()).toBe('1d');
});

verifies(
  'console:settings',
  'a tool, the highest level of a source and its window are set by name, take effect, and are removed',
  async () => {
    await using stage = await Stage.open(browser);
    const { agent, model } = await stage.agent('shop/coder#main', [{ text: 'one' }, { text: 'two' }]);
    const page = await advanced(stage);

    const tools = page.getByRole('form', { name: 'Tools' });
    await tools.getByRole('combobox', { name: 'Tool', exact: true }).fill('npm test');
    await tools.getByRole('combobox', { name: 'Notification' }).fill('two words');
    await tools.getByRole('button', { name: 'Set it' }).click();
    await tools.getByText('notifications."two words" is not a valid name of a notification').waitFor();
    await tools.getByRole('combobox', { name: 'Notification' }).fill('failed');
    await tools.getByRole('button', { name: 'Set it' }).click();
    await tools.getByText('saved: failed of npm test is filtered now, from the next carrier on').waitFor();
    const tool = row(page, 'conversation.tools."npm test".notifications.failed');
    expect(await tool.getByRole('switch').getAttribute('aria-checked')).toBe('false');

    const levels = page.getByRole('form', { name: 'Highest level of a source' });
    await levels.getByRole('combobox', { name: 'Source, or * for all others' }).fill('alerts');
    await levels.getByRole('combobox', { name: 'at most' }).selectOption('info');
    await levels.getByRole('button', { name: 'Limit it' }).click();
    await levels.getByText('saved: alerts: at most level info, from the next notification on').waitFor();

    const windows = page.getByRole('form', { name: 'Window of a source' });
    await windows.getByRole('combobox', { name: 'Source' }).fill('file');
    await windows.getByRole('combobox', { name: 'Window' }).fill('soon');
    await windows.getByRole('button', { name: 'Set the window' }).click();
    await windows.getByText('coalesce.sources.file is "soon"; write a duration such as "2s"').waitFor();
    await windows.getByRole('combobox', { name: 'Window' }).fill('1m');
    await windows.getByRole('button', { name: 'Set the window' }).click();
    await row(page, 'coalesce.sources.file').waitFor();

    await stage.ear.queue('shop/coder#main', {
      kind: 'npm.failed',
      message: 'npm-says-no',
      origin: { tool: 'npm test', depth: 0 },
    });
    await stage.ear.queue('shop/coder#main', { kind: 'alerts.firing', level: 'error', message: 'disk-is-full' });
    await agent.send('Go on.');
    const told = JSON.stringify(model.requests.at(-1)?.prompt);
    expect([told.includes('npm-says-no'), told.includes('disk-is-full'), told.includes('error')]).toEqual([false, true, false]);

    await row(page, 'max_level.alerts').getByRole('button', { name: 'Remove Highest level of alerts' }).click();
    await row(page, 'max_level.alerts').waitFor({ state: 'detached' });
    // The button has been removed, and the focus is on the next input.
    await levels.locator('input:focus').waitFor();
    expect(readFileSync(userFile(stage), 'utf8')).not.toContain('alerts');
  },
);

verifies('console:settings', 'a list is edited line by line; values from other places stay visible', async () => {
  await using stage = await Stage.open(browser, { toml: '[core]\nkinds = ["deploy.*"]\n' });
  const page = await advanced(stage);
  const core = row(page, 'core.kinds');
  const lines = core.getByRole('textbox', { name: 'Kinds of the core' });
  await core.getByText(/besides: .*deploy\.\*/u).waitFor();
  await lines.fill('vault\n');
  await core.getByRole('button', { name: 'Save' }).click();
  await core.getByText('core.kinds has "vault" as element 1: it is not "source.name" or "source.*"').waitFor();
  await lines.fill('vault.*\n\nci.failed');
  await lines.press('Control+Enter');
  await core.getByText('saved: takes effect now').waitFor();
  expect(await lines.inputValue()).toBe('vault.*\nci.failed');
  expect(readFileSync(userFile(stage), 'utf8')).toBe('[core]\nkinds = ["vault.*", "ci.failed"]\n');
  await lines.fill('x');
  await lines.press('Escape');
  expect(await lines.inputValue()).toBe('vault.*\nci.failed');
  await page.getByRole('radio', { name: 'the project file of shop' }).check();
  expect(await lines.inputValue()).toBe('deploy.*');
  await core.getByText(/besides: .*vault\.\*, ci\.failed/u).waitFor();

  const globs = page.getByRole('textbox', { name: 'Paths' });
  await globs.fill('src/**\n!**/*.snap');
  await row(page, 'sources.files.globs').getByRole('button', { name: 'Save' }).click();
  await row(page, 'sources.files.globs').getByText('saved').waitFor();
  expect(readFileSync(join(stage.folder, 'earpiece.toml'), 'utf8')).toContain('globs = ["src/**", "!**/*.snap"]');
});

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    verifies(
      'console:accessible',
      `axe finds no fault in the advanced settings, all groups open, ${colorScheme}, ${width} wide`,
      async () => {
        await using stage = await Stage.open(browser, {
          toml: '[core]\nkinds = ["deploy.*"]\n[max_level]\nwebhook = "error"\n[coalesce.sources]\nfile = "10s"\n[conversation.tools.cargo_test.notifications]\nstopped = false\n',
        });
        const page = await advanced(stage, { viewport: { width, height: 800 }, colorScheme });
        await page.getByText('Everything else').click();
        await row(page, 'lease.lasts').waitFor();
        const ttl = page.getByRole('textbox', { name: 'An info notification waits for' });
        await ttl.fill('x');
        await ttl.press('Enter');
        await row(page, 'ttl.info').getByText('is "x"; write a duration').waitFor();
        if (SHOTS !== undefined) {
          await page.setViewportSize({ width, height: width > 760 ? 4_000 : 6_000 });
          await page.screenshot({ path: join(SHOTS, `advanced-all-${width}-${colorScheme}.png`) });
        }
        expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
        expect(await faults(page, ['moderate', 'serious', 'critical'])).toEqual([]);
      },
    );
