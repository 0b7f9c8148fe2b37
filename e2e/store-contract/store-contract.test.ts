/** Runs the store contract in another package, in which only the packed package is installed. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMPILED } from '../compiled.ts';
import { installPacked, link } from '../packed.ts';
import { proves } from '../verifies.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'earpiece-contract-'));
const app = join(folder, 'app');

beforeAll(() => {
  installPacked(folder);
  cpSync(join(root, 'examples/library/store-contract.ts'), join(app, 'store-contract.ts'));
  cpSync(join(import.meta.dirname, 'broken.mjs'), join(app, 'broken.mjs'));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('without fast-check the cases with random logs fail, and name the package to install', () => {
  const { code, tests, failed, output } = run(['broken.mjs', 'is sound']);
  expect(code).toBe(1);
  expect(tests).toBeGreaterThan(100);
  expect(failed).toEqual([
    'returns unknown types and fields as the same JSON',
    'gives the same answers as a filter over the replayed log, after any appends',
    'equals a replay of every prefix of the log',
    'equals a replay of the remaining records after old records were pruned',
  ]);
  expect(output).toContain(
    'the store contract needs the package fast-check, which is not installed: npm install --save-dev fast-check',
  );
});

test('the stores of the package pass the contract on node:test', () => {
  proves('store:contract');
  link(app, 'fast-check');
  const { code, tests, failed, skipped, output } = run(['store-contract.ts']);
  expect({ code, failed }, output).toEqual({ code: 0, failed: [] });
  expect(tests).toBe(2 * CASES);
  expect(skipped).toEqual([
    expect.stringMatching(/^with new ids .* \(not here: only one process can open it\)$/u),
    'the clock continues in a store that is opened later (not here: it keeps its data only while its process lives)',
    'wakes for an append through another opening of the store (not here: only one process can open it)',
    ...Array.from({ length: REOPENED }, () =>
      expect.stringMatching(/^has .* \(not here: it keeps its data only while its process lives\)$/u),
    ),
  ]);
}, 300_000);

test.each([
  ['loses every tenth append', ['keeps the order of calls', 'stores an id once if many simultaneous calls queue it']],
  ['closes an id twice', ['a second close is refused', 'gives each notification to one of several carriers']],
])(
  'a store that %s fails the contract',
  (defect, cases) => {
    const { code, tests, failed } = run(['broken.mjs', defect]);
    expect(code).toBe(1);
    expect(tests).toBe(CASES);
    expect(failed).toEqual(expect.arrayContaining(cases));
    expect(failed.length).toBeLessThan(CASES / 2);
  },
  300_000,
);

const CASES = 168;
/** The number of cases that open the store again. */
const REOPENED = 15;

/** Runs the file by `node:test`, and reads its TAP. */
function run(args: readonly string[]): {
  readonly code: number | null;
  readonly tests: number;
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly output: string;
} {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--test-reporter=tap', ...args], {
    cwd: app,
    encoding: 'utf8',
    maxBuffer: 64_000_000,
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, ...COMPILED },
  });
  // Cases are two suites deep.
  const cases = [...stdout.matchAll(/^ {8}(ok|not ok) \d+ - (.*?)( # SKIP)?$/gmu)].map(([, result, name = '', skip]) => ({
    failed: result === 'not ok',
    skipped: skip !== undefined,
    name: name.replaceAll('\\', ''),
  }));
  return {
    code: status,
    tests: cases.length,
    failed: cases.filter(({ failed }) => failed).map(({ name }) => name),
    skipped: cases.filter(({ skipped }) => skipped).map(({ name }) => name),
    output: stdout + stderr,
  };
}
