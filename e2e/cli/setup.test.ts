import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INSTALL_HOSTS } from '../../src/cli/install-hosts.ts';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { textOf } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';
import { parsed, Shell } from './shell.ts';

describe('agents and doctor', () => {
  proves('cli:commands', 'cli:exit-codes');

  it('list agents, their waiting notifications and their carriers', async () => {
    await using shell = new Shell();
    expect(await shell.says(['agents'])).toBe(
      'no agent has been seen in shop yet\nTo connect your coding agents: earpiece install\nFor another MCP client: earpiece gateway --help. For your own loop: npm install earpiece (docs/guides/put-it-into-your-loop.md)\n',
    );
    const ear = await shell.open();
    const gateway = await shell.gateway({ args: ['--as', 'coder', '--name', 'files'], client: 'claude-code' });
    await gateway.call('echo', { text: 'x' });
    await ear.conversation('shop/writer#w').ended();
    await ear.conversation('other/coder#o').seen();
    await ear.queue('shop/coder', { message: 'x' });
    const rows = (await shell.says(['agents'])).replaceAll(/\d+ s ago/g, 'now').split('\n');
    expect(rows.map((row) => row.split(/ {2,}/).join(' | '))).toEqual([
      ' | conversation | open | seen | host | carriers',
      '○ | shop/writer#w | 0 | ended now',
      '● | shop/coder#main | 1 | now | claude-code 1 | gateway:stdio files',
      '',
    ]);
    const [, coder] = await shell.json(['agents']);
    expect(coder).toMatchObject({
      log: 'shop/coder',
      conversation: 'main',
      host: 'claude-code',
      active: true,
      open: { info: 1 },
    });
    expect(await shell.json(['agents', '--all'])).toHaveLength(3);

    const findings = await shell.json(['doctor']);
    expect(findings.every((finding) => finding['ok'] === true)).toBe(true);
    const of = (what: string): unknown => findings.find((finding) => finding['what'] === what)?.['value'];
    expect(of('store')).toBe(`sqlite ${shell.db}, ${String(of('store')).match(/\d+ kB/)?.[0]}, intact, 1 open notification`);
    expect(of('project')).toContain('shop (');
    expect(of('identity')).toBe('this shell belongs to no agent; a gateway that you start here gets the address shop/agent#main');
    expect(of('agent')).toMatch(/^shop\/coder#main: gateway:stdio files; last contact \d+ s ago, last delivery/);
  });

  it('doctor reports each problem with its solution, and continues after it', async () => {
    await using shell = new Shell('veiw = "json"');
    writeFileSync(shell.db, 'not a database at all'.repeat(100));
    const { code, stdout, stderr } = await shell.run(['doctor']);
    expect({ code, stderr }).toEqual({ code: 8, stderr: '' });
    expect(stdout).toMatch(/✗ {2}config {4}.*earpiece\.toml:2:1: .*did you mean "view"/);
    expect(stdout).toMatch(/✗ {2}store {5}.*is not an SQLite database.*name another file with --db or EARPIECE_DB/);
    expect(stdout).toMatch(/✓ {2}project {3}shop/);
    expect(parsed((await shell.run(['doctor', '--json'])).stdout).filter((finding) => finding['ok'] === false)).toHaveLength(2);
  });

  it('doctor prints the solution below each finding', async () => {
    await using shell = new Shell('[gateway.servers.files]\ncommand = "files"\n');
    const gateway = await shell.gateway({ args: ['--as', 'coder', '--name', 'files'], client: 'claude-code' });
    await gateway.call('echo', { text: 'x' });
    const lines = (await shell.says(['doctor'])).split('\n');
    const below = (finding: RegExp): string | undefined => lines[lines.findIndex((line) => finding.test(line)) + 1];
    expect(below(/^! {2}trust /)).toBe('   → read the file, then run: earpiece trust');
    expect(below(/^! {2}reach /)).toMatch(/^ {3}→ if an agent must be stopped at once/);
    expect(lines.filter((line) => line.startsWith('   →'))).toHaveLength(2);
    const [trust] = (await shell.json(['doctor'])).filter(({ what }) => what === 'trust');
    expect(trust).toMatchObject({ ok: true, advice: 'read the file, then run: earpiece trust' });
  });

  it('doctor prints the address of this process', async () => {
    await using shell = new Shell();
    const identity = async (address: string): Promise<unknown> =>
      (await shell.json(['doctor'], { env: { EARPIECE_ADDRESS: address } })).find((finding) => finding['what'] === 'identity')?.[
        'value'
      ];
    expect(await identity('shop/coder#s1')).toBe('shop/coder#s1, by EARPIECE_ADDRESS or `address` in earpiece.toml');
    expect(await identity('shop/*')).toContain('no agent: ');
  });
});

describe('db', () => {
  proves('cli:commands', 'cli:exit-codes');

  it('check exits with 0 if the database is intact, and with 8 if it is damaged', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'n1', message: 'x' });
    expect(await shell.says(['db', 'check'])).toBe(`sqlite ${shell.db} is intact\n`);
    expect(await shell.json(['db', 'check'])).toEqual([{ store: `sqlite ${shell.db}`, sound: true, problems: [] }]);
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const db = new DatabaseSync(shell.db);
    db.exec('DELETE FROM items');
    db.close();
    const { code, stdout } = await shell.run(['db', 'check']);
    expect(code).toBe(8);
    expect(stdout).toContain('restore a backup');
  });

  it('prune removes closed notifications and keeps open notifications', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'old', message: 'x' });
    await ear.withdraw('shop/coder', { id: 'old' }, { by: 'test', reason: 'test' });
    await ear.queue('shop/coder', { id: 'open', message: 'x' });
    expect(await shell.says(['db', 'prune'])).toBe('removed 0 closed notifications and 0 records\n');
    expect(await shell.json(['db', 'prune', '--older', '0'])).toMatchObject([{ items: 1 }]);
    expect((await ear.open('shop/coder')).map((item) => item.id)).toEqual(['open']);
    expect(await ear.why('old')).toBeUndefined();
  });

  it('backup makes a copy that opens, while other processes write', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'n1', message: 'x' });
    const to = join(shell.folder, 'copy.db');
    expect(await shell.json(['db', 'backup', 'copy.db'])).toEqual([{ store: `sqlite ${shell.db}`, file: to }]);
    await using copy = await openLoadedInbox({ db: to, cwd: shell.folder, env: shell.env() });
    expect((await copy.open('shop/coder')).map((item) => item.id)).toEqual(['n1']);
    const { code, stderr } = await shell.run(['db', 'backup', '']);
    expect(stderr).toContain('the path of the backup must not be empty, got ""; write e.g. ~/earpiece.db');
    expect(code).toBe(2);
  });
});

