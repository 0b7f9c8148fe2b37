import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { gitIn, type CommandOptions } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a script in place of `git`. */
const of = (script: string, options: CommandOptions = {}) => {
  const program = join(folder, 'git');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return gitIn(folder, program)(['x'], options);
};

test('a command of git returns its output, or the reason of its failure in one line without names and passwords', async () => {
  expect(await of('echo one; echo two')).toEqual({ kind: 'ok', out: 'one\ntwo\n' });
  const failing = `echo "warning: x" >&2; echo "fatal: no access to 'https://ada:s3cret@example.org/x' or ssh://me@h/y" >&2; echo hint >&2; exit 128`;
  expect(await of(failing)).toEqual({
    kind: 'failed',
    code: 128,
    line: "fatal: no access to 'https://…@example.org/x' or ssh://…@h/y",
  });
  expect(await of('exit 1')).toEqual({ kind: 'failed', code: 1, line: 'no reason given' });
  expect(await of('kill -KILL $$')).toMatchObject({ kind: 'failed', code: null });
});

test('a missing git, a git that may not run and a missing folder are reported', async () => {
  expect(await gitIn(folder, 'no-such-git')(['x'])).toEqual({ kind: 'missing' });
  expect(await gitIn(join(folder, 'none'), 'sh')(['x'])).toEqual({ kind: 'missing' });
  expect(await gitIn(folder, folder)(['x'])).toMatchObject({ kind: 'failed', code: null });
});

test('git and its children are ended at the time limit, and git never prompts', async () => {
  expect(await of('sleep 600 & sleep 600', { withinMs: 100 })).toEqual({ kind: 'stopped', why: 'timeout' });
  const stop = new AbortController();
  const running = of('sleep 600', { signal: stop.signal });
  stop.abort();
  expect(await running).toEqual({ kind: 'stopped', why: 'aborted' });
  expect(await of('echo', { signal: stop.signal })).toEqual({ kind: 'stopped', why: 'aborted' });
  // There is no terminal, the input is empty, and git's prompts are switched off.
  expect(await of('read answer < /dev/tty || cat; echo "$GIT_TERMINAL_PROMPT$GIT_OPTIONAL_LOCKS$LC_ALL"')).toEqual({
    kind: 'ok',
    out: '00C\n',
  });
});
