import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves, verifies } from '../verifies.ts';
import { openEarpiece } from '../../src/index.ts';
import { Shell } from './shell.ts';

const heard = (line: Record<string, unknown> | undefined): unknown => line?.['heard'];

describe('emit', () => {
  proves('cli:emit', 'cli:commands');

  verifies('cli:emit', 'emits the event of a file and prints the result; a second time has no effect', async () => {
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
      'cli_event: ci/42~cli_event was already queued for shop/coder; nothing changed\n',
    );
    const ear = await shell.open();
    expect((await ear.open('shop/coder')).map(({ notification }) => notification)).toMatchObject([
      { id: 'ci/42~cli_event', level: 'warning', message: 'the cache is full', data: { event_name: 'cache' } },
    ]);
  });

  verifies(
    'queue:own-id',
    "the id of an event's notification cannot be used before the event, nor by the event of another sender",
    async () => {
      await using shell = new Shell();
      const taken = await shell.run(['send', '--to', 'coder', '--id', 'ci/42~cli_event', 'hi']);
      expect(taken).toMatchObject({ code: 2, stdout: '' });
      expect(taken.stderr).toContain('id "ci/42~cli_event": must not contain "~"');
      const event = { id: '42', source: 'ci', type: 'cli.event', subject: 'coder', message: 'the cache is full' };
      await using ear = await openEarpiece({ db: shell.db, cwd: shell.folder, env: shell.env() });
      await ear.events.emit({ ...event, origin: { person: 'anna' } });
      const again = await shell.run(['emit', '-'], { input: JSON.stringify(event) });
      expect(again).toMatchObject({
        code: 12,
        stderr: expect.stringContaining(
          'id "ci/42~cli_event" belongs to a notification from "anna" in shop/coder; this notification has another sender',
        ) as unknown,
      });
    },
  );

  verifies('agent:no-person', 'events of a command of an agent are separate from the events of other senders', async () => {
    await using shell = new Shell();
    const agent = { EARPIECE_HANDLE: 'h1', EARPIECE_HANDLE_OF: 'shop/evil' };
    const emit = async (event: object, env = {}): Promise<unknown> =>
      heard((await shell.json(['emit', '--to', 'coder', '-'], { input: JSON.stringify({ source: 'ci', ...event }), env }))[0]);
    const one = { id: '42', type: 'cli.event', message: 'the cache is full', data: { event_name: 'cache' } };
    const fires = { type: 'alert.firing', severity: 'error', message: 'disk', data: { fingerprint: 'f1' } };
    const ends = { type: 'alert.resolved', data: { fingerprint: 'f1' } };
    // The later event of another sender has the same id and the same content.
    expect(await emit(one, agent)).toMatchObject([{ kind: 'queued' }]);
    expect(await emit(one)).toMatchObject([{ kind: 'queued', id: 'ci/42~cli_event' }]);
    await emit({ ...fires, source: 'webhook/deploys' });
    await emit(fires);
    const ear = await shell.open();
    const others = async () =>
      (await ear.open('shop/coder')).map(({ notification }) => notification).filter(({ origin }) => origin === undefined);
    const before = await others();
    for (const more of [{}, ...before.map(({ key }) => ({ key }))]) await emit({ ...ends, ...more }, agent);
    expect(await others()).toEqual(before);
    await shell.run(['run-and-tell', '--to', 'coder', '--name', 'deploy', '--', 'false']);
    await shell.says(['run-and-tell', '--to', 'coder', '--name', 'deploy', '--', 'true'], { env: agent });
    const read = await shell.says(['inbox', 'coder', '--peek']);
    expect(read).toContain('deploy failed with exit code 1');
    const named = { EARPIECE_HANDLE: 'h1', EARPIECE_HANDLE_OF: 'shop/evil:twin' };
    expect(await emit({ type: 'cli.event', key: 'twin:deploy', message: 'one' }, agent)).toMatchObject([{ kind: 'queued' }]);
    expect(await emit({ type: 'cli.event', key: 'deploy', message: 'two' }, named)).toMatchObject([{ kind: 'queued' }]);
    const keys = (await ear.open('shop/coder')).flatMap(({ notification: { key = '' } }) =>
      key.endsWith('deploy') ? [key] : [],
    );
    expect(keys).toEqual(['agent/shop/evil:twin:deploy', 'agent/shop/evil%3Atwin:deploy']);
    // The agent can still withdraw its own notifications, with an event or with their key.
    await emit({ ...fires, id: 'own', key: 'mine' }, agent);
    expect(await shell.says(['withdraw', '--key', 'mine', '--to', 'coder'], { env: agent })).toContain('own');
    expect(await emit({ ...fires, id: 'next', data: { fingerprint: 'f2' } }, agent)).toMatchObject([{ kind: 'queued' }]);
    expect(await emit({ ...ends, data: { fingerprint: 'f2' } }, agent)).toMatchObject([
      { ids: [expect.stringContaining('next')] },
      {},
    ]);
  });

  it('prints one line for each event of a list or of stdin; --to overrides the subjects', async () => {
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

  it('exits with 5 if no subscriber listens to the event, or the subscriber ignores it', async () => {
    await using shell = new Shell();
    const odd = await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"com.example.odd"}' });
    expect(odd).toMatchObject({ code: 5, stderr: '' });
    expect(odd.stdout).toMatch(/^no subscriber listens to com\.example\.odd; nothing was queued\n/);
    const slip = await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"tool.call.failur"}' });
    expect(slip.stdout).toMatch(/^no subscriber listens to tool\.call\.failur \(did you mean tool\.call\.failure\?\); nothing/);
    const debug = await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"cli.event","severity":"debug"}' });
    expect(debug).toMatchObject({ code: 5, stdout: 'cli_event: nothing, because severity debug is below info\n' });
    const some = await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"com.example.odd"}\n{"type":"cli.event"}' });
    expect(some.code).toBe(0);
  });

  verifies('cli:emit', 'prints a subscriber file that, once added, delivers the event', async () => {
    await using shell = new Shell();
    const input = '{"type":"com.example.Odd-1","severity":"debug"}\n{"type":"9.lives"}\n{"type":"9.lives"}\n';
    const { code, stdout } = await shell.run(['emit', '--to', 'coder', '-'], { input });
    expect(code).toBe(5);
    const [, place = '', toml = ''] = /put this into (\S+):\n\n([^]*)\nthen run: earpiece trust\n$/.exec(stdout) ?? [];
    expect(place).toBe('.earpiece/subscribers/com_example_odd_1.toml');
    mkdirSync(join(shell.folder, dirname(place)), { recursive: true });
    writeFileSync(join(shell.folder, place), toml);
    const waits = await shell.run(['emit', '--to', 'coder', '-'], { input });
    expect(waits.code).toBe(5);
    expect(waits.stdout).toContain(
      `${place} would match these events, but its folder is not trusted. Read the files in the folder, then run: earpiece trust\n`,
    );
    expect(waits.stdout).not.toContain('put this into');
    await shell.says(['trust']);
    expect(await shell.says(['subscribers', 'check', place])).toBe(`${place} is fine\n`);
    expect((await shell.says(['emit', '--to', 'coder', '-'], { input })).match(/: queued/g)).toHaveLength(3);

    // In a trusted folder, no further step is needed.
    const next = await shell.run(['emit', '--to', 'coder', '-'], { input: '{"type":"com.example.next"}' });
    expect(next.stdout).toContain('com_example_next.toml; the file takes effect with the next event:');
    expect(next.stdout).not.toContain('earpiece trust');

    const elsewhere = await shell.run(['emit', '-'], { input: '{"type":"com.example.odd.1","subject":"bank/teller"}' });
    expect(elsewhere.stdout).toContain(`put this into config/earpiece/subscribers/com_example_odd_1.toml`);
  });

  it('reports that an event withdrew notifications', async () => {
    await using shell = new Shell();
    const to = ['emit', '--to', 'coder', '-'];
    await shell.says(to, { input: '{"type":"mcp.disconnected","severity":"error","data":{"server":"files"}}' });
    expect(await shell.says(to, { input: '{"type":"mcp.reconnected","data":{"server":"files"}}' })).toMatch(
      /withdrew \S+~mcp_connection/u,
    );
  });

  it('rejects the whole batch if one event is invalid', async () => {
    await using shell = new Shell();
    const input = '{"type":"cli.event"}\n{"type":"a b"}\n';
    const { code, stderr } = await shell.run(['emit', '--to', 'coder', '-'], { input });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'earpiece: event 2 of 2: event type "a b": must be dotted words of letters, digits, "_" and "-", e.g. "build.failed"\n',
    });
    const ear = await shell.open();
    expect(await ear.open('shop/coder')).toEqual([]);
  });
});
