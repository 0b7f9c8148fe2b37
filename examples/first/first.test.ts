import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../e2e/verifies.ts';

verifies('package:first-example', 'prints what output.txt says, and the README shows', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const printed = execFileSync(process.execPath, [main], { encoding: 'utf8', env: { HOME: '/nowhere', PATH: '' } });
  // The mark is random for each log; the page shows one of them.
  expect(printed.replaceAll(/ep [a-z0-9]{4}\b/gu, 'ep k7f3')).toBe(readFileSync(join(import.meta.dirname, 'output.txt'), 'utf8'));
});
