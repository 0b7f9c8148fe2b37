/**
 * Tests `earpiece follow -- <command>` with real programs: their output passes through, and the agent is notified of their
 * errors.
 */
import { spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn as spawnPty } from '@lydell/node-pty';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { type Ran, Running, Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

/** The TypeScript compiler of a version before 7, from another package, because node_modules contains version 7. */
const COMPILER = createRequire(createRequire(import.meta.url).resolve('@arethetypeswrong/core')).resolve('typescript/lib/tsc.js');

let shell: Shell;
let ear: LoadedInbox;
beforeEach(async () => {
  shell = new Shell();
  ear = await shell.open();
});
afterEach(() => shell[Symbol.asyncDispose]());

const follow = (...command: readonly string[]): readonly string[] => ['follow', '--to', 'coder', '--', ...command];
const open = async (): Promise<readonly string[]> =>
  (await ear.open('shop/coder')).map(({ notification: { kind, message } }) => `${kind.source}.${kind.name}: ${message}`);

async function until(isSo: (all: readonly string[]) => boolean): Promise<readonly string[]> {
  for (;;) {
    const all = await open();
    if (isSo(all)) return all;
    await pause(50);
  }
}

describe('a followed command', () => {
  proves('follow:command');

  verifies(
    'follow:command',
    'node --watch in a terminal: an error is reported once, and withdrawn by its fix or by Ctrl+C',
    async () => {
      const file = (text: string): void => writeFileSync(join(shell.folder, 'app.mjs'), text);
      file("throw new TypeError('no cart');\n");
      const terminal = spawnPty(process.execPath, [CLI, ...follow(process.execPath, '--watch', 'app.mjs')], {
        cwd: shell.folder,
        env: shell.env({ TERM: 'xterm-256color' }),
        cols: 190,
        rows: 30,
      });
      const ended = new Promise<{ exitCode: number }>((resolve) => terminal.onExit(resolve));
      const broken = [`problem.found: TypeError: no cart (${join(shell.folder, 'app.mjs')}:1)`];
      expect(await until((all) => all.length > 0)).toEqual(broken);
      expect(await shell.json(['following'])).toMatchObject([{ kind: 'command', state: 'runs', told: 1 }]);
      file("console.log('mended');\n");
      expect(await until((all) => all.length === 0)).toEqual([]);
      file("\nthrow new TypeError('no cart');\n");
      expect(await until((all) => all.length > 0)).toEqual([broken[0]?.replace(':1)', ':2)')]);
      terminal.write('\u0003');
      await ended;
      expect(await open()).toEqual([]);
      expect(await shell.json(['following'])).toEqual([]);
    },
    60_000,
  );

  it('tsc --watch: errors are reported once, and a later round withdraws fixed errors', async () => {
    const file = (text: string): void => writeFileSync(join(shell.folder, 'cart.ts'), text);
    writeFileSync(join(shell.folder, 'tsconfig.json'), '{"compilerOptions":{"noEmit":true,"types":[]},"include":["*.ts"]}');
    file("export const total: number = 'three';\nexport const none = nothing;\n");
    const running = shell.begin(follow(process.execPath, COMPILER, '--watch'));
    const none = "problem.found: TS2304: Cannot find name 'nothing'. (cart.ts:2:21)";
    expect(await until((all) => all.length > 1)).toContain(none);
    file('export const total: number = 3;\nexport const none = nothing;\n');
    expect(await until((all) => all.length < 2)).toEqual([none]);
    // Two errors with the same message are two notifications. An error that moves is still the same error.
    file('\n\n\nexport const none = nothing;\nexport const more = nothing;\n');
    const more = none.replace(':2:', ':5:');
    expect(await until((all) => all.length > 1)).toEqual([none, more]);
    file('\n\n\n\n\nexport const more = nothing;\n');
    expect(await until((all) => all.length < 2)).toEqual([more]);
    // The agent reads the notification. Later moves of the error are not reported.
    await shell.run(['inbox', '--read', 'shop/coder#main']);
    expect(await open()).toEqual([]);
    file('export const more = nothing;\nexport const other = missing;\n');
    expect(await until((all) => all.length > 0)).toEqual(["problem.found: TS2304: Cannot find name 'missing'. (cart.ts:2:22)"]);
    running.process.kill('SIGINT');
    await running.ended;
    expect(await open()).toEqual([]);
  }, 60_000);

  it('after unfollow, the command goes on, and neither its errors nor its end are reported', async () => {
    const script = `
const fs = require('node:fs');
console.log('a.ts(1,1): error TS2304: first');
const tick = setInterval(() => {
  if (fs.existsSync('more')) console.log('a.ts(2,2): error TS2305: second'), fs.rmSync('more'), fs.writeFileSync('said', '');
  if (fs.existsSync('end')) clearInterval(tick), (process.exitCode = 3);
}, 50);`;
    const running = shell.begin(follow(process.execPath, '-e', script));
    await until((all) => all.some((line) => line.includes('first')));
    expect(await shell.says(['unfollow', 'f1'])).toMatch(/ is no longer followed; the command continues\n$/u);
    expect(await open()).toEqual([]);
    writeFileSync(join(shell.folder, 'more'), '');
    while (!existsSync(join(shell.folder, 'said'))) await pause(50);
    // Earpiece ends only after it has handled all output of the program.
    writeFileSync(join(shell.folder, 'end'), '');
    expect(await running.ended).toMatchObject({ code: 3, stderr: '' });
    expect(await open()).toEqual([]);
    expect((await ear.store.read({ types: ['system_notification_queued'] })).length).toBe(1);
    expect(await shell.json(['following'])).toEqual([]);
    const settings = new DatabaseSync(shell.db).prepare("SELECT key FROM settings WHERE key LIKE 'follower%'").all();
    expect(settings).toEqual([]);
  }, 60_000);

  it('in the shell of an agent, notifies this agent', async () => {
    const claude = join(shell.folder, 'claude.cjs');
    writeFileSync(
      claude,
      `require('node:child_process').spawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' });`,
    );
    for (const agent of ['shop/claude-code', 'shop/codex']) await ear.conversation(`${agent}#s-1`).seen();
    const child = spawn(process.execPath, [claude, CLI, 'follow', '--', process.execPath, '-e', 'process.exit(3)'], {
      cwd: shell.folder,
      env: shell.env(),
      stdio: 'pipe',
    });
    expect(await new Running(child).ended).toMatchObject({ stderr: '' });
    const messages = async (agent: string): Promise<readonly string[]> =>
      (await ear.open(agent)).map(({ notification: { message } }) => message);
    expect(await messages('shop/claude-code')).toEqual([expect.stringContaining('failed with exit code 3')]);
    expect(await messages('shop/codex')).toEqual([]);
  });

  it('passes every byte, stdin and the exit code, and reports a failure once', async () => {
    const script = `process.stdin.on('data', (d) => process.stdout.write('\\x1b[32m' + d + '\\x1b[0m')).on('end', () => {
      process.stderr.write('cart.c:3:5: error: expected ";"\\n'); process.exitCode = 3 })`;
    expect(await shell.run(follow(process.execPath, '-e', script), { input: 'größe 🦊\n' })).toEqual({
      code: 3,
      stdout: '\u001b[32mgröße 🦊\n\u001b[0m',
      stderr: 'cart.c:3:5: error: expected ";"\n',
    });
    const all = await open();
    expect(all.at(-1)).toMatch(/^process\.failed: `.*` failed with exit code 3 after /u);
    // On a busy machine, the error is reported before the exit.
    expect(all.filter((each) => each.includes('expected ";" (cart.c:3:5)'))).toHaveLength(1);
  });

  it('the report of the exit names only open errors that were not reported before', async () => {
    const script = `const say = (name) => console.log(name + '.c:3:5: error: expected ";"');
      console.log('Starting compilation in watch mode'); say('reported'); say('gone');
      process.stdin.once('data', () => { console.log('[nodemon] restarting'); say('reported'); setTimeout(() => { say('fresh'); process.exit(1); }, 3_000); });`;
    const running = shell.begin(follow(process.execPath, '-e', script));
    await until((all) => all.length === 2);
    running.process.stdin?.write('go\n');
    expect(await until((all) => all.length === 1)).toEqual(['problem.found: expected ";" (reported.c:3:5)']);
    await running.ended;
    const failed = (await ear.open('shop/coder')).find(({ notification: { kind } }) => kind.name === 'failed')?.notification;
    expect(failed?.message).toMatch(/: expected ";" \(fresh\.c:3:5\); 1 reported error is still open$/u);
    expect(failed?.data).toMatchObject({ problems: [{ place: 'fresh.c:3:5' }] });
    expect(failed?.data).toMatchObject({ last_lines: ['fresh.c:3:5: error: expected ";"'] });
  }, 60_000);

  it('passes every byte in a terminal, and leaves the terminal as it was', async () => {
    const script = `process.stdin.setRawMode(true); process.stdout.write('one\\n'); process.stdin.once('data', () => process.exit(0))`;
    const command = [process.execPath, '-e', script];
    const shown = async (words: readonly string[]): Promise<string> => {
      // The shell's last command shows whether the terminal writes \r before \n again.
      const line = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
      const terminal = spawnPty('/bin/sh', ['-c', `${line}; echo after`], {
        cwd: shell.folder,
        env: shell.env({ TERM: 'xterm' }),
      });
      let text = '';
      const ended = new Promise((resolve) => terminal.onExit(resolve));
      terminal.onData((data) => {
        if (!text.includes('one') && `${text}${data}`.includes('one')) terminal.write('x');
        text += data;
      });
      await ended;
      return text;
    };
    expect(await shown([process.execPath, CLI, ...follow(...command)])).toBe(await shown(command));
  }, 30_000);

  it('a command that succeeds withdraws the open errors of its earlier run, even after kill -9', async () => {
    const flag = join(shell.folder, 'broken');
    const script = join(shell.folder, 'build.mjs');
    writeFileSync(flag, '');
    writeFileSync(
      script,
      `import { existsSync } from 'node:fs';
if (existsSync(${JSON.stringify(flag)})) { console.log('cart.c:3:5: error: expected ";"'); setInterval(() => console.log('.'), 100); } else console.log('built');`,
    );
    const running = shell.begin(follow(process.execPath, script));
    await until((all) => all.length === 1);
    const [row] = await shell.json(['following']);
    running.process.kill('SIGKILL');
    await running.ended.catch(() => undefined);
    expect(await shell.json(['following'])).toMatchObject([
      { state: 'gone', says: 'the process of this command was killed; start the command again' },
    ]);
    expect(row).toMatchObject({ state: 'runs' });
    rmSync(flag);
    expect((await shell.run(follow(process.execPath, script))).stdout).toBe('built\n');
    expect(await open()).toEqual([expect.stringMatching(/^process\.ended: .* succeeded after/u)]);
    expect(await shell.json(['following'])).toEqual([]);
  }, 30_000);

  it('simultaneous runs of the same command are followed separately, and the end of one leaves the follower of the other', async () => {
    const script = join(shell.folder, 'watch.mjs');
    // Each run prints an error, and ends without an error when its file exists.
    writeFileSync(
      script,
      `import { existsSync } from 'node:fs';
const mine = ${JSON.stringify(join(shell.folder, 'ends-'))} + process.env.RUN;
console.log('run' + process.env.RUN + '.c:3:5: error: expected ";"');
setInterval(() => (existsSync(mine) ? process.exit(0) : console.log('.')), 50);`,
    );
    const begin = async (n: number): Promise<Running> => {
      const running = shell.begin(follow(process.execPath, script), { env: { RUN: String(n) } });
      await until((all) => all.some((each) => each.includes(`(run${n}.c:3:5)`)));
      return running;
    };
    const runs = async (): Promise<unknown> => (await shell.json(['following'])).map(({ id, state }) => [id, state]);
    const first = await begin(1);
    const second = await begin(2);
    expect(await runs()).toEqual([
      ['f1', 'runs'],
      ['f2', 'runs'],
    ]);
    writeFileSync(join(shell.folder, 'ends-2'), '');
    expect((await second.ended).stderr).toBe('');
    expect(await runs()).toEqual([['f1', 'runs']]);
    expect((await open()).filter((each) => each.startsWith('problem.found'))).toEqual([expect.stringContaining('run1.c:3:5')]);
    // A run after a killed run continues the follower of the killed run, even beside another run.
    const third = await begin(3);
    third.process.kill('SIGKILL');
    await third.ended.catch(() => undefined);
    expect(await runs()).toEqual([
      ['f1', 'runs'],
      ['f2', 'gone'],
    ]);
    const fourth = await begin(4);
    expect(await runs()).toEqual([
      ['f1', 'runs'],
      ['f2', 'runs'],
    ]);
    for (const n of [1, 4]) writeFileSync(join(shell.folder, `ends-${n}`), '');
    await Promise.all([first.ended, fourth.ended]);
    expect(await runs()).toEqual([]);
    expect((await open()).filter((each) => each.startsWith('problem.found'))).toEqual([]);
  }, 60_000);

  it('a command that was stopped and starts again reports the same error again', async () => {
    const script = join(shell.folder, 'watch.mjs');
    writeFileSync(script, `console.log('cart.c:3:5: error: expected ";"'); setInterval(() => {}, 1_000);`);
    for (let run = 1; run <= 3; run++) {
      const running = shell.begin(follow(process.execPath, script));
      await until((all) => all.length === 1);
      running.process.kill('SIGINT');
      await running.ended.catch(() => undefined);
      expect(await open()).toEqual([]);
    }
  }, 60_000);

  it('a program whose reader closes the pipe has not failed', async () => {
    const line = `"$0" "$1" follow --to coder -- seq 1 1000000 | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', line, process.execPath, CLI], {
      cwd: shell.folder,
      env: shell.env(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    await new Promise((resolve) => child.once('close', resolve));
    expect(out).toBe('1\n141\n');
    expect(await open()).toEqual([expect.stringMatching(/^process\.ended: `seq 1 1000000` ended after /u)]);
  });

  it('a missing command gives an error', async () => {
    expect(await shell.run(follow('logs'))).toMatchObject({
      code: 127,
      stderr: expect.stringMatching(/logs: the command does not exist/u) as string,
    });
    expect(await shell.json(['following'])).toEqual([]);
  });

  it('a word that is almost the name of a kind is refused with the kind and the form for a program', async () => {
    writeFileSync(join(shell.folder, 'file'), '#!/bin/sh\necho "ran $*"\n', { mode: 0o755 });
    const env = { PATH: `${shell.folder}:${process.env['PATH']}` };
    const run = (...words: string[]): Promise<Ran> => shell.run(['follow', '--to', 'coder', ...words], { env });
    for (const [words, kind] of [
      [['logs'], 'log'],
      [['file'], 'files'],
      [['prs'], 'pr'],
      [['pull', '12'], 'pr'],
      [['logs', 'app.log', '--match', 'x'], 'log'],
    ] as const)
      expect(await run(...words)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(
          `did you mean ${kind}? For a program with this name: earpiece follow -- ${words[0]}`,
        ) as string,
      });
    expect(await run('file', 'a')).toMatchObject({ code: 0, stdout: 'ran a\n' });
    expect(await run('--', 'file')).toMatchObject({ code: 0, stdout: 'ran \n' });
  });
});
