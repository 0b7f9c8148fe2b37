/** Tests that `earpiece in` ends its agent when its terminal closes, or after a signal. */
import { once } from 'node:events';
import pty from '@lydell/node-pty';
import { describe, expect, test } from 'vitest';
import { CLI } from '../built.ts';
import { Stage } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';

/** Ignores every signal that can be ignored, and every error of its terminal. */
const STUBBORN = `for (const name of ['SIGHUP', 'SIGTERM', 'SIGINT']) process.on(name, () => {});
process.on('uncaughtException', () => {}); process.stdin.on('error', () => {}).resume(); process.stdout.on('error', () => {});
setInterval(() => {}, 1_000);`;
const PRINTS = `console.log(['PIDS', process.ppid, process.pid, 'END'].join(' '));`;
/** Starts a stubborn process in its own terminal, and ends at once after a signal, as a launcher of Gemini CLI may do. */
const LAUNCHER = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(STUBBORN + PRINTS)}], { stdio: 'inherit' });`;
const GRACEFUL = `process.on('SIGTERM', () => process.exit(7)); process.on('SIGHUP', () => process.exit(8)); process.stdin.resume();`;

type Inside = {
  readonly pid: number;
  /** Closes the terminal, as a closing window does. */
  readonly close: () => void;
  /** Resolves with the exit code and the signal of `earpiece in`. */
  readonly ended: Promise<{ exitCode: number; signal?: number }>;
  /** The processes that the agent names. */
  readonly agent: readonly number[];
};

async function inside(script: string, use: (inside: Inside) => Promise<void>): Promise<void> {
  await using stage = new Stage();
  const child = pty.spawn(process.execPath, [CLI, 'in', '--', process.execPath, '-e', script], {
    cols: 200,
    cwd: stage.folder,
    env: stage.env({}),
  });
  const ended = new Promise<{ exitCode: number; signal?: number }>((resolve) => child.onExit(resolve));
  let output = '';
  const changes = new EventTarget();
  child.onData((data) => {
    output += data;
    changes.dispatchEvent(new Event('change'));
  });
  let agent: readonly number[] = [];
  try {
    const signal = AbortSignal.timeout(25_000);
    const PIDS = /PIDS (\d+) (\d+) END/;
    while (!PIDS.test(output)) await once(changes, 'change', { signal });
    agent = (PIDS.exec(output) ?? [])
      .slice(1)
      .map(Number)
      .filter((pid) => pid !== child.pid);
    await use({ pid: child.pid, close: () => (child as unknown as { destroy: () => void }).destroy(), ended, agent });
  } finally {
    for (const pid of [child.pid, ...agent]) if (isThere(pid)) process.kill(pid, 'SIGKILL');
    await ended;
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const gone = (pids: readonly number[]): Promise<void> => expect.poll(() => pids.filter(isThere), { timeout: 10_000 }).toEqual([]);

const WAYS: [string, (inside: Inside) => void][] = [
  ['its terminal closes', ({ close }) => close()],
  ['it gets SIGHUP', ({ pid }) => void process.kill(pid, 'SIGHUP')],
  ['it gets SIGTERM', ({ pid }) => void process.kill(pid, 'SIGTERM')],
];

describe.each(WAYS)('when %s, `earpiece in`', (_, close) => {
  test('ends an agent that ignores every signal', async () => {
    proves('hosts:in-ends');
    await inside(STUBBORN + PRINTS, async (inside) => {
      close(inside);
      await inside.ended;
      await gone(inside.agent);
    });
  });

  test('ends a process that the agent has started in its terminal', async () => {
    proves('hosts:in-ends');
    await inside(LAUNCHER, async (inside) => {
      close(inside);
      await inside.ended;
      await gone(inside.agent);
    });
  });
});

describe('after a signal, `earpiece in`', () => {
  test('exits with the code of an agent that ends by itself', async () => {
    proves('hosts:in-ends');
    await inside(GRACEFUL + PRINTS, async ({ pid, ended }) => {
      process.kill(pid, 'SIGTERM');
      expect((await ended).exitCode).toBe(7);
    });
  });

  test('exits with 128 and the number of the signal that has ended the agent', async () => {
    proves('hosts:in-ends');
    await inside(`${PRINTS} process.stdin.resume();`, async ({ pid, ended }) => {
      process.kill(pid, 'SIGTERM');
      expect((await ended).exitCode).toBe(143);
    });
    await inside(STUBBORN + PRINTS, async ({ pid, ended }) => {
      process.kill(pid, 'SIGTERM');
      expect((await ended).exitCode).toBe(137);
    });
  });
});
