/** Tests `earpiece follow files`, `git` and `agent`, together with the hooks of a coding agent. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { following, looker, stateOf } from '../../src/sources/follow/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

let shell: Shell;
let ear: LoadedInbox;
beforeEach(async () => {
  shell = new Shell();
  ear = await shell.open();
});
afterEach(async () => {
  const owner = await looker(ear.store, 'shop', ear.isAlive);
  if (owner !== undefined) process.kill(owner.pid, 'SIGKILL');
  await shell[Symbol.asyncDispose]();
});

const open = async (): Promise<readonly string[]> =>
  (await ear.open('shop/coder')).map(
    ({ notification: { kind, level, message } }) => `${kind.source}.${kind.name} ${level}: ${message}`,
  );
async function until<T>(ask: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (isSo(value)) return value;
    await pause(50);
  }
}
const seen = async (): Promise<unknown> => (await shell.json(['following']))[0]?.['says'];
const hook = (agent: string, hook_event_name: string, more: object = {}): Promise<string> =>
  shell.says(['hook', 'claude', '--as', agent], {
    input: JSON.stringify({ hook_event_name, session_id: `s-${agent}`, cwd: shell.folder, ...more }),
  });
const begin = (agent: string): Promise<string> => hook(agent, 'SessionStart', { source: 'startup' });
const follow = (...words: readonly string[]): Promise<string> => shell.says(['follow', ...words, '--to', 'coder']);

/** Waits until the source has checked. Following again checks at once. Otherwise, sources check every few seconds. */
async function looked(...words: readonly string[]): Promise<void> {
  await follow(...words);
  const since = Date.now();
  await until(
    async () => {
      const [followed] = await following(ear.store, 'shop');
      return followed === undefined ? undefined : (await stateOf(ear.store, followed.uid)).lookedAt;
    },
    (at) => at !== undefined && at >= since - 1_000,
  );
}

verifies(
  'follow:files',
  'changed, new and deleted files that globs match are reported; ignored files are not',
  async () => {
    await begin('coder');
    mkdirSync(join(shell.folder, 'docs'));
    writeFileSync(join(shell.folder, '.gitignore'), 'docs/out\n');
    writeFileSync(join(shell.folder, 'docs/api.md'), 'one');
    expect(await follow('files', 'docs/**')).toBe('f1  files docs/**, for shop/coder\n');
    await until(seen, (says) => says === '1 file');
    writeFileSync(join(shell.folder, 'docs/api.md'), 'another');
    writeFileSync(join(shell.folder, 'docs/new.md'), 'new');
    writeFileSync(join(shell.folder, 'docs/out'), 'ignored');
    writeFileSync(join(shell.folder, 'other.md'), 'elsewhere');
    expect((await until(open, (all) => all.length > 1)).toSorted()).toEqual([
      'file.changed info: `docs/api.md` has changed',
      'file.created info: `docs/new.md` was created',
    ]);
    rmSync(join(shell.folder, 'docs/api.md'));
    expect((await until(open, (all) => all.some((each) => each.includes('deleted')))).at(-1)).toBe(
      'file.deleted info: `docs/api.md` was deleted',
    );
  },
  60_000,
);

verifies(
  'follow:git',
  'a switched branch and a conflict are reported, and a resolved conflict is withdrawn',
  async () => {
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=a@b', ...args], { cwd: shell.folder, stdio: 'pipe' });
    const commit = (text: string): void => {
      writeFileSync(join(shell.folder, 'cart.ts'), text);
      git('add', 'cart.ts');
      git('commit', '-qm', text);
    };
    git('init', '-q', '-b', 'main');
    commit('one');
    git('checkout', '-qb', 'round');
    commit('two');
    await begin('coder');
    await looked('git');
    git('checkout', '-q', 'main');
    expect(await until(open, (all) => all.length > 0)).toEqual([
      'git.branch_switched warning: the branch is now `main` (before: `round`)',
    ]);
    commit('three');
    expect(() => git('merge', 'round')).toThrow();
    expect((await until(open, (all) => all.length > 1)).at(-1)).toBe(
      'git.conflict error: the merge stopped at a conflict in 1 file: `cart.ts`',
    );
    expect(await seen()).toBe('main, 1 file in conflict');
    commit('four');
    expect(await until(open, (all) => all.every((each) => !each.startsWith('git.conflict')))).toHaveLength(1);
  },
  60_000,
);

