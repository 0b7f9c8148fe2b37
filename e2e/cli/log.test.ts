import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { spawn as spawnPty } from '@lydell/node-pty';
import { widthOf } from '../../src/cli/table.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { parsed, Running, Shell } from './shell.ts';

const timeless = (text: string): string => text.replaceAll(/\d\d:\d\d:\d\d/g, 'hh:mm:ss');

/** Makes records of several types: queued, counted, offered, delivered, withdrawn, muted. */
async function story(shell: Shell): Promise<LoadedInbox> {
  const ear = await shell.open();
  await ear.queue('shop/coder', { id: 'k1', key: 'k', kind: 'ci.failed', level: 'error', message: 'CI failed 日本語' });
  await ear.queue('shop/coder', { id: 'k2', key: 'k', kind: 'ci.failed', level: 'error', message: 'CI failed again' });
  const offer = await ear.conversation('shop/coder#main').offer({ at: 'tool_result', on: 'files:read' });
  await offer?.confirm();
  await ear.queue('shop/writer', { id: 'w1', message: 'x' });
  await ear.withdraw('shop/writer', { id: 'w1' }, { by: 'anna', reason: 'a mistake' });
  await ear.mute('shop/coder', 'ci', { by: 'anna' });
  return ear;
}

describe('log', () => {
  proves('cli:commands');

  it('shows the newest records, oldest first', async () => {
    await using shell = new Shell();
    await story(shell);
    expect(timeless(await shell.says(['log'])))
      .toBe(`1  hh:mm:ss  shop/coder         queued     k1  ▲ error ci.failed, unnamed │ CI failed 日本語
2  hh:mm:ss  shop/coder         counted    k2  into k1
3  hh:mm:ss  shop/coder   main  offered    k1  on files:read
4  hh:mm:ss  shop/coder   main  delivered  k1
5  hh:mm:ss  shop/writer        queued     w1  ○ info user.message, unnamed │ x
6  hh:mm:ss  shop/writer        withdrawn  w1  │ a mistake
7  hh:mm:ss  shop/coder         muted          ci by anna
`);
    expect(timeless(await shell.says(['log', 'writer', '--limit', '1']))).toBe('6  hh:mm:ss  withdrawn  w1  │ a mistake\n');
    const records = await shell.json(['log', 'shop/*']);
    expect(records.map((record) => record['type'])).toEqual([
      'system_notification_queued',
      'system_notification_folded',
      'carrier_offered',
      'carrier_confirmed',
      'system_notification_queued',
      'notification_closed',
      'notifications_muted',
    ]);
    expect(records[0]).toMatchObject({ seq: 1, log: 'shop/coder', id: 'k1', message: 'CI failed 日本語', level: 'error' });
  });

  it('shows whole ids, so that `why` accepts them, and cuts the names of conversations only on a terminal', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const id = 'processes/37ebdd05-082b-4143-841b-634618f6c89a-process_ended';
    const conversation = '0b7c1f52-3f0a-4c7e-9d55-8a5b0c8d4e11';
    await ear.queue(`shop/coder#${conversation}`, { id, message: 'x' });
    await (await ear.conversation(`shop/coder#${conversation}`).offer({ at: 'tool_result' }))?.confirm();
    const piped = await shell.says(['log']);
    expect(piped).toContain(`queued     ${id}  `);
    expect(piped).toContain(`${conversation}  offered    ${id}  `);
    const shown = await shell.says(['log'], { env: { COLUMNS: '100' } });
    expect(shown).toContain(` ${id}\n`);
    expect(shown).not.toContain(conversation);
  });

  it('shows the records of the project, of one conversation, or of everything', async () => {
    await using shell = new Shell();
    const ear = await story(shell);
    await ear.queue('other/coder', { message: 'elsewhere' });
    const count = async (...args: string[]): Promise<number> => (await shell.json(['log', ...args])).length;
    expect([await count(), await count('shop/coder#main'), await count('other/*'), await count('--all')]).toEqual([7, 2, 1, 8]);
    expect(await shell.says(['log', 'nobody'])).toBe('the log is empty\n');
  });

  it.each([60, 80, 120])('fits a terminal of %i columns', async (columns) => {
    await using shell = new Shell();
    const ear = await story(shell);
    await ear.queue('shop/coder', { message: '通知'.repeat(200) });
    for (const command of [['log'], ['inbox', '--peek'], ['agents']])
      for (const line of (await shell.says(command, { env: { COLUMNS: String(columns) } })).split('\n'))
        expect(widthOf(line)).toBeLessThanOrEqual(columns);
  });

  it('in a pipe, lines are not cut and have no colours', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { level: 'critical', message: `${'long '.repeat(50)}end` });
    const text = await shell.says(['log']);
    expect(text).toContain('long end');
    expect(text).not.toContain('\u001b');
  });

  it('emoji, and words of scripts with joiners, are shown as they are', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const family = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467} \u{1f3f3}\ufe0f\u200d\u{1f308}';
    const words = '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0dc1\u0dca\u200d\u0dbb\u0dd3';
    await ear.queue('shop/coder', { message: `${family} ${words} a\u200db \u200d` });
    for (const command of ['log', 'inbox']) expect(await shell.says([command, 'coder'])).toContain(`${family} ${words} a\ufffdb`);
  });

  it('foreign text cannot control the terminal', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'n1', message: 'a\u001b[2Jb\r\u0007c\u202ed', origin: { person: 'x\u001b[0m' } });
    for (const command of [['log'], ['inbox', 'coder'], ['why', 'n1']])
      expect(await shell.says(command)).not.toMatch(/(?!\n)\p{Cc}|\p{Cf}/u);
  });

  it('exits without an error if the reader of its output closes early', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const message = 'x'.repeat(4_000);
    await ear.store.append(
      'shop/coder' as never,
      Array.from({ length: 500 }, () => ({ type: 'chat_request' as const, content: message })),
    );
    const child = spawn('/bin/sh', ['-c', '"$0" "$1" log --json --limit 500 | head -n 1', process.execPath, CLI], {
      cwd: shell.folder,
      env: shell.env(),
      stdio: 'pipe',
    });
    const { stdout, stderr } = await new Running(child).ended;
    expect({ lines: parsed(stdout).length, stderr }).toEqual({ lines: 1, stderr: '' });
  });
});

