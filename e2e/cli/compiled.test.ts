import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { SourceShell } from './shell.ts';

/** The environment of a user, without the compile cache that these tests share. */
const OWN = { NODE_COMPILE_CACHE: '' };

describe('the compile cache of Node', () => {
  it('is in the cache folder of the user, and nowhere else in the home', async () => {
    await using shell = new SourceShell();
    const cache = join(shell.folder, 'cache');
    expect(await shell.says(['--version'], { env: { ...OWN, XDG_CACHE_HOME: cache } })).toMatch(/^\d+\.\d+\.\d+\n$/u);
    const [kept = ''] = readdirSync(join(cache, 'earpiece'));
    expect(kept).toMatch(/^v\d+\./u);
    expect(readdirSync(join(cache, 'earpiece', kept)).length).toBeGreaterThan(10);
    rmSync(cache, { recursive: true });
    await shell.says(['--version'], { env: OWN });
    expect(readdirSync(join(shell.folder, '.cache'))).toEqual(['earpiece']);
  });

  it('replaces a damaged entry', async () => {
    await using shell = new SourceShell();
    const env = { ...OWN, XDG_CACHE_HOME: join(shell.folder, 'cache') };
    await shell.says(['--help'], { env });
    const [kept = ''] = readdirSync(join(shell.folder, 'cache/earpiece'));
    const folder = join(shell.folder, 'cache/earpiece', kept);
    for (const file of readdirSync(folder)) writeFileSync(join(folder, file), 'no code');
    expect(await shell.says(['--help'], { env })).toContain('earpiece');
  });

  it('a command works without a writable cache folder; NODE_DISABLE_COMPILE_CACHE turns the cache off', async () => {
    await using shell = new SourceShell();
    writeFileSync(join(shell.folder, 'no-folder'), '');
    await shell.says(['--version'], { env: { ...OWN, XDG_CACHE_HOME: join(shell.folder, 'no-folder') } });
    const cache = join(shell.folder, 'cache');
    mkdirSync(cache);
    await shell.says(['--version'], { env: { ...OWN, XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: '1' } });
    expect(readdirSync(cache)).toEqual([]);
  });

  it('is private to the user with any umask, like the state folder and the database', async () => {
    proves('cli:private');
    await using shell = new SourceShell();
    const [cache, state] = [join(shell.folder, 'cache'), join(shell.folder, 'state')];
    const env = { ...OWN, XDG_CACHE_HOME: cache, XDG_STATE_HOME: state, EARPIECE_DB: '' };
    const before = process.umask(0);
    try {
      await shell.says(['send', '--to', 'coder', 'x'], { env });
    } finally {
      process.umask(before);
    }
    const modes = [
      join(cache, 'earpiece'),
      join(state, 'earpiece'),
      join(state, 'earpiece/earpiece.db'),
      join(state, 'earpiece/projects.json'),
    ];
    expect(modes.map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['700', '700', '600', '600']);
  });

  it('if other users may write to the cache folder, that folder is emptied before its use; that folder and the state folder are made private', async () => {
    proves('cli:private');
    await using shell = new SourceShell();
    const [cache, state] = [join(shell.folder, 'cache/earpiece'), join(shell.folder, 'state/earpiece')];
    for (const folder of [cache, state]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(cache, 'planted'), 'code of somebody else');
    for (const folder of [cache, state]) chmodSync(folder, 0o777);
    const env = {
      ...OWN,
      XDG_CACHE_HOME: join(shell.folder, 'cache'),
      XDG_STATE_HOME: join(shell.folder, 'state'),
      EARPIECE_DB: '',
    };
    await shell.says(['send', '--to', 'coder', 'x'], { env });
    expect([cache, state].map((folder) => (statSync(folder).mode & 0o777).toString(8))).toEqual(['700', '700']);
    expect(existsSync(join(cache, 'planted'))).toBe(false);
  });

  it('is not used below a folder that others may write to, if that folder has no sticky bit', async () => {
    proves('cli:private');
    await using shell = new SourceShell();
    const cache = join(shell.folder, 'cache');
    mkdirSync(cache);
    chmodSync(cache, 0o777);
    await shell.says(['--version'], { env: { ...OWN, XDG_CACHE_HOME: cache } });
    expect(readdirSync(join(cache, 'earpiece'))).toEqual([]);
  });
});
