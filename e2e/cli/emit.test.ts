import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves, verifies } from '../verifies.ts';
import { Shell } from './shell.ts';

const heard = (line: Record<string, unknown> | undefined): unknown => line?.['heard'];

describe('emit', () => {
  proves('cli:emit', 'cli:commands');

  verifies('cli:emit', 'a file, and what came of it; a second time nothing more comes of it', async () => {
    await using shell = new Shell();
    const event = {
      specversion: '1.0',
      id: '42',
      source: 'ci',
      type: 'cli.event',
      subject: 'coder',
      severity: 'warning',
      message: 'the cache is full',
      data: { event_name: 'cache' },
    };
    writeFileSync(join(shell.folder, 'event.json'), JSON.stringify(event));
    expect(await shell.says(['emit', 'event.json'])).toBe('cli_event: queued ci/42~cli_event for shop/coder\n');
    expect(await shell.says(['emit', 'event.json'])).toBe(
      'cli_event: ci/42~cli_event was queued before for shop/coder; nothing changed\n',
    );
    const ear = await shell.open();
    expect((await ear.open('shop/coder')).map(({ notification }) => notification)).toMatchObject([
      { id: 'ci/42~cli_event', level: 'warning', message: 'the cache is full', data: { event_name: 'cache' } },
    ]);
  });

  it('a list and one a line on stdin, with a line for each; --to says whom it concerns, whatever it says itself', async () => {
    await using shell = new Shell('address = "coder"');
    const lines = '{"type":"webhook.a"}\n{"type":"webhook.b","subject":"bank/teller"}\n';
    expect(await shell.says(['emit', '-'], { input: lines })).toMatch(
      /^webhook\.a {2}webhook: queued \S+ for shop\/coder\nwebhook\.b {2}webhook: queued \S+ for bank\/teller\n$/u,
    );
    const list = await shell.json(['emit', '--to', 'writer', '-'], { input: `[${lines.trim().replace('\n', ',')}]` });
    expect(list.map((each) => (each['event'] as { subject: string }).subject)).toEqual(['shop/writer', 'shop/writer']);
    expect(list.map(heard)).toMatchObject([
      [{ subscriber: 'webhook', kind: 'queued' }],
      [{ subscriber: 'webhook', kind: 'queued' }],
    ]);
  });

  it('5: nobody listens, or who does lets it pass', async () => {
    await using shell = new Shell();
    expect(await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"com.example.odd"}' })).toEqual({
      code: 5,
      stdout: 'no subscriber listens for com.example.odd; nothing was queued\n',
      stderr: '',
    });
    const debug = await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"cli.event","severity":"debug"}' });
    expect(debug).toMatchObject({ code: 5, stdout: 'cli_event: nothing, because severity debug is below info\n' });
    const some = await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"com.example.odd"}\n{"type":"cli.event"}' });
    expect(some.code).toBe(0);
  });

  it('what takes back says so', async () => {
    await using shell = new Shell();
    const to = ['emit', '--to', 'coder', '-'];
    await shell.says(to, { input: '{"type":"mcp.disconnected","severity":"error","data":{"server":"files"}}' });
    expect(await shell.says(to, { input: '{"type":"mcp.reconnected","data":{"server":"files"}}' })).toMatch(
      /took back \S+~mcp_connection/u,
    );
  });

  it('one bad event among many: nothing is emitted', async () => {
    await using shell = new Shell();
    const input = '{"type":"cli.event"}\n{"type":"a b"}\n';
    const { code, stderr } = await shell.run(['emit', '--to', 'coder', '-'], { input });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'earpiece: event 2 of 2: event type "a b": is dotted words of letters, digits, "_" and "-", e.g. "build.failed"\n',
    });
    const ear = await shell.open();
    expect(await ear.open('shop/coder')).toEqual([]);
  });
});
