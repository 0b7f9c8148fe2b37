import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkConfigText, formatProblem } from './index.ts';
import { proves } from '../../e2e/verifies.ts';

/** Formats the problems without the file's name at their beginning. */
const refusals = (text: string): string[] =>
  checkConfigText(text, 'e.toml').problems.map((problem) => formatProblem(problem).replace(/^e\.toml:/, ''));
const values = (text: string): Record<string, unknown> => {
  const { entries, problems } = checkConfigText(text, 'earpiece.toml');
  expect(problems.map(formatProblem)).toEqual([]);
  return Object.fromEntries(entries.map((entry) => [entry.key, entry.value]));
};

describe('each invalid file is refused with its message', () => {
  proves('config:unknown-key');
  test.each<[name: string, text: string, messages: string[]]>([
    // Keys
    ['a key near a known one', 'veiw = "xml"', ['1:1: veiw is unknown; did you mean "view"?']],
    [
      'a key that resembles no other key',
      '[budget]\nfoo = 1',
      ['2:1: budget.foo is unknown; allowed are max_items, max_tokens, max_item_chars'],
    ],
    ['a key of another table', '\nmax_items = 3', ['2:1: max_items is unknown here; max_items belongs in [budget]']],
    [
      'a key of the top below a header',
      '[budget]\nview = "xml"',
      ['2:1: budget.view is unknown here; view belongs at the top of the file, above the first table'],
    ],
    ['an unknown table', '[budgets]\nmax_items = 3', ['1:2: budgets is unknown; did you mean "budget"?']],
    ['an unknown table in a table', '[gateway.htp]\nport = 1', ['1:10: gateway.htp is unknown; did you mean "http"?']],
    [
      'a key below a value',
      '[view]\nname = "xml"',
      ['1:2: view is a table; write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja'],
    ],
    [
      'a value for a table',
      'budget = 3',
      ['1:10: budget is 3, not a table; write [budget] with max_items, max_tokens, max_item_chars'],
    ],
    [
      'a list for a table',
      '[[gateway.servers]]\nname = "a"',
      ['1:11: gateway.servers is a list, not a table; write [gateway.servers.<name>]'],
    ],
    [
      'a quoted key',
      '"a b" = 1',
      [
        '1:1: "a b" is unknown; allowed are project, address, db, archive, time_zone, view, interrupt, min_level, max_defer, max_open, retention, redact, budget, ttl, wake, coalesce, max_level, withheld, lease, core, conversation, agent, tasks, sources, follow, gateway, server, webhooks, matchers',
      ],
    ],
    [
      'a key of the language',
      '__proto__ = 1\n[constructor]\na = 1',
      [
        '1:1: __proto__ is unknown; allowed are project, address, db, archive, time_zone, view, interrupt, min_level, max_defer, max_open, retention, redact, budget, ttl, wake, coalesce, max_level, withheld, lease, core, conversation, agent, tasks, sources, follow, gateway, server, webhooks, matchers',
        '2:2: constructor is unknown; allowed are project, address, db, archive, time_zone, view, interrupt, min_level, max_defer, max_open, retention, redact, budget, ttl, wake, coalesce, max_level, withheld, lease, core, conversation, agent, tasks, sources, follow, gateway, server, webhooks, matchers',
      ],
    ],
    // Values
    [
      'a misspelled word',
      'view = "xlm"',
      [
        '1:8: view is "xlm"; did you mean "xml"? Write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja',
      ],
    ],
    ['an unknown word', 'interrupt = "sometimes"', ['1:13: interrupt is "sometimes"; write one of before, after']],
    ['a number for a word', 'min_level = 2', ['1:13: min_level is 2; write one of info, warning, error, critical']],
    [
      'a text for a number',
      '[budget]\nmax_items = "ten"',
      ['2:13: budget.max_items is "ten"; write a whole number from 1 to 1000'],
    ],
    [
      'a number out of range',
      '[budget]\nmax_items = 0\nmax_tokens = 2000000',
      [
        '2:13: budget.max_items is 0; write a whole number from 1 to 1000',
        '3:14: budget.max_tokens is 2000000; write a whole number from 50 to 1000000',
      ],
    ],
    ['a number that is not whole', 'max_open = 1.5', ['1:12: max_open is 1.5; write a whole number from 1 to 1000000']],
    [
      'a number beyond all numbers',
      'max_open = 99999999999999999999',
      ['1:12: max_open is 99999999999999999999; write a whole number from 1 to 1000000'],
    ],
    ['infinity', 'max_open = inf', ['1:12: max_open is Infinity; write a whole number from 1 to 1000000']],
    [
      'a duration without unit',
      'max_defer = 30',
      ['1:13: max_defer is 30, without a unit; write a duration such as "30m", from "1s" to "30d"'],
    ],
    [
      'a text that is not a duration',
      '[ttl]\ninfo = "soon"',
      ['2:8: ttl.info is "soon"; write a duration such as "3d", from "1s" to "3650d", or "never"'],
    ],
    [
      'a duration out of range',
      '[lease]\nlasts = "1h"',
      ['2:9: lease.lasts is "1h"; write a duration such as "10s", from "100ms" to "30s"'],
    ],
    [
      '"never" for a time that must end',
      'retention = "never"',
      ['1:13: retention is "never"; write a duration such as "30d", from "1h" to "3650d"'],
    ],
    [
      'a date',
      'retention = 2030-01-01',
      ['1:13: retention is the date 2030-01-01; write a duration such as "30d", from "1h" to "3650d"'],
    ],
    [
      'a text for a switch',
      '[conversation.notifications]\nenable = "yes"',
      ['2:10: conversation.notifications.enable is "yes"; write true or false'],
    ],
    [
      'a table for a switch',
      '[conversation.notifications.enable]\na = 1',
      ['1:29: conversation.notifications.enable is a table; write true or false'],
    ],
    [
      'an empty text',
      'db = ""',
      ['1:6: db is ""; write the path of a file, such as "earpiece.db", or memory: for a database that ends with its process'],
    ],
    [
      'a name that no address can hold',
      'project = "a/b"',
      ['1:11: project is "a/b"; write a name without "/", "#" and "*", at most 128 characters'],
    ],
    [
      'no address',
      'address = "a/b/c"',
      ['1:11: address is "a/b/c"; write an agent\'s name, project/agent, project/agent#conversation or project/*'],
    ],
    [
      'no time zone',
      'time_zone = "Mars/Phobos"',
      ['1:13: time_zone is "Mars/Phobos"; write a time zone such as "Europe/Berlin" or "UTC"'],
    ],
    [
      'no regular expression',
      'redact = ["ok", "("]',
      [
        '1:17: redact has "(" as element 2: the pattern is not a regular expression of RE2 (missing closing )); correct the pattern',
      ],
    ],
    [
      'an expression that matches everything',
      'redact = ["x*"]',
      ['1:11: redact has "x*" as element 1: the pattern matches the empty text, and so every text; write + instead of *'],
    ],
    [
      'a text for a list',
      'redact = "x"',
      ['1:10: redact is "x"; write a list of regular expressions such as ["sk-[A-Za-z0-9]{20,}"]'],
    ],
    [
      'a number in a list of texts',
      '[core]\nkinds = [\n  "deploy.*",\n  3,\n]',
      ['4:3: core.kinds has 3 as element 2; write a list of kinds such as ["deploy.failed", "deploy.*"]'],
    ],
    [
      'a kind without a name',
      '[core]\nkinds = ["deploy"]',
      ['2:10: core.kinds has "deploy" as element 1: it is not "source.name" or "source.*"'],
    ],
    [
      'a long text is cut',
      `view = "${'x'.repeat(100)}"`,
      [
        '1:8: view is "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…; write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja',
      ],
    ],
    // Kinds
    [
      'a source where a kind belongs',
      '[conversation.notifications.kinds]\nmcp = false',
      [
        '2:1: conversation.notifications.kinds.mcp is a source and not "source.name"; for the whole source, write [conversation.notifications.kinds.mcp] enable = false',
      ],
    ],
    [
      'an invalid kind',
      '[conversation.notifications.kinds]\n"mcp server.x" = false',
      ['2:1: conversation.notifications.kinds."mcp server.x" is not "source.name", e.g. "tool.failed"'],
    ],
    [
      'a kind that is no switch',
      '[conversation.notifications.kinds]\n"mcp.x" = 1',
      ['2:11: conversation.notifications.kinds."mcp.x" is 1; write true or false'],
    ],
    [
      'a name that is no switch',
      '[conversation.notifications.kinds.mcp]\nreconnected = "no"',
      ['2:15: conversation.notifications.kinds.mcp.reconnected is "no"; write true or false'],
    ],
    [
      'a name with a blank',
      '[conversation.notifications.kinds.mcp]\n"re connected" = false',
      [
        '2:1: conversation.notifications.kinds.mcp."re connected" is not a valid name of a notification: letters, digits, "_" and "-", at most 64 characters',
      ],
    ],
    [
      'a table twice',
      '[conversation.notifications.kinds.mcp]\nenable = false\n[conversation.notifications.kinds.mcp]\nreconnected = false',
      [
        '3:2: is not valid TOML: trying to redefine an already defined table or value, in "[conversation.notifications.kinds.mcp]"; merge both places into one',
      ],
    ],
    // Tools
    [
      'an unknown key of a tool',
      '[conversation.tools.cargo_check]\nstatefull = true',
      ['2:1: conversation.tools.cargo_check.statefull is unknown; did you mean "stateful"?'],
    ],
    [
      'a name of the spawn table in the table notifications',
      '[conversation.tools.t.notifications]\non_success = true',
      [
        '2:1: conversation.tools.t.notifications.on_success belongs in the table spawn.notifications of its tool; here, write stopped, failed, waiting or content',
      ],
    ],
    [
      'a name of the table notifications in the spawn table',
      '[conversation.tools.t.spawn.notifications]\nstopped = true',
      [
        '2:1: conversation.tools.t.spawn.notifications.stopped is unknown; allowed are on_success, on_failure, on_waiting, on_content',
      ],
    ],
    [
      'one switch in both tables, with different values',
      '[conversation.tools.t.notifications]\nstopped = true\n\n[conversation.tools.t.spawn.notifications]\non_success = false',
      [
        '5:1: line 2 (conversation.tools.t.notifications.stopped = true) and line 5 (conversation.tools.t.spawn.notifications.on_success = false) contradict each other; keep only one',
      ],
    ],
    [
      'both places of stateful with different values',
      '[conversation.tools.t]\nspawn.stateful = true\nstateful = false',
      [
        '3:1: line 2 (conversation.tools.t.spawn.stateful = true) and line 3 (conversation.tools.t.stateful = false) contradict each other; keep only one',
      ],
    ],
    [
      'an unknown value for the end of a turn',
      '[conversation.tools.t.spawn.lifecycle]\non_turn_end = "kill"',
      ['2:15: conversation.tools.t.spawn.lifecycle.on_turn_end is "kill"; write one of inquire, await, abort'],
    ],
    // The next cases are other settings whose names the user chooses.
    [
      'an invalid source',
      '[coalesce.sources]\n"*" = "2s"',
      [
        '2:1: coalesce.sources."*" is not a valid source: letters, digits, "_" and "-", at most 64 characters; for all other sources, set coalesce.window',
      ],
    ],
    [
      'an unknown level',
      '[max_level]\nwebhook = "fatal"',
      ['2:11: max_level.webhook is "fatal"; write one of info, warning, error, critical'],
    ],
    // Sources and webhooks
    [
      'a glob that leads out of the project',
      '[sources.files]\nglobs = ["src/**", "../*"]',
      ['2:20: sources.files.globs has "../*" as element 2: it is blank, or leads out of the project\'s folder'],
    ],
    [
      'a webhook without a kind',
      '[webhooks.ci]\nto = "coder"',
      ['1:11: webhooks.ci has no kind; write one of cloudevents, github, standard, alertmanager, json'],
    ],
    [
      'a webhook of an unknown kind',
      '[webhooks.ci]\nkind = "githb"\nto = "coder"\nsecret_env = "S"',
      ['2:8: webhooks.ci.kind is "githb"; did you mean "github"? Write one of cloudevents, github, standard, alertmanager, json'],
    ],
    [
      'a webhook without a receiver',
      '[webhooks.ci]\nkind = "github"\nsecret_env = "S"',
      [
        '1:11: webhooks.ci has no key "to", which names the agent to notify; write an agent\'s name, project/agent, project/agent#conversation or project/*',
      ],
    ],
    [
      'a webhook without a secret',
      '[webhooks.ci]\nkind = "github"\nto = "coder"',
      [
        '1:11: webhooks.ci has no secret_env, so anyone could send events; write the name of the environment variable that holds the secret, not the secret',
      ],
    ],
    [
      'a secret in the file',
      '[webhooks.ci]\nkind = "github"\nto = "coder"\nsecret_env = "hunter2 is mine"',
      [
        '4:14: webhooks.ci.secret_env has an invalid value; write the name of the environment variable that holds the secret, not the secret',
      ],
    ],
    [
      'a secret under its own name',
      '[webhooks.ci]\nkind = "github"\nto = "coder"\nsecret = "x"',
      ['4:1: webhooks.ci.secret is unknown; allowed are kind, to, secret_env, signature_header, map'],
    ],
    [
      'a header that a kind does not need',
      '[webhooks.ci]\nkind = "github"\nto = "c"\nsecret_env = "S"\nsignature_header = "X-S"',
      [
        '5:1: webhooks.ci.signature_header works only with kind "json"; the signature header of github is fixed, so remove this key',
      ],
    ],
    [
      'a map that a kind does not need',
      '[webhooks.ci]\nkind = "github"\nto = "c"\nsecret_env = "S"\n[webhooks.ci.map]\ntype = "x"',
      [
        '5:14: webhooks.ci.map works only with kind "json" or "standard"; the payloads of github have fixed fields, so remove this key',
      ],
    ],
    [
      'an incomplete placeholder in a map',
      '[webhooks.ci]\nkind = "json"\nto = "c"\nsecret_env = "S"\nmap = { message = "{a b} is {state" }',
      [
        '5:19: webhooks.ci.map.message is "{a b} is {state"; write a text in which values of the payload replace {path.to.value}, such as "{service} is {state}"',
      ],
    ],
    [
      'an unknown key of a map',
      '[webhooks.ci]\nkind = "json"\nto = "c"\nsecret_env = "S"\nmap = { mesage = "x" }',
      ['5:9: webhooks.ci.map.mesage is unknown; did you mean "message"?'],
    ],
    [
      'an invalid name of a webhook',
      '[webhooks."a b"]\nkind = "json"',
      ['1:11: webhooks."a b" is not a valid webhook name: letters, digits, "_" and "-", at most 64 characters'],
    ],
    // Servers and clients
    [
      'neither command nor url',
      '[gateway.servers.a]\nenable = true',
      [
        '1:18: gateway.servers.a has neither a command nor a url; write a table with command (and args, env, cwd) or with url (and headers, transport)',
      ],
    ],
    [
      'both command and url',
      '[gateway.servers.a]\ncommand = "x"\nurl = "http://x"',
      ['1:18: gateway.servers.a has both command and url; keep only one'],
    ],
    [
      'headers for a command',
      '[gateway.servers.a]\ncommand = "x"\nheaders = { A = "b" }',
      ['3:1: gateway.servers.a.headers works only for a server with url, but this server has command; remove this key'],
    ],
    [
      'arguments for a url',
      '[gateway.servers.a]\nurl = "http://x"\nargs = []',
      ['3:1: gateway.servers.a.args works only for a server with command, but this server has url; remove this key'],
    ],
    [
      'a command line as one list',
      '[gateway.servers.a]\ncommand = ["npx", "x"]',
      ['2:11: gateway.servers.a.command is a list; write a program such as "npx"'],
    ],
    [
      'an argument that is no text',
      '[gateway.servers.a]\ncommand = "x"\nargs = ["-p", 80]',
      ['3:15: gateway.servers.a.args has 80 as element 2; write a list of texts such as ["-y", "some-server"]'],
    ],
    [
      'a variable that is no text',
      '[gateway.servers.a]\ncommand = "x"\n[gateway.servers.a.env]\nPORT = 80',
      ['4:8: gateway.servers.a.env.PORT is 80; write a text'],
    ],
    [
      'no URL',
      '[gateway.servers.a]\nurl = "ftp://x"',
      ['2:7: gateway.servers.a.url is "ftp://x"; write a URL such as "https://example.com/mcp"'],
    ],
    [
      'an unknown key of a server',
      '[gateway.servers.a]\ncomand = "x"',
      ['2:1: gateway.servers.a.comand is unknown; did you mean "command"?'],
    ],
    [
      'a server name with a dot',
      '[gateway.servers."a.b"]\ncommand = "x"',
      ['1:18: gateway.servers."a.b" is not a valid server name: letters, digits, "_" and "-", at most 64 characters'],
    ],
    [
      'a server that is no table',
      '[gateway.servers]\na = "npx x"',
      ['2:5: gateway.servers.a is "npx x"; write a table with command (and args, env, cwd) or with url (and headers, transport)'],
    ],
    [
      'a separator that no tool name can hold',
      '[gateway]\nseparator = "::"',
      ['2:13: gateway.separator is "::"; write one to four letters, digits, "_" or "-"'],
    ],
    [
      'a port out of range',
      '[gateway.http]\nport = 70000',
      ['2:8: gateway.http.port is 70000; write a whole number from 0 to 65535'],
    ],
    [
      'a token in place of its variable',
      '[gateway.http]\ntoken_env = "s3cr3t-token"',
      [
        '2:13: gateway.http.token_env has an invalid value; write the name of the environment variable that holds the token, not the token',
      ],
    ],
    [
      'an unknown profile',
      '[gateway.profiles]\n"my-client" = "block"',
      ['2:15: gateway.profiles.my-client is "block"; did you mean "blocks"? Write one of blocks, extend, strip'],
    ],
    [
      'a profile without kind',
      '[gateway.profiles.c]\nmax_result_chars = 500',
      ['1:19: gateway.profiles.c has no kind; write one of blocks, extend, strip'],
    ],
    // No TOML
    [
      'an unfinished string',
      'view = "xml',
      ['1:8: is not valid TOML: unfinished string, in "view = \\"xml"; see https://toml.io'],
    ],
    ...[
      ['a list', 'x = ["a",\n"b"\n[follow]', '3:1: is not valid TOML: expected comma or end of structure, in "[follow]"'],
      ['a list, until the end of the file', 'x = [1\n', '2:1: is not valid TOML: expected comma or end of structure'],
    ].map(([what = '', toml = '', says]): [string, string, string[]] => [
      `an unfinished end of ${what}`,
      toml,
      [`${says}; before this place, a "," between two values is missing, or the end: "]" of a list, "}" of an inline table`],
    ]),
    ['an invalid value', '\nview = xml', ['2:8: is not valid TOML: invalid value, in "view = xml"; put a text in double quotes']],
    [
      'a key twice',
      'view = "xml"\nview = "json"',
      [
        '2:1: is not valid TOML: trying to redefine an already defined table or value, in "view = \\"json\\""; merge both places into one',
      ],
    ],
    [
      'JSON',
      '{"view": "xml"}',
      ['1:1: is not valid TOML: illegal character in key, in "{\\"view\\": \\"xml\\"}"; see https://toml.io'],
    ],
    ['bytes', '\u0000\u0001', ['1:1: is not valid TOML: illegal character in key, in "\\u0000\\u0001"; see https://toml.io']],
    // Several problems
    [
      'several at once, in their order',
      'view = "xlm"\nfoo = 1\n[budget]\nmax_items = 0',
      [
        '1:8: view is "xlm"; did you mean "xml"? Write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja',
        '2:1: foo is unknown; allowed are project, address, db, archive, time_zone, view, interrupt, min_level, max_defer, max_open, retention, redact, budget, ttl, wake, coalesce, max_level, withheld, lease, core, conversation, agent, tasks, sources, follow, gateway, server, webhooks, matchers',
        '4:13: budget.max_items is 0; write a whole number from 1 to 1000',
      ],
    ],
  ])('%s', (_name, text, messages) => expect(refusals(text)).toEqual(messages));
});

