/** Tests that `earpiece run-and-tell` reports the end of its command after its terminal has closed. */
import pty from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { CLI } from '../built.ts';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';

/** Writes to the terminal all the time, so that a write fails after the terminal has closed. */
const WRITES = `console.log('BEGUN'); setInterval(() => console.log('x'), 5);`;
const SAVES = `process.on('SIGHUP', () => { console.log('saved'); process.exitCode = 3; clearInterval(timer); });
console.log('BEGUN'); const timer = setInterval(() => {}, 1_000);`;
const GOES_ON = `process.on('SIGHUP', () => setTimeout(() => process.exit(4), 500)); ${WRITES}`;

test.for([
  ['is ended by the signal', WRITES, 129, /was ended by SIGHUP after /u],
  ['writes and ends by itself', SAVES, 3, /failed with exit code 3 after .*: saved$/u],
  ['writes on and ends later', GOES_ON, 4, /failed with exit code 4 after /u],
] as const)(
  'when its terminal closes, `run-and-tell` reports a command that %s',
  { timeout: 30_000 },
  async ([, script, code, said]) => {
    proves('sources:processes');
    await using shell = new Shell();
    const child = pty.spawn(process.execPath, [CLI, 'run-and-tell', '--to', 'coder', '--', process.execPath, '-e', script], {
      cols: 200,
      cwd: shell.folder,
      env: shell.env(),
    });
    const ended = new Promise<{ exitCode: number }>((resolve) => child.onExit(resolve));
    await new Promise<void>((resolve) => {
      let output = '';
      child.onData((data) => (output += data).includes('BEGUN') && resolve());
    });
    (child as unknown as { destroy: () => void }).destroy();
    expect((await ended).exitCode).toBe(code);
    const ear = await shell.open();
    expect((await ear.open('shop/coder')).map(({ notification }) => notification.message)).toEqual([expect.stringMatching(said)]);
  },
);
