/** Tests the check of plain English: each rule finds its own example, and accepts the better sentence. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { LONG, MAX_WORDS, RULES } from '../../scripts/voice/rules.ts';
import { proseOf, wordsToHold } from '../../scripts/voice/sentences.ts';
import { areaOf, findings, inCode, inPage, overLimit } from '../../scripts/voice/voice.ts';

const rulesOf = (found: readonly { readonly rule: string }[]): string[] => found.map(({ rule }) => rule);
const sentenceOf = (words: number): string => `The ${'word '.repeat(words - 2)}ends.`;

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

test('a long sentence is found in pages, help, errors, docstrings and comments, but not in titles', () => {
  expect(MAX_WORDS).toBe(25);
  const [short, long] = [sentenceOf(MAX_WORDS), sentenceOf(MAX_WORDS + 1)];
  expect(inPage('page.md', long)).toMatchObject([{ rule: LONG.id, better: expect.stringMatching(/^26 words; /u) as string }]);
  for (const code of [`help(\`${long}\`);`, `/** ${long} */`, `/**\n * A start. ${long}\n */`, `// ${long}`]) {
    expect(rulesOf(inCode('src/cli/a.ts', code))).toEqual([LONG.id]);
    expect(inCode('src/cli/a.ts', code.replace(long, short))).toEqual([]);
  }
  expect(rulesOf(inCode('src/cli/a.test.ts', `/** ${long} */\ntest('${long}', () => {});`))).toEqual([LONG.id]);
});

test('a list of three or more entries after a colon counts as its longest entry', () => {
  const [entry, more] = ['one two three', 'and four five six seven'];
  expect(wordsToHold(`The rest is a list: ${entry}, ${entry}, ${more}.`)).toBe(10);
  expect(wordsToHold(`The rest is no list: ${entry}, ${more}.`)).toBe(13);
  const long = Array.from({ length: 10 }, () => entry).join(', ');
  expect(inPage('page.md', `The rest is a list: ${long}.`)).toEqual([]);
  expect(rulesOf(inPage('page.md', `The rest is ${long}.`))).toEqual([LONG.id]);
});

test('a diagram, a usage, an entry of a list and the output of an example belong to no sentence of a comment', () => {
  const comment = `Starts. The states are these:\n\n  a ──▶ b\n  b ──▶ a\n\n- one thing,\n  in two lines\n- another`;
  expect(proseOf(comment).split('\n')[2]).toBe('');
  expect(proseOf(comment).split('\n').slice(5)).toEqual(['- one thing,', '  in two lines', '- another']);
  const words = 'one two three four five six seven eight nine ten eleven twelve';
  expect(inCode('src/a.ts', `/**\n * ${words}\n *\n *   ${words}\n *\n * - ${words}\n * - ${words}\n */`)).toEqual([]);
  expect(inCode('src/a.ts', `// Output:\n// ${words}\n//\n// ${words}\n// ${words}\n`)).toEqual([]);
});

test('a sentence that begins with a pronoun instead of a noun is found, but not a pronoun before a noun', () => {
  for (const bad of ['It runs.', 'They end.', "It's done.", 'This is a test.', 'That cannot be undone.', 'These are new.'])
    expect(rulesOf(inPage('page.md', `A start. ${bad}\n`))).toEqual(['opening-it']);
  for (const good of ['This command ends.', 'These needs differ.', 'That process is new.', 'These changes are saved.'])
    expect(inPage('page.md', `A start. ${good}\n`)).toEqual([]);
  expect(inCode('e2e/a.test.ts', "it('that is written twice is stored once', () => {});")).toEqual([]);
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
