/** Tests a repository that others also work in, with real git and a real remote folder. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

import { gitSource, type GitOptions, type GitSource } from '../../src/sources/git/index.ts';
import { proves } from '../verifies.ts';
import { recorder, type Recorder } from './recorder.ts';

type Repository = {
  readonly folder: string;
  readonly git: (...args: string[]) => string;
  /** Does not throw if git fails, for example at a conflict. */
  readonly tryGit: (...args: string[]) => void;
  readonly commit: (file: string, text: string, message?: string) => string;
};

const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function scratch(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-git-')));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function at(folder: string): Repository {
  const env = {
    ...process.env,
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_EDITOR: 'true',
  };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  return {
    folder,
    git,
    tryGit: (...args) => {
      try {
        git(...args);
      } catch {
        // At a conflict, git fails as the test expects.
      }
    },
    commit: (file, text, message = file) => {
      writeFileSync(join(folder, file), text);
      git('add', '--', file);
      git('commit', '-qm', message);
      return git('rev-parse', 'HEAD');
    },
  };
}

/** Makes a repository whose branch `main` has one commit. */
function repository(folder = join(scratch(), 'work')): Repository {
  mkdirSync(folder, { recursive: true });
  const here = at(folder);
  here.git('init', '-q', '-b', 'main');
  here.commit('a', 'one\n');
  return here;
}

/** Returns a bare repository, a watched clone, and another person's clone. */
function remote(): { readonly mine: Repository; readonly theirs: Repository; readonly bare: Repository } {
  const folder = scratch();
  const first = repository(join(folder, 'first'));
  first.git('clone', '-q', '--bare', '.', join(folder, 'bare.git'));
  for (const name of ['mine', 'theirs']) first.git('clone', '-q', join(folder, 'bare.git'), join(folder, name));
  return { mine: at(join(folder, 'mine')), theirs: at(join(folder, 'theirs')), bare: at(join(folder, 'bare.git')) };
}

async function started(
  root: string,
  options: Partial<GitOptions> = {},
): Promise<{ readonly source: GitSource; readonly seen: Recorder; readonly told: () => Promise<string[]> }> {
  const seen = recorder();
  const source = gitSource({
    emitter: seen,
    subject: 'shop/coder#main',
    root,
    debounceMs: 20,
    onTrouble: seen.onTrouble,
    ...options,
  });
  ends.push(() => source.stop());
  await source.start();
  /** Returns the events up to now: a stop emits the changes that the source has seen, and a start emits the other changes. */
  const told = async (): Promise<string[]> => {
    await source.stop();
    await source.start();
    await source.stop();
    const lines = seen.events.splice(0).map(({ severity, type, message }) => `${severity} ${type}: ${message}`);
    await source.start();
    return lines;
  };
  return { source, seen, told };
}

