import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importStampIn } from './imports.ts';
import { sourceIn } from './source.ts';
import { stampIn } from './stamp.ts';

const PROBLEM = { tool: 'node', severity: 'error', message: 'no' } as const;

describe('the stamp of a test file and its imports', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-imports-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  };

  /** Whether the stamp of `a.test.mjs` changes when these files are written. */
  async function changes(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): Promise<boolean> {
    write(before);
    const stampOf = importStampIn(folder);
    const first = stampOf('a.test.mjs');
    write(after);
    await pause(60);
    return first !== undefined && stampOf('a.test.mjs') !== first;
  }

  it('changes if a file changes that the test file imports, requires, or imports through another file', async () => {
    const lib = 'export const v = 1;\n';
    expect(await changes({ 'a.test.mjs': "import { v } from './lib.mjs';\n", 'lib.mjs': lib }, { 'lib.mjs': `${lib}\n` })).toBe(
      true,
    );
    expect(await changes({ 'a.test.mjs': "const v = require('./lib');\n", 'lib.js': lib }, { 'lib.js': `${lib}\n` })).toBe(true);
    const deep = { 'a.test.mjs': "import './one.mjs';\n", 'one.mjs': 'export * from "./two.mjs";\n', 'two.mjs': lib };
    expect(await changes(deep, { 'two.mjs': `${lib}\n` })).toBe(true);
    expect(await changes({ 'a.test.mjs': "await import('./late.mjs');\n", 'other.mjs': lib }, { 'other.mjs': `${lib}\n` })).toBe(
      false,
    );
    expect(await changes({}, { 'late.mjs': lib })).toBe(true);
  });

  it('exists for files that import each other, a folder or a circular link', () => {
    write({ 'a.test.mjs': "import './b.mjs';\nimport './dir';\nimport './loop.mjs';\n", 'b.mjs': "import './a.test.mjs';\n" });
    mkdirSync(join(folder, 'dir'));
    symlinkSync('loop.mjs', join(folder, 'loop.mjs'));
    expect(importStampIn(folder)('a.test.mjs')).toContain('loop.mjs absent');
  });

  it('is undefined if no file has this path', () => {
    for (const path of ['gone.mjs', 'a'.repeat(300), `${'a/'.repeat(2_000)}b`, 'a\0b', '', '/proc/1/root/x']) {
      expect(importStampIn(folder)(path)).toBeUndefined();
      if (path !== '') expect(stampIn(folder)(path, PROBLEM)).toBeUndefined();
      expect(sourceIn(folder)(path)).toBeUndefined();
    }
  });
});
