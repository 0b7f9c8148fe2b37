/** Tests that no command treats a pipe whose reader has disconnected as an error. */
import { openSync, closeSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

async function withoutReaders(shell: Shell, args: readonly string[], gone: readonly ('stdout' | 'stderr')[]): Promise<unknown> {
  const running = shell.begin(args);
  for (const stream of gone) running.process[stream].destroy();
  running.process.stdin.end();
  const { code, stderr } = await running.ended;
  return { code, stderr };
}

describe('a reader that disconnected', () => {
  proves('cli:reader-gone');

  it.each<[string[]]>([
    [['inbox', '--json', '--peek']],
    [['inbox', '--peek']],
    [['log', '--json']],
    [['log']],
    [['why', 'n1']],
    [['agents', '--json']],
    [['subscribers', 'list']],
    [['config', 'explain']],
    [['help', 'inbox']],
    [['--version']],
    [['send', '--json', '--to', 'coder', 'x']],
  ])('if the reader of its stdout is gone, %j ends without a message', async (args) => {
    await using shell = new Shell();
    const ear = await shell.open();
    for (let n = 1; n <= 5; n++) await ear.queue('shop/coder', { id: `n${n}`, message: `message ${n}` });
    expect(await withoutReaders(shell, args, ['stdout'])).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    [2, ['why']],
    [2, ['no-such-command']],
    [7, ['why', 'nope']],
  ] as const)('if the reader of its stderr is gone, the exit code stays %i for %j', async (code, args) => {
    await using shell = new Shell();
    await shell.open();
    expect(await withoutReaders(shell, args, ['stderr', 'stdout'])).toEqual({ code, stderr: '' });
  });
});

describe('a full disk at stdout', () => {
  proves('cli:reader-gone');

  it.runIf(process.platform === 'linux').each<[string[]]>([[['inbox', '--json', '--peek']], [['log', '--json']], [['agents']]])(
    'gives one line and exit code 1 for %j',
    async (args) => {
      await using shell = new Shell();
      const ear = await shell.open();
      for (let n = 1; n <= 5; n++) await ear.queue('shop/coder', { id: `n${n}`, message: `message ${n}` });
      const full = openSync('/dev/full', 'w');
      const child = spawn(process.execPath, [CLI, ...args], {
        cwd: shell.folder,
        env: shell.env(),
        stdio: ['ignore', full, 'pipe'],
      });
      closeSync(full);
      let stderr = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const code = await new Promise((resolve) => child.once('close', resolve));
      expect({ code, stderr }).toEqual({ code: 1, stderr: 'earpiece: the output could not be written (ENOSPC)\n' });
    },
  );
});
