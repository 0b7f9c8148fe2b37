/** Tests the display of waiting notifications, and of agents without contact. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { proves, verifies } from '../verifies.ts';
import { Shell } from './shell.ts';

verifies('cli:inbox', 'the inbox lists the newest of several states, rendered as the agent will read it', async () => {
  await using shell = new Shell();
  const ear = await shell.open();
  for (const [type, message] of [
    ['process.failed', '`npm test` failed with exit code 1 after 3 s'],
    ['process.ended', '`npm test` succeeded after 4 s'],
    ['process.failed', '`npm test` failed with exit code 2 after 5 s'],
  ] as const)
    await ear.bus.emit({
      type,
      source: 'processes',
      subject: 'shop/coder',
      severity: 'error',
      message,
      key: 'process:1',
      supersede: true,
      data: { last_lines: ['FAIL cart.test.ts > rounds the total'] },
    });
  const [waiting, ...more] = await shell.json(['inbox', 'coder']);
  expect(more).toEqual([]);
  expect(waiting).toMatchObject({
    message: '`npm test` failed with exit code 2 after 5 s',
    text: '`npm test` failed with exit code 2 after 5 s\n| FAIL cart.test.ts > rounds the total',
  });
  expect(await shell.says(['inbox', 'coder'])).toContain('rounds the total');
});

it('the inbox still lists the pause of a person after somebody else has sent a newer state of its key', async () => {
  await using shell = new Shell();
  const ear = await shell.open();
  const state = { key: 'hold', supersede: true } as const;
  const ann = { person: 'Ann' };
  await ear.queue('shop/coder', { ...state, id: 'old', message: 'hold', action: 'pause', origin: ann });
  await ear.queue('shop/coder', { ...state, id: 'pause', message: 'hold on', action: 'pause', origin: ann });
  await ear.queue('shop/coder', { ...state, id: 'noise', message: 'noise', origin: { agent: 'shop/tester' } });
  expect((await shell.json(['inbox', 'coder'])).map(({ id }) => id)).toEqual(['noise', 'pause']);
});

it.each(['in:1h', 'after:deploy', 'turns:3', 'turn_start'])(
  'a critical notification is delivered although a newer state waits (%s) and is then withdrawn',
  async (deliver) => {
    proves('plan:supersede', 'gate:superseded', 'cli:inbox');
    await using shell = new Shell();
    const ear = await shell.open();
    const state = ['send', '--to', 'coder', '--key', 'prod', '--supersede'];
    await shell.says([...state, '--id', 'down', '--level', 'critical', 'PROD DOWN']);
    await shell.says([...state, '--id', 'later', '--deliver', deliver, 'prod was up']);
    expect((await shell.json(['inbox', 'coder'])).map(({ id }) => id)).toEqual(['later', 'down']);
    expect(await ear.gates(logKey('shop', 'coder'))).toMatchObject([{ id: 'down' }]);
    const conversation = ear.conversation('shop/coder#main');
    const offer = await conversation.offer({ at: 'tool_result' });
    expect(offer?.view.text).toContain('PROD DOWN');
    await offer?.release('cancelled');
    await shell.says(['withdraw', 'later']);
    expect((await conversation.refuse({ on: 'deploy' }))?.text).toContain('PROD DOWN');
  },
);

it('the inbox does not list a notification that has expired, before a sweep closes it', async () => {
  await using shell = new Shell();
  const ear = await shell.open();
  await ear.queue('shop/coder', { id: 'over', message: 'over', expiresAt: Date.now() + 1 });
  await ear.queue('shop/coder', { id: 'lasts', message: 'lasts' });
  expect((await shell.json(['inbox', 'coder'])).map(({ id }) => id)).toEqual(['lasts']);
  expect(await ear.store.items(logKey('shop', 'coder'), { kind: 'open' })).toHaveLength(2);
});

it('the inbox lists a notification that a summary has counted until it is read, ends, or has a newer state', async () => {
  proves('cli:inbox', 'plan:relevance', 'plan:supersede');
  await using shell = new Shell('[budget]\nmax_items = 1\n');
  const ear = await shell.open();
  const carried = async (): Promise<void> => {
    const offer = await ear.conversation('shop/coder#main').offer({ at: 'tool_result' });
    await offer?.confirm();
  };
  const state = { key: 'deploy', kind: 'deploy.state', supersede: true } as const;
  await ear.queue('shop/coder', { message: 'the disk is full', level: 'warning' });
  await ear.queue('shop/coder', { ...state, id: 'v1', message: 'RUNNING' });
  await ear.queue('shop/coder', { id: 'db', key: 'mcp:db', message: 'MCP db is down' });
  await ear.queue('shop/coder', { id: 'lasts', kind: 'ci.other', message: 'lasts' });
  await carried();
  const listed = async (): Promise<readonly unknown[]> => (await shell.json(['inbox', 'coder'])).map(({ id }) => id);
  expect(await listed()).toEqual(['lasts', 'db', 'v1']);
  await ear.queue('shop/coder', { ...state, id: 'v2', message: 'FAILED' });
  expect(await listed()).toEqual(['v2', 'lasts', 'db']);
  await carried();
  expect(await listed()).toEqual(['lasts', 'db']);
  expect(await shell.says(['why', 'v1'])).toMatch(/^Superseded: v2 is newer and replaces the notification\.$/mu);
  expect(await shell.says(['withdraw', '--key', 'mcp:db'])).toBe(
    'db  withdrawn: no agent has read this notification (shop/coder)\n',
  );
  expect(await listed()).toEqual(['lasts']);
});

it('why and log of an expired notification say that it expired, before a sweep closes it', async () => {
  await using shell = new Shell();
  const ear = await shell.open();
  await ear.queue('shop/coder', { id: 'over', message: 'over', expiresAt: Date.now() + 1 });
  const [first, , third] = (await shell.says(['why', 'over'])).split('\n');
  expect(first).toMatch(/^Expired at [\d:]+, before a message could carry the notification\.$/u);
  expect(third).toBe('○ info user.message for shop/coder: expired');
  const [story] = await shell.json(['why', 'over']);
  expect((story as { items: readonly object[] }).items).toMatchObject([
    { receipt: 'expired', now: [], item: { state: 'closed', outcome: 'expired' } },
  ]);
});

it('the list of agents does not count a notification that has expired, before a sweep closes it', async () => {
  await using shell = new Shell();
  const ear = await shell.open();
  await ear.queue('shop/coder', { id: 'over', level: 'error', message: 'over', expiresAt: Date.now() + 1 });
  await ear.queue('shop/coder', { id: 'lasts', message: 'lasts', expiresAt: Date.now() + 3_600_000 });
  expect(await shell.json(['agents'])).toMatchObject([{ open: { info: 1, warning: 0, error: 0, critical: 0 } }]);
  expect(await ear.store.items(logKey('shop', 'coder'), { kind: 'open' })).toHaveLength(2);
});

it('send warns about a name that was never seen, if other agents were seen', async () => {
  await using shell = new Shell();
  const ear = await shell.open();
  expect((await shell.run(['send', '--to', 'a b', 'hello'])).stderr).toBe('');
  await ear.conversation('shop/codex#c1').seen();
  expect((await shell.run(['send', '--to', 'a b', '--id', 'n2', 'hello'])).stderr).toContain(
    'no agent shop/a b has been seen yet; seen here: codex. To withdraw the notification: earpiece withdraw n2',
  );
  expect((await shell.run(['send', '--to', 'codx', 'hello'])).stderr).toContain('did you mean shop/codex?');
});

it('earpiece agents also lists agents that were imported or notified but never seen', async () => {
  await using shell = new Shell();
  const folder = join(shell.folder, '123-a-talk');
  mkdirSync(folder);
  writeFileSync(join(folder, 'events.json'), '[{"type":"chat_request","content":"hello"}]');
  await shell.says(['import', 'jp', folder]);
  expect(await shell.says(['agents'])).toMatch(/○ +shop\/jp +0 +not seen yet/u);
  expect(await shell.json(['agents'])).toEqual([expect.objectContaining({ log: 'shop/jp', active: false })]);
});

it('earpiece help exit-codes refuses further words', async () => {
  await using shell = new Shell();
  expect(await shell.run(['help', 'exit-codes', 'x'])).toMatchObject({
    code: 2,
    stderr: 'earpiece: help exit-codes takes no other arguments, got "x"; write: earpiece help exit-codes\n',
  });
});

it('earpiece config check names a webhook secret that is too short', async () => {
  await using shell = new Shell('[webhooks.github]\nkind = "github"\nto = "shop/coder"\nsecret_env = "HOOK_SECRET"\n');
  await shell.says(['trust']);
  const checked = await shell.run(['config', 'check'], { env: { HOOK_SECRET: 'short' } });
  expect(checked).toMatchObject({
    code: 8,
    stdout: 'webhooks.github needs a longer secret in HOOK_SECRET: at least 8 characters\n',
  });
  expect((await shell.run(['config', 'check'], { env: { HOOK_SECRET: 'long enough by far' } })).code).toBe(0);
});

it('agents counts the open notifications of an agent once, although the agent has two conversations', async () => {
  await using shell = new Shell();
  const ear = await shell.open();
  await ear.conversation('shop/coder#one').seen();
  await ear.conversation('shop/coder#two').seen();
  await ear.queue('shop/coder', { message: 'x' });
  const rows = await shell.json(['agents']);
  expect(rows.map((row) => (row as { open?: object }).open)).toEqual([{ info: 1, warning: 0, error: 0, critical: 0 }, undefined]);
  const [, first = '', second = ''] = (await shell.says(['agents'])).split('\n');
  expect([first, second].map((line) => /coder#\w+ {2,}(\d+) {2,}/u.exec(line)?.[1])).toEqual(['1', undefined]);
});