describe('branches', () => {
  it("give an event when a person switches, with the person's name, also to and from a detached HEAD", async () => {
    proves('sources:git');
    const here = repository();
    const one = here.git('rev-parse', 'HEAD');
    const two = here.commit('b', '1');
    const { seen } = await started(here.folder);
    here.git('checkout', '-qb', 'feature/x');
    expect(await seen.until('git.branch_switched feature/x')).toMatchObject({
      source: 'git',
      subject: 'shop/coder#main',
      severity: 'warning',
      data: { from: 'main', to: 'feature/x', by: 'Ada' },
      supersede: true,
      message: 'the branch is now `feature/x` (before: `main`)',
    });
    here.git('checkout', '-q', '--detach');
    expect((await seen.until(`git.branch_switched ${two.slice(0, 10)}`)).data).toMatchObject({
      from: 'feature/x',
      detached: true,
    });
    here.git('checkout', '-q', one);
    await seen.until(`git.branch_switched ${one.slice(0, 10)}`);
    here.git('checkout', '-q', 'main');
    expect((await seen.until('git.branch_switched main')).data).toMatchObject({ from: one.slice(0, 10), to: 'main' });
    here.git('branch', '-m', 'trunk');
    await seen.until('git.branch_switched trunk');
    expect(seen.events.length).toBe(5);
  });

  it('commits, other branches, stashes and read-only commands cause no event', async () => {
    const here = repository();
    const { told } = await started(here.folder);
    here.commit('b', '1');
    here.git('branch', 'other');
    here.git('tag', 'v1');
    writeFileSync(join(here.folder, 'a'), 'changed');
    here.git('stash');
    here.git('stash', 'pop');
    here.git('status');
    here.git('gc', '-q');
    here.git('checkout', '-q', '--', 'a');
    expect(await told()).toEqual([]);
    here.git('checkout', '-q', '--detach');
    expect(await told()).toHaveLength(1);
    here.commit('c', '1');
    expect(await told()).toEqual([]);
  });

  it('a work tree reports only its own branch, not the branches of other work trees', async () => {
    const here = repository();
    const tree = join(here.folder, '../tree');
    here.git('worktree', 'add', '-q', '-b', 'side', tree);
    const { seen, told } = await started(tree);
    here.git('checkout', '-qb', 'elsewhere');
    at(tree).git('checkout', '-qb', 'beside');
    await seen.until('git.branch_switched beside');
    expect(await told()).toEqual(['warning git.branch_switched: the branch is now `beside` (before: `side`)']);
  });

  it('a switched branch is reported even if the repository had no commit at the start, also from a folder in it', async () => {
    const folder = join(scratch(), 'empty');
    mkdirSync(join(folder, 'src'), { recursive: true });
    const here = at(folder);
    here.git('init', '-q', '-b', 'main');
    const { seen } = await started(join(folder, 'src'));
    here.commit('a', '1');
    here.git('checkout', '-qb', 'next');
    await seen.until('git.branch_switched next');
    expect(seen.lines()).toEqual(['git.branch_switched next']);
  });
});

