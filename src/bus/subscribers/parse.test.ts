import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../config/index.ts';
import { proves } from '../../../e2e/verifies.ts';
import type { Subscriber } from '../subscriber.ts';
import { parseSubscriber, type Parsed, type TemplateFound } from './parse.ts';

const TEMPLATES: Readonly<Record<string, TemplateFound>> = {
  'build.toon.j2': { kind: 'template', template: { name: 'build.toon.j2', text: 'build: {{ event.message }}', hash: 'abc' } },
  'link.toon.j2': { kind: 'refused', why: 'is a link to a place outside of the folder; copy the file into the folder' },
};
const parse = (text: string): Parsed =>
  parseSubscriber(text, { file: 'b.toml', folder: 'user', template: (name) => TEMPLATES[name] ?? { kind: 'missing' } });

const errors = (text: string): string[] => {
  const { problems, subscriber } = parse(text);
  expect(subscriber).toBeUndefined();
  return problems
    .filter(({ severity }) => severity === 'error')
    .map((problem) => formatProblem(problem).replace(/^b\.toml:(?=\d)/, ''));
};
const warnings = (text: string): string[] => {
  const { problems, subscriber } = parse(text);
  expect(subscriber).toBeDefined();
  expect(problems.every(({ severity }) => severity === 'warning')).toBe(true);
  return problems.map((problem) => formatProblem(problem).replace(/^b\.toml:/, ''));
};
const loaded = (text: string): Subscriber => {
  const { problems, subscriber } = parse(text);
  expect(problems).toEqual([]);
  return subscriber as Subscriber;
};

/** A valid file. Tests add lines from line 6 on. */
const HEAD = '[subscriber]\nid = "build"\nname = "Builds"\n[events]\ntypes = ["build.failed"]\n';
const with_ = (more: string): string => HEAD + more;
const withTypes = (types: string): string => HEAD.replace('["build.failed"]', types);
const withId = (id: string): string => HEAD.replace('"build"', id);

