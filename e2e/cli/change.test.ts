import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

describe('withdraw', () => {
  proves('cli:commands', 'cli:exit-codes');

  it('reports whether the notification was withdrawn in time', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const mine = ear.conversation('shop/coder#main');
    await ear.queue('shop/coder', { id: 'early', message: 'x' });
    expect(await shell.says(['withdraw', 'early', '--reason', 'a mistake'])).toBe(
      'early  withdrawn: no agent has read this notification (shop/coder)\n',
    );
    expect((await ear.why('early'))?.items[0]?.steps.at(-1)?.detail).toMatch(/: “a mistake”$/);

    await ear.queue('shop/coder', { id: 'offered', message: 'x' });
    await mine.offer({ at: 'tool_result' });
    expect(await shell.says(['withdraw', 'offered'])).toBe(
      'offered  withdrawn, but offered before: the agent may have seen this notification (shop/coder)\n',
    );

    await ear.queue('shop/coder', { id: 'late', message: 'x' });
    await (await mine.offer({ at: 'tool_result' }))?.confirm();
    expect(await shell.run(['withdraw', 'late'])).toEqual({
      code: 4,
      stdout: 'late  too late: this notification was already delivered (shop/coder)\n',
      stderr: '',
    });
    expect((await shell.run(['withdraw', 'late', '--json'])).stdout).toBe(
      '{"log":"shop/coder","id":"late","result":"too_late"}\n',
    );
  });

  it('says that a notification had expired, and repeats the result of a withdrawal', async () => {
    await using shell = new Shell();
    await shell.says(['send', '--to', 'coder', '--id', 'short', '--ttl', '1ms', 'x']);
    await shell.says(['send', '--to', 'coder', '--id', 'long', 'x']);
    expect(await shell.says(['withdraw', 'short'])).toBe(
      'short  already ended (expired): no agent has read this notification (shop/coder)\n',
    );
    for (let i = 0; i < 2; i++) {
      expect(await shell.says(['withdraw', 'long'])).toBe('long  withdrawn: no agent has read this notification (shop/coder)\n');
    }
  });

  it('withdraws every notification with a key, in the whole project or of one agent', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    for (const to of ['shop/coder', 'shop/writer', 'other/coder'])
      await ear.queue(to, { key: 'tests', message: 'npm test failed' });
    expect(await shell.json(['withdraw', '--key', 'tests', '--to', 'writer'])).toMatchObject([
      { log: 'shop/writer', result: 'withdrawn' },
    ]);
    expect(await shell.json(['withdraw', '--key', 'tests'])).toMatchObject([{ log: 'shop/coder', result: 'withdrawn' }]);
    expect(await shell.says(['withdraw', '--key', 'tests'])).toBe('no open notification has the key tests\n');
    expect(await ear.open('other/coder')).toHaveLength(1);
  });

  it('for a project-wide interrupt, prints separate lines for agents that already got it and for conversations that begin later', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const main = ear.conversation('shop/coder#main');
    await main.seen();
    const sent = await shell.says(['send', '--to', 'shop/*', '--level', 'critical', '--id', 'stop', 'stop']);
    expect(sent).toBe(
      'stop  queued for shop/coder#main, and each conversation that begins in shop, until the interrupt is withdrawn\n',
    );
    await (await main.refuse({ on: 'echo' }))?.offer?.confirm();
    expect(await shell.says(['withdraw', 'stop'])).toBe(
      'stop  already delivered; this interrupt no longer holds the gate up (shop/coder)\n' +
        'stop  withdrawn; conversations that begin later do not get this notification (shop/*)\n',
    );
    expect(await shell.says(['send', '--to', 'shop/*', '--action', 'pause', '--id', 'p', 'wait'])).toContain(
      'begins in shop, until the interrupt is withdrawn or lifted\n',
    );
    expect(await shell.says(['send', '--to', 'shop/*', '--action', 'pause', '--ttl', '2s', 'wait'])).toContain(
      'begins in shop, until the interrupt expires in 2s, or is withdrawn or lifted\n',
    );
    expect(await shell.says(['send', '--to', 'shop/*', '--level', 'critical', '--ttl', '10m', 'stop'])).toContain(
      'begins in shop, until the interrupt expires in 10m, or is withdrawn\n',
    );
  });

  it('for a project-wide interrupt without --ttl, names the end that the settings give it', async () => {
    await using shell = new Shell();
    shell.home('config/earpiece/earpiece.toml', '[ttl]\ncritical = "2h"\n');
    const send = ['send', '--to', 'shop/*', '--level', 'critical', '--id', 'stop'];
    const at = String.raw`until the interrupt expires at [\d :-]*\d\d:\d\d:\d\d, or is withdrawn`;
    expect(await shell.says([...send, 'stop'])).toMatch(new RegExp(`^stop  queued for each conversation .* shop, ${at}\n$`, 'u'));
    // A repeated id changes nothing, not even the time of the first call.
    expect(await shell.says([...send, '--ttl', '10m', 'stop'])).toMatch(new RegExp(`already queued for .* ${at}; nothing`, 'u'));
    expect(await shell.says([...send.slice(0, -1), 'never', '--ttl', 'never', 'stop'])).toContain(
      'shop, until the interrupt is withdrawn\n',
    );
  });

  it('changes nothing for a notification that another one counts, and names the other', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    for (const id of ['a1', 'a2']) await ear.queue('shop/coder', { id, key: 'k', message: 'x' });
    expect(await shell.run(['withdraw', 'a2'])).toEqual({
      code: 4,
      stdout: 'a2  not withdrawn: counted into a1; to withdraw a1 with its count: earpiece withdraw a1 (shop/coder)\n',
      stderr: '',
    });
    expect((await shell.run(['withdraw', 'a2', '--json'])).stdout).toBe(
      '{"log":"shop/coder","id":"a2","result":"folded","into":"a1"}\n',
    );
    expect((await ear.open('shop/coder'))[0]).toMatchObject({ id: 'a1', count: 2 });
  });

  it('lowers the gate', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'stop', action: 'cancel', message: 'stop' });
    await shell.says(['withdraw', 'stop']);
    expect(await ear.conversation('shop/coder#main').gate()).toEqual([]);
  });
});

