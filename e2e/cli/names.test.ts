/** Tests two repositories with one name, worktrees, a root that moved, and clones that claim another name. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

class Roots extends Shell {
  /** Makes a repository. `toml` is the content of its `earpiece.toml`. */
  repository(path: string, toml?: string): string {
    const folder = join(this.folder, path);
    mkdirSync(folder, { recursive: true });
    execFileSync('git', ['init', '-q', folder]);
    if (toml !== undefined) writeFileSync(join(folder, 'earpiece.toml'), toml);
    return folder;
  }

  async project(cwd: string, env: Record<string, string> = {}): Promise<string> {
    const found = await this.json(['doctor'], { cwd, env }).catch(() => []);
    return String(found.find(({ what }) => what === 'project')?.['value']);
  }

  /** Queues for the agent `coder` of this folder's project. Returns the receiver, and the messages. */
  async queued(cwd: string, env: Record<string, string> = {}): Promise<{ to: unknown; told: string }> {
    const { stdout, stderr } = await this.run(['send', '--json', '--to', 'coder', 'hello'], { cwd, env });
    return { to: (JSON.parse(stdout) as { to: string[] }).to, told: stderr.replaceAll(this.folder, '…') };
  }
}

describe('the name of a project', () => {
  it('belongs to the first root; a second root gets a longer name, and the output says so once', async () => {
    proves('project:unique');
    await using roots = new Roots();
    const [mine, other] = [roots.repository('mine/shop'), roots.repository('other/shop')];
    expect(await roots.queued(mine)).toEqual({ to: ['shop/coder'], told: '' });
    expect(await roots.queued(other)).toEqual({
      to: ['other-shop/coder'],
      told: 'earpiece: this project is called "other-shop": "shop" belongs to …/mine/shop; to choose another name, write project = "…" into earpiece.toml\n',
    });
    expect(await roots.queued(other)).toEqual({ to: ['other-shop/coder'], told: '' });
    expect(await roots.queued(mine)).toEqual({ to: ['shop/coder'], told: '' });
    expect(await roots.project(other)).toContain(`other-shop (${other}); this project is called "other-shop"`);
    expect((await roots.says(['agents'], { cwd: other })).replaceAll(roots.folder, '…')).toContain(
      '"shop" belongs to …/mine/shop',
    );
    const third = roots.repository('deep/other/shop');
    expect((await roots.queued(third)).to).toEqual([expect.stringMatching(/^shop-[0-9a-f]{6}\/coder$/)]);
  });

  it('is the same for all worktrees of a repository, unless the configuration sets another name', async () => {
    proves('project:unique');
    await using roots = new Roots();
    const shop = roots.repository('shop');
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-C', shop, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { stdio: 'pipe' });
    git('commit', '-q', '--allow-empty', '-m', 'first');
    git('worktree', 'add', '-q', '../shop-fix', '-b', 'fix');
    git('worktree', 'add', '-q', '../shop-own', '-b', 'own');
    expect((await roots.queued(join(roots.folder, 'shop-fix'))).to).toEqual(['shop/coder']);
    expect((await roots.queued(shop)).to).toEqual(['shop/coder']);
    writeFileSync(join(roots.folder, 'shop-own/earpiece.toml'), 'project = "shop-own"\n');
    expect((await roots.queued(join(roots.folder, 'shop-own'))).to).toEqual(['shop-own/coder']);
    expect(await roots.project(join(roots.folder, 'shop-fix'))).toContain(`a worktree of ${shop}`);
  });

  it('does not apply to a folder that only pretends to be a worktree', async () => {
    proves('project:foreign');
    await using roots = new Roots();
    const shop = roots.repository('mine/shop');
    await roots.queued(shop);
    const clone = join(roots.folder, 'clone');
    mkdirSync(join(clone, 'own'), { recursive: true });
    writeFileSync(join(clone, 'own/commondir'), join(shop, '.git'));
    writeFileSync(join(clone, 'own/gitdir'), join(shop, '.git'));
    writeFileSync(join(clone, '.git'), `gitdir: ${join(clone, 'own')}`);
    expect((await roots.queued(clone)).to).toEqual(['clone/coder']);
    writeFileSync(join(clone, '.git'), `gitdir: ${join(shop, '.git')}`);
    expect((await roots.queued(clone)).to).toEqual(['clone/coder']);
  });

  it('is kept by a root that has moved, after one confirmation', async () => {
    proves('project:moved');
    await using roots = new Roots();
    const old = roots.repository('old/shop');
    await roots.queued(old);
    const moved = join(roots.folder, 'new/shop');
    mkdirSync(join(roots.folder, 'new'));
    renameSync(old, moved);
    expect(await roots.queued(moved)).toEqual({
      to: ['new-shop/coder'],
      told: 'earpiece: this project is called "new-shop": "shop" belonged to …/old/shop, which no longer exists; if you moved that project here, run earpiece trust\n',
    });
    expect((await roots.says(['trust'], { cwd: moved })).replaceAll(roots.folder, '…')).toContain(
      'take over the name "shop" with its agents and open notifications, because its folder …/old/shop no longer exists',
    );
    expect(await roots.queued(moved)).toEqual({ to: ['shop/coder'], told: '' });
  });

  it('needs no confirmation in CI or with EARPIECE_PROJECT', async () => {
    proves('project:moved');
    await using roots = new Roots();
    const first = roots.repository('build-1/shop', 'project = "shop"\n');
    await roots.queued(first);
    rmSync(first, { recursive: true });
    const second = roots.repository('build-2/shop', 'project = "shop"\n');
    expect((await roots.queued(second)).to).toEqual(['build-2-shop/coder']);
    expect(await roots.queued(second, { CI: 'true' })).toEqual({ to: ['shop/coder'], told: '' });
    rmSync(second, { recursive: true });
    const third = roots.repository('build-3/checkout');
    expect((await roots.queued(third, { EARPIECE_PROJECT: 'shop' })).to).toEqual(['shop/coder']);
  });

  it('belongs to one root if several roots with the name begin at the same time', async () => {
    proves('project:unique');
    await using roots = new Roots();
    const folders = ['a', 'b', 'c', 'd'].map((parent) => roots.repository(`${parent}/shop`));
    const all = await Promise.all(folders.map((folder) => roots.queued(folder)));
    expect(new Set(all.map(({ to }) => String(to))).size).toBe(4);
    expect(all.map(({ to }) => String(to))).toContain('shop/coder');
  });
});