describe('valid forms', () => {
  test('a source and its names may be nested tables', () => {
    proves('config:forms');
    const text = `
      [conversation.notifications.kinds.mcp]
      enable = false
      disconnected = true
      reconnected = false
      "a.b" = false`;
    expect(values(text)).toEqual({
      'conversation.notifications.kinds.mcp.enable': false,
      'conversation.notifications.kinds."mcp.disconnected"': true,
      'conversation.notifications.kinds."mcp.reconnected"': false,
      'conversation.notifications.kinds."mcp.a.b"': false,
    });
  });

  test('a kind may be quoted, even a kind with the name enable', () => {
    proves('config:forms');
    const text = `
      [conversation.notifications]
      enable = true
      [conversation.notifications.kinds]
      "handle.stopped" = true
      "mcp.enable" = false
      mcp.enable = true`;
    expect(values(text)).toEqual({
      'conversation.notifications.enable': true,
      'conversation.notifications.kinds."handle.stopped"': true,
      'conversation.notifications.kinds."mcp.enable"': false,
      'conversation.notifications.kinds.mcp.enable': true,
    });
  });

  test('if a file has both forms of a kind, the quoted form is used, in either order', () => {
    const flat = '"mcp.reconnected" = true';
    const nested = 'mcp.reconnected = false';
    for (const lines of [`${flat}\n${nested}`, `${nested}\n${flat}`])
      expect(values(`[conversation.notifications.kinds]\n${lines}`)).toEqual({
        'conversation.notifications.kinds."mcp.reconnected"': true,
      });
  });

  test("both forms of a tool's setting are the same setting", () => {
    proves('config:forms');
    const text = `
      [conversation.tools.cargo_check]
      source = "builtin"
      stateful = true
      [conversation.tools.cargo_check.notifications]
      stopped = true
      anything_else = false
      [conversation.tools.cargo_check.spawn]
      stateful = true
      lifecycle.on_turn_end = "await"
      [conversation.tools.cargo_check.spawn.notifications]
      on_success = true
      on_failure = false
      on_waiting = false
      on_content = true`;
    expect(values(text)).toEqual({
      'conversation.tools.cargo_check.source': 'builtin',
      'conversation.tools.cargo_check.stateful': true,
      'conversation.tools.cargo_check.notifications.stopped': true,
      'conversation.tools.cargo_check.notifications.anything_else': false,
      'conversation.tools.cargo_check.spawn.lifecycle.on_turn_end': 'await',
      'conversation.tools.cargo_check.notifications.failed': false,
      'conversation.tools.cargo_check.notifications.waiting': false,
      'conversation.tools.cargo_check.notifications.content': true,
    });
  });

  test('valid entries take effect even if others are invalid', () => {
    const { entries, problems } = checkConfigText('view = "xml"\nmax_open = 0', 'e.toml');
    expect(entries.map((entry) => entry.key)).toEqual(['view']);
    expect(problems).toHaveLength(1);
  });

  test('if two forms of a setting disagree, neither takes effect', () => {
    const text = '[conversation.tools.t]\nnotifications.stopped = true\nspawn.notifications.on_success = false';
    expect(checkConfigText(text, 'e.toml')).toMatchObject({ entries: [], problems: [{ line: 3 }] });
  });

  test('no text makes the check throw', () => {
    const key = fc.constantFrom(
      'view',
      'budget',
      'conversation',
      'notifications',
      'kinds',
      'tools',
      'gateway',
      'servers',
      '"a.b"',
      'enable',
      '*',
    );
    const value = fc.constantFrom('1', 'true', '"xml"', '[]', '{}', '{ a = 1 }', '[{}]', '"', 'inf', '2030-01-01', '[[1]]');
    const path = fc.array(key, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));
    const line = fc.oneof(
      fc.tuple(path, value).map(([name, given]) => `${name} = ${given}`),
      path.map((name) => `[${name}]`),
      path.map((name) => `[[${name}]]`),
      fc.string({ maxLength: 10 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        for (const problem of checkConfigText(lines.join('\n'), 'e.toml').problems) {
          expect(problem.line).toBeGreaterThan(0);
          expect(problem.column).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('a text of more than a megabyte is not read', () => {
    expect(checkConfigText(`view = "xml"\n${'#'.repeat(1_048_576)}`, 'e.toml')).toEqual({
      entries: [],
      problems: [{ file: 'e.toml', message: 'has 1048589 characters; a configuration file may have at most 1048576' }],
    });
  });
});