describe('the upstream', () => {
  it('gives an event with the number and the subjects of the new commits after a fetch', async () => {
    proves('sources:git');
    const { mine, theirs } = remote();
    mine.commit('mine', '1');
    const { seen, told } = await started(mine.folder);
    for (let i = 1; i <= 7; i++) theirs.commit('theirs', `${i}`, `Their commit ${i}`);
    theirs.git('push', '-q');
    mine.git('fetch', '-q');
    const event = await seen.until('git.upstream_moved');
    expect(event).toMatchObject({
      severity: 'info',
      supersede: true,
      data: { branch: 'main', upstream: 'origin/main', ahead: 1, behind: 7 },
      message: '`origin/main` has 7 new commits; `main` is 1 commit ahead and 7 behind',
    });
    expect(event.data['commits']).toEqual([7, 6, 5, 4, 3].map((i) => `Their commit ${i}`));
    expect(await told()).toHaveLength(1);
    mine.git('merge', '-q', '--no-edit', 'origin/main');
    expect(await told()).toEqual(['debug git.up_to_date: `main` has all of `origin/main`']);
    // The agent already has the commits that it has pushed.
    mine.git('push', '-q');
    expect(await told()).toEqual([]);
  });

  it('gives an event when it is rewritten, and none when it is packed or deleted', async () => {
    const { mine, theirs, bare } = remote();
    theirs.commit('b', '1', 'first');
    theirs.git('push', '-q');
    mine.git('pull', '-q');
    const { told } = await started(mine.folder);
    theirs.git('commit', '-q', '--amend', '-m', 'second');
    theirs.git('push', '-qf');
    mine.git('fetch', '-q');
    expect(await told()).toEqual(['info git.upstream_moved: `origin/main` was rewritten; `main` is 1 commit ahead and 1 behind']);
    mine.git('pack-refs', '--all');
    expect(await told()).toEqual([]);
    bare.git('update-ref', '-d', 'refs/heads/main');
    mine.git('fetch', '-q', '--prune');
    expect(await told()).toEqual([]);
  });

  it('is fetched in the background if the configuration says so', async () => {
    const { mine, theirs } = remote();
    const { source, seen } = await started(mine.folder, { fetchEveryMs: 50 });
    theirs.commit('theirs', '1', 'Theirs');
    theirs.git('push', '-q');
    expect((await seen.until('git.upstream_moved')).data).toMatchObject({ behind: 1, commits: ['Theirs'] });
    await source.stop();
    theirs.commit('theirs', '2');
    theirs.git('push', '-q');
    const before = mine.git('rev-parse', 'origin/main');
    // A stopped source makes no more fetches. A start fetches at once.
    expect(mine.git('rev-parse', 'origin/main')).toBe(before);
    await source.start();
    expect((await seen.until((event) => event.data['behind'] === 2)).data['commits']).toEqual(['theirs']);
  });

  it('a failed fetch prints one line without the password, and a hanging fetch ends with stop()', async () => {
    const { mine } = remote();
    mine.git('remote', 'set-url', 'origin', 'http://ada:secret@127.0.0.1:9/x.git');
    const { source, seen } = await started(mine.folder, { fetchEveryMs: 20 });
    await expect.poll(() => seen.troubles.length).toBe(1);
    await source.stop();
    expect(seen.troubles[0]).toMatch(/^git: the fetch failed: fatal: unable to access 'http:\/\//);
    expect(seen.troubles[0]).not.toContain('secret');
    expect(seen.troubles).toHaveLength(1);

    const here = join(mine.folder, '..', 'hung');
    mine.git('remote', 'set-url', 'origin', join(mine.folder, '../bare.git'));
    mine.git('config', 'remote.origin.uploadpack', `echo $$ > ${here}; sleep 600; true`);
    await source.start();
    const pid = (): string => (existsSync(here) ? readFileSync(here, 'utf8').trim() : '');
    await expect.poll(pid).toMatch(/^\d+$/);
    await source.stop();
    // The process has ended, although it may still be a zombie.
    await expect
      .poll(() => spawnSync('ps', ['-o', 'stat=', '-p', pid()], { encoding: 'utf8' }).stdout.trim())
      .toMatch(/^(Z.*)?$/);
  });
});

describe('conflicts', () => {
  /** Makes a repository in which the branches `side` and `main` both changed `a` and `b`. */
  const apart = (): Repository => {
    const here = repository();
    here.commit('b', 'one\n');
    here.git('checkout', '-qb', 'side');
    here.commit('a', 'side\n', 'side a');
    here.commit('b', 'side\n', 'side b');
    here.git('checkout', '-q', 'main');
    here.commit('a', 'main\n', 'main a');
    here.commit('b', 'main\n', 'main b');
    return here;
  };

  it('give an event when a merge has a conflict, and another when the conflict is resolved', async () => {
    proves('sources:git');
    const here = apart();
    const { seen, told } = await started(here.folder);
    here.tryGit('merge', 'side');
    expect(await seen.until('git.conflict')).toMatchObject({
      severity: 'error',
      supersede: true,
      data: { operation: 'merge', files: ['a', 'b'] },
      message: 'the merge stopped at a conflict in 2 files: `a`, `b`',
    });
    expect(await told()).toHaveLength(1);
    writeFileSync(join(here.folder, 'a'), 'both\n');
    here.git('add', 'a');
    expect(await told()).toEqual([]);
    here.git('checkout', '-q', '--ours', 'b');
    here.git('add', 'b');
    await seen.until('git.conflict_resolved');
    expect(await told()).toEqual(['info git.conflict_resolved: no file is in conflict any more']);
    here.git('commit', '-q', '--no-edit');
    expect(await told()).toEqual([]);
  });

  it('give an event for each step of a rebase, but none for its detached HEAD', async () => {
    const here = apart();
    here.git('checkout', '-q', 'side');
    const { told } = await started(here.folder);
    here.tryGit('rebase', 'main');
    expect(await told()).toEqual(['error git.conflict: the rebase stopped at a conflict in 1 file: `a`']);
    here.git('checkout', '-q', '--theirs', 'a');
    here.git('add', 'a');
    here.tryGit('rebase', '--continue');
    expect((await told()).filter((line) => !line.includes('resolved'))).toEqual([
      'error git.conflict: the rebase stopped at a conflict in 1 file: `b`',
    ]);
    here.git('rebase', '--abort');
    expect(await told()).toEqual(['info git.conflict_resolved: no file is in conflict any more']);
  });

  it.each([
    [
      'cherry-pick',
      (here: Repository): void => here.tryGit('cherry-pick', 'side~1'),
      'the cherry-pick stopped at a conflict in 1 file: `a`',
    ],
    [
      'am',
      (here: Repository): void => {
        here.git('format-patch', '-q', '-1', 'side~1', '-o', '..');
        here.tryGit('am', '-3', '../0001-side-a.patch');
      },
      'the am stopped at a conflict in 1 file: `a`',
    ],
    [
      'stash',
      (here: Repository): void => {
        writeFileSync(join(here.folder, 'a'), 'stashed\n');
        here.git('stash');
        here.commit('a', 'other\n');
        here.tryGit('stash', 'pop');
      },
      'there is a conflict in 1 file: `a`',
    ],
  ] as const)('give an event for the conflict of a %s, and for its end', async (_, make, message) => {
    const here = apart();
    const { told } = await started(here.folder);
    make(here);
    expect(await told()).toEqual([`error git.conflict: ${message}`]);
    here.git('reset', '-q', '--hard');
    expect(await told()).toEqual(['info git.conflict_resolved: no file is in conflict any more']);
  });
});

describe("the agent's own commands", () => {
  it('cause no event, while changes of others before and after them do', async () => {
    proves('sources:git');
    const { mine, theirs } = remote();
    const { source, seen, told } = await started(mine.folder);
    const result = await source.withOwnCommand(() => mine.git('checkout', '-qb', 'own'));
    expect(result).toBe('');
    mine.git('checkout', '-qb', 'theirs');
    // The agent does not know yet that another program has switched the branch.
    await source.withOwnCommand(() => mine.git('checkout', '-qb', 'again'));
    expect(await told()).toEqual(['warning git.branch_switched: the branch is now `theirs` (before: `own`)']);
    await expect(
      source.withOwnCommand(() => {
        mine.git('checkout', '-q', 'main');
        throw new Error('exit code 1');
      }),
    ).rejects.toThrow('exit code 1');
    mine.git('checkout', '-q', 'own');
    mine.git('checkout', '-q', 'main');
    await source.noteOwnChange();
    expect(await told()).toEqual([]);

    theirs.commit('a', 'theirs\n');
    theirs.git('push', '-q');
    mine.commit('a', 'mine\n');
    mine.git('fetch', '-q');
    expect(await told()).toHaveLength(1);
    await source.withOwnCommand(() => mine.tryGit('merge', 'origin/main'));
    expect(await told()).toEqual([]);
    mine.git('checkout', '-q', '--ours', 'a');
    await source.withOwnCommand(() => mine.git('commit', '-qam', 'merged'));
    // The event `git.up_to_date` withdraws the notifications that may still be open.

    expect(await told()).toEqual(['debug git.up_to_date: `main` has all of `origin/main`']);
    expect(seen.troubles).toEqual([]);
  });
});

describe('failures', () => {
  it('without a repository, a work tree, a folder or git, the source prints one line and stays idle', async () => {
    proves('sources:git');
    const folder = scratch();
    const bare = join(folder, 'bare');
    execFileSync('git', ['init', '-q', '--bare', bare]);
    const line = async (root: string, options: Partial<GitOptions> = {}): Promise<readonly string[]> => {
      const { seen, source } = await started(root, options);
      expect(await source.withOwnCommand(() => 1)).toBe(1);
      await source.stop();
      return seen.troubles;
    };
    expect(await line(folder)).toEqual([`git: ${folder} is not a git repository; nothing is watched`]);
    expect(await line(bare)).toEqual([`git: ${bare} cannot be watched: fatal: this operation must be run in a work tree`]);
    expect(await line(join(folder, 'x'))).toEqual([`git: ${folder}/x does not exist; nothing is watched`]);
    expect(await line(folder, { program: 'no-such-git' })).toEqual([
      'git: git is not installed, or not in the PATH; nothing is watched',
    ]);
  });

  it('a repository that disappears while it is watched prints one line and gives no event', async () => {
    const here = repository();
    const { seen, source } = await started(here.folder);
    rmSync(here.folder, { recursive: true });
    await expect.poll(() => seen.troubles.length).toBeGreaterThan(0);
    await source.stop();
    expect(seen.troubles.join('\n')).toContain(
      `git: ${here.folder} cannot be read: git is not in the PATH, or the watched folder does not exist`,
    );
    expect(seen.events).toEqual([]);
  });

  it('variables that redirect git are ignored', async () => {
    const here = repository();
    const other = repository();
    process.env['GIT_DIR'] = join(other.folder, '.git');
    ends.push(() => void delete process.env['GIT_DIR']);
    const { seen } = await started(here.folder);
    delete process.env['GIT_DIR'];
    here.git('checkout', '-qb', 'next');
    await seen.until('git.branch_switched next');
  });
});
