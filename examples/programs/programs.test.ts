/** Runs the programs as a user does: with the packed package, compiled with the options of docs/library.md. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMPILED } from '../../e2e/compiled.ts';
import { installPacked, link } from '../../e2e/packed.ts';

const here = import.meta.dirname;
const programs = readdirSync(here).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
const printing = programs.filter((name) => name !== 'store.ts');

const folder = mkdtempSync(join(tmpdir(), 'programs-test-'));
const app = join(folder, 'app');
/** The programs remove their temporary folders. */
const temporary = mkdtempSync(join(tmpdir(), 'programs-temporary-'));

/** The programs of the other folders, below the folder of the examples. */
const others = ['library', 'ai-sdk'].flatMap((of) =>
  readdirSync(join(here, '..', of))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'from-source.ts')
    .map((name) => `${of}/${name}`),
);
/** The packages that the page of the examples names. */
const page = readFileSync(join(here, '../README.md'), 'utf8');
const packages = [...page.matchAll(/^npm install (?:--save-dev )?(.*)$/gmu)].flatMap(([, names = '']) => names.split(' '));

beforeAll(() => {
  installPacked(folder);
  for (const name of packages) if (name !== 'earpiece' && name !== 'typescript') link(app, name);
  // `npm init` makes the same file.
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "version": "1.0.0", "type": "commonjs" }\n');
  const [, set = ''] = /^npm (pkg set .*)$/mu.exec(page) ?? [];
  execFileSync('npm', set.split(' '), { cwd: app });
  for (const name of programs) cpSync(join(here, name), join(app, name));
  for (const name of others) cpSync(join(here, '..', name), join(app, name));
  const { compilerOptions } = JSON.parse(readFileSync(join(here, 'tsconfig.app.json'), 'utf8')) as { compilerOptions: object };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [...programs, ...others] }));
}, 120_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(temporary, { recursive: true, force: true });
});

function run(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const env = { PATH: process.env['PATH'], TMPDIR: temporary, HOME: folder, ...COMPILED };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8', env });
  return { code: status, stdout, stderr };
}

test('there are twelve programs', () => {
  expect(programs).toHaveLength(12);
});

test('the programs compile with the options that the library page names', () => {
  const tsc = join(here, '../../node_modules/.bin/tsc');
  expect(run(tsc, '-p', '.')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('the programs start in a project of npm init', () => {
  const { code, stdout, stderr } = run('library/own-loop.ts');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('build error: The build failed');
});

test('the program with a gateway finds the packages that the page names', () => {
  expect(run('library/gateway.ts')).toMatchObject({ code: 0, stderr: '' });
});

test.each(printing)('%s prints its documented output, and leaves nothing behind', (name) => {
  const { code, stdout, stderr } = run(name);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(settled(stdout)).toBe(outputOf(name));
  expect(readdirSync(temporary).filter((left) => left.startsWith('earpiece-'))).toEqual([]);
});

test('store.ts passes the contract of a store, except the two capabilities that it lacks', () => {
  const { code, stdout } = run('store.ts');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^✔ an earpiece on the journal keeps queued notifications/mu);
  expect(stdout).toMatch(/^ℹ fail 0$/mu);
  expect(Number(/^ℹ pass (\d+)$/mu.exec(stdout)?.[1])).toBeGreaterThan(100);
  expect(
    stdout.match(/\(not here: (?:only one process may write|the journal keeps what was written).*\) .*# SKIP/gu),
  ).toHaveLength(Number(/^ℹ skipped (\d+)$/mu.exec(stdout)?.[1]));
});

/** Returns the expected output, which is the comment at the end of the file. */
function outputOf(name: string): string {
  const [, comment = ''] = readFileSync(join(here, name), 'utf8').split('\n// Output:\n');
  return comment.replaceAll(/^\/\/ ?/gmu, '');
}

/** The mark is random and durations differ, but the comments show fixed values. */
const settled = (output: string): string =>
  output.replaceAll(/\[(\/?)ep \w{4}\]/gu, '[$1ep k7f3]').replaceAll(/after \d+ ms/gu, 'after 42 ms');
