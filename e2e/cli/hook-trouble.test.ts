/** Tests that a failing hook call prints one line on stderr and nothing on stdout, and exits with 0, so every agent continues. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOOK_HOST_NAMES } from '../../src/hosts/index.ts';
import { fetching, shellLine } from '../../src/hosts/setup/ours.ts';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { Running, Shell, type Ran } from './shell.ts';

const GOES_ON = { code: 0, stdout: '', stderr: expect.stringMatching(/^earpiece: [^\n]*\n$/u) as string };
const EVENT = {
  session_id: 'session-1',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: {},
  transcript_path: '/nowhere/transcript.jsonl',
};
const eventIn = (folder: string): string => JSON.stringify({ ...EVENT, cwd: folder });

/** Runs a command line in a folder that is removed before the line starts. */
function inGoneFolder(shell: Shell, line: string, input: string): Ran {
  const gone = join(shell.folder, 'gone');
  mkdirSync(gone);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `cd '${gone}' && rmdir '${gone}' && { ${line}; }`], {
    input,
    env: shell.env(),
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr: stderr.replace(/^sh: .*getcwd.*\n/u, '') };
}

const lineOf = (...words: string[]): string => shellLine({ node: process.execPath, entry: CLI }, words);

describe('a failing hook call lets its agent continue', () => {
  proves('hosts:hook-trouble');

  it.each(HOOK_HOST_NAMES)('%s: an invalid event does not stop the agent', async (host) => {
    await using shell = new Shell();
    for (const input of ['{"unknown": 1}', '\u{fffd}{{{not json', ''])
      expect([input, await shell.run(['hook', host], { input })]).toEqual([input, GOES_ON]);
  });

  it.each(['[]', 'null', '[[[[', { session_id: '' }, { session_id: { a: 1 } }, { cwd: 5 }, { hook_event_name: [] }])(
    'the input %j does not stop the agent',
    async (given) => {
      await using shell = new Shell();
      const input = typeof given === 'string' ? given : JSON.stringify({ ...EVENT, cwd: shell.folder, ...given });
      expect(await shell.run(['hook', 'claude'], { input })).toEqual(GOES_ON);
    },
  );

  it('a closed stdin does not stop the agent', async () => {
    await using shell = new Shell();
    const { status, stdout, stderr } = spawnSync('sh', ['-c', `${lineOf('hook', 'claude')} <&-`], {
      cwd: shell.folder,
      env: shell.env(),
      encoding: 'utf8',
    });
    expect({ code: status, stdout, stderr }).toEqual(GOES_ON);
  });

  it.each([
    ['Earpiece is gone', { node: process.execPath, entry: '/gone/cli/main.js' }],
    ['Node is gone, and there is none on the PATH', { node: '/gone/node', entry: CLI }],
    [
      'the cache of npx is gone, and so is npx',
      { node: '/gone/node', entry: '/gone/cli/main.js', fetched: fetching('1.2.3', '/home') },
    ],
  ])('%s', async (_case, ours) => {
    await using shell = new Shell();
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', shellLine(ours, ['hook', 'claude'])], {
      cwd: shell.folder,
      env: { HOME: shell.folder, PATH: shell.folder },
      input: eventIn(shell.folder),
      encoding: 'utf8',
    });
    expect({ code: status, stdout, stderr }).toEqual(GOES_ON);
    expect(stderr).toContain('npx earpiece install');
  });

  it('`--db` with a folder, a foreign file or the URL of an unreachable server does not stop the agent', async () => {
    await using shell = new Shell();
    const junk = join(shell.folder, 'junk.db');
    writeFileSync(junk, 'x'.repeat(10_000));
    for (const db of [shell.folder, junk, 'postgres://user:secret@host/db'])
      expect([db, await shell.run(['hook', 'claude', '--db', db], { input: eventIn(shell.folder) })]).toEqual([db, GOES_ON]);
  });

  it.each([
    ['an unknown option', ['hook', 'claude', '--bogus']],
    ['an unknown option before it', ['--bogus', 'hook', 'claude']],
    ['an option without its value', ['hook', 'claude', '--db']],
    ['no host', ['hook']],
    ['an unknown host', ['--json', 'hook', 'nosuch']],
    ['a look that fails', ['hook', 'nosuch', '--look']],
    ['a process beside a session that fails', ['hook', 'codex', '--beside', '{']],
  ])('%s', async (_case, words) => {
    await using shell = new Shell();
    expect(await shell.run(words, { input: eventIn(shell.folder) })).toEqual(GOES_ON);
  });

  it.each([
    ['an error that nobody catches', 'throw new Error("odd")'],
    ['a promise that nobody awaits', 'Promise.reject(new Error("odd"))'],
    ['an end with code 2', 'process.stderr.write("earpiece: odd\\n"); process.exit(2)'],
  ])('%s', async (_case, script) => {
    await using shell = new Shell();
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(`setTimeout(() => { ${script} })`)}`;
    expect(await shell.run(['hook', 'claude', '--bogus'], { input: '{', env: { NODE_OPTIONS } })).toEqual(
      expect.objectContaining({ code: 0, stdout: '', stderr: expect.stringContaining('odd') as string }),
    );
  });

  it.each(['', '{"session_id":"s1",'])('a hook ends although its input never ends, in a socket: %s', async (begun) => {
    await using shell = new Shell();
    const hook = shell.begin(['hook', 'claude']);
    hook.process.stdin.write(begun);
    const { signal: _, ...ended } = await hook.ended;
    expect(ended).toEqual(GOES_ON);
    expect(ended.stderr).toContain('did not end within 2 s');
  });

  it.each(['', '{"session_id":"s1",'])('a hook ends although its input never ends, in a pipe: %s', async (begun) => {
    await using shell = new Shell();
    const pipe = `(printf %s '${begun}'; cat) | { (${lineOf('hook', 'claude')}); echo "code $?"; }`;
    const running = new Running(spawn('sh', ['-c', pipe], { cwd: shell.folder, env: shell.env(), stdio: 'pipe' }));
    await running.shows('code 0\n');
    running.process.stdin.end();
    expect((await running.ended).stderr).toContain('did not end within 2 s');
  });

  it('the hook waits for slow input', async () => {
    await using shell = new Shell();
    const line = lineOf('hook', 'claude', '--db', shell.db);
    const event = JSON.stringify({ ...EVENT, cwd: shell.folder, hook_event_name: 'SessionStart' });
    const pipe = `{ printf %s '${event.slice(0, 20)}'; read -r _; printf %s '${event.slice(20)}'; cat; } | { ${line}; }`;
    const running = new Running(spawn('sh', ['-c', pipe], { cwd: shell.folder, env: shell.env(), stdio: 'pipe' }));
    running.process.stdin.write('\n');
    await running.shows('Earpiece');
    running.process.stdin.end();
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a missing working folder', () => {
  proves('hosts:hook-trouble');

  it.each(HOOK_HOST_NAMES)('does not keep a hook of %s from handling its event', async (host) => {
    await using shell = new Shell();
    const { code, stderr } = inGoneFolder(shell, lineOf('hook', host), eventIn(shell.folder));
    expect({ code, isGone: stderr.includes('working folder') }).toEqual({ code: 0, isGone: false });
  });

  it("does not change the project: the event's folder decides", async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/claude-code', { message: 'the build ended' });
    const event = JSON.stringify({ ...EVENT, cwd: shell.folder, hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    const ran = inGoneFolder(shell, lineOf('hook', 'claude'), event);
    expect(ran).toEqual({ code: 0, stdout: expect.stringContaining('the build ended') as string, stderr: '' });
    // A relative `--db` leads to the same database in the event's folder, in which the notification is already offered.
    const relative = inGoneFolder(shell, lineOf('hook', 'claude', '--db', 'earpiece.db'), event);
    expect(relative).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it("if the event names no valid folder, the hook uses the user's home folder", async () => {
    await using shell = new Shell();
    const event = JSON.stringify({ event: 'SessionEnd', session_id: 's', cwd: join(shell.folder, 'gone') });
    expect(inGoneFolder(shell, lineOf('hook', 'goose'), event)).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