describe('log --follow and watch', () => {
  proves('cli:commands', 'cli:exit-codes');

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('show records of other processes, and end with 0 on %s', async (signal) => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'before', message: 'before' });
    const log = shell.begin(['log', '--follow']);
    const watch = shell.begin(['watch', 'coder', '--json']);
    await log.shows('before');
    // Only its output shows that a watcher has begun, so the test sends records until a record appears in the output.
    const seen = watch.shows('now');
    for (let n = 0, done = false; !done; n++) {
      await ear.queue('shop/coder', { id: `n${n}`, message: 'now' });
      done = await Promise.race([
        seen.then(() => true),
        ear.store.changed(await ear.store.head(), { withinMs: 200 }).then(() => false),
      ]);
    }
    await log.shows('now');
    log.process.kill(signal);
    watch.process.kill(signal);
    const [followed, watched] = await Promise.all([log.ended, watch.ended]);
    expect([followed.code, followed.signal, followed.stderr]).toEqual([0, null, '']);
    expect([watched.code, watched.signal, watched.stderr]).toEqual([0, null, '']);
    expect(parsed(watched.stdout).every((record) => record['log'] === 'shop/coder' && record['id'] !== 'before')).toBe(true);
    expect(followed.stdout.match(/before/g)).toHaveLength(2);
  });

  it('ends when its reader disconnects', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { message: 'one' });
    const log = shell.begin(['log', '--follow']);
    await log.shows('one');
    log.process.stdout.destroy();
    await ear.queue('shop/coder', { message: 'two' });
    expect((await log.ended).code).toBe(0);
  });
});

