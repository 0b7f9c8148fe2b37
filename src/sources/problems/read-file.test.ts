import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { textOf } from './read-file.ts';

it('a read of a file that a program names does not wait, and reads only regular files up to 2 MB', () => {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-read-'));
  try {
    const at = (name: string): string => join(folder, name);
    writeFileSync(at('a.ts'), 'const ü = 1;\n');
    writeFileSync(at('big.ts'), 'x'.repeat(2_000_001));
    spawnSync('mkfifo', [at('pipe.ts')]);
    symlinkSync('pipe.ts', at('link.ts'));
    symlinkSync('/proc/kmsg', at('kmsg.ts'));
    expect(textOf(at('a.ts'))).toBe('const ü = 1;\n');
    for (const name of ['big.ts', 'pipe.ts', 'link.ts', 'gone.ts', '.', 'a\0.ts']) expect(textOf(at(name))).toBeUndefined();
    for (const path of [at('kmsg.ts'), '/proc/kmsg', '/dev/zero', '/dev/stdin']) expect(textOf(path) ?? '').toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
