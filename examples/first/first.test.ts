import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { COMPILED } from '../../e2e/compiled.ts';
import { verifies } from '../../e2e/verifies.ts';

const home = mkdtempSync(join(tmpdir(), 'earpiece-first-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

verifies('package:first-example', 'the first example prints the text of output.txt, which the README also shows', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const printed = execFileSync(process.execPath, [main], { encoding: 'utf8', env: { HOME: home, ...COMPILED } });
  // The mark is random for each log, but the page shows a fixed mark.
  expect(printed.replaceAll(/ep [a-z0-9]{4}\b/gu, 'ep k7f3')).toBe(readFileSync(join(import.meta.dirname, 'output.txt'), 'utf8'));
});
