/** Tests the check of plain English: each rule finds its own example, and accepts the better sentence. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { LONG, MAX_WORDS, RULES } from '../../scripts/voice/rules.ts';
import { areaOf, findings, inCode, inPage, overLimit } from '../../scripts/voice/voice.ts';

const rulesOf = (found: readonly { readonly rule: string }[]): string[] => found.map(({ rule }) => rule);
const long = `The gateway ${'and the server '.repeat(MAX_WORDS)}work.`;

test.each(RULES)('a page with "$bad" breaks the rule $id', ({ id, bad, better }) => {
  const found = inPage('docs/page.md', `# A page\n\nA plain sentence. ${bad}\n`);
  expect(found).toMatchObject([{ file: 'docs/page.md', line: 3, rule: id, sentence: bad }]);
  expect(found[0]?.better).toContain(better);
  expect(inPage('docs/page.md', `${better}\n`)).toEqual([]);
});

test.each(RULES)('the rule $id applies in lists, tables, strings, comments and titles', ({ id, bad }) => {
  expect(rulesOf(inPage('page.md', `- ${bad}\n`))).toEqual([id]);
  expect(rulesOf(inPage('page.md', `| a | b |\n|---|---|\n| one | ${bad} |\n`))).toEqual([id]);
  expect(rulesOf(inCode('src/core/a.ts', `/** ${bad} */\nconst a = 1;\n`))).toEqual([id]);
  expect(rulesOf(inCode('src/core/a.ts', `// A plain line.\n// ${bad}\nconst a = 1;\n`))).toEqual([id]);
  expect(rulesOf(inCode('src/core/a.ts', `fail('${bad}');\n`))).toEqual([id]);
  expect(rulesOf(inCode('src/core/a.test.ts', `verifies('bus:order', '${bad}', () => {});\n`))).toEqual([id]);
  expect(rulesOf(inCode('src/core/a.test.ts', `test.each([1, 2])('${bad}', () => {});\n`))).toEqual([id]);
});

test('a long sentence is found in pages, help and errors, with its number of words', () => {
  expect(inPage('page.md', long)).toMatchObject([{ rule: LONG.id, better: expect.stringMatching(/^93 words; /u) as string }]);
  expect(rulesOf(inCode('src/cli/a.ts', `describe_(\`${long}\`);`))).toEqual([LONG.id]);
  expect(inCode('src/cli/a.ts', `// ${long}`)).toEqual([]);
});

test('code, quotations of data in tests, questions and names of sections are not reported', () => {
  expect(inPage('page.md', '```sh\nWhat is over is taken back.\n```\n\nRun `what is over is taken back` now.\n')).toEqual([]);
  expect(inPage('page.md', '# What is promised\n\nWhat does a pause stop?\n')).toEqual([]);
  expect(inCode('e2e/a.test.ts', "await say('What is over is taken back.');")).toEqual([]);
  expect(inCode('src/a.ts', "const found = text.match(/'/u); // A comment behind a pattern.\n")).toEqual([]);
});

test('a text in several pieces is checked as one text', () => {
  const bad = 'What is over is taken back.';
  expect(inCode('src/a.ts', `fail('What is over ' + 'is taken back.');`)).toMatchObject([{ sentence: bad }]);
  expect(inCode('console/src/a.tsx', `const a = <p>What is over\n  is taken back.</p>;`)).toMatchObject([{ sentence: bad }]);
  expect(inCode('src/a.ts', `z.string().describe('${bad}');`)).toMatchObject([{ sentence: bad }]);
  expect(inCode('src/a.ts', `fail(\`\${more ? '${bad}' : ''} Try again.\`);`)).toMatchObject([{ sentence: bad }]);
  expect(rulesOf(inCode('src/a.test.ts', `it('what is over is taken back', () => {});`))).toEqual(['opening-what']);
});

test('a finding has the line of its sentence, also after other sentences and in a regular expression with quotes', () => {
  expect(inPage('page.md', 'One.\nTwo `code`\nends. It\nis told.\n')).toMatchObject([{ line: 3 }]);
  expect(inCode('src/a.ts', 'const a = /[\'"]/u;\n\n// It is told.\n')).toMatchObject([{ line: 3 }]);
});

test('a page must have no finding; a room of code fails only above its limit', () => {
  expect(areaOf('docs/config.md')).toBe('docs/config.md');
  expect(areaOf('src/core/a.ts')).toBe('src/core');
  expect(areaOf('src/core/a.test.ts')).toBe('src/core tests');
  expect(areaOf('src/earpiece.ts')).toBe('src');
  expect(areaOf('e2e/cli/shell.ts')).toBe('e2e/cli');
  const found = inPage('docs/page.md', 'It is told. They are told.');
  const byArea = new Map([['src/core', found]]);
  expect(overLimit(byArea, { 'src/core': 2 })).toEqual([]);
  expect(overLimit(byArea, { 'src/core': 1 })).toEqual([{ area: 'src/core', found, most: 1 }]);
  expect(overLimit(byArea, {})).toEqual([{ area: 'src/core', found, most: 0 }]);
});

test('the check reads every page, the code and the tests, but not the files with the rules', () => {
  using root = folderWith({
    'README.md': 'It is told.',
    'docs/a/page.md': 'It is told.',
    'vitest.config.ts': '// It is told.',
    'scripts/voice/rules.ts': '// It is told.',
    'e2e/a/b.test.ts': "it('it is told', () => {});",
    ...Object.fromEntries(
      ['src', 'console', 'contracts', 'bench', 'scripts', 'examples'].map((at) => [`${at}/a.ts`, '// It is told.']),
    ),
    'console/b.tsx': '// It is told.',
  });
  expect(findings(root.path).map(({ file }) => file)).toEqual([
    'README.md',
    'bench/a.ts',
    'console/a.ts',
    'console/b.tsx',
    'contracts/a.ts',
    'docs/a/page.md',
    'e2e/a/b.test.ts',
    'examples/a.ts',
    'scripts/a.ts',
    'src/a.ts',
    'vitest.config.ts',
  ]);
});

function folderWith(files: Readonly<Record<string, string>>): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'earpiece-voice-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