describe('config and trust', () => {
  proves('cli:commands', 'cli:exit-codes', 'config:explain', 'config:trust');

  it('config check exits with 0 without problems, or with 8 and prints each problem with its place', async () => {
    await using shell = new Shell();
    const file = join(shell.folder, 'earpiece.toml');
    expect(await shell.says(['config', 'check'])).toBe(`${file} has no problems\n`);
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, `${before}\n[wake]\nerror = "auto"\n`);
    expect(await shell.says(['config', 'check'])).toBe(
      `${file} has no problems\n${file}: these settings are ignored until you read the file and run earpiece trust: wake.error = auto (decides whether these notifications wake an idle agent)\n`,
    );
    writeFileSync(file, before);
    const wrong = join(shell.folder, 'wrong.toml');
    writeFileSync(wrong, 'veiw = "json"\nmax_open = "many"\n');
    const { code, stdout } = await shell.run(['config', 'check', 'wrong.toml']);
    expect(code).toBe(8);
    expect(stdout.split('\n').map((line) => line.split(': ')[0])).toEqual(['wrong.toml:1:1', 'wrong.toml:2:12', '']);
    expect(parsed((await shell.run(['config', 'check', wrong, '--json'])).stdout)).toMatchObject([
      { file: wrong, line: 1, column: 1 },
      { file: wrong, line: 2, column: 12, key: 'max_open' },
    ]);
  });

  it('config explain prints the value and its source', async () => {
    await using shell = new Shell('view = "toon"');
    const file = join(shell.folder, 'earpiece.toml');
    expect(await shell.says(['config', 'explain', 'view'], { env: { EARPIECE_VIEW: 'json' } })).toBe(
      `view          json  EARPIECE_VIEW\n  instead of  toon  project file ${file}:2:1\n`,
    );
    expect(await shell.says(['config', 'explain', 'budget'])).toContain('budget.max_items');
    expect(await shell.json(['config', 'explain', 'db', '--db', 'x.db'])).toMatchObject([
      { key: 'db', value: 'x.db', decidedBy: 'flag --db', overridden: [{ value: shell.db, decidedBy: 'EARPIECE_DB' }] },
    ]);
    expect((await shell.json(['config', 'explain'])).length).toBeGreaterThan(20);
  });

  it('config set and unset change the file of the user or of the project, and print the source that then decides', async () => {
    proves('config:set', 'config:set-refused');
    await using shell = new Shell('# ours\nview = "toon" # for the small one');
    const file = join(shell.folder, 'earpiece.toml');
    const [said] = await shell.json(['config', 'set', 'budget.max_items', '5']);
    const mine = String(said?.['file']);
    expect(said).toEqual({
      key: 'budget.max_items',
      file: mine,
      written: true,
      value: 5,
      decidedBy: `user file ${mine}:2:1`,
      takesEffect: 'now, from the next carrier on',
    });
    expect(readFileSync(mine, 'utf8')).toBe('[budget]\nmax_items = 5\n');
    expect(await shell.says(['config', 'explain', 'budget.max_items'])).toBe(`budget.max_items  5  user file ${mine}:2:1\n`);

    const before = readFileSync(file, 'utf8');
    expect(await shell.says(['config', 'set', 'view', 'json'])).toBe(
      `view is toon (project file ${file}:3:1)\n${mine} has the value, but project file ${file}:3:1 has higher priority and applies here\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(await shell.says(['config', 'set', 'view', 'json', '--project'])).toBe(
      `view is json (project file ${file}:3:1)\nThe change takes effect now, from the next carrier on.\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(before.replace('"toon"', '"json"'));
    expect(await shell.says(['config', 'set', 'view', 'xml', '--project'], { env: { EARPIECE_VIEW: 'toon' } })).toBe(
      `view is toon (EARPIECE_VIEW)\n${file} has the value, but EARPIECE_VIEW has higher priority and applies here\n`,
    );
    expect(await shell.says(['config', 'unset', 'view', '--project'])).toBe(
      `view is json (user file ${mine}:1:1)\nThe change takes effect now, from the next carrier on.\n`,
    );
    expect(await shell.says(['config', 'unset', 'view', '--project'])).toContain(`${file} has no value for view\n`);
    expect(await shell.says(['config', 'set', 'server.port', '4750'])).toContain(
      'The change takes effect at the next start of earpiece serve.\n',
    );
    expect(await shell.says(['config', 'set', 'gateway.separator', '_'])).toContain(
      'The change takes effect at the next start of earpiece gateway, earpiece chat or earpiece run.\n',
    );
    expect(await shell.says(['config', 'set', 'db', 'other.db', '--project'])).toContain('earpiece trust');

    const was = readFileSync(mine, 'utf8');
    expect(await shell.run(['config', 'set', 'budget.max_itmes', '5'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'earpiece: budget.max_itmes is not a setting; did you mean budget.max_items?\n',
    });
    expect(readFileSync(mine, 'utf8')).toBe(was);
    expect((await shell.run(['config', 'set', 'view'])).code).toBe(2);
  });

  it('a running gateway applies config set at its next result, and keeps the earlier values while the file is broken', async () => {
    proves('config:set', 'config:live');
    await using shell = new Shell();
    const ear = await shell.open();
    const gateway = await shell.gateway({ args: ['--as', 'coder', '--name', 'files'] });
    const rides = async (message: string): Promise<boolean> => {
      await ear.queue('shop/coder', { kind: 'ci.finished', message });
      return textOf(await gateway.call('echo', { text: 'x' })).includes(message);
    };
    expect(await rides('build-1')).toBe(true);
    const [{ file }] = (await shell.json(['config', 'set', 'conversation.notifications.kinds.ci.enable', 'false'])) as [
      { file: string },
    ];
    expect(await rides('build-2')).toBe(false);
    writeFileSync(file, 'conversation =\n');
    expect(await rides('build-3')).toBe(false);
    const refused = await shell.run(['config', 'unset', 'conversation.notifications.kinds.ci.enable']);
    expect(refused.stderr).toMatch(
      /earpiece\.toml:1:15: is not valid TOML: .*\nnothing was changed; fix the problem above first\n$/u,
    );
    writeFileSync(file, '');
    expect(await rides('build-4')).toBe(true);
  });

  it('trust shows the file and covers its current content, and can be withdrawn', async () => {
    await using shell = new Shell('[gateway.servers.files]\ncommand = "true"');
    const file = join(shell.folder, 'earpiece.toml');
    expect((await shell.run(['gateway'])).stderr).toBe(
      `earpiece: the servers in ${file} are not trusted and cannot be started; read the file, then run: earpiece trust\n`,
    );
    expect(await shell.says(['trust'])).toBe(
      `${file} is trusted as it is now; if these parts change, run earpiece trust again:\n  gateway.servers.files (runs true)\n`,
    );
    expect(await shell.says(['trust'])).toBe(`${file} is already trusted:\n  gateway.servers.files (runs true)\n`);
    expect(await shell.json(['trust', '--list'])).toEqual([{ file, trusted: true }]);
    expect((await shell.json(['doctor'])).some((finding) => finding['what'] === 'trust')).toBe(false);
    expect(await shell.says(['trust', '--off'])).toBe(`${file} is no longer trusted\n`);
    expect(await shell.says(['trust', '--off', file])).toBe(`${file} was not trusted\n`);
    expect((await shell.json(['doctor'])).some((finding) => finding['what'] === 'trust')).toBe(true);
    writeFileSync(file, 'project = "shop"\n');
    expect(await shell.says(['trust'])).toBe(`${file}: nothing in this file needs trust\n`);
  });
});

describe('gateway --print', () => {
  proves('gateway:print');

  it.each(INSTALL_HOSTS)(
    '%s: prints the install line and its undo, with absolute paths of Node and the entry file',
    async (host) => {
      await using shell = new Shell();
      const args = [
        'gateway',
        '--print',
        host,
        '--as',
        'coder',
        '--',
        'npx',
        '-y',
        '@modelcontextprotocol/server-filesystem',
        'my files',
      ];
      const text = await shell.says(args, { env: { EARPIECE_DB: '' } });
      expect(text).toContain(process.execPath);
      expect(text).toMatch(/\/cli\/main\.[jt]s/);
      expect(text).toContain('my files');
      const [{ how, what, undo } = {}] = await shell.json(args, { env: { EARPIECE_DB: '' } });
      expect(text).toBe(`${how as string}\n\n${what as string}\n\nTo undo this change:\n\n${undo as string}\n`);
      expect(undo).toContain('filesystem');
    },
  );

  it('the printed JSON of a file starts the gateway', async () => {
    await using shell = new Shell();
    const [{ what } = {}] = await shell.json(['gateway', '--print', 'json', '--as', 'coder', '--', 'echo-server']);
    const entry = (JSON.parse(what as string) as { mcpServers: Record<string, { command: string; args: string[] }> }).mcpServers[
      'echo'
    ];
    expect(entry?.command).toBe(process.execPath);
    expect(entry?.args.slice(1)).toEqual(['gateway', '--name', 'echo', '--db', shell.db, '--as', 'coder', '--', 'echo-server']);
    const server = join(import.meta.dirname, '../delivery/echo-server.ts');
    copyFileSync(server, join(shell.folder, 'echo.ts'));
    const client = await shell.gateway({ args: [...(entry?.args.slice(2, -1) ?? []), process.execPath, server] });
    expect((await client.call('echo', { text: 'hi' })).content).toEqual([{ type: 'text', text: 'hi' }]);
    expect(readFileSync(shell.db).length).toBeGreaterThan(0);
  });
});
