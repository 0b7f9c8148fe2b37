/** Tests `earpiece forget` and `earpiece uninstall --purge` as real commands, each test on a fresh database. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { PACKAGE } from '../built.ts';
import { dependencies, link } from '../packed.ts';
import { Home } from '../setup/home.ts';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

describe('earpiece forget', () => {
  proves('cli:forget');

  it('erases the records, offers, bodies, presence, tokens and settings of one agent, down to the bytes', async () => {
    await using shell = new Shell();
    {
      await using ear = await shell.open();
      const coder = ear.conversation('shop/coder#one', { host: 'test' });
      await ear.queue('shop/coder', { kind: 'ci.failed', message: 'SECRET-1 delivered' });
      await coder.carry(
        { type: 'tool_call_response', id: 'c1', content: 'SECRET-2 out', is_error: false },
        { at: 'tool_result' },
      );
      await ear.queue('shop/coder', { kind: 'ci.failed', message: 'SECRET-3 leased' });
      await coder.offer({ at: 'tool_result', on: 'read' });
      await coder.withhold('read', 'SECRET-4 body');
      await coder.ended();
      await ear.queue('shop/coder', { kind: 'ci.failed', level: 'critical', message: 'SECRET-5 gate' });
      await ear.queue('shop/coder2', { kind: 'ci.failed', message: 'NEIGHBOUR stays' });
    }
    const [made] = await shell.json(['token', 'create', '--kind', 'agent', '--name', 'worker', '--agent', 'coder']);
    const [other] = await shell.json(['token', 'create', '--kind', 'agent', '--name', 'worker', '--agent', 'coder2']);
    await shell.says(['mute', 'files.*', 'coder', '--for', '1h']);
    const [before] = await shell.json(['forget', 'coder', '--yes']);
    expect(before).toMatchObject({ log: 'shop/coder', notifications: 3, conversations: 1, withheld: 1, tokens: 1 });
    expect(before?.['stays']).toHaveLength(5);
    expect(before?.['stays']).toContain(
      `data of this agent in other databases, because this command erased only from ${shell.db}`,
    );
    for (const file of readdirSync(shell.folder).filter((name) => name.startsWith('earpiece.db'))) {
      const bytes = readFileSync(join(shell.folder, file), 'latin1');
      expect([...bytes.matchAll(/SECRET-\d/g)].map(String), file).toEqual([]);
    }
    const tokens = JSON.stringify(await shell.json(['token', 'list']));
    expect(tokens).not.toContain(made?.['id']);
    expect(tokens).toContain(other?.['id']);
    expect(await shell.says(['inbox', 'coder2'])).toContain('NEIGHBOUR stays');
    expect(await shell.says(['db', 'check'])).toContain('is intact');
    // Nobody lists the agent any more, and a mute of the whole project leaves the agent out.
    const agents = (await shell.json(['agents'])).map(({ log }) => log);
    expect(agents).toEqual(['shop/coder2']);
    expect((await shell.json(['mute', 'git.*', '--for', '1h'])).map(({ log }) => log)).toEqual(['shop/coder2']);
    await using after = await shell.open();
    expect((await after.agents({ project: 'shop', limit: 1 })).map(({ log }) => log)).toEqual(['shop/coder2']);
    // A new agent may use the name, and positions continue.
    await shell.says(['send', '--to', 'coder', 'hello again']);
    expect(await shell.json(['log', 'coder'])).toHaveLength(2);
    expect(await shell.says(['forget', 'coder', '--yes'])).toMatch(/^erased shop\/coder: .*\nWhat stays:\n- one record/);
    const { code, stderr } = await shell.run(['forget', 'coder', '--yes']);
    expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining('there is no data of shop/coder') });
  });

  it('leaves no byte in the -wal while another process has the database open; if a process reads, names the files that still have the text', async () => {
    await using shell = new Shell();
    await using ear = await shell.open();
    const path = join(shell.folder, 'earpiece.db');
    const bytes = (file: string): string => readFileSync(file, 'latin1');
    await ear.queue('shop/coder', { kind: 'ci.failed', message: 'SECRET-1' });
    expect((await shell.json(['forget', 'coder', '--yes']))[0]).toMatchObject({ readable: [] });
    for (const file of [path, `${path}-wal`]) expect(bytes(file), file).not.toContain('SECRET');

    await ear.queue('shop/coder', { kind: 'ci.failed', message: 'SECRET-2' });
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN; SELECT * FROM items');
    expect((await shell.json(['forget', 'coder', '--yes']))[0]).toMatchObject({ readable: [path, `${path}-wal`] });
    expect(bytes(`${path}-wal`)).toContain('SECRET-2');
    await ear.queue('shop/coder', { kind: 'ci.failed', message: 'SECRET-3' });
    expect(await shell.run(['forget', 'coder', '--yes'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`the erased text is still readable in ${path} and ${path}-wal`),
    });
    reader.close();
    await shell.says(['db', 'prune']);
    for (const file of [path, `${path}-wal`]) expect(bytes(file), file).not.toContain('SECRET');
  });

  it('refuses an active agent without --force, refuses a conversation, and asks first', async () => {
    await using shell = new Shell();
    await using ear = await shell.open();
    await ear.queue('shop/coder', { kind: 'ci.failed', message: 'kept' });
    await ear.conversation('shop/coder#one', { process: ear.owner }).seen();
    const refused = await shell.run(['forget', 'coder', '--yes']);
    expect(refused).toMatchObject({ code: 12, stdout: '' });
    expect(refused.stderr).toContain(
      'shop/coder is active (#one), so nothing was erased: end the conversation first, or add --force',
    );
    expect(await shell.run(['forget', 'coder#one', '--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('forget erases a whole agent: earpiece forget shop/coder'),
    });
    expect(await shell.run(['forget', 'coder', '--force'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('add --yes'),
    });
    expect(await ear.open('shop/coder')).toHaveLength(1);
    await shell.says(['forget', 'coder', '--force', '--yes']);
    expect(await ear.open('shop/coder')).toEqual([]);
  });
});

describe('earpiece uninstall --purge', () => {
  proves('cli:purge');

  it('lists everything before it asks, removes nothing without consent, and leaves the home as before Earpiece', () => {
    using home = new Home('claude');
    home.write('.claude/settings.json', '{"model":"opus"}\n');
    home.write('shop/earpiece.toml', 'project = "shop"\n');
    const before = home.snapshot();
    const run = (...args: readonly string[]): string => {
      const { code, stdout, stderr } = home.run(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    run('install', 'claude', '--yes');
    run('send', '--to', 'coder', 'hello');
    home.write('.config/earpiece/earpiece.toml', '');
    home.write('.cache/earpiece/x', 'cached');
    home.write('elsewhere/e.db-note', 'mine');
    run('send', '--db', join(home.home, 'elsewhere/e.db'), '--to', 'coder', 'hello');

    const unasked = home.run(['uninstall', '--purge']);
    expect(unasked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'nothing was removed, because the command can ask for confirmation only in a terminal and without --json',
      ),
    });
    for (const folder of ['.local/state/earpiece', '.config/earpiece', '.cache/earpiece'])
      expect(unasked.stdout).toContain(join(home.home, folder));
    expect(home.has('.local/state/earpiece')).toBe(true);

    const done = run('uninstall', '--purge', '--yes', '--db', join(home.home, 'elsewhere/e.db'));
    expect(done).toContain('only the package of Earpiece is left');
    for (const gone of ['.local/state/earpiece', '.config/earpiece', '.cache/earpiece', 'elsewhere/e.db'])
      expect(home.has(gone), gone).toBe(false);
    expect(home.read('elsewhere/e.db-note')).toBe('mine');
    const after = home.snapshot();
    for (const [path, bytes] of Object.entries(before)) expect(after[path]?.split(' ')[0], path).toBe(bytes.split(' ')[0]);
    expect(existsSync(join(home.home, 'shop/earpiece.toml'))).toBe(true);
  });

  it('removes the empty folders that Earpiece made, keeps other folders, and prints the command that removes the package', () => {
    using home = new Home('claude');
    home.write('.config/other/x', 'mine');
    const app = join(home.folder, 'app');
    mkdirSync(join(app, 'node_modules'), { recursive: true });
    writeFileSync(join(app, 'package.json'), '{}');
    cpSync(PACKAGE, join(app, 'node_modules/earpiece'), { recursive: true });
    for (const name of Object.keys(dependencies)) link(app, name);
    const run = (...args: readonly string[]): string => {
      const entry = join(app, 'node_modules/earpiece/dist/cli/main.js');
      return spawnSync(process.execPath, [entry, ...args], { cwd: home.project, env: home.env(), encoding: 'utf8' }).stdout;
    };
    run('send', '--to', 'coder', 'x');
    mkdirSync(join(home.home, '.cache/earpiece'), { recursive: true });
    const said = run('uninstall', '--purge', '--yes');
    expect(said).toContain(`to remove the package from ${app}: npm --prefix ${app} uninstall earpiece\n`);
    expect([home.has('.local'), home.has('.cache'), home.has('.config')]).toEqual([false, false, true]);
  });

  it.each([
    ['the state folder', '.local/state/earpiece', 'disk/state'],
    ['a file in it', '.local/state/earpiece/earpiece.db', 'disk/moved.db'],
  ])(
    'if %s is a link, only the link is removed, and the output names the target and how to remove the target',
    (_, link, target) => {
      using home = new Home('claude');
      expect(home.run(['send', '--to', 'coder', 'a secret']).code).toBe(0);
      mkdirSync(join(home.home, 'disk'));
      renameSync(join(home.home, link), join(home.home, target));
      symlinkSync(join(home.home, target), join(home.home, link));
      const where = realpathSync(join(home.home, target));
      const { code, stdout } = home.run(['uninstall', '--purge', '--yes']);
      expect(code).toBe(0);
      expect(stdout).toContain(`${join(home.home, link)} is a link: the link is removed, and ${where} stays with its content.`);
      expect(stdout).toContain(`run: rm -r ${where}\n`);
      expect(stdout).not.toContain('nothing of Earpiece is left');
      expect(home.has('.local/state/earpiece')).toBe(false);
      expect(home.has(target)).toBe(true);
    },
  );

  it('names the data that stays on a database server, without the password', () => {
    using home = new Home('claude');
    const { code, stdout } = home.run([
      'uninstall',
      '--purge',
      '--yes',
      '--db',
      'postgres://ann:hidden@127.0.0.1:1/team?x=hidden',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('The data in postgres://…@127.0.0.1:1/team?… stays, because other users may share this database.');
    expect(stdout).toContain('the data that is named above stays');
    expect(stdout).not.toContain('hidden');
  });

  it('removes no folder, text or foreign database that --db or EARPIECE_DB names', () => {
    using home = new Home('claude');
    home.write('work/a.txt', 'mine');
    home.write('work/sub/b.txt', 'mine');
    home.write('notes.txt', 'mine');
    const foreign = new DatabaseSync(join(home.home, 'foreign.db'));
    foreign.exec('CREATE TABLE t (x)');
    foreign.close();
    for (const name of ['work', 'work/', 'notes.txt', 'foreign.db']) {
      const { code, stdout } = home.run(['uninstall', '--purge', '--yes', '--db', join(home.home, name)]);
      expect({ name, code }).toEqual({ name, code: 0 });
      expect(stdout).toContain('stays, because it is not a database of Earpiece');
    }
    for (const name of ['work/a.txt', 'work/sub/b.txt', 'notes.txt']) expect(home.read(name)).toBe('mine');
    expect(home.has('foreign.db')).toBe(true);
  });
});
