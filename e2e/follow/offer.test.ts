/** Hooks offer the agent to follow the pull request of the branch that it pushed, through the real `gh`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { add } from '../../src/sources/follow/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';
import { GitHub, HOST } from './github.ts';

const OFFER =
  'pr.offered info: pull request acme/shop#12 is open and not followed; to hear of its checks and reviews: earpiece follow pr 12, or the tool follow with pull_request "12"';

let github: GitHub;
let shell: Shell;
let ear: LoadedInbox;

beforeEach(async () => {
  github = await GitHub.start();
  shell = new Shell();
  ear = await shell.open();
  const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: shell.folder, stdio: 'pipe' });
  git('init', '-q', '-b', 'round');
  git('remote', 'add', 'origin', `http://${HOST}/acme/shop.git`);
});
afterEach(async () => {
  await shell[Symbol.asyncDispose]();
  await github[Symbol.asyncDispose]();
});

const hook = (host: string, event: string, more: object): Promise<string> =>
  shell.says(['hook', host, '--as', 'coder'], {
    input: JSON.stringify({ hook_event_name: event, session_id: 's1', cwd: shell.folder, ...more }),
    env: github.env,
  });
const ran = (command: string, host = 'claude'): Promise<string> =>
  hook(host, 'PostToolUse', { tool_name: 'Bash', tool_input: { command }, tool_response: { stdout: '' } });
const open = async (): Promise<readonly string[]> =>
  (await ear.open('shop/coder')).map(
    ({ notification: { kind, level, message } }) => `${kind.source}.${kind.name} ${level}: ${message}`,
  );
const asked = (): number => github.asked.length;

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(50);
}

verifies(
  'follow:offer',
  'after gh pr create the agent is offered the pull request once; further pushes offer nothing',
  async () => {
    await hook('claude', 'SessionStart', { source: 'startup' });
    expect(await ran('npm test && gh pr create --fill')).toBe('');
    await until(async () => (await open()).length > 0);
    expect(await open()).toEqual([OFFER]);
    const page = readFileSync(join(import.meta.dirname, '../../docs/guides/follow.md'), 'utf8');
    expect(page).toContain(`\n${OFFER.replace('pr.offered', 'pr')}\n`);
    expect(await hook('claude', 'PostToolBatch', { tool_calls: [{ tool_name: 'Bash' }] })).toContain(
      'acme/shop#12 is open and not followed',
    );
    const before = asked();
    await ran('git push');
    await until(() => asked() > before);
    await ran('git -C . push --force origin round', 'codex');
    await until(() => asked() > 2 * before);
    await hook('gemini', 'AfterTool', { tool_name: 'run_shell_command', tool_input: { command: 'git push' }, tool_response: {} });
    await until(() => asked() > 3 * before);
    await shell.says(['follow', '--offer', 'shop/coder'], { env: github.env });
    expect((await shell.json(['log', 'coder'])).filter(({ type }) => type === 'system_notification_queued')).toHaveLength(1);
  },
  60_000,
);

it('nothing is offered for a pull request that is followed, for other commands, without trust, and if it is turned off', async () => {
  proves('follow:offer', 'config:trust');
  await hook('claude', 'SessionStart', { source: 'startup' });
  const what = { kind: 'pr', host: HOST, repo: 'acme/shop', number: 12 } as const;
  const { followed } = await add(ear.store, 'shop', { uid: 'u1', what, to: 'shop/coder' });
  await ran('git push');
  await until(() => asked() > 0);
  const once = asked();
  await shell.says(['unfollow', followed.id]);

  await ran('git status; echo push');
  shell.config('[follow]\noffer = false\n');
  await ran('git push');
  shell.config('[gateway.servers.x]\ncommand = "x"\n');
  await shell.run(['hook', 'claude', '--as', 'coder'], {
    input: JSON.stringify({
      hook_event_name: 'PostToolUse',
      session_id: 's1',
      cwd: shell.folder,
      tool_name: 'Bash',
      tool_input: { command: 'git push' },
    }),
    env: github.env,
  });
  shell.config('');
  await ran('git push');
  await until(async () => (await open()).length > 0);
  expect(await open()).toEqual([OFFER]);
  // Only the first and the last push have asked GitHub.
  expect(asked()).toBe(2 * once);
}, 60_000);
