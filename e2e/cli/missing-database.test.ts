import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

describe('a missing database', () => {
  proves('cli:commands', 'cli:exit-codes');

  it.each([
    'log',
    'log --follow',
    'watch',
    'why n1',
    'agents',
    'inbox',
    'tasks list',
    'tasks show t1',
    'remind --list',
    'withdraw n1',
    'requeue n1',
    'mute',
    'token list',
    'token login',
    'resume coder',
    'subscribers list',
    'subscribers disable large_result',
    'trust --new-mark',
    'db check',
    'db prune',
    'db backup copy.db',
  ])('%s: a --db path without a database is an error, and nothing is created', async (line) => {
    await using shell = new Shell();
    const typo = join(shell.folder, 'typo.db');
    const { code, stdout, stderr } = await shell.run([...line.split(' '), '--db', 'typo.db']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toBe(
      `earpiece: --db "typo.db": there is no database ${typo}; correct the path, or leave --db out for the database of this user\n`,
    );
    expect(existsSync(typo)).toBe(false);
  });

  it.each(['inbox', 'db check'])('%s: a --db URL that names no file is an error that says so', async (line) => {
    await using shell = new Shell();
    const { code, stderr } = await shell.run([...line.split(' '), '--db', 'sqlite:']);
    expect(stderr).toBe('earpiece: "sqlite:" names no file: write sqlite:/path/to/earpiece.db\n');
    expect(code).toBe(2);
  });

  it('a send that fails creates neither the database nor its folders; a send that succeeds creates both', async () => {
    await using shell = new Shell();
    const db = join(shell.folder, 'deep/er/x.db');
    expect(await shell.run(['send', '--db', db, 'x'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('--to') as string,
    });
    expect(existsSync(join(shell.folder, 'deep'))).toBe(false);
    await shell.says(['send', '--db', db, '--to', 'coder', 'x']);
    expect(await shell.says(['inbox', 'coder', '--db', db])).toContain('coder');
  });

  it('the default database reads as an empty log, and reading does not create it', async () => {
    await using shell = new Shell();
    expect(await shell.says(['log'])).toBe('the log is empty\n');
    expect(await shell.says(['tasks', 'list'])).toContain('no task');
    expect(await shell.says(['subscribers', 'list'])).toContain('tool_failure');
    expect((await shell.run(['db', 'check'])).stderr).toContain(`there is no database ${shell.db} yet`);
    expect(await shell.says(['doctor'])).toContain(`no database ${shell.db} yet`);
    expect(existsSync(shell.db)).toBe(false);
  });

  it('doctor reports a problem if --db names a missing database', async () => {
    await using shell = new Shell();
    const { code, stdout } = await shell.run(['doctor', '--db', 'typo.db']);
    expect(code).toBe(8);
    expect(stdout).toMatch(/✗ {2}store {5}--db "typo.db": there is no database/);
    expect(existsSync(join(shell.folder, 'typo.db'))).toBe(false);
  });
});
