import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { defined } from '../core/defined.ts';
import { editToml, literal, type Edit, type Plain } from './edit.ts';
import { splitKey } from './positions.ts';
import { formatProblem } from './problems.ts';

const edit = (text: string, key: string, value?: Plain): string => {
  const change: Edit = { path: splitKey(key) ?? [], ...defined({ value }) };
  const edited = editToml(text, change, 'f.toml');
  return edited.kind === 'text' ? edited.text : `! ${formatProblem(edited.problem)}`;
};

const PERSONS = `# How I like it.

view = "json"   # for the small model

# what is delivered at once
[budget]
max_items   = 5     # few
# max_tokens = 400

# who may wake me
[wake]
error = 'auto'
`;

describe('an existing key', () => {
  test.each<[string, Plain, string, string]>([
    ['view', 'toon', 'view = "json"   #', 'view = "toon"   #'],
    ['budget.max_items', 12, 'max_items   = 5     # few', 'max_items   = 12     # few'],
    ['wake.error', 'ask', "error = 'auto'", 'error = "ask"'],
  ])('%s: only its value is changed', (key, value, before, after) => {
    expect(edit(PERSONS, key, value)).toBe(PERSONS.replace(before, after));
  });

  test.each([
    [
      'a list of several lines',
      'redact = [ # mine\n  "a", # first\n  "b",\n] # end\nview = "json"\n',
      'redact',
      ['x'],
      'redact = ["x"] # end\nview = "json"\n',
    ],
    ['a text of several lines', "agent.system = '''\n# no comment\n''' # c\n", 'agent.system', 'x', 'agent.system = "x" # c\n'],
    [
      'in an inline table',
      'budget = { max_items = 5, max_tokens = 1_000 } # c',
      'budget.max_tokens',
      60,
      'budget = { max_items = 5, max_tokens = 60 } # c',
    ],
    [
      'with Windows line ends',
      'view = "json" # c\r\n\r\n[budget]\r\nmax_items = 5\r\n',
      'view',
      'xml',
      'view = "xml" # c\r\n\r\n[budget]\r\nmax_items = 5\r\n',
    ],
    [
      'quoted',
      '[conversation.notifications.kinds]\n"mcp.x" = true\n',
      'conversation.notifications.kinds."mcp.x"',
      false,
      '[conversation.notifications.kinds]\n"mcp.x" = false\n',
    ],
    ['at the end of a file without a line break', '[budget]\nmax_items = 5', 'budget.max_items', 6, '[budget]\nmax_items = 6'],
    ['behind a byte order mark', '\ufeffview = "json"', 'view', 'xml', '\ufeffview = "xml"'],
  ] satisfies [string, string, string, Plain, string][])('%s', (_case, before, key, value, after) => {
    expect(edit(before, key, value)).toBe(after);
  });
});

describe('a new key', () => {
  test.each([
    [
      'into its table, above the comment of the next table',
      PERSONS,
      'budget.max_tokens',
      400,
      PERSONS.replace('# few\n', '# few\nmax_tokens = 400\n'),
    ],
    [
      'at the top, after the other keys',
      PERSONS,
      'min_level',
      'warning',
      PERSONS.replace('model\n', 'model\nmin_level = "warning"\n'),
    ],
    [
      'at the top, above the comment of the first table',
      '# mine\n\n# b\n[budget]\nmax_items = 5\n',
      'view',
      'xml',
      '# mine\n\nview = "xml"\n\n# b\n[budget]\nmax_items = 5\n',
    ],
    ['after a line break at the start of the file', '\n# b\n[budget]\n', 'view', 'xml', '\nview = "xml"\n\n# b\n[budget]\n'],
    ['behind a byte order mark', '\ufeff# b\n[budget]\n', 'view', 'xml', '\ufeffview = "xml"\n\n# b\n[budget]\n'],
    ['in a new table', 'view = "json"', 'wake.info', 'ask', 'view = "json"\n\n[wake]\ninfo = "ask"\n'],
    ['in an empty file', '', 'wake.info', 'ask', '[wake]\ninfo = "ask"\n'],
    ['in an empty table', '[wake]\n# none\n\n[budget]\n', 'wake.info', 'ask', '[wake]\ninfo = "ask"\n# none\n\n[budget]\n'],
    [
      'with dots, like the other key of its table',
      'budget.max_items = 5 # c\nview = "json"\n',
      'budget.max_tokens',
      60,
      'budget.max_items = 5 # c\nbudget.max_tokens = 60\nview = "json"\n',
    ],
    [
      'with dots in a table',
      '[conversation]\nnotifications.enable = true\n',
      'conversation.notifications.kinds."a.b"',
      false,
      '[conversation]\nnotifications.enable = true\n\n[conversation.notifications.kinds]\n"a.b" = false\n',
    ],
    [
      'with the indentation of the other key',
      '[budget]\n  max_items = 5\n',
      'budget.max_tokens',
      60,
      '[budget]\n  max_items = 5\n  max_tokens = 60\n',
    ],
    [
      'with Windows line ends',
      '[budget]\r\nmax_items = 5',
      'wake.info',
      'ask',
      '[budget]\r\nmax_items = 5\r\n\r\n[wake]\r\ninfo = "ask"\r\n',
    ],
    [
      'into an inline table',
      'budget = { max_items = 5 }\n',
      'budget.max_tokens',
      60,
      'budget = { max_items = 5, max_tokens = 60 }\n',
    ],
    ['into an empty inline table', 'budget = {}\n', 'budget.max_tokens', 60, 'budget = { max_tokens = 60 }\n'],
    [
      'with dots, into the inline table of a parent',
      'conversation = { notifications = { enable = true } }\n',
      'conversation.notifications.kinds."a.b"',
      false,
      'conversation = { notifications = { enable = true, kinds."a.b" = false } }\n',
    ],
    [
      'in a new table, after an existing subtable of the new table',
      '[conversation.notifications.kinds.mcp]\nenable = true\n',
      'conversation.notifications.enable',
      false,
      '[conversation.notifications.kinds.mcp]\nenable = true\n\n[conversation.notifications]\nenable = false\n',
    ],
    [
      'not into an element of a list',
      '[[budget.x]]\na = 1\n',
      'budget.max_items',
      5,
      '[[budget.x]]\na = 1\n\n[budget]\nmax_items = 5\n',
    ],
  ] satisfies [string, string, string, Plain, string][])('%s', (_case, before, key, value, after) => {
    expect(edit(before, key, value)).toBe(after);
    expect(parse(after)).toBeDefined();
  });
});

