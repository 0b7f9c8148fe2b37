import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { OpenProblems } from './rounds.ts';

describe('the problems of jest', () => {
  proves('follow:problems');

  it('end if jest cannot load their file, although jest then names the file by its absolute path', () => {
    const stamps = new Map([
      ...['a.test.js', './a.test.js', '/shop/a.test.js'].map((file) => [file, '1'] as const),
      ...['./sub/a.test.js', '/shop/sub/a.test.js'].map((file) => [file, '2'] as const),
    ]);
    const fails = ['FAIL ./a.test.js', '  ● rounds', '', '    Error: no', '', '      at Object.toBe (a.test.js:3:12)', ''];
    const broken = (file: string): readonly string[] => [
      `FAIL ./${file}`,
      '  ● Test suite failed to run',
      '',
      '    Jest encountered an unexpected token',
      '',
      `    SyntaxError: /shop/${file}: Unexpected token (5:10)`,
      '',
    ];
    const end = 'Ran all test suites related to changed files.';
    const filesAfter = (...lines: readonly string[]): readonly (string | undefined)[] => {
      const problems = new OpenProblems(undefined, { stampOf: (file) => stamps.get(file) });
      for (const line of [...fails, end, ...lines, end]) problems.read(line);
      return [...problems.open().values()].map(({ problem }) => problem.file);
    };
    expect(filesAfter(...broken('a.test.js'))).toEqual(['/shop/a.test.js']);
    expect(filesAfter(...broken('sub/a.test.js'))).toEqual(['a.test.js', '/shop/sub/a.test.js']);
    expect(filesAfter(...broken('a.test.js'), end, 'PASS ./a.test.js')).toEqual([]);
  });

  it('end if jest cannot load their file because of another file', () => {
    const fails = (file: string): readonly string[] => [
      `FAIL ./${file}`,
      '  ● rounds',
      '',
      '    Error: no',
      '',
      `      at Object.toBe (${file}:3:12)`,
      '',
    ];
    const stops = (file: string): readonly string[] => [
      `FAIL ./${file}`,
      '  ● Test suite failed to run',
      '',
      '    boom',
      '',
      '      at Object.<anonymous> (lib.js:2:7)',
      `      at Object.require (${file}:1:11)`,
      '',
    ];
    const end = 'Ran all test suites.';
    const three = [...fails('a.test.js'), ...fails('b.test.js'), ...fails('c.test.js'), end];
    const filesAfter = (...lines: readonly string[]): readonly (string | undefined)[] => {
      const problems = new OpenProblems(undefined, { stampOf: (file) => file.replace('./', '') });
      for (const line of [...three, ...lines, end]) problems.read(line);
      return [...problems.open().values()].map(({ problem }) => problem.file);
    };
    expect(filesAfter(...stops('b.test.js'), ...stops('a.test.js'))).toEqual(['c.test.js', 'lib.js']);
    expect(filesAfter(...stops('b.test.js'), ...fails('a.test.js'))).toEqual(['c.test.js', 'lib.js', 'a.test.js']);
  });
});
