import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { tailOf } from './transcript.ts';

describe('the end of a transcript', () => {
  proves('hosts:hook-trouble');
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'earpiece-transcript-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read from a file', () => {
    writeFileSync(join(folder, 'session.jsonl'), '{}\n');
    expect(tailOf(join(folder, 'session.jsonl'))).toBe('{}\n');
  });

  it('is undefined if the path names a folder, a device or nothing', () => {
    for (const path of [folder, '/dev/zero', join(folder, 'nothing')]) expect(tailOf(path)).toBeUndefined();
  });

  it('does not block if the path names a pipe', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const read = `import { tailOf } from ${JSON.stringify(import.meta.resolve('./transcript.ts'))}; console.log(tailOf(${JSON.stringify(pipe)}));`;
    // The read runs in a separate process, because it could block the process of the test.
    const child = execFileSync(process.execPath, ['--input-type=module', '-e', read], { timeout: 20_000, encoding: 'utf8' });
    expect(child).toBe('undefined\n');
  });
});
