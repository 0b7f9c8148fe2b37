/** `earpiece in` with an agent whose box takes a quick Enter as a line break. */
import { join } from 'node:path';
import pty from '@lydell/node-pty';
import { describe, expect, test } from 'vitest';
import { CLI } from '../built.ts';
import { Stage } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';

const AGENT = join(import.meta.dirname, 'boxed-agent.ts');
const NUDGE = 'Earpiece: notifications wait for you.';

/** Returns the line that the woken agent sends. */
async function sentBy(env: Record<string, string>): Promise<string> {
  await using stage = new Stage();
  const ear = await stage.open();
  const child = pty.spawn(process.execPath, [CLI, 'in', '--', process.execPath, AGENT], {
    cols: 200,
    cwd: stage.folder,
    env: stage.env(env),
  });
  const ended = new Promise<void>((resolve) => child.onExit(() => resolve()));
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<void>();
  child.onData((data) => {
    output += data;
    if (output.includes('READY')) ready.resolve();
    const sent = /SENT (".*") END/.exec(output)?.[1];
    if (sent !== undefined) resolve(JSON.parse(sent) as string);
  });
  const timeout = setTimeout(() => reject(new Error(`the agent sent nothing; its terminal shows:\n${output}`)), 25_000);
  try {
    await Promise.race([ready.promise, promise]);
    await ear.queue('shop/coder', { kind: 'user.message', level: 'critical', message: 'the build ended' });
    return await promise;
  } finally {
    clearTimeout(timeout);
    child.kill('SIGKILL');
    await ended;
  }
}

describe('an idle agent in the terminal of `earpiece in`', () => {
  test('gets Enter apart from the line, so that the line is sent and not broken', async () => {
    proves('hosts:in-enter');
    expect(await sentBy({})).toBe(NUDGE);
  });

  test('that takes the first Enter as a line break gets another Enter, and not the line again', async () => {
    proves('hosts:in-enter');
    expect(await sentBy({ IGNORED: '1' })).toBe(`${NUDGE}\n`);
  });
});