describe('colours', () => {
  const onTerminal = async (shell: Shell, env: Record<string, string>): Promise<string> => {
    // The command ends only after all of its output was read, because a terminal may drop output after the end.
    const pty = spawnPty('sh', ['-c', '"$0" "$1" log; printf "<end>"; read end', process.execPath, CLI], {
      cols: 80,
      rows: 24,
      cwd: shell.folder,
      env: shell.env(env),
    });
    let shown = '';
    pty.onData((data) => {
      if (shown.includes('<end>')) return;
      shown += data;
      if (shown.includes('<end>')) pty.write('\r');
    });
    await new Promise<void>((resolve) => pty.onExit(() => resolve()));
    return shown.replace(/<end>[^]*$/u, '');
  };

  it('appear on a terminal, but not with NO_COLOR', async () => {
    await using shell = new Shell();
    await story(shell);
    const painted = await onTerminal(shell, { TERM: 'xterm-256color' });
    expect(painted).toContain('\u001b[31m▲ error\u001b[39m');
    for (const line of painted.split('\r\n')) expect(widthOf(line)).toBeLessThanOrEqual(80);
    const bare = await onTerminal(shell, { TERM: 'xterm-256color', NO_COLOR: '1' });
    expect(bare).toContain('▲ error');
    expect(bare).not.toContain('\u001b[3');
  });
});

describe('why', () => {
  proves('cli:commands', 'delivery:receipts');

  it('lists the steps of a delivered notification', async () => {
    await using shell = new Shell();
    await story(shell);
    const text = timeless(await shell.says(['why', 'k1']))
      .replaceAll(/carrier c_\w+, process \d+|carrier c_\w+/g, 'carrier c')
      .replace(/, \d+(?:\.\d)? m?s after/u, ', n s after');
    expect(text)
      .toBe(`Delivered at hh:mm:ss with the result of files:read, n s after the notification was queued. Nothing proves yet that the agent has read the notification.

▲ error ci.failed for shop/coder: delivered
  │ CI failed 日本語
  key │ k
  2 times, last hh:mm:ss · sent by an unnamed producer

  hh:mm:ss  queued
  hh:mm:ss  counted    k2; 2 notifications in all
  hh:mm:ss  offered    tool_result of files:read, carrier c
  hh:mm:ss  delivered  carrier c
`);
  });

  it('shows the current decision for a waiting notification', async () => {
    await using shell = new Shell('[conversation.notifications]\nkinds."ci.failed" = false');
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'n1', kind: 'ci.failed', message: 'x' });
    await ear.queue('shop/coder', { id: 'n2', message: 'y' });
    expect(await shell.says(['why', 'n1'])).toMatch(/now +#main: would close as filtered \(filter: .*ci\.failed.*\)/);
    // If the next carrier would deliver the notification, no decision is shown.
    expect(await shell.says(['why', 'n2'])).not.toContain('now  ');
  });

  it('explains a notification for each of several agents', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.conversation('shop/coder#a').seen();
    await ear.conversation('shop/writer#b').seen();
    await ear.queue('shop/*', { id: 'all', message: 'to all' });
    const text = await shell.says(['why', 'all']);
    expect(text).toContain('for shop/coder#a: queued');
    expect(text).toContain('for shop/writer#b: queued');
    expect((await shell.json(['why', 'all'])).map((told) => told['log'])).toEqual(['shop/coder', 'shop/writer']);
    expect(await shell.json(['why', 'all', 'writer'])).toHaveLength(1);
  });

  it('exits with 7 if the notification does not exist', async () => {
    await using shell = new Shell();
    await story(shell);
    expect(await shell.run(['why', 'nope', 'coder'])).toEqual({
      code: 7,
      stdout: '',
      stderr: 'earpiece: there is no notification "nope" for "coder"; earpiece log --all lists the existing notifications\n',
    });
  });
});
