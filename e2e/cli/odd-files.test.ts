/** Tests commands that get a device, a pipe or a similar file, or a file larger than any file that a person writes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

/** After this time in ms, the test kills a command that reads without end, before the command fills the machine's memory. */
const ENDED_MS = 30_000;

async function ran(shell: Shell, args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const running = shell.begin(args);
  const tooLong = setTimeout(() => running.process.kill('SIGKILL'), ENDED_MS);
  const { code, stdout, stderr } = await running.ended;
  clearTimeout(tooLong);
  return { code, said: `${stdout}${stderr}`.replaceAll(shell.folder, '{folder}').trim() };
}

const ODD: readonly [string, string, (path: string) => void][] = [
  ['a link to /dev/zero', 'not a regular file', (path) => symlinkSync('/dev/zero', path)],
  ['a pipe that nobody writes to', 'not a regular file', (path) => void execFileSync('mkfifo', [path])],
  ['a folder', 'EISDIR', (path) => mkdirSync(path)],
  ['a file of 2 GB', '2048 MB, but the maximum is 1 MB', (path) => (writeFileSync(path, ''), truncateSync(path, 2 ** 31))],
];

describe.each(ODD)('%s', (_what, why, make) => {
  proves('cli:odd-files');

  it('is an error as earpiece.toml, and needs little memory', async () => {
    await using shell = new Shell();
    rmSync(join(shell.folder, 'earpiece.toml'));
    make(join(shell.folder, 'earpiece.toml'));
    expect(await ran(shell, ['send', '--to', 'coder', 'x'])).toEqual({
      code: 2,
      said: `earpiece: {folder}/earpiece.toml: cannot be read (${why}); make the path a readable file, or remove the path`,
    });
    expect(await ran(shell, ['config', 'check', 'earpiece.toml'])).toEqual({
      code: 2,
      said: expect.stringContaining(`cannot be read (${why})`) as string,
    });
  }, 120_000);

  it('is an error as the event file of earpiece emit', async () => {
    await using shell = new Shell();
    make(join(shell.folder, 'odd.json'));
    const emitted = await ran(shell, ['emit', '--to', 'coder', 'odd.json']);
    expect(emitted.code).toBe(2);
    expect(emitted.said).toMatch(/odd\.json/u);
  }, 120_000);
});
