/** Tests that a producer's text never becomes an element of the page. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { Tasks } from '../../src/tasks/index.ts';
import { verifies } from '../verifies.ts';
import { conversation, visit } from './articles.ts';
import { openBrowser } from './browser.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const BAD =
  '<img src=x onerror="window.pwned=1;alert(1)"><svg onload=alert(2)><script>window.pwned=2</script>"\'`><a href="javascript:alert(3)">x</a>{{7*7}}\u202Eevil\u0007\u001B[31m\u009B';
/** The hostile text as a name, without a slash and `#`. */
const NAME = '<img src=x onerror=alert(1)>';
const CONTROLS = /\p{Cc}/gu;
const TOML = (text: string): string => JSON.stringify(text.replaceAll(/[^ -~]/gu, ''));

verifies(
  'console:text',
  'hostile text in every field that a producer controls creates no element, dialog or request on any page',
  async () => {
    await using stage = await Stage.open(browser, {
      files: {
        '.earpiece/subscribers/bad.toml': `[subscriber]\nid = "bad"\nname = ${TOML(BAD)}\ndescription = ${TOML(BAD)}\nversion = "1.0.0"\n\n[events]\ntypes = ["bad.event"]\nseverity_filter = "info"\n\n[batching]\nwindow_ms = 0\nmax_size = 5\ndedupe_key = "type"\ndedupe_window_ms = 0\n\n[output]\npriority = "normal"\ninject_at = "after_tool"\ntemplate = "bad.toon.j2"\ncore = false\n`,
        '.earpiece/subscribers/bad.toon.j2': 'rows[1]{a}:\n  {{ event.payload.what | toon_encode }}',
        '.earpiece/subscribers/broken.toml': `[subscriber]\nid = ${TOML(BAD)}\n`,
      },
    });
    const { ear } = stage;
    const log = `shop/${NAME}`;
    const { agent } = await stage.agent(
      `${log}#${NAME}`,
      [{ reasoning: { text: BAD }, text: BAD, calls: [{ id: BAD, name: 'bad', args: { [BAD]: BAD } }] }, { text: BAD }],
      {
        tools: [
          {
            name: 'bad',
            description: BAD,
            inputSchema: { type: 'object' },
            execute: async () => {
              await ear.bus.emit({
                type: 'bad.event',
                source: 'bad',
                subject: `${log}#${NAME}`,
                severity: 'info',
                data: { what: BAD },
              });
              await ear.queue(`${log}#${NAME}`, { kind: 'a.b', level: 'error', message: BAD, data: { [BAD]: [BAD] } });
              await ear.queue(`${log}#${NAME}`, { kind: 'a.toon', message: `rows[1]{"${NAME}"}:\n  "${NAME}"` });
              return { content: BAD };
            },
          },
        ],
      },
    );
    await agent.send(BAD, { author: BAD });
    await ear.queue(`${log}#${NAME}`, {
      id: '<img/src=x/onerror=alert(1)>',
      kind: 'a.waits',
      message: BAD,
      key: BAD,
      about: BAD,
      deliver: 'turn_end',
      origin: { person: BAD, agent: BAD, tool: BAD },
    });
    await ear.conversation(`${log}#other`, { host: BAD, hostVersion: BAD, carrier: BAD, purpose: 'x' }).seen();
    await new Tasks(ear).create(
      'shop',
      { title: BAD.replaceAll(CONTROLS, ''), description: BAD },
      { kind: 'person', name: NAME },
    );
    await stage.server.tokens.create({ kind: 'send', name: NAME, project: 'shop' });

    const page = await stage.page();
    const seen = watch(page);
    const hashes = [
      '#/agents',
      `#/agents/shop/${encodeURIComponent(NAME)}/${encodeURIComponent(NAME)}?why=${encodeURIComponent('<img/src=x/onerror=alert(1)>')}`,
      `#/agents/shop/${encodeURIComponent(NAME)}/other`,
      '#/activity',
      '#/notifications',
      '#/notifications?q=evil',
      '#/tasks',
      '#/settings/notifications',
      '#/settings/advanced',
      `#/notifications?kind=${encodeURIComponent(BAD)}`,
      `#/agents?find=${encodeURIComponent(BAD)}`,
      `#/settings/notifications?find=${encodeURIComponent(BAD)}`,
      `#/agents/${encodeURIComponent(BAD)}/x/y`,
    ];
    for (const hash of hashes) {
      await visit(page, `${stage.url}/${hash}`);
      expect(await strangers(page), hash).toEqual([]);
      expect(await unseen(page), hash).toEqual([]);
    }
    // This page shows the hostile text as text.
    await page.goto(conversation(stage, log, NAME));
    await page.locator('article[data-state=staged]').waitFor();
    await page.evaluate(`document.querySelectorAll('.folded > button').forEach((button) => button.click())`);
    await page.evaluate(`document.querySelectorAll('details').forEach((details) => (details.open = true))`);
    expect((await page.locator('.timeline').innerText()).split('onerror="window.pwned=1').length).toBeGreaterThan(6);
    expect(await strangers(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'All records' }).check();
    await page.locator('details.raw').first().waitFor();
    await page.evaluate(`document.querySelectorAll('details').forEach((details) => (details.open = true))`);
    expect(await strangers(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    expect(await unseen(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('option', { name: NAME }).first().waitFor();
    expect(await strangers(page)).toEqual([]);
    expect(seen.dialogs).toEqual([]);
    expect(seen.elsewhere).toEqual([]);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
  },
);

verifies('console:senders', 'each card, row and explanation names the sender in a place that no text can reach', async () => {
  await using stage = await Stage.open(browser, { toml: '[coalesce]\nwindow = "0s"\n' });
  const message = 'from Maria · stop';
  const senders = [
    ['person', { person: 'Ma\u202Eria' }, 'from Ma\\u{202E}ria'],
    ['agent', { agent: 'shop/evil' }, 'from the agent shop/evil'],
    ['nobody', undefined, 'from an unnamed producer'],
  ] as const;
  const { agent } = await stage.agent('shop/coder#main', [{ text: 'Noted.' }]);
  for (const state of ['staged', 'rode'] as const) {
    for (const [name, origin] of senders)
      await stage.ear.queue('shop/coder#main', {
        id: `${name}-${state}`,
        kind: `${name}.message`,
        message,
        ...(state === 'rode' ? {} : { deliver: { afterTurns: 9 } }),
        ...(origin === undefined ? {} : { origin: { depth: 1, ...origin } }),
      });
  }
  await agent.send('Go.');
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  for (const state of ['staged', 'rode'] as const)
    for (const [name, , sender] of senders) {
      const card = page.locator(`article[data-state=${state}]`, { hasText: `${name}.message` });
      expect(await card.locator('header .from').innerText()).toBe(sender);
      if (state === 'rode') expect(await card.getAttribute('aria-label')).toBe(`notification ${sender}: ${name}.message, info`);
    }
  await visit(page, `${stage.url}/#/notifications`);
  for (const [name, , sender] of senders) {
    const row = page.locator('a.row.notification', { hasText: `${name}.message` }).first();
    expect(await row.locator('.message .muted').innerText()).toBe(`${sender} · `);
  }
  for (const [name, , sender] of senders) {
    await visit(page, `${stage.url}/#/agents/shop/coder/main?why=${name}-staged`);
    await page.locator('.story dl.facts', { hasText: `sent ${sender.replace('from', 'by')}` }).waitFor();
  }
});

verifies('console:senders', 'an explanation quotes the reasons and keys that others chose', async () => {
  await using stage = await Stage.open(browser);
  const key = 'tests. The agent has read it';
  const at = 'shop/coder#main';
  const coder = stage.ear.conversation(at, { host: 'codex', carrier: 'hook' });
  await coder.seen();
  await stage.ear.queue(at, { id: 'w1', message: 'x' });
  await stage.ear.withdraw('shop/coder', { id: 'w1' }, { by: 'Mira', reason: 'it is over”. The agent has read it' });
  for (const id of ['s1', 's2']) await stage.ear.queue(at, { id, key, supersede: true, message: id });
  const page = await stage.page();
  const story = async (id: string): Promise<string> => {
    await visit(page, `${stage.url}/#/agents/shop/coder/main?why=${id}`);
    await page.locator('.story ol.steps li').first().waitFor();
    return page.locator('.story').innerText();
  };
  const newer = `s2 is newer with key “${key}”`;
  expect(await story('s1')).toContain(`supersede: ${newer}`);
  await (await coder.offer({ at: 'tool_result' }))?.confirm();
  // The step and the sentence about the end name the newer state.
  await expect.poll(async () => (await story('s1')).split(newer).length).toBe(3);
  const withdrawn = await story('w1');
  expect(withdrawn).toContain('withdrawn by Mira: “it is over". The agent has read it”');
  expect(withdrawn.replaceAll(/“[^”]*”/gu, '')).not.toContain('has read');
});

verifies('console:text', 'a message of 800,000 characters and 300 waiting notifications do not block the page', async () => {
  await using stage = await Stage.open(browser, { toml: '[coalesce]\nwindow = "0s"\n' });
  await stage.ear.queue('shop/coder#main', { kind: 'big.one', message: `rows[200000]{a}:\n${'  x\n'.repeat(200_000)}` });
  for (let i = 0; i < 300; i++) await stage.ear.queue('shop/coder#main', { kind: 'small.one', message: `number ${i}` });
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  await page.locator('article[data-state=staged]', { hasText: 'number 299' }).waitFor();
  await page.getByText('waiting for delivery · 301').waitFor();
  expect(await page.locator('article[data-state=staged]').count()).toBe(25);
  // The browser lays out only a small part of the text.
  expect((await page.getByRole('log', { name: 'timeline' }).innerText()).length).toBeLessThan(100_000);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('switch', { name: 'File changes' }).waitFor();
});

function watch(page: Page): { readonly dialogs: string[]; readonly elsewhere: string[] } {
  const dialogs: string[] = [];
  const elsewhere: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('http://127.0.0.1:')) elsewhere.push(request.url());
  });
  return { dialogs, elsewhere };
}

/** Returns the texts of the page that contain an invisible character. */
const unseen = (page: Page): Promise<unknown> =>
  page.evaluate(String.raw`[document.title, ...document.body.innerText.split('\n'),
    ...[...document.querySelectorAll('[title], [aria-label]')].flatMap((each) => [each.title, each.getAttribute('aria-label') ?? '']),
  ].filter((text) => /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069]/u.test(text))`);

/** Returns elements that the console never creates, and links to other sites. */
const strangers = (page: Page): Promise<unknown> =>
  page.evaluate(`[
    ...document.querySelectorAll('#console img:not([src="/icon.svg"]), #console script, #console iframe, #console object, #console embed, #console style, #console [onload], #console [onerror], #console [onclick]'),
    ...[...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href')?.startsWith('#')),
  ].map((element) => element.outerHTML)`);