describe('a valid file', () => {
  test('an empty dedupe_key means that there is no key, as in the files of an earlier design', () => {
    expect(loaded(with_('[batching]\ndedupe_key = ""\n')).batching).not.toHaveProperty('dedupeKey');
  });

  proves('bus:checked');

  test('FR-007..012: every field is in the subscriber', () => {
    expect(
      loaded(`[subscriber]
id = "build_2"
name = "Builds"
description = "Tells of builds"
version = "2.1.0-rc.1+7"
[events]
types = ["build.failed", "deploy.*", "heartbeat"]
severity_filter = "warning"
sources = ["github", "jenkins"]
[batching]
window_ms = 10000
max_size = 100
dedupe_key = "type:source:severity:subject:payload.repo.full_name"
dedupe_window_ms = 60000
[output]
priority = "high"
inject_at = "after_tool"
template = "build.toon.j2"
core = true
kind = "ci.build"
supersede = false
[condition]
expression = "payload.size > 1000"
`),
    ).toEqual({
      id: 'build_2',
      name: 'Builds',
      description: 'Tells of builds',
      version: '2.1.0-rc.1+7',
      events: { types: ['build.failed', 'deploy.*', 'heartbeat'], severityFilter: 'warning', sources: ['github', 'jenkins'] },
      batching: {
        windowMs: 10_000,
        maxSize: 100,
        dedupeKey: ['type', 'source', 'severity', 'subject', 'payload.repo.full_name'],
        dedupeWindowMs: 60_000,
      },
      output: {
        priority: 'high',
        injectAt: 'after_tool',
        template: { name: 'build.toon.j2', text: 'build: {{ event.message }}', hash: 'abc' },
        core: true,
        kind: 'ci.build',
        supersede: false,
      },
      condition: { expression: 'payload.size > 1000' },
      from: { folder: 'user', file: 'b.toml' },
    });
  });

  test('missing fields have the documented defaults', () => {
    expect(loaded(HEAD)).toEqual({
      id: 'build',
      name: 'Builds',
      description: '',
      version: '1.0.0',
      events: { types: ['build.failed'], severityFilter: 'info' },
      batching: { windowMs: 2_000, maxSize: 10, dedupeWindowMs: 5_000 },
      output: { priority: 'normal', injectAt: 'turn_start', core: false, supersede: false },
      from: { folder: 'user', file: 'b.toml' },
    });
  });

  test.each([
    ['critical', 'immediate'],
    ['high', 'turn_start'],
    ['normal', 'turn_start'],
    ['low', 'turn_end'],
  ])('FR-017, FR-018: with priority %s, inject_at is %s by default', (priority, moment) => {
    expect(loaded(with_(`[output]\npriority = "${priority}"`)).output).toMatchObject({ priority, injectAt: moment });
  });

  test.each([
    ['the smallest', 'window_ms = 0\nmax_size = 1\ndedupe_window_ms = 0', { windowMs: 0, maxSize: 1, dedupeWindowMs: 0 }],
    [
      'the largest',
      'window_ms = 10000\nmax_size = 100\ndedupe_window_ms = 60000',
      { windowMs: 10_000, maxSize: 100, dedupeWindowMs: 60_000 },
    ],
  ])('FR-010, FR-011: %s allowed value of each range is accepted', (_name, lines, batching) => {
    expect(loaded(with_(`[batching]\n${lines}`)).batching).toEqual(batching);
  });

  test('may have an id, a name, a description and an expression of full length, and an empty description', () => {
    const text = `[subscriber]\nid = "${'a'.repeat(64)}"\nname = "${'n'.repeat(100)}"\ndescription = "${'d'.repeat(500)}"\n[events]\ntypes = ["x"]\n[condition]\nexpression = "${'e'.repeat(1000)}"`;
    expect(loaded(text).id).toHaveLength(64);
    expect(loaded(text.replace(/d{500}/, '')).description).toBe('');
  });

  test('withdraw and supersede are accepted with a dedupe key', () => {
    const { withdraw, output } = loaded(
      with_('[batching]\ndedupe_key = "payload.job"\n[output]\nsupersede = true\n[withdraw]\ntypes = ["build.fixed"]'),
    );
    expect(withdraw).toEqual({ types: ['build.fixed'] });
    expect(output.supersede).toBe(true);
  });
});

