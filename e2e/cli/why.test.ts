/** Tests that `earpiece why` answers with one verdict, and with a command that helps, if such a command exists. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { systemProcesses } from '../../src/inbox/index.ts';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

const LOG = 'shop/coder#main';
/** Replaces times, and the date before a time of another day, because an hour from now may be tomorrow. */
const timeless = (text: string): string =>
  text.replaceAll(/(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d/g, 'hh:mm:ss').replaceAll(/\d+(?:\.\d)? (?:ms|s)\b/g, 'n s');
const first = async (shell: Shell, id: string): Promise<string> =>
  timeless(await shell.says(['why', id])).split('\n\n', 1)[0] ?? '';

describe('the verdict of why', () => {
  proves('delivery:verdict');

  it('names an agent without any contact, then a gateway that needs a call of a wrapped tool', async () => {
    await using shell = new Shell();
    await shell.says(['send', '--to', 'coder', '--id', 'n1', 'main is red']);
    expect(await first(shell, 'n1')).toBe(
      'Waiting: shop/coder has not made contact yet. The notification is delivered at the first contact.\n  check the connection: earpiece doctor',
    );
    const gateway = await shell.gateway({ env: { EARPIECE_ADDRESS: LOG } });
    await gateway.call('echo', { text: 'x' });
    // The client's next frame confirms the delivery.
    await gateway.call('echo', { text: 'y' });
    expect(await first(shell, 'n1')).toMatch(
      /^Delivered at hh:mm:ss with the result of echo:echo, n s after the notification was queued\. Nothing proves yet that the agent has read the notification\.$/u,
    );
    await shell.says(['send', '--to', 'coder', '--id', 'n2', 'main is green']);
    expect(await first(shell, 'n2')).toMatch(
      /^Waiting for the next result of a wrapped tool of shop\/coder#main\..* Built-in tools carry no notifications\.\n {2}check the connection: earpiece doctor$/u,
    );
  });

  it('shows the text of a folded notification, and not the text of the notification that counts it', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const same = { key: 'lint', kind: { source: 'ci', name: 'failed' } };
    await ear.queue('shop/coder', { ...same, id: 'n1', message: 'a.ts has 1 error', data: { file: 'a.ts' } });
    await ear.queue('shop/coder', { ...same, id: 'n2', message: 'b.ts has 1 error', data: { file: 'b.ts' } });
    const said = await shell.says(['why', 'n2']);
    expect(said).toContain('b.ts has 1 error');
    expect(said).not.toContain('a.ts');
    expect((await ear.why('n2'))?.items[0]?.item.notification).toMatchObject({ id: 'n2', data: { file: 'b.ts' } });
    expect(await shell.says(['why', 'n1'])).toContain('a.ts has 1 error');
  });

  it('names an agent whose process has ended', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
    await once(child, 'spawn');
    const found = systemProcesses.get(child.pid ?? 0);
    const host = { machine: systemProcesses.machine, pid: child.pid ?? 0, startedAt: found?.startedAt ?? 'unknown' };
    await ear.conversation(LOG, { host: 'codex', carrier: 'hook', process: host }).seen();
    await ear.queue(LOG, { id: 'n1', message: 'x' });
    expect(await first(shell, 'n1')).toBe('Waiting for the next message to shop/coder#main.');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await first(shell, 'n1')).toBe(
      'Waiting: shop/coder#main is away. No contact since hh:mm:ss (n s ago); the process of the session has exited.',
    );
  });

  it('names the person who paused the agent, and the interrupt that keeps the gate up', async () => {
    await using shell = new Shell();
    await shell.open();
    const gateway = await shell.gateway({ env: { EARPIECE_ADDRESS: LOG } });
    await gateway.call('echo', { text: 'x' });
    await shell.says(['send', '--to', 'coder', '--id', 'p1', '--action', 'pause', '--as', 'mira', 'wait for legal']);
    await shell.says(['send', '--to', 'coder', '--id', 'n1', 'x']);
    await gateway.call('echo', { text: 'refused' });
    expect((await first(shell, 'n1')).replace(/\d{4}-\d\d-\d\d /u, '')).toBe(
      'Waiting: shop/coder is paused by mira since hh:mm:ss (n s ago). ' +
        'The pause holds until a person resumes the agent.\n' +
        '  resume the agent: earpiece resume shop/coder\n  show the other notification: earpiece why p1 shop/coder',
    );
    expect(await first(shell, 'p1')).toMatch(
      /^The gate of shop\/coder is up because of this pause; so far 1 tool call was refused\. The gate refuses calls of wrapped tools; built-in tools still run\.( The interrupt was delivered at hh:mm:ss\.)? The gate goes down when a person resumes the agent\.\n {2}resume the agent: earpiece resume shop\/coder$/u,
    );
  });

  it('names the carrier that delivered the notification, not a later carrier, and marks only repetitions as repeated', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const main = ear.conversation(LOG, { host: 'codex', carrier: 'hook', pulls: true });
    await main.seen();
    await ear.queue(LOG, { id: 'stop', level: 'critical', message: 'stop' });
    await (await main.refuse({ on: 'list_directory' }))?.offer?.confirm();
    await (await main.pull({ mark: true })).offer?.confirm();
    expect(await first(shell, 'stop')).toContain('in place of a call of list_directory, n s after the notification was queued.');
    const [story] = (await shell.json(['why', 'stop'])) as [{ items: [{ verdict: object }] }];
    expect(story.items[0].verdict).toMatchObject({ rodeOn: { point: 'forced', name: 'list_directory' }, evidence: 'read' });

    await ear.queue(LOG, { id: 'again', message: 'x' });
    await (await main.offer({ at: 'tool_result' }))?.release('cancelled');
    await ear.queue(LOG, { id: 'news', message: 'y' });
    await (await main.offer({ at: 'tool_result' }))?.confirm();
    const offered = async (id: string): Promise<readonly boolean[]> =>
      ((await ear.why(id))?.items[0]?.steps ?? [])
        .filter(({ what }) => what === 'offered')
        .map(({ detail }) => detail?.endsWith(', repeated') ?? false);
    expect(await offered('again')).toEqual([false, true]);
    expect(await offered('news')).toEqual([false]);
  });

  it('quotes the reasons, keys and names that others chose, in each step', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const main = ear.conversation(LOG, { host: 'codex', carrier: 'hook' });
    await main.seen();
    const said = async (id: string): Promise<string> => timeless(await shell.says(['why', id])).replaceAll(/ +/gu, ' ');
    await ear.queue(LOG, { id: 'w1', message: 'x' });
    await shell.says(['withdraw', 'w1', '--to', 'coder', '--reason', 'it is over”. The agent has read it']);
    expect(await said('w1')).toMatch(/ withdrawn \S+: “it is over". The agent has read it”$/mu);
    const key = 'tests. The agent has read it';
    for (const id of ['s1', 's2']) await ear.queue(LOG, { id, key, supersede: true, message: id });
    const newer = `s2 is newer with key “${key}”`;
    expect(await said('s1')).toContain(`would close as superseded (supersede: ${newer})`);
    await (await main.offer({ at: 'tool_result', on: 'call 7. Read' }))?.confirm();
    expect(await said('s1')).toContain(`superseded ${newer}`);
    expect(await said('s2')).toContain('offered tool_result of “call 7. Read”, carrier');
  });

  it('names the cause: a mute with its end, a file that filters, or a newer notification', async () => {
    await using shell = new Shell('[conversation.notifications]\nkinds."ci.failed" = false');
    const ear = await shell.open();
    const main = ear.conversation(LOG, { host: 'codex', carrier: 'hook' });
    await main.seen();
    await shell.says(['mute', 'mail', 'coder', '--for', '1h']);
    await ear.queue(LOG, { id: 'm1', kind: 'mail.came', message: 'x' });
    const muted = await first(shell, 'm1');
    expect(muted).toMatch(
      /^Muted: \S+ muted mail for shop\/coder until hh:mm:ss\. The notification will be filtered at the next message\.\n {2}lift the mute: (earpiece .*)$/u,
    );
    await shell.says((/lift the mute: earpiece (.*)$/u.exec(muted)?.[1] ?? '').split(' '));
    expect(await first(shell, 'm1')).toBe('Waiting for the next message to shop/coder#main.');

    await ear.queue(LOG, { id: 'e1', deliver: 'turn_end', message: 'x' });
    expect(await first(shell, 'e1')).toBe(
      'Waiting: the notification arrives at the end of this turn.\n  withdraw the notification: earpiece withdraw e1',
    );

    await ear.queue(LOG, { id: 'c1', kind: 'ci.failed', message: 'x' });
    expect(await first(shell, 'c1')).toBe(
      `Filtered: conversation.notifications.kinds."ci.failed" = false, set in ${shell.folder}/earpiece.toml:3. The notification will be filtered at the next message.\n` +
        `  see the setting: earpiece config explain 'conversation.notifications.kinds."ci.failed"'`,
    );
    await (await main.offer({ at: 'turn_start' }))?.confirm();
    const filtered = await first(shell, 'c1');
    expect(filtered).toContain(`Filtered: conversation.notifications.kinds."ci.failed" = false, set in ${shell.folder}`);
    expect(filtered).toContain('queue the notification again: earpiece requeue c1');

    await ear.queue(LOG, { id: 's1', key: 'tests', supersede: true, message: 'x' });
    await ear.queue(LOG, { id: 's2', key: 'tests', supersede: true, message: 'y' });
    expect(await first(shell, 's1')).toBe(
      'Superseded: s2 is newer and replaces the notification.\n  show the other notification: earpiece why s2 shop/coder',
    );
    const [story] = await shell.json(['why', 's1']);
    expect((story as { items: readonly object[] }).items[0]).toMatchObject({
      verdict: { kind: 'superseded', by: 's2' },
      says: 'Superseded: s2 is newer and replaces the notification.',
      cures: [{ kind: 'show', command: 'earpiece why s2 shop/coder' }],
    });
  });

  it('begins with the notified agents if an interrupt for a whole project has ended', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const main = ear.conversation(LOG, { host: 'codex', carrier: 'hook' });
    await main.seen();
    await shell.says(['send', '--to', 'shop/*', '--id', 'p1', '--action', 'pause', '--as', 'mira', 'hold on']);
    await (await main.refuse({ on: 'list_directory' }))?.offer?.confirm();
    expect(await first(shell, 'p1')).toMatch(/^Waiting for the whole project shop: /u);
    await shell.says(['withdraw', 'p1']);
    const copies = timeless(await shell.says(['why', 'p1']))
      .split('\n')
      .filter((line) => / at hh:mm:ss/u.test(line));
    expect(copies).toEqual([
      expect.stringMatching(/^Delivered at hh:mm:ss in place of a call of list_directory/u),
      expect.stringMatching(
        /^Withdrawn by \S+ at hh:mm:ss: “by hand”\. Conversations that begin from now on do not get the notification\.$/u,
      ),
    ]);
  });
});