describe('a removed key', () => {
  test.each([
    ['with its line', PERSONS, 'view', PERSONS.replace('view = "json"   # for the small model\n', '')],
    ['with its table, if the table becomes empty', 'view = "json"\n\n[wake]\ninfo = "ask"\n', 'wake.info', 'view = "json"\n'],
    [
      'without its table, if a comment follows the table',
      '[wake]\ninfo = "ask"\n\n# b\n[budget]\n',
      'wake.info',
      '[wake]\n\n# b\n[budget]\n',
    ],
    ['without its table, if the table has a comment', '[wake]\n# none\ninfo = "ask"\n', 'wake.info', '[wake]\n# none\n'],
    ['from an inline table', 'budget = { max_items = 5, max_tokens = 60 }', 'budget.max_items', 'budget = { max_tokens = 60 }'],
    [
      'from the end of an inline table',
      'budget = { max_items = 5, max_tokens = 60 }',
      'budget.max_tokens',
      'budget = { max_items = 5 }',
    ],
    ['as the only key of an inline table', 'budget = { max_items = 5 }', 'budget.max_items', 'budget = {  }'],
    ['with dots', 'budget.max_items = 5\nbudget.max_tokens = 60\n', 'budget.max_items', 'budget.max_tokens = 60\n'],
    ['behind a byte order mark', '\ufeffview = "json"\n', 'view', '\ufeff'],
    ['that the file does not have changes nothing', PERSONS, 'interrupt', PERSONS],
  ] satisfies [string, string, string, string][])('%s', (_case, before, key, after) => {
    expect(edit(before, key)).toBe(after);
  });
});

test.each([
  ['no TOML', 'view = "json"\nbudget = \n', 'view', 'xml', /^! f\.toml:2:\d+: is not valid TOML/],
  ['a key that is a table here', '[view]\na = 1\n', 'view', 'xml', /^! f\.toml: view cannot be put into the existing value/],
  ['a table that is a value here', 'budget = 5\n', 'budget.max_items', 5, /^! f\.toml: budget\.max_items cannot be put into/],
] satisfies [string, string, string, Plain, RegExp][])('refused: %s', (_case, before, key, value, message) => {
  expect(edit(before, key, value)).toMatch(message);
});

test('every written value is read back unchanged', () => {
  const values = fc.oneof(fc.boolean(), fc.integer(), fc.string({ unit: 'binary' }), fc.array(fc.string({ unit: 'grapheme' })));
  fc.assert(
    fc.property(values, (value) => {
      expect(parse(`a = ${literal(value)}`)).toEqual({ a: value });
    }),
  );
});

test('in any file of a person, a key can be set without the loss of a comment, and removed again', () => {
  const name = fc.constantFrom('a', 'b', 'c d', 'é');
  const path = fc.array(name, { minLength: 1, maxLength: 4 });
  const space = fc.constantFrom('', ' ', '\t');
  const comment = fc.constantFrom('', ' # x', ' # [a]', ' # a = 1');
  const scalar = fc.constantFrom('1', '"x"', "'''\n# y\n'''", '[\n1, # z\n2]', '{ a = 1, b = { c = 2 } }', '1979-05-27', '{}');
  const key = path.map((parts) => parts.map((part) => (/^\w$/.test(part) ? part : JSON.stringify(part))).join('.'));
  const line = fc.oneof(
    fc.tuple(space, key, scalar, comment).map(([indent, k, v, c]) => `${indent}${k} = ${v}${c}`),
    fc.tuple(key, comment).map(([k, c]) => `[${k}]${c}`),
    key.map((k) => `[[${k}]]`),
    fc.constantFrom('', '# a comment', '  # b = 1'),
  );
  const end = fc.constantFrom('\n', '\r\n');
  let edited = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), end, path, fc.boolean(), (lines, eol, at, last) => {
      const text = lines.join(eol) + (last ? eol : '');
      const before = tried(text);
      fc.pre(before !== undefined);
      const put = editToml(text, { path: at, value: 'new' }, 'f');
      if (put.kind === 'problem') return;
      edited++;
      expect(valueAt(parse(put.text), at)).toBe('new');
      for (const each of text.matchAll(/#.*$/gmu)) if (!/^# [yz]/u.test(each[0])) expect(put.text).toContain(each[0].trimEnd());
      const out = editToml(put.text, { path: at }, 'f');
      expect(out.kind).toBe('text');
      if (out.kind === 'text') expect(valueAt(parse(out.text), at)).toBe(undefined);
    }),
    { numRuns: 3_000 },
  );
  expect(edited).toBeGreaterThan(300);
});

function tried(text: string): object | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function valueAt(table: unknown, path: readonly string[]): unknown {
  let here = table;
  for (const part of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string, unknown>)[part];
  }
  return here;
}