describe('an invalid file', () => {
  proves('bus:checked');

  test.each<[name: string, text: string, messages: string[]]>([
    // The file.
    [
      'half a header',
      '[subscr',
      ['1:2: is not valid TOML: incomplete key-value: cannot find end of key, in "[subscr"; see https://toml.io'],
    ],
    [
      'a table twice',
      with_('[subscriber]\n'),
      [
        '6:2: is not valid TOML: trying to redefine an already defined table or value, in "[subscriber]"; merge both places into one',
      ],
    ],
    [
      'a file of more than 65,536 bytes',
      `# ${'x'.repeat(65_535)}`,
      ['b.toml: has 65537 bytes, but at most 65536 are allowed; shorten the file'],
    ],
    [
      'an empty file',
      '',
      [
        '1:1: subscriber.id is missing; write lower-case letters, digits and "_", beginning with a letter, at most 64 characters',
        '1:1: subscriber.name is missing; write a text of 1 to 100 characters on one line',
        '1:1: events.types is missing; write a list of event types such as ["build.failed", "deploy.*"]',
      ],
    ],
    // Tables and keys
    ['a table near a known one', with_('[batchin]'), ['6:2: batchin is unknown; did you mean "batching"?']],
    [
      'a table near none',
      with_('[foo]'),
      ['6:2: foo is unknown; allowed are subscriber, events, batching, output, withdraw, condition'],
    ],
    [
      'a key near a known one',
      with_('[output]\nprioritty = "high"'),
      ['7:1: output.prioritty is unknown; did you mean "priority"?'],
    ],
    [
      'a key near none',
      with_('[output]\ncolour = "red"'),
      ['7:1: output.colour is unknown; allowed are priority, inject_at, template, core, kind, supersede'],
    ],
    [
      'a key of another table',
      with_('[output]\nwindow_ms = 5'),
      ['7:1: output.window_ms is unknown here; window_ms belongs in [batching]'],
    ],
    ['a key above the first table', `core = true\n${HEAD}`, ['1:1: core is unknown here; core belongs in [output]']],
    [
      'a value for a table',
      `batching = 3\n${HEAD}`,
      ['1:12: batching is 3, but must be a table: write [batching] with window_ms, max_size, dedupe_key, dedupe_window_ms'],
    ],
    [
      'a key of the language',
      with_('[constructor]\na = 1\n[output]\n__proto__ = 1'),
      [
        '6:2: constructor is unknown; allowed are subscriber, events, batching, output, withdraw, condition',
        '9:1: output.__proto__ is unknown; allowed are priority, inject_at, template, core, kind, supersede',
      ],
    ],
    // The table [subscriber]
    ...(['"Build"', '"2build"', '"_b"', '"a-b"', '"a b"', '""', `"${'a'.repeat(65)}"`, '"é"'] as const).map(
      (id): [string, string, string[]] => [
        `the id ${id.slice(0, 12)}`,
        withId(id),
        [
          `2:6: subscriber.id is ${id.length > 63 ? `${id.slice(0, 60)}…` : id}; write lower-case letters, digits and "_", beginning with a letter, at most 64 characters`,
        ],
      ],
    ),
    [
      'a name of 101 characters',
      HEAD.replace('Builds', 'n'.repeat(101)),
      [`3:8: subscriber.name is "${'n'.repeat(59)}…; write a text of 1 to 100 characters on one line`],
    ],
    [
      'a name of two lines',
      HEAD.replace('Builds', 'a\\nb'),
      ['3:8: subscriber.name is "a\\nb"; write a text of 1 to 100 characters on one line'],
    ],
    [
      'a description of 501 characters',
      HEAD.replace('[events]', `description = "${'d'.repeat(501)}"\n[events]`),
      [`4:15: subscriber.description is "${'d'.repeat(59)}…; write a text of at most 500 characters on one line`],
    ],
    ...['"1.0"', '"v1.0.0"', '"01.0.0"', '"1.0.0-"', '1.0'].map((version): [string, string, string[]] => [
      `the version ${version}`,
      HEAD.replace('[events]', `version = ${version}\n[events]`),
      [`4:11: subscriber.version is ${version === '1.0' ? '1' : version}; write a version such as "1.0.0"`],
    ]),
    // The table [events]
    [
      'no types',
      withTypes('[]'),
      ['5:9: events.types is an empty list; write a list of event types such as ["build.failed", "deploy.*"]'],
    ],
    [
      'a text for a list',
      withTypes('"build.failed"'),
      ['5:9: events.types is "build.failed"; write a list of event types such as ["build.failed", "deploy.*"]'],
    ],
    [
      'a lone *',
      withTypes('["a.b", "*"]'),
      ['5:17: events.types has "*" as element 2: "*" alone would match every event; name a prefix such as "build.*"'],
    ],
    [
      '* in the middle',
      withTypes('["tool.*.failed"]'),
      ['5:10: events.types has "tool.*.failed" as element 1: "*" is allowed only at the end, after a dot, such as "build.*"'],
    ],
    [
      '* without its dot',
      withTypes('["tool*"]'),
      ['5:10: events.types has "tool*" as element 1: "*" is allowed only at the end, after a dot, such as "build.*"'],
    ],
    [
      'a type with a space',
      withTypes('["build failed"]'),
      [
        '5:10: events.types has "build failed" as element 1: a type is dotted words of letters, digits, "_" and "-", such as "build.failed"',
      ],
    ],
    [
      'a type of two dots',
      withTypes('["build..failed"]'),
      [
        '5:10: events.types has "build..failed" as element 1: a type is dotted words of letters, digits, "_" and "-", such as "build.failed"',
      ],
    ],
    [
      'a severity in short form',
      with_('severity_filter = "warn"'),
      ['6:19: events.severity_filter is "warn"; write one of debug, info, warning, error, critical'],
    ],
    [
      'a severity mistyped',
      with_('severity_filter = "waring"'),
      ['6:19: events.severity_filter is "waring"; did you mean "warning"? Write one of debug, info, warning, error, critical'],
    ],
    ['no sources', with_('sources = []'), ['6:11: events.sources is an empty list; write a list of sources such as ["github"]']],
    // The table [batching]
    ...[
      ['window_ms', '10001', '0 to 10000'],
      ['window_ms', '-1', '0 to 10000'],
      ['window_ms', '2.5', '0 to 10000'],
      ['max_size', '0', '1 to 100'],
      ['max_size', '101', '1 to 100'],
      ['dedupe_window_ms', '60001', '0 to 60000'],
      ['dedupe_window_ms', '9007199254740993', '0 to 60000'],
    ].map(([key = '', value = '', range = '']): [string, string, string[]] => [
      `${key} ${value}`,
      with_(`[batching]\n${key} = ${value}`),
      [`7:${key.length + 4}: batching.${key} is ${value}; write a whole number from ${range}`],
    ]),
    [
      'a field of the payload without "payload."',
      with_('[batching]\ndedupe_key = "type:tool_name"'),
      [
        '7:14: batching.dedupe_key is "type:tool_name", with the part "tool_name"; did you mean "payload.tool_name"? Write parts joined by ":", each one of type, source, severity, subject or payload.<field>, such as "type:payload.tool_name"',
      ],
    ],
    [
      'an empty part of a dedupe key',
      with_('[batching]\ndedupe_key = "type:"'),
      [
        '7:14: batching.dedupe_key is "type:", with the part ""; write parts joined by ":", each one of type, source, severity, subject or payload.<field>, such as "type:payload.tool_name"',
      ],
    ],
    // The table [output]
    [
      'a mistyped priority',
      with_('[output]\npriority = "hihg"'),
      ['7:12: output.priority is "hihg"; did you mean "high"? Write one of critical, high, normal, low'],
    ],
    [
      'a moment of the glossary',
      with_('[output]\ninject_at = "next_cycle"'),
      ['7:13: output.inject_at is "next_cycle"; write one of immediate, turn_start, after_tool, turn_end'],
    ],
    ['a text for core', with_('[output]\ncore = "yes"'), ['7:8: output.core is "yes"; write true or false']],
    [
      'a kind without a name',
      with_('[output]\nkind = "build"'),
      ['7:8: output.kind is "build"; write "source.name" of letters, digits, "_" and "-", such as "build.failed"'],
    ],
    ...['../x.toon.j2', '/etc/x.toon.j2', 'a/b.toon.j2', 'a\\\\b.toon.j2', '.x.toon.j2', '..', 'x.j2', 'x.toon.j2\\u0000'].map(
      (name): [string, string, string[]] => [
        `the template ${name}`,
        with_(`[output]\ntemplate = "${name}"`),
        [
          `7:12: output.template is "${name}"; write the name of a file in the same folder, such as "build.toon.j2": letters, digits, ".", "_" and "-"`,
        ],
      ],
    ),
    [
      'a template that is refused',
      with_('[output]\ntemplate = "link.toon.j2"'),
      [
        '7:12: output.template is "link.toon.j2", which is a link to a place outside of the folder; copy the file into the folder',
      ],
    ],
    [
      'supersede without a key',
      with_('[output]\nsupersede = true'),
      ['7:1: output.supersede needs [batching] dedupe_key, because the newest state of a key replaces older ones'],
    ],
    [
      'supersede with an empty key',
      with_('[batching]\ndedupe_key = ""\n[output]\nsupersede = true'),
      ['9:1: output.supersede needs [batching] dedupe_key, because the newest state of a key replaces older ones'],
    ],
    [
      'withdraw with an empty key',
      with_('[batching]\ndedupe_key = ""\n[withdraw]\ntypes = ["build.fixed"]'),
      ['8:2: withdraw needs [batching] dedupe_key, because this table withdraws open notifications with the same key'],
    ],
    [
      'withdraw without a key',
      with_('[withdraw]\ntypes = ["build.fixed"]'),
      ['6:2: withdraw needs [batching] dedupe_key, because this table withdraws open notifications with the same key'],
    ],
    [
      'withdraw with a key that contains the type',
      with_('[batching]\ndedupe_key = "type:payload.job"\n[withdraw]\ntypes = ["build.fixed"]'),
      [
        '7:14: batching.dedupe_key is "type:payload.job"; remove "type", because [withdraw] needs the same key for events of different types',
      ],
    ],
    [
      'withdraw without types',
      with_('[withdraw]'),
      ['6:2: withdraw is empty; write types = ["build.fixed"], or remove the table'],
    ],
    [
      'an expression of two lines',
      with_('[condition]\nexpression = "a\\nb"'),
      [
        '7:14: condition.expression is "a\\nb"; write an expression on one line of at most 1000 characters, such as "payload.size > 1000"',
      ],
    ],
    [
      'an expression of 1001 characters',
      with_(`[condition]\nexpression = "${'e'.repeat(1001)}"`),
      [
        `7:14: condition.expression is "${'e'.repeat(59)}…; write an expression on one line of at most 1000 characters, such as "payload.size > 1000"`,
      ],
    ],
    [
      'several problems at once, in the order of the file',
      '[subscriber]\nid = "B"\n[events]\ntypes = ["*"]\n[output]\ncore = 1\n',
      [
        '1:2: subscriber.name is missing; write a text of 1 to 100 characters on one line',
        '2:6: subscriber.id is "B"; write lower-case letters, digits and "_", beginning with a letter, at most 64 characters',
        '4:10: events.types has "*" as element 1: "*" alone would match every event; name a prefix such as "build.*"',
        '6:8: output.core is 1; write true or false',
      ],
    ],
  ])('%s is reported with its place', (_name, text, messages) => {
    expect(errors(text)).toEqual(messages);
  });

  test('the parser never throws, whatever the text', () => {
    const pieces = fc.constantFrom(
      '[',
      ']',
      '"',
      "'",
      '=',
      '\n',
      '#',
      'subscriber',
      'id',
      'types',
      '\\',
      '.',
      '{',
      '}',
      '\u0000',
      '1',
      ' ',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(pieces).map((all) => all.join('')),
        ),
        (text) => {
          const { subscriber, problems } = parse(text);
          expect(subscriber === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a file that loads with a warning', () => {
  proves('bus:checked');

  test('without its template, a subscriber uses the generic view', () => {
    const text = with_('[output]\ntemplate = "bild.toon.j2"');
    expect(warnings(text)).toEqual([
      '7:12: output.template is "bild.toon.j2", which is not in this folder, so the generic view is used; add the file',
    ]);
    expect(parse(text).subscriber?.output.template).toBeUndefined();
  });

  test.each([
    ['["tool.call.failed"]', 'tool.call.failure'],
    ['["tool.cal.*"]', 'tool.call.*'],
    ['["budget.tokens.warning"]', 'budget.token.warning'],
    ['["contxt.approaching_limit"]', 'context.approaching_limit'],
  ])('%s looks mistyped', (types, near) => {
    expect(warnings(withTypes(types))).toEqual([
      `5:10: events.types has ${types.slice(1, -1)}, which no Earpiece source emits; did you mean "${near}"?`,
    ]);
  });

  test.each([
    '["tool.call.failure", "tool.*", "tool.call.*", "github.pull_request.opened", "webhook.stripe", "github.*"]',
    '["build.failed", "deploy.*", "deploy.failed", "heartbeat", "order.created.v2.eu"]',
  ])('%s does not look mistyped', (types) => {
    loaded(withTypes(types));
  });
});