describe('a clone that claims to be another project', () => {
  it('has a separate name until it is trusted', async () => {
    proves('project:foreign');
    await using roots = new Roots();
    const mine = roots.repository('mine/shop');
    await roots.queued(mine);
    const clone = roots.repository('clones/shop', 'project = "shop"\nview = "xml"\n');
    expect((await roots.queued(clone)).to).toEqual(['clones-shop/coder']);
    const found = await roots.json(['doctor'], { cwd: clone });
    expect(found.find(({ what }) => what === 'trust')?.['value']).toContain(
      `project = "shop" (the project "shop" belongs to ${mine})`,
    );
    expect(await roots.says(['config', 'explain', 'project'], { cwd: clone })).toContain('not trusted');
    await roots.says(['trust'], { cwd: clone });
    expect((await roots.queued(clone)).to).toEqual(['shop/coder']);
    await roots.says(['trust', '--off'], { cwd: clone });
    expect((await roots.queued(clone)).to).toEqual(['clones-shop/coder']);
  });

  it('has a separate address until it is trusted', async () => {
    proves('project:foreign');
    await using roots = new Roots();
    const mine = roots.repository('mine/shop');
    await roots.queued(mine);
    const clone = roots.repository('clone', 'address = "shop/coder#main"\n');
    const identity = async (): Promise<unknown> =>
      (await roots.json(['doctor'], { cwd: clone })).find(({ what }) => what === 'identity')?.['value'];
    expect(await identity()).not.toContain('shop/coder');
    await roots.says(['trust'], { cwd: clone });
    expect(await identity()).toContain('shop/coder#main');
  });
});
