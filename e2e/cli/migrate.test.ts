/** Tests `earpiece migrate` of a database that agents and servers use, and the way back. */
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { proves } from '../verifies.ts';
import { Home } from '../setup/home.ts';
import { Shell } from './shell.ts';

let shell: Shell;
beforeEach(() => void (shell = new Shell()));
afterEach(() => shell[Symbol.asyncDispose]());

/** The database that the commands of the shell use. */
const database = async (): Promise<string> => {
  await shell.says(['send', '--to', 'coder', 'before']);
  const [{ value = '' } = {}] = (await shell.json(['doctor'])).filter(({ what }) => what === 'store') as { value?: string }[];
  return realpathSync(/^sqlite (.*?), /u.exec(value)?.[1] ?? '');
};

test('a migration under a running server names the server and changes nothing without --yes', async () => {
  proves('store:migrate-used');
  const from = await database();
  const server = shell.begin(['--json', 'serve', '--port', '0']);
  onTestFinished(() => void server.process.kill('SIGKILL'));
  await server.shows('"url"');
  const to = join(shell.folder, 'moved.db');
  const refused = await shell.run(['migrate', '--to', to]);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^earpiece: sqlite \S+ is in use by earpiece serve \(process \d+\); from the start of the migration, .*; stop them first, or add --yes\n$/u,
    ),
  ]);
  expect(existsSync(to)).toBe(false);
  await shell.says(['send', '--to', 'coder', 'still written']);
  expect((await shell.run(['migrate', '--to', to, '--yes'])).code).toBe(0);
  server.process.kill('SIGINT');
  await server.ended;
  expect((await shell.run(['send', '--to', 'coder', 'late'])).stderr).toContain(`--from sqlite:${to} --to sqlite:${from}`);
});

test('a migration names an active agent even if the agent does not have the database open', async () => {
  proves('store:migrate-used');
  await database();
  const hook = JSON.stringify({ hook_event_name: 'SessionStart', session_id: 's1', cwd: shell.folder, source: 'startup' });
  expect((await shell.run(['hook', 'claude'], { input: hook })).code).toBe(0);
  const { code, stderr } = await shell.run(['migrate', '--to', join(shell.folder, 'moved.db')]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/is in use by shop\/claude-code#\S+ \(claude-code\)/u)]);
});

test('the printed command goes back to the old file, with the records of both databases', async () => {
  proves('store:migrate-back');
  const from = await database();
  const to = join(shell.folder, 'moved.db');
  const there = await shell.run(['migrate', '--to', to]);
  expect(there.stdout).toContain(`Set the new database for all programs: EARPIECE_DB=sqlite:${to}, or db in earpiece.toml.`);
  const back = /^To go back, with all later changes: earpiece (.*)$/mu.exec(there.stdout)?.[1]?.split(' ') ?? [];
  await shell.says(['send', '--to', 'coder', 'after'], { env: { EARPIECE_DB: to } });
  const ran = await shell.run(back);
  expect([back, ran.code]).toEqual([['migrate', '--from', `sqlite:${to}`, '--to', `sqlite:${from}`], 0]);
  expect(await shell.says(['inbox', 'coder'])).toMatch(/after\n.*before\n/u);
});

test('another database at the address of the target does not replace the old file', async () => {
  proves('store:migrate-back');
  const from = await database();
  const to = join(shell.folder, 'moved.db');
  expect((await shell.run(['migrate', '--to', to])).code).toBe(0);
  rmSync(to);
  await shell.says(['send', '--to', 'coder', 'another'], { env: { EARPIECE_DB: to } });
  const { code, stderr } = await shell.run(['migrate', '--from', to, '--to', from]);
  expect([code, stderr]).toEqual([12, expect.stringContaining('does not contain the content of')]);
  expect(existsSync(from)).toBe(true);
});

test('a single word after --to is refused, with both ways to write a file', async () => {
  proves('store:migrate-refused');
  await database();
  const { code, stderr } = await shell.run(['migrate', '--to', 'nope']);
  expect([code, stderr]).toEqual([
    2,
    'earpiece: --to "nope" is neither a URL nor clearly a file. For a file of this folder, write ./nope or nope.db; for a server, write postgres://… or nats://…\n',
  ]);
  expect(existsSync(join(shell.folder, 'nope'))).toBe(false);
});

test('while the database is migrated away, doctor reports no connected agent', () => {
  proves('hosts:doctor');
  using home = new Home('claude', 'pi');
  home.run(['send', '--to', 'coder', 'x']);
  expect(home.run(['install', '--yes']).code).toBe(0);
  expect(home.run(['migrate', '--to', './moved.db']).code).toBe(0);
  const { code, stdout } = home.run(['doctor']);
  expect([code, stdout]).toEqual([8, expect.stringMatching(/✗ +store .* was migrated to/u)]);
  expect(stdout).toMatch(
    /✗ +claude +Claude Code has \d+ hooks .*, but no notification arrives, because the store cannot be used/u,
  );
  expect(stdout).toMatch(/✗ +pi .* has the plugin .*, but no notification arrives/u);
  expect(stdout).not.toContain('is connected');
});
