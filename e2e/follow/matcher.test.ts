/** Tests problem matchers of earpiece.toml, with bash as a tool that Earpiece does not know. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

const MATCHER = readFileSync(join(import.meta.dirname, 'matcher.toml'), 'utf8');
const WRONG = 'if true; then\n  echo yes\nfi; fi\n';

let shell: Shell;
let ear: LoadedInbox;
beforeEach(async () => {
  shell = new Shell(MATCHER);
  ear = await shell.open();
});
afterEach(() => shell[Symbol.asyncDispose]());

const script = (text: string): void => writeFileSync(join(shell.folder, 'deploy.sh'), text);
const open = async (): Promise<readonly string[]> =>
  (await ear.open('shop/coder')).map(({ notification: { message } }) => message);

async function until(isSo: (all: readonly string[]) => boolean): Promise<readonly string[]> {
  for (;;) {
    const all = await open();
    if (isSo(all)) return all;
    await pause(50);
  }
}

verifies(
  'follow:matchers',
  'a matcher of the user reads the errors of a command that keeps running; the next build without the error withdraws it',
  async () => {
    script(WRONG);
    await shell.says(['trust', '--yes']);
    const loop = 'while true; do echo checking deploy.sh; bash -n deploy.sh; echo checked deploy.sh; sleep 0.2; done';
    const running = shell.begin(['follow', '--to', 'coder', '--matcher', 'bash', '--', 'bash', '-c', loop]);
    expect(await until((all) => all.length > 0)).toEqual(["syntax error near unexpected token `fi' (deploy.sh:3)"]);
    script('echo yes\n');
    expect(await until((all) => all.length === 0)).toEqual([]);
    running.process.kill('SIGINT');
    await running.ended;
  },
  30_000,
);

it('run-and-tell and follow report the error that a matcher found when the command ends', async () => {
  proves('follow:matchers');
  script(WRONG);
  await shell.says(['trust', '--yes']);
  await shell.run(['run-and-tell', '--to', 'coder', '--matcher', 'bash', '--', 'bash', '-n', 'deploy.sh']);
  const ended = /^`bash -n deploy\.sh` failed with exit code 2 after .*: syntax error near .* \(deploy\.sh:3\)$/u;
  expect(await open()).toEqual([expect.stringMatching(ended)]);
  await shell.run(['follow', '--to', 'coder', '--matcher', 'bash', '--', 'bash', '-n', 'deploy.sh']);
  expect((await open()).filter((message) => ended.test(message))).toHaveLength(2);
});

it('without trust, with another name or with an invalid pattern, the command does not run', async () => {
  proves('follow:matchers');
  const refusal = async (name: string): Promise<string> => {
    const { code, stdout, stderr } = await shell.run(['follow', '--matcher', name, '--', 'echo', 'it ran']);
    expect({ code, stdout }).toEqual({ code: expect.any(Number) as number, stdout: '' });
    expect(code).not.toBe(0);
    return stderr;
  };
  expect(await refusal('bash')).toContain(
    `--matcher bash is in ${join(shell.folder, 'earpiece.toml')}, which is not trusted; read the file, then run: earpiece trust`,
  );
  await shell.says(['trust', '--yes']);
  expect(await refusal('bsh')).toContain('--matcher "bsh" is in no earpiece.toml here; did you mean bash?');
  shell.config("[matchers.bad]\npattern = { regexp = '(?=x)(.+)', message = 1 }\n");
  // A person sees the errors of the file before trusting the file.
  expect((await shell.run(['config', 'check'])).stdout).toContain('matchers.bad.pattern[0].regexp is "(?=x)(.+)": lookahead');
  await shell.says(['trust', '--yes']);
  expect(await refusal('bad')).toContain('matchers.bad.pattern[0].regexp is "(?=x)(.+)": lookahead and lookbehind');
  const { code, stdout } = await shell.run(['config', 'check']);
  expect({ code, stdout }).toEqual({
    code: 8,
    stdout: expect.stringMatching(/earpiece\.toml:2:11: matchers\.bad\.pattern\[0\]\.regexp is .*: lookahead/u) as string,
  });
});
