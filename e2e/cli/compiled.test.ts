import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Shell } from './shell.ts';

/** As a person has it: what these tests give each other is not there. */
const OWN = { NODE_COMPILE_CACHE: '' };

describe('what Node made of our sources', () => {
  it('is kept in the cache folder of the user, and nowhere else in the home', async () => {
    await using shell = new Shell();
    const cache = join(shell.folder, 'cache');
    expect(await shell.says(['--version'], { env: { ...OWN, XDG_CACHE_HOME: cache } })).toMatch(/^\d+\.\d+\.\d+\n$/u);
    const [kept = ''] = readdirSync(join(cache, 'earpiece'));
    expect(kept).toMatch(/^v\d+\./u);
    expect(readdirSync(join(cache, 'earpiece', kept)).length).toBeGreaterThan(10);
    rmSync(cache, { recursive: true });
    await shell.says(['--version'], { env: OWN });
    expect(readdirSync(join(shell.folder, '.cache'))).toEqual(['earpiece']);
  });

  it('what was kept and is damaged is made anew', async () => {
    await using shell = new Shell();
    const env = { ...OWN, XDG_CACHE_HOME: join(shell.folder, 'cache') };
    await shell.says(['--help'], { env });
    const [kept = ''] = readdirSync(join(shell.folder, 'cache/earpiece'));
    const folder = join(shell.folder, 'cache/earpiece', kept);
    for (const file of readdirSync(folder)) writeFileSync(join(folder, file), 'no code');
    expect(await shell.says(['--help'], { env })).toContain('earpiece');
  });

  it('a folder that cannot be written hurts nobody, and NODE_DISABLE_COMPILE_CACHE counts', async () => {
    await using shell = new Shell();
    writeFileSync(join(shell.folder, 'no-folder'), '');
    await shell.says(['--version'], { env: { ...OWN, XDG_CACHE_HOME: join(shell.folder, 'no-folder') } });
    const cache = join(shell.folder, 'cache');
    mkdirSync(cache);
    await shell.says(['--version'], { env: { ...OWN, XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: '1' } });
    expect(readdirSync(cache)).toEqual([]);
  });
});