verifies(
  'follow:agent',
  "the end of another agent's turn, its interrupt and the end of its session are reported once",
  async () => {
    await begin('coder');
    await begin('reviewer');
    expect(await follow('agent', 'reviewer')).toBe('f1  agent shop/reviewer until idle, for shop/coder\n');
    await until(seen, (says) => says === 'it works');
    const nobody = (): Promise<unknown> =>
      until(
        () => following(ear.store, 'shop'),
        (list) => list.length === 0,
      );
    await hook('reviewer', 'Stop');
    await nobody();
    expect(await open()).toEqual(['agent.idle info: reviewer has ended its turn and is idle']);

    await follow('agent', 'reviewer', '--until', 'blocked');
    await shell.says(['send', 'Hold on, the schema changes', '--to', 'reviewer', '--action', 'pause']);
    await nobody();
    expect((await open()).at(-1)).toBe('agent.blocked info: reviewer is blocked: Hold on, the schema changes');

    await follow('agent', 'reviewer', '--until', 'done');
    await until(seen, (says) => says === 'it works');
    await hook('reviewer', 'SessionEnd');
    await nobody();
    expect((await open()).at(-1)).toBe('agent.done info: the session of reviewer has ended');
    // The agent is no longer active, so the follower reports the end at its first check, and ends.
    await follow('agent', 'reviewer');
    await nobody();
    expect((await open()).filter((each) => each.includes('agent.done'))).toHaveLength(2);
  },
  60_000,
);

it('an agent that is no longer followed is not reported; misplaced options are refused', async () => {
  proves('follow:agent');
  await begin('coder');
  await begin('reviewer');
  await follow('agent', 'reviewer');
  await until(seen, (says) => says === 'it works');
  await shell.says(['unfollow', 'f1']);
  await hook('reviewer', 'Stop');
  expect(await open()).toEqual([]);
  for (const [words, why] of [
    [['agent', 'reviewr'], 'did you mean reviewer?'],
    [['agent'], 'follow agent needs the name of an agent'],
    [['agent', 'reviewer', '--until', 'idle', '--match', 'x'], '--match works only with follow log'],
    [['git', '--until', 'idle'], '--until works only with follow agent'],
    [['git', 'status'], 'follow git takes no argument, got "status"; leave the argument out'],
    [['files'], 'follow files needs globs'],
    [['files', '/etc/**'], 'leads out of the folder'],
    [['files', '['], 'the glob "[" has a [ without its ]; write \\[ for the character'],
    [['git'], `follow git: ${shell.folder} is not a git repository; use a folder in the work tree of a repository`],
  ] as const) {
    const { code, stderr } = await shell.run(['follow', ...words, '--to', 'coder']);
    expect({ code: code === 0, stderr }, words.join(' ')).toEqual({
      code: false,
      stderr: expect.stringContaining(why) as string,
    });
  }
  // After `--`, the name of a source is an ordinary command.
  expect((await shell.run(['follow', '--to', 'coder', '--', 'git', '--version'])).stdout).toMatch(/^git version/u);
}, 60_000);

verifies(
  'follow:restart',
  'after the process of the followers was killed, a new session of an MCP server or gateway starts it again',
  async () => {
    await begin('coder');
    await follow('files', 'docs/**');
    const first = await until(
      () => looker(ear.store, 'shop', ear.isAlive),
      (owner) => owner !== undefined,
    );
    process.kill(first?.pid ?? 0, 'SIGKILL');
    await until(
      () => looker(ear.store, 'shop', ear.isAlive),
      (owner) => owner === undefined,
    );
    const server = shell.begin(['mcp', '--as', 'coder']);
    const second = await until(
      () => looker(ear.store, 'shop', ear.isAlive),
      (owner) => owner !== undefined,
    );
    expect(second?.pid).not.toBe(first?.pid);
    server.process.stdin.end();
    await server.ended;
  },
  60_000,
);
