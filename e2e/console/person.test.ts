/** Tests the actions of a person: message, pause, resume, stop. Each action is pending until the log contains the action. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { conversation, rode, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { heldTool } from './morning.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

verifies(
  'console:person',
  'a message in the middle of a turn waits, and arrives with the result of the running tool',
  async () => {
    await using stage = await Stage.open(browser);
    const held = heldTool('run', 'Runs a command.');
    const { agent, model } = await stage.agent(
      'shop/coder#main',
      [{ calls: [{ id: 'c1', name: 'run' }] }, { text: 'Tabs it is.' }],
      {
        tools: [held.tool],
      },
    );
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    const turn = agent.send('Format the file.');
    await held.called;
    const say = page.getByRole('textbox', { name: 'Say something to shop/coder#main' });
    await say.fill('use tabs\nand no spaces');
    await say.press('Enter');
    await staged(page, 'user.message').waitFor();
    expect(await say.inputValue()).toBe('');
    expect(await page.locator('article[data-state=pending]').count()).toBe(0);
    held.end('formatted');
    const said = rode(page, 'user.message');
    await said.waitFor();
    await turn;
    expect(await said.getAttribute('aria-label')).toContain('message from');
    expect(await said.innerText()).toContain('use tabs\nand no spaces');
    await page.getByText('Tabs it is.').waitFor();
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('use tabs');
  },
);

verifies(
  'console:person',
  'an idle agent answers a message at once; a note waits, and the model reads both as a person’s words',
  async () => {
    await using stage = await Stage.open(browser);
    const { model } = await stage.agent('shop/coder#main', [{ text: 'Good morning.' }]);
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await page.getByLabel('Send as').selectOption('note');
    await page.getByLabel('Kind').fill('desk.note');
    await page.getByLabel('When').selectOption('turn_end');
    await page.getByLabel('Level').selectOption('warning');
    await page.getByRole('textbox', { name: /^Say something/u }).fill('lunch at noon');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await staged(page, 'desk.note').getByText('waits for the end of this turn').waitFor();

    await page.getByLabel('Send as').selectOption('message');
    await page.getByLabel('When').selectOption('next');
    await page.getByLabel('Level').selectOption('info');
    await page.getByRole('textbox', { name: /^Say something/u }).fill('good morning');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Good morning.').waitFor();
    await rode(page, 'user.message').waitFor();
    await rode(page, 'desk.note').getByText('from a person in the console').waitFor();
    const read = JSON.stringify(model.requests);
    expect(read).toContain('desk warning, a person in the console wrote: “lunch at noon”');
    expect(read).not.toContain('no human typed this');
  },
);

verifies('console:person', 'Stop names its effect at this host in advance, asks once, and aborts the stream', async () => {
  await using stage = await Stage.open(browser);
  let heard: () => void = () => {};
  const streaming = new Promise<void>((resolve) => (heard = resolve));
  const { agent, model } = await stage.agent('shop/coder#main', [
    { text: 'One two three four five.', between: (n) => (n === 3 ? (heard(), new Promise<void>(() => {})) : undefined) },
    { text: 'I have stopped.' },
  ]);
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  const turn = agent.send('Count.');
  await streaming;
  await page.getByText('thinking').first().waitFor();
  const composer = page.getByRole('form', { name: 'Say something' });
  await composer.getByRole('button', { name: 'Stop' }).filter({ hasText: 'aborts the stream' }).waitFor();
  await composer.getByRole('button', { name: 'Stop' }).click();
  // The first click on Stop only asks for confirmation.
  await composer.getByRole('button', { name: 'Do not stop' }).click();
  expect(model.aborted).toEqual([]);
  await composer.getByRole('button', { name: 'Stop' }).click();
  await composer.getByRole('button', { name: 'Stop: aborts the stream' }).click();
  await composer
    .getByText('Stop for shop/coder#main (earpiece): the model’s answer and the running tools are aborted.')
    .waitFor();
  await turn;
  expect(model.aborted).toEqual([0]);
  await rode(page, 'user.cancel').waitFor();
  await page.getByText('the answer was interrupted and ends here').waitFor();
  await page.getByText('I have stopped.').waitFor();
});

verifies(
  'console:person',
  'a pause lasts until Resume on every page; then the agent answers the messages that were sent in between',
  async () => {
    await using stage = await Stage.open(browser);
    const held = heldTool('run', 'Runs a command.');
    const { agent } = await stage.agent(
      'shop/coder#main',
      [{ calls: [{ id: 'c1', name: 'run' }] }, { text: 'I wait.' }, { text: 'I go on.' }],
      {
        tools: [held.tool],
      },
    );
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    const turn = agent.send('Work.');
    await held.called;
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('Pause for shop/coder#main (earpiece): the agent finishes its turn, then waits').waitFor();
    await turn;
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await page.getByRole('navigation', { name: 'Places' }).getByText('paused').waitFor();
    await page.getByRole('textbox', { name: /^Say something/u }).fill('are you there?');
    await page.getByRole('textbox', { name: /^Say something/u }).press('Enter');
    await staged(page, 'user.message').waitFor();
    expect(agent.mode).toBe('idle');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('I go on.').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await rode(page, 'user.message').waitFor();
    await page.getByRole('navigation', { name: 'Places' }).getByText('paused').waitFor({ state: 'detached' });
  },
);

verifies('console:person', 'if waking needs consent, a person can discuss a notification now or dismiss it', async () => {
  await using stage = await Stage.open(browser);
  const { agent, model } = await stage.agent('shop/coder#main', [{ text: 'The export is broken.' }]);
  const page = await stage.page();
  await page.goto(conversation(stage, 'shop/coder'));
  await stage.ear.queue('shop/coder#main', { kind: 'export.failed', level: 'error', message: 'the export failed' });
  const asks = page.getByRole('group', { name: 'waiting for you' });
  await asks.getByText('export.failed waits, and the agent is idle.').waitFor();
  expect(model.requests).toHaveLength(0);
  await asks.getByRole('button', { name: 'Discuss now' }).click();
  await page.getByText('The export is broken.').waitFor();
  await rode(page, 'export.failed').waitFor();
  await asks.waitFor({ state: 'detached' });
  // The test waits for the end of the turn, because an earlier notification would be delivered in that turn.
  await expect.poll(() => agent.mode).toBe('idle');

  await stage.ear.queue('shop/coder#main', { kind: 'import.failed', level: 'error', message: 'the import failed' });
  await asks.getByRole('button', { name: 'Dismiss' }).click();
  await page.locator('article[data-state=ended]', { hasText: 'dismissed in the console' }).waitFor();
  await asks.waitFor({ state: 'detached' });
  expect(model.requests).toHaveLength(1);
});

verifies(
  'console:person',
  'at a host that only a gateway reaches, Stop refuses the next call of a wrapped tool, and says so',
  async () => {
    await using stage = await Stage.open(browser);
    const talk = stage.ear.conversation('shop/claude#a4', {
      host: 'claude-code',
      carrier: 'gateway:files',
      pulls: true,
      points: ['tool_result'],
    });
    await talk.seen();
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/claude', 'a4'));
    const composer = page.getByRole('form', { name: 'Say something' });
    await composer.getByText('refuses the next call of a wrapped tool').waitFor();
    expect(await composer.getByLabel('When').locator('option').allInnerTexts()).toContain('end of the turn (here: next message)');
    const pause = composer.getByRole('button', { name: 'Pause' });
    expect(await pause.getAttribute('title')).toBe(
      'Pause: refuses calls of wrapped tools until you resume the agent; built-in tools still run',
    );
    await composer.getByRole('button', { name: 'Stop' }).click();
    await composer.getByRole('button', { name: 'Stop: refuses the next call of a wrapped tool' }).click();
    await composer
      .getByText(
        '(claude-code): the next call of a wrapped tool is refused until the agent has read this; built-in tools still run',
      )
      .waitFor();
    await staged(page, 'user.cancel').waitFor();
    const refusal = await talk.refuse({ on: 'read_file' });
    expect(refusal?.text).toContain('Stop what you are doing.');
    await refusal?.offer?.confirm();
    await page.getByText('an interrupt is unread').waitFor();
  },
);

const ABORTS = ', and aborts the running request';
for (const host of ['claude-code', 'opencode', 'ai-sdk'] as const)
  verifies(
    'console:person',
    `at ${host} with hooks or a plugin, Stop and Pause bind built-in tools, and the page says so`,
    async () => {
      await using stage = await Stage.open(browser);
      const points = ['turn_start', 'tool_batch_end', 'turn_end', 'idle', 'forced'] as const;
      const talk = stage.ear.conversation('shop/hooked#a4', { host, carrier: 'hook', points });
      await talk.seen();
      const page = await stage.page();
      await page.goto(conversation(stage, 'shop/hooked', 'a4'));
      const composer = page.getByRole('form', { name: 'Say something' });
      const streams = { 'claude-code': '', opencode: ', and in a terminal aborts the running request', 'ai-sdk': ABORTS }[host];
      await composer.locator('.stop-does').getByText(`refuses the next tool call${streams}`, { exact: true }).waitFor();
      await page.locator('.talk-facts summary', { hasText: 'leased · can refuse tools' }).click();
      await page.getByText('the host refuses tool calls, even of built-in tools').waitFor();
      const pause = composer.getByRole('button', { name: 'Pause' });
      expect(await pause.getAttribute('title')).toBe(
        `Pause: refuses every tool call, even of built-in tools, until you resume the agent${host === 'ai-sdk' ? ABORTS : ''}`,
      );
      await pause.click();
      await composer
        .getByText(
          `Pause for shop/hooked#a4 (${host}): every tool call is refused, even calls of built-in tools, until a person resumes the agent`,
        )
        .waitFor();
      expect(await talk.refuse({ on: 'Bash' })).toBeDefined();
    },
  );

verifies(
  'console:person',
  'text that is typed when Stop is pressed is sent as the reason, and the box is empty afterwards',
  async () => {
    await using stage = await Stage.open(browser);
    const host = stage.ear.conversation('shop/codex#main', { host: 'codex', carrier: 'gateway:stdio fs', pulls: true });
    await host.seen();
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/codex'));
    const say = page.getByRole('textbox', { name: /^Say something/u });
    await say.fill('legal has not agreed yet');
    await page.getByRole('button', { name: 'Stop', exact: false }).first().click();
    await page
      .getByRole('button', { name: 'Stop: refuses the next call of a wrapped tool, with your words as the reason' })
      .click();
    await page.getByText('The agent also reads your reason: “legal has not agreed yet”.').waitFor();
    expect(await say.inputValue()).toBe('');
    await page.locator('article', { hasText: 'user.cancel' }).getByText('“legal has not agreed yet”').waitFor();
    await page.getByRole('button', { name: 'Why user.cancel' }).click();
    const why = page.getByRole('complementary', { name: 'Why' });
    await why.locator('[data-verdict]').waitFor();
    // A mute cannot stop a person's interrupt.
    expect(await why.getByRole('button', { name: /^Mute/u }).count()).toBe(0);
    await why.getByRole('button', { name: 'Close why' }).click();
    const [stop] = await stage.ear.open('shop/codex');
    expect(stop?.notification).toMatchObject({ action: 'cancel', instruction: 'legal has not agreed yet' });
    expect((await host.refuse({ on: 'write_file' }))?.text).toContain('legal has not agreed yet');

    await say.fill('lunch');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('The agent also reads your reason: “lunch”.').waitFor();
    expect(await say.inputValue()).toBe('');
  },
);
