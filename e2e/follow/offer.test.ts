/**
 * Tests that, after a push, hooks show the agent an offer to follow the branch's pull request. The real `gh` finds the pull
 * request.
 */
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
  'pr.offered info: pull request acme/shop#12 is open and not followed; to get its checks and reviews: earpiece follow pr 12, or the tool follow with pull_request "12"';

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

/** Waits for the end of all processes that hooks have started to find pull requests. */
const settled = (): Promise<void> =>
  until(() => !execFileSync('ps', ['-Awwo', 'args'], { encoding: 'utf8' }).includes(`--db ${shell.db} --offer`));

verifies(
  'follow:offer',
  'after gh pr create the agent is offered the pull request once; further pushes offer nothing',
  async () => {
    await hook('claude', 'SessionStart', { source: 'startup' });
    expect(await ran('npm test && gh pr create --fill')).toBe('');
    await settled();
    expect(await open()).toEqual([OFFER]);
    const page = readFileSync(join(import.meta.dirname, '../../docs/guides/follow.md'), 'utf8');
    expect(page).toContain(`\n${OFFER.replace('pr.offered', 'pr')}\n`);
    expect(await hook('claude', 'PostToolBatch', { tool_calls: [{ tool_name: 'Bash' }] })).toContain(
      'acme/shop#12 is open and not followed',
    );
    const once = asked();
    const shellCall = { tool_name: 'Bash', tool_input: { command: 'git push' } };
    const pushes = [
      () => ran('git push'),
      () => ran('git -C . push --force origin round', 'codex'),
      () => hook('codex', 'PostToolUse', { tool_name: 'shell', tool_input: { command: ['bash', '-lc', 'git push'] } }),
      () => hook('gemini', 'AfterTool', { ...shellCall, tool_name: 'run_shell_command', tool_response: {} }),
      () => hook('qwen', 'PostToolBatch', { tool_calls: [{ tool_name: 'read_file' }, shellCall] }),
      () =>
        hook('cline', 'PostToolUse', {
          hookName: 'PostToolUse',
          taskId: 's1',
          workspaceRoots: [shell.folder],
          postToolUse: { toolName: 'execute_command', parameters: { command: 'git push' } },
        }),
    ];
    for (const [i, push] of pushes.entries()) {
      await push();
      await settled();
      expect(asked(), String(push)).toBe((i + 2) * once);
    }
    expect((await shell.json(['log', 'coder'])).filter(({ type }) => type === 'system_notification_queued')).toHaveLength(1);
  },
  60_000,
);

it('a hook that has nothing else to say offers the pull request', async () => {
  proves('follow:offer');
  const call = (event: string, more: object): Promise<string> =>
    shell.says(['hook', 'claude'], {
      input: JSON.stringify({ hook_event_name: event, session_id: 's1', cwd: shell.folder, ...more }),
      env: github.env,
    });
  await call('SessionStart', { source: 'startup' });
  const bash = (command: string): Promise<string> => call('PostToolUse', { tool_name: 'Bash', tool_input: { command } });
  await bash('npm test');
  await bash('git push');
  await settled();
  expect((await ear.open('shop/claude-code')).map(({ notification: { kind } }) => kind.name)).toEqual(['offered']);
}, 60_000);

it('nothing is offered for a followed pull request, for other commands, without trust, and with follow.offer = false', async () => {
  proves('follow:offer', 'config:trust');
  await hook('claude', 'SessionStart', { source: 'startup' });
  const follow = async (number: number, to: string): Promise<string> => {
    const what = { kind: 'pr', host: HOST, repo: 'acme/shop', number, title: 'as it was' } as const;
    return (await add(ear.store, 'shop', { uid: ear.ids.make('f'), what, to })).followed.id;
  };
  for (const to of ['shop/coder', 'shop/*']) {
    const id = await follow(12, to);
    await ran('git push');
    await settled();
    await shell.says(['unfollow', id]);
  }
  const twice = asked();
  expect(twice).toBeGreaterThan(0);

  await ran('git status; echo push');
  await hook('claude', 'PreToolUse', { tool_name: 'Bash', tool_input: { command: 'git push' } });
  const push = { tool_name: 'Bash', tool_input: { command: 'git push' } };
  await hook('claude', 'PostToolUse', { ...push, agent_id: 'a1' });
  shell.config('[follow]\noffer = false\n');
  await ran('git push');
  shell.config('[gateway.servers.x]\ncommand = "x"\n');
  await shell.run(['hook', 'claude', '--as', 'coder'], {
    input: JSON.stringify({ hook_event_name: 'PostToolUse', session_id: 's1', cwd: shell.folder, ...push }),
    env: github.env,
  });
  await settled();
  expect(asked()).toBe(twice);
  expect(await open()).toEqual([]);

  shell.config('');
  await follow(13, 'shop/coder');
  await ran('git push');
  await settled();
  expect(await open()).toEqual([OFFER]);
  expect(asked()).toBe(1.5 * twice);
}, 60_000);

it('a branch without a pull request gets no offer and no error', async () => {
  proves('follow:offer');
  execFileSync('git', ['switch', '-qc', 'other'], { cwd: shell.folder, stdio: 'pipe' });
  expect(await shell.says(['follow', '--offer', 'shop/coder'], { env: github.env })).toBe('');
  expect(asked()).toBeGreaterThan(0);
  expect(await open()).toEqual([]);
});