describe('requeue', () => {
  proves('cli:commands');

  it('queues a closed notification again, under a new id', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'n1', kind: 'ci.failed', level: 'error', message: 'CI failed' });
    await ear.withdraw('shop/coder', { id: 'n1' }, { by: 'test', reason: 'test' });
    const [again] = await shell.json(['requeue', 'n1']);
    expect(again).toMatchObject({ kind: 'queued', to: ['shop/coder'], requeues: 'n1' });
    const [item] = await ear.open('shop/coder');
    expect(item).toMatchObject({ id: again?.['id'], notification: { level: 'error', message: 'CI failed', requeues: 'n1' } });
    expect(await shell.says(['requeue', 'n1', '--to', 'coder'])).toMatch(/^n_\w+ {2}queued again for shop\/coder\n$/);
  });

  it('waits until the notification that counts this one is closed', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    for (const [id, message] of [
      ['a1', 'one'],
      ['a2', 'two'],
    ] as const)
      await ear.queue('shop/coder', { id, key: 'k', message });
    expect(await shell.run(['requeue', 'a2'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'earpiece: a2 was counted into a1, which is open; queue a2 again after a1 is closed\n',
    });
    expect((await ear.open('shop/coder'))[0]).toMatchObject({ id: 'a1', count: 2 });
    await ear.withdraw('shop/coder', { id: 'a1' }, { by: 'test', reason: 'test' });
    await shell.says(['requeue', 'a2']);
    expect((await ear.open('shop/coder'))[0]?.notification).toMatchObject({ key: 'k', requeues: 'a2' });
  });

  it('says that a requeued notification was counted into an open notification', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'old', key: 'k', message: 'x' });
    await ear.withdraw('shop/coder', { id: 'old' }, { by: 'test', reason: 'test' });
    for (const id of ['new', 'newer']) await ear.queue('shop/coder', { id, key: 'k', message: 'x' });
    expect(await shell.says(['requeue', 'old'])).toMatch(/^n_\w+ {2}counted into new, which waits for shop\/coder\n$/);
  });

  it('for a fan-out, queues the closed copies again', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.conversation('shop/coder#a').seen();
    await ear.conversation('shop/writer#b').seen();
    await ear.queue('shop/*', { id: 'all', message: 'to all' });
    expect(await shell.run(['requeue', 'all'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('only a closed notification can be queued again') as string,
    });
    await ear.withdraw('shop/writer', { id: 'all' }, { by: 'test', reason: 'test' });
    expect(await shell.json(['requeue', 'all'])).toMatchObject([{ to: ['shop/writer#b'], requeues: 'all' }]);
  });
});

describe('mute', () => {
  proves('cli:commands', 'queue:mute');

  it('mutes a kind for an agent, for a while or until the mute is lifted', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'c1', kind: 'ci.failed', message: 'x' });
    await ear.queue('shop/coder', { id: 'f1', kind: 'file.changed', message: 'x' });
    expect(await shell.says(['mute', 'ci', 'coder', '--for', '10m'])).toMatch(
      /^ci {2}muted for shop\/coder until [\d:. -]+ \(by \S+\)\n$/,
    );
    const offer = await ear.conversation('shop/coder#main').offer({ at: 'tool_result' });
    expect(offer?.ids).toEqual(['f1']);
    expect((await ear.why('c1'))?.items[0]?.receipt).toBe('filtered');
    await ear.queue('shop/coder', { id: 'c2', kind: 'ci.failed', message: 'x' });
    expect(await shell.says(['inbox', 'coder'])).toMatch(/ c2 +shop\/coder +waits, muted /u);
    expect(await shell.json(['inbox', 'coder'])).toMatchObject([{ id: 'c2', muted: true }, { id: 'f1' }]);
    expect(await shell.json(['mute'])).toMatchObject([{ log: 'shop/coder', mutes: [{ pattern: 'ci' }] }]);
    expect(await shell.says(['mute', 'ci', 'coder', '--off'])).toBe('ci  lifted for shop/coder\n');
    expect(await shell.says(['mute', 'ci', 'coder', '--off'])).toBe('ci was not muted for coder\n');
    expect(await ear.mutes('shop/coder' as never)).toEqual([]);
  });

  it('without an address, mutes the kind for every agent of the project', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    for (const to of ['shop/coder', 'shop/writer', 'other/coder']) await ear.queue(to, { message: 'x' });
    expect((await shell.json(['mute', 'user.message'])).map((line) => line['log'])).toEqual(['shop/coder', 'shop/writer']);
    expect(await ear.mutes('other/coder' as never)).toEqual([]);
    await shell.says(['mute', 'user.message', '--off']);
    expect(await shell.says(['mute'])).toBe('nothing is muted in shop\n');
  });

  it('exits with 5 if there is no agent yet', async () => {
    await using shell = new Shell();
    expect(await shell.run(['mute', 'ci'])).toEqual({
      code: 5,
      stdout: '',
      stderr: 'earpiece: no agent is known in project "shop" yet; name an agent: earpiece mute ci <agent>\n',
    });
    expect((await shell.run(['mute', 'foo bar'])).stderr).toContain("; name an agent: earpiece mute 'foo bar' <agent>\n");
  });
});
