import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';

import { expandBraces, matches, mayMatchBelow, parsePattern } from './glob.ts';
import { Ignored } from './ignore.ts';
import { globProblem, scopeOf } from './scope.ts';
import { leastProcessorMs } from '../../../e2e/processor.ts';

const fits = (pattern: string, path: string): boolean => matches(parsePattern(pattern), path.split('/'));

test.each([
  ['src/a.ts', ['src/a.ts'], ['src/a.tsx', 'a.ts', 'src/a.ts/b']],
  ['*.ts', ['a.ts', '.ts', '.d.ts'], ['src/a.ts', 'a.tsx', 'ts']],
  ['src/*', ['src/a', 'src/.env'], ['src', 'src/a/b']],
  ['**/*.ts', ['a.ts', 'src/a.ts', 'src/x/.y/a.ts'], ['a.js', 'src']],
  ['src/**', ['src/a', 'src/a/b/c'], ['lib/src/a']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b', 'a/b/b'], ['a/b/c', 'b']],
  ['**/x/**/*.md', ['x/a.md', 'p/x/q/r/a.md'], ['a.md', 'x']],
  ['a?c', ['abc', 'a😀c', 'a?c'], ['ac', 'abbc']],
  ['[a-c]x[!0-9]', ['axb', 'cx_'], ['dxb', 'ax1', 'ax']],
  ['[]-]', [']', '-'], ['a']],
  ['[a', ['[a'], ['a']],
  ['\\*\\[', ['*['], ['a[']],
  ['a**b', ['ab', 'axxb'], ['a/b']],
])('the pattern %s matches the listed paths, and not the others', (pattern, yes, no) => {
  expect(yes.filter((path) => !fits(pattern, path))).toEqual([]);
  expect(no.filter((path) => fits(pattern, path))).toEqual([]);
});

test.each([
  ['a', ['a']],
  ['*.{ts,js}', ['*.ts', '*.js']],
  ['{a,b}/{c,d}', ['a/c', 'a/d', 'b/c', 'b/d']],
  ['x{a,b{1,2}}', ['xa', 'xb1', 'xb2']],
  ['{a}', ['{a}']],
  ['{a', ['{a']],
  ['\\{a,b}', ['\\{a,b}']],
  ['{,x}y', ['y', 'xy']],
  ['{a,b}'.repeat(12), undefined],
])('braces are expanded: %s', (pattern, choices) => {
  expect(expandBraces(pattern)?.toSorted()).toEqual(choices?.toSorted());
});

test('folders that cannot contain a match are not scanned', () => {
  const may = (pattern: string, folder: string): boolean =>
    mayMatchBelow(parsePattern(pattern), folder === '' ? [] : folder.split('/'));
  expect(['', 'src', 'src/x'].map((folder) => may('src/*/a.ts', folder))).toEqual([true, true, true]);
  expect(['lib', 'src/x/y', 'src/a/b'].map((folder) => may('src/*/a.ts', folder))).toEqual([false, false, false]);
  expect(['', 'a', 'a/b/c', 'b'].map((folder) => may('a/**/x', folder))).toEqual([true, true, true, false]);
});

test('a hostile pattern takes little time', () => {
  const cost = leastProcessorMs(() => {
    expect(fits(`${'*a'.repeat(100)}b`, 'a'.repeat(255))).toBe(false);
    expect(fits(`${'**/a/'.repeat(60)}b`, Array.from({ length: 200 }, () => 'a').join('/'))).toBe(false);
  });
  expect(cost).toBeLessThan(250);
});

test('in the globs of a source, a later glob overrides an earlier glob, and an unusable glob is named', () => {
  const scope = scopeOf('/repo', ['src/**', '!**/*.snap', '*.{json,toml}', 'src/keep.snap', '/etc/*', '!', '../x']);
  const told = ['src/a.ts', 'src/x/a.snap', 'src/keep.snap', 'a.json', 'x/a.json', 'src/.git/HEAD', 'src/node_modules/a/b.js'];
  expect(told.filter((path) => scope.file(`/repo/${path}`))).toEqual(['src/a.ts', 'src/keep.snap', 'a.json']);
  expect(['/repo', '/repo/src/x', '/repo/lib', '/repo/src/node_modules', '/'].filter((path) => scope.folder(path))).toEqual([
    '/repo',
    '/repo/src/x',
  ]);
  expect(scope.problems).toEqual([
    'the glob "/etc/*" leads out of the folder; write a path below the folder; this glob is ignored',
    'the glob "!" is empty; this glob is ignored',
    'the glob "../x" leads out of the folder; write a path below the folder; this glob is ignored',
  ]);
  expect([globProblem('src/**'), globProblem('{a,b}'.repeat(12))]).toEqual([
    undefined,
    'expands to more than 256 globs, because of its braces; use fewer alternatives',
  ]);
  expect(scopeOf('/repo', []).file('/repo/a')).toBe(false);
});

test.each([
  ['./docs/a.txt', ['docs/a.txt'], ['a.txt', 'docs/b.txt']],
  ['././docs/./*', ['docs/a.txt'], ['docs/x/a.txt']],
  ['q/', ['q/a', 'q/x/b'], ['x/q/a', 'qq/a']],
  ['./{q,r/}', ['q', 'r/a'], ['q/a', 'x']],
  ['{./a,b}', ['a', 'b'], ['a/b']],
  ['docs/.', ['docs/a', 'docs/x/a'], ['a']],
  ['.', ['a', 'x/a'], []],
  ['./', ['a', 'x/a'], []],
  ['.env', ['.env'], ['env', 'a']],
])('the glob %s of a source is a path from the root, and a folder with a slash at its end means its files', (glob, yes, no) => {
  const scope = scopeOf('/repo', [glob]);
  expect(scope.problems).toEqual([]);
  expect(yes.filter((path) => !scope.file(`/repo/${path}`))).toEqual([]);
  expect(no.filter((path) => scope.file(`/repo/${path}`))).toEqual([]);
  expect(yes.filter((path) => !scope.folder(`/repo/${dirname(path)}`))).toEqual([]);
  expect(scopeOf('/repo', ['**', `!${glob}`]).file(`/repo/${yes[0]}`)).toBe(false);
});

test.each(['{a,../b}', '{..,a}/*', '@(..)/x', '+(a|../b)', '[.][.]/x', String.raw`\..\/**`, '{a,/etc}/*', '!{a,..}/x'])(
  'the glob %s leads out of the folder',
  (glob) => expect(globProblem(glob)).toBe('leads out of the folder; write a path below the folder'),
);

test('globs with names that only look like the parent folder are usable, and control characters are refused', () => {
  const usable = ['{,packages/*}/src/**', 'app/(..)photo/**', '@modal/(..)x', '?./x', '...', '{a..b,c}', '@(a|b)/x', '!(..)/x'];
  expect(usable.filter((glob) => globProblem(glob) !== undefined)).toEqual([]);
  expect(usable.concat('[[]x', '[]a]', String.raw`\[x`).filter((glob) => globProblem(glob)?.includes('without'))).toEqual([]);
  for (const open of ['[', 'src/[a', '[a/b]', '{a,[b}', '!x[', '[]'])
    expect(globProblem(open), open).toBe(String.raw`has a [ without its ]; write \[ for the character`);
  expect(globProblem('a\0')).toBe('has a control character; write ? for the character');
});

describe('.gitignore', () => {
  const root = mkdtempSync(join(tmpdir(), 'earpiece-ignore-'));
  afterAll(() => rmSync(root, { recursive: true }));

  const put = (folder: string, files: Readonly<Record<string, string>>): string => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  };

  test('applies its rules and the rules of nested files, and changed rules after forget', () => {
    const folder = put(join(root, 'rules'), {
      '.gitignore': '\uFEFF# all but\n*.log\r\n!keep.log\n/top\nbuild/\ndoc/**\n\\#x\ntrailing  \nspace\\ \n/\n!\n',
      'sub/.gitignore': '!*.log\n/own\n',
    });
    const ignored = new Ignored(folder);
    const asked = [
      ['a.log', true],
      ['x/a.log', true],
      ['keep.log', false],
      ['sub/a.log', false],
      ['top', true],
      ['x/top', false],
      ['build', false],
      ['x/build/a', true],
      ['doc', false],
      ['doc/a/b', true],
      ['#x', true],
      ['trailing', true],
      ['space ', true],
      ['sub/own', true],
      ['sub/x/own', false],
      ['.git/HEAD', true],
      ['a/node_modules/b/c', true],
      ['a/.cart.ts.swp', true],
      ['a/cart.ts~', true],
      ['a/.env', false],
    ] as const;
    expect(asked.filter(([path, is]) => ignored.has(path.split('/'), 'file') !== is)).toEqual([]);
    expect(ignored.has(['build'], 'folder')).toBe(true);

    writeFileSync(join(folder, '.gitignore'), '');
    expect(ignored.has(['a.log'], 'file')).toBe(true);
    ignored.forget([]);
    expect(ignored.has(['a.log'], 'file')).toBe(false);
  });

  test('ignores the same files as git', () => {
    const name = fc.stringMatching(/^[abx]{1,3}$/);
    const part = fc.oneof(name, fc.constantFrom('*', '**', '?', '*a', 'a*', '[ab]', '[!a]*', 'x*b', '**a', '.a', '*.x'));
    const rule = fc
      .tuple(
        fc.constantFrom('', '!', '', ''),
        fc.constantFrom('', '/', ''),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '/'),
      )
      .map(([not, slash, parts, end]) => `${not}${slash}${parts.join('/')}${end}`);
    const path = fc.array(fc.oneof(name, fc.constantFrom('.a', 'b.x', 'a.x')), { minLength: 1, maxLength: 4 });
    const folder = put(join(root, 'same'), {});
    execFileSync('git', ['init', '-q', folder]);
    const gitSays = (paths: readonly string[]): Set<string> => {
      try {
        const out = execFileSync('git', ['check-ignore', '--no-index', '-z', '--stdin'], {
          cwd: folder,
          input: paths.join('\0'),
        });
        return new Set(out.toString().split('\0'));
      } catch (error) {
        // Exit code 1 means that none of the paths is ignored.
        if ((error as { status?: number }).status === 1) return new Set();
        throw error;
      }
    };
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 4 }),
        fc.array(path, { minLength: 5, maxLength: 20 }),
        (rules, names) => {
          writeFileSync(join(folder, '.gitignore'), rules.join('\n'));
          const paths = [...new Set(names.map((each) => each.join('/')))];
          const git = gitSays(paths);
          const ignored = new Ignored(folder);
          const differ = paths.filter((each) => ignored.has(each.split('/'), 'file') !== git.has(each));
          expect(differ).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
