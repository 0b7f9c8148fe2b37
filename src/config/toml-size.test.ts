import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { parseSubscriber } from '../bus/subscribers/parse.ts';
import { checkConfigText } from './check.ts';
import { world } from './fixtures.ts';
import { configWriter } from './change.ts';
import { formatProblem } from './index.ts';
import { excessOf, MAX_ENTRIES, MAX_KEY, MAX_LEVELS, MAX_PARTS } from './toml-size.ts';

const MB = 1_000_000;
const dotted = (parts: number): string => Array(parts).fill('a').join('.');
const filled = (line: (i: number) => string, size = MB): string => {
  const lines: string[] = [];
  for (let i = 0, length = 0; length < size; i++) {
    const next = line(i);
    lines.push(next);
    length += next.length;
  }
  return lines.join('');
};

const HOSTILE: readonly [string, string][] = [
  ['a header of 50,000 parts', `[${dotted(50_000)}]\nx=1`],
  ['a list header of 50,000 parts', `[[${dotted(50_000)}]]\nx=1`],
  ['a key of 50,000 parts', `${dotted(50_000)}=1`],
  ['a key of 50,000 quoted parts', `${Array(50_000).fill('""').join(' . ')}=1`],
  ['a key of 50,000 parts in an inline table', `x = [ { y = 1, # ' \n ${dotted(50_000)} = 1 } ]`],
  ['many keys below a long name', `[${'a'.repeat(MB / 2)}]\n${filled((i) => `k${i}=1\n`, MB / 2)}`],
  ['many keys of many parts', filled((i) => `${dotted(16)}.k${i}=1\n`)],
  ['many keys', filled((i) => `k${i}=1\n`)],
  ['many tables', filled((i) => `[k${i}]\n`)],
  ['many list tables', filled(() => '[[a]]\n')],
  ['a list of many elements', `a=[${filled(() => '1,')}]`],
  ['deep lists', `a=[${filled(() => `${'['.repeat(190)}${']'.repeat(190)},`)}]`],
  ['deep inline tables', `x=[${filled(() => `${'{a='.repeat(190)}1${'}'.repeat(190)},`)}]`],
  ['long names in each other', `${`x={${'a'.repeat(500)}=`.repeat(8)}[${'1,'.repeat(MB / 2)}]`],
];

const spentMs = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

describe.each(HOSTILE)('%s', (_what, text) => {
  proves('config:bounded');

  test('is refused as earpiece.toml within a second, with its place', () => {
    let problems: readonly unknown[] = [];
    expect(spentMs(() => (problems = checkConfigText(text, 'earpiece.toml').problems))).toBeLessThan(1_000);
    expect(problems).toEqual([
      { file: 'earpiece.toml', line: expect.any(Number), column: expect.any(Number), message: expect.any(String) },
    ]);
  });
});

describe('the limits of a file', () => {
  proves('config:bounded');
  const said = (text: string): string[] => checkConfigText(text, 'f').problems.map(formatProblem);

  test('the error names the exceeded limit, its place and the allowed value', () => {
    expect(said(`view = "json"\n ${dotted(50)}=1`)).toEqual([
      `f:2:2: has a key of 50 parts, "${dotted(20)}."…; a key may have at most 16 parts`,
    ]);
    expect(said(`[${'a'.repeat(513)}]`)).toEqual([
      `f:1:2: has a key of 513 characters, "${'a'.repeat(40)}"…; a key may have at most 512 characters`,
    ]);
    expect(said(`a = ${'['.repeat(9)}${']'.repeat(9)}`)).toEqual([
      'f:1:13: nests lists and tables more than 8 levels deep; use fewer levels',
    ]);
  });

  test('a subscriber file has the same limits', () => {
    const text = `["${'a"."'.repeat(15_000)}a"]\nx=1`;
    let parsed: ReturnType<typeof parseSubscriber> | undefined;
    const read = (): unknown =>
      (parsed = parseSubscriber(text, { file: 'b.toml', folder: 'user', template: () => ({ kind: 'missing' }) }));
    expect(spentMs(read)).toBeLessThan(1_000);
    expect(parsed?.problems).toEqual([
      {
        file: 'b.toml',
        line: 1,
        column: 2,
        severity: 'error',
        message: expect.stringContaining('has a key of 15001 parts') as string,
      },
    ]);
  });

  test('a file exactly at a limit is read, and a file above it is refused', () => {
    const at = [
      (n: number) => `${dotted(MAX_PARTS + n)}=1`,
      (n: number) => `[${'a'.repeat(MAX_KEY + n)}]`,
      (n: number) => `a=${'['.repeat(MAX_LEVELS + n)}${']'.repeat(MAX_LEVELS + n)}`,
      (n: number) => 'a=1\n'.repeat(MAX_ENTRIES + n),
    ];
    for (const text of at) {
      expect(excessOf(text(0))).toBeUndefined();
      expect(excessOf(text(1))).toBeDefined();
    }
  });

  test('dots, brackets and commas in strings and comments do not count', () => {
    const noise = `${'.'.repeat(50)}${'[{'.repeat(50)}${',='.repeat(20_000)}`;
    const strings = [`"${noise}\\""`, `'${noise}'`, `"""${noise}\n""${noise}\\"""""`, `'''${noise}\n'${noise}'''''`];
    for (const string of strings) expect(excessOf(`a = ${string} # ${noise}\nb = [${string}]\n# ${noise}`)).toBeUndefined();
    for (const string of strings) expect(excessOf(`a = ${string}\n${dotted(17)} = 1`)?.message).toContain('17 parts');
  });
});

describe("in place of a project's earpiece.toml,", () => {
  proves('config:links');

  test('a link out of the project is refused by name, without its content', async () => {
    const { read, write, projectFile, options } = world();
    const secret = write('elsewhere/passwd', 'root:x:0:0:secret');
    symlinkSync(secret, projectFile);
    const told =
      '…/web/earpiece.toml: is a link to …/elsewhere/passwd, outside of the project; the link is ignored; replace the link with the file itself';
    expect(read().problems).toEqual([told]);
    await expect(
      configWriter(options()).change('project', [{ key: 'view', to: { kind: 'value', value: 'json' } }]),
    ).rejects.toThrow('outside of the project');
  });

  test('a link to a TOML file out of the project has no effect', () => {
    const { read, write, projectFile } = world();
    symlinkSync(write('elsewhere/other.toml', 'view = "xml"'), projectFile);
    const { config, problems } = read();
    expect(config.policy.view).toBe('default');
    expect(problems.join('')).toContain('outside of the project');
  });

  test('a link to another file of the project (.env, .git/config) is refused without its content', () => {
    const { read, repository, projectFile } = world();
    writeFileSync(join(repository, '.env'), 'KEY=secret');
    symlinkSync('.env', projectFile);
    expect(read().problems).toEqual([
      '…/web/earpiece.toml: is a link to …/web/.env, which is not a .toml file; the link is ignored; replace the link with the file itself',
    ]);
  });

  test('a link to a TOML file of the project is read', () => {
    const { read, repository, projectFile } = world();
    mkdirSync(join(repository, 'settings'));
    writeFileSync(join(repository, 'settings/ours.toml'), 'view = "xml"');
    symlinkSync('settings/ours.toml', projectFile);
    expect(read()).toMatchObject({ config: { policy: { view: 'xml' } }, problems: [] });
  });
});
