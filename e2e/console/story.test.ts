/**
 * Tests the main story of the console. An agent works and a notification is queued. A person sees that the notification waits, is
 * delivered and is read.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { conversation, notesOn, rode, staged } from './articles.ts';
import { openBrowser } from './browser.ts';
import { heldTool, read } from './morning.ts';
import { Stage } from './stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const failed = (stage: Stage): Promise<unknown> =>
  stage.ear.bus.emit({
    type: 'process.failed',
    source: 'processes',
    subject: 'shop/coder#main',
    severity: 'error',
    data: { command: 'npm run build', exit_code: 2, last_lines: 'src/cart.ts(12,3): error TS2322' },
  });

verifies(
  'console:moves',
  'US2(a), FR-022, FR-024: a failed background build is shown as waiting, then as delivered, and "why" explains it',
  async () => {
    await using stage = await Stage.open(browser);
    const held = heldTool('read_cart', 'Reads the cart.');
    const { agent, model } = await stage.agent(
      'shop/coder#main',
      [
        { text: 'I read the cart.', calls: [{ id: 'c1', name: 'read_cart', args: { path: 'src/cart.ts' } }] },
        { text: 'I see: the build is red.' },
      ],
      { tools: [held.tool] },
    );
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    const turn = agent.send('Fix the cart.');
    await held.called;
    await page.getByText('calling read_cart').first().waitFor();

    await failed(stage);
    const waiting = staged(page, 'process.failed');
    await waiting.waitFor();
    expect(await waiting.getAttribute('aria-label')).toBe('waiting for delivery: process.failed, error');
    expect(await waiting.innerText()).toContain('system');

    held.end('export const cart = [];');
    const there = rode(page, 'process.failed');
    await there.waitFor();
    await turn;
    expect(await there.innerText()).toMatch(/delivered with\s*read_cart\s*· [\d.]+ m?s after it was queued/u);
    // The delivered notification has moved here from the waiting notifications.
    expect(await there.getAttribute('data-moved')).toBe('staged');
    expect(await waiting.count()).toBe(0);
    expect(await notesOn(page)).toEqual(['rode process.failed']);
    // The notification is shown after its carrier and before the agent's next message.
    await page.getByText('I see: the build is red.').waitFor();
    const order = await page.locator('.timeline').innerText();
    expect(order.indexOf('read_cart')).toBeLessThan(order.indexOf('process.failed'));
    expect(order.indexOf('process.failed')).toBeLessThan(order.indexOf('I see: the build is red.'));

    await there.getByRole('button', { name: 'Why process.failed' }).click();
    const why = page.getByRole('complementary', { name: 'Why' });
    await why.getByText('subscriber process_ended').waitFor();
    const told = await why.innerText();
    expect(told).toMatch(/queued\s+\d\d:\d\d:\d\d\.\d{3}/u);
    expect(told).toMatch(/delivered\s+\d\d:\d\d:\d\d\.\d{3}/u);
    expect(told).toContain('in the result of read_cart');
    expect(told).toContain('no filter, mute, expiry, newer state or budget closed this notification');
    const shown = await why.locator('figure pre').innerText();
    const sent = JSON.stringify(model.requests.at(-1)?.prompt);
    expect(sent).toContain(JSON.stringify(shown).slice(1, -1));

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // The page shows "copied" for only two seconds, so the test begins to wait for this text before it clicks.
    await Promise.all([why.getByText('copied').waitFor(), why.getByRole('button', { name: 'copy what was sent' }).click()]);
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown);
  },
);

verifies(
  'console:moves',
  'a delivered notification moves to its carrier in 150 ms; with reduced motion it appears there at once',
  async () => {
    await using stage = await Stage.open(browser);
    for (const [reducedMotion, moves] of [
      ['no-preference', 1],
      ['reduce', 0],
    ] as const) {
      const held = heldTool('read_cart', 'Reads the cart.');
      const { agent } = await stage.agent(
        `shop/${reducedMotion}#main`,
        [{ calls: [{ id: 'c1', name: 'read_cart' }] }, { text: 'done' }],
        {
          tools: [held.tool],
        },
      );
      const page = await stage.page({ reducedMotion });
      await page.addInitScript(
        'window.moves = []; const animate = Element.prototype.animate; Element.prototype.animate = function (frames, how) { window.moves.push(how.duration); return animate.call(this, frames, how); };',
      );
      await page.goto(conversation(stage, `shop/${reducedMotion}`));
      await page.reload();
      const turn = agent.send('go');
      await held.called;
      await stage.ear.queue(`shop/${reducedMotion}#main`, { kind: 'ci.failed', level: 'error', message: 'CI failed' });
      await staged(page, 'ci.failed').waitFor();
      held.end('x');
      await rode(page, 'ci.failed').waitFor();
      await turn;
      expect(await page.evaluate('window.moves')).toEqual(Array.from({ length: moves }, () => 150));
    }
  },
);

verifies(
  'console:why',
  "a withdrawn notification shows who closed it; a waiting notification shows the plan's current decision",
  async () => {
    await using stage = await Stage.open(browser);
    const { ear } = stage;
    // The agent has hooks. A gateway sees no turns, so behind a gateway no notification would wait for turns.
    const points = ['turn_start', 'tool_result', 'turn_end'] as const;
    await ear.conversation('shop/coder#main', { host: 'codex', carrier: 'hook', points }).seen();
    const { id } = await ear.queue('shop/coder#main', { kind: 'mcp.disconnected', level: 'error', message: 'vault is gone' });
    await ear.queue('shop/coder#main', { kind: 'deploy.later', message: 'tell it later', deliver: { afterTurns: 3 } });
    await ear.withdraw('shop/coder', { id }, { by: 'mcp', reason: 'the server is back' });
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    await page.getByRole('button', { name: 'Why mcp.disconnected' }).click();
    const why = page.getByRole('complementary', { name: 'Why' });
    await why.getByText('withdrawn by mcp: “the server is back”').waitFor();
    await page.getByRole('button', { name: 'Why deploy.later' }).click();
    await why.getByText('The next carrier of #main would not contain this notification, which stays open. moment:').waitFor();
    expect(await why.innerText()).toContain('Nothing was sent yet: no carrier has taken this notification.');

    await why.getByRole('button', { name: 'Withdraw' }).click();
    await why.getByText('The notification is withdrawn, and was never sent.').waitFor();
    await staged(page, 'deploy.later').waitFor({ state: 'detached' });
    await why.getByRole('button', { name: 'Queue again' }).click();
    await staged(page, 'deploy.later').waitFor();
  },
);

verifies(
  'console:toon',
  'US2(c), FR-025, SC-003: a batch of failures is shown as a table; every other text is shown unchanged',
  async () => {
    await using stage = await Stage.open(browser, {
      files: {
        '.earpiece/subscribers/odd.toml':
          '[subscriber]\nid = "odd"\nname = "Odd"\ndescription = "Says what is no TOON."\nversion = "1.0.0"\n\n[events]\ntypes = ["odd.event"]\nseverity_filter = "info"\n\n[batching]\nwindow_ms = 0\nmax_size = 1\ndedupe_key = "type"\ndedupe_window_ms = 0\n\n[output]\npriority = "normal"\ninject_at = "after_tool"\ntemplate = "odd.toon.j2"\ncore = false\n',
        '.earpiece/subscribers/odd.toon.j2':
          '{% if event.payload.what == "prose" %}note: wait\nand then: see{% else %}rows[3]{a,b}:\n  1,2\n  {{ event.payload.what }}{% endif %}',
      },
    });
    const { ear } = stage;
    const { agent } = await stage.agent('shop/coder#main', [{ calls: [{ id: 'c1', name: 'read' }] }, { text: 'I see.' }], {
      tools: [
        {
          ...read,
          execute: async (args, call) => {
            for (const tool of ['npm_test', 'vault_search'])
              await ear.bus.emit({
                type: 'tool.call.failure',
                source: 'agent',
                subject: 'shop/coder#main',
                severity: 'error',
                data: { tool_name: tool, error_type: 'exit', error_message: `${tool}: "3", failed` },
              });
            for (const what of ['<b>odd</b>', 'prose'])
              await ear.bus.emit({
                type: 'odd.event',
                source: 'odd',
                subject: 'shop/coder#main',
                severity: 'info',
                data: { what },
                key: what,
              });
            return read.execute(args, call);
          },
        },
      ],
    });
    await agent.send('go');
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    const table = rode(page, 'tool.call.failure').getByRole('table');
    await table.waitFor();
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual(['tool', 'error', 'message']);
    expect(await table.getByRole('row').allInnerTexts()).toEqual([
      'tool\terror\tmessage',
      'npm_test\texit\tnpm_test: "3", failed',
      'vault_search\texit\tvault_search: "3", failed',
    ]);
    await rode(page, 'odd.event').filter({ hasText: 'note: wait\nand then: see' }).waitFor();
    const odd = rode(page, 'odd.event').filter({ hasText: 'rows' });
    expect(await odd.innerText()).toContain('rows[3]{a,b}:');
    expect(await odd.innerText()).toContain('<b>odd</b>');
    expect(await odd.locator('b', { hasText: 'odd' }).count()).toBe(0);
  },
);

verifies(
  'console:history',
  'US2(b), US4(b), FR-023, FR-026, SC-008: a long notification is collapsed and marked; a reload repeats nothing',
  async () => {
    await using stage = await Stage.open(browser);
    const { agent, model } = await stage.agent(
      'shop/coder#main',
      [
        { calls: [{ id: 'c1', name: 'read', args: { path: 'a' } }] },
        { calls: [{ id: 'c2', name: 'read', args: { path: 'a' } }] },
        { calls: [{ id: 'c3', name: 'read', args: { path: 'a' } }] },
        { calls: [{ id: 'c4', name: 'read', args: { path: 'a' } }] },
        { text: 'I stop repeating myself.' },
      ],
      { tools: [read] },
    );
    await stage.ear.queue('shop/coder#main', {
      kind: 'ci.failed',
      level: 'error',
      message: `first line\n${'more '.repeat(60)}\nlast words`,
    });
    await agent.send('go');
    const page = await stage.page();
    await page.goto(conversation(stage, 'shop/coder'));
    // Earpiece itself has noticed that the agent repeats a call.
    await rode(page, 'agent.loop').waitFor();
    const long = rode(page, 'ci.failed');
    expect(await long.innerText()).not.toContain('last words');
    await long.getByRole('button', { name: 'Show more' }).click();
    expect(await long.innerText()).toContain('last words');
    await long.getByRole('button', { name: 'Show less' }).click();
    expect(await long.innerText()).not.toContain('last words');

    const before = await notesOn(page);
    const requests = model.requests.length;
    const head = await stage.ear.store.head();
    await page.reload();
    await rode(page, 'agent.loop').waitFor();
    expect(await notesOn(page)).toEqual(before);
    expect(model.requests).toHaveLength(requests);
    expect(await stage.ear.store.head()).toBe(head);
  },
);
