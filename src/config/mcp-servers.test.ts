import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatProblem } from './index.ts';
import { parseMcpServers, readMcpServers } from './mcp-servers.ts';
import { parseJsonc, toValue } from './jsonc.ts';

const parse = (text: string, env: Record<string, string> = {}): { servers: unknown; problems: string[] } => {
  const { servers, problems } = parseMcpServers(text, '/p/mcp.json', { env, home: '/h' });
  return { servers, problems: problems.map((problem) => formatProblem(problem).replace(/^\/p\/mcp\.json:/, '')) };
};

describe('the reader of other programs’ servers', () => {
  test('reads a command, a URL and the older transport, and ignores other keys', () => {
    const text = JSON.stringify({
      theme: 'dark',
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'x'], env: { A: '1', PORT: 80 }, cwd: 'sub', alwaysAllow: [], timeout: 3 },
        plain: { type: 'stdio', command: './run.sh' },
        remote: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x' } },
        old: { type: 'sse', url: 'http://localhost:1/sse' },
        gemini: { httpUrl: 'https://example.com/mcp' },
        off: { command: 'x', disabled: true },
      },
    });
    expect(parse(text)).toEqual({
      problems: [],
      servers: {
        files: {
          prefix: 'files',
          target: { kind: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: '1', PORT: '80' }, cwd: '/p/sub' },
        },
        plain: { prefix: 'plain', target: { kind: 'stdio', command: './run.sh', args: [], env: {} } },
        remote: {
          prefix: 'remote',
          target: { kind: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x' } },
        },
        old: { prefix: 'old', target: { kind: 'http', url: 'http://localhost:1/sse', headers: {}, sse: true } },
        gemini: { prefix: 'gemini', target: { kind: 'http', url: 'https://example.com/mcp', headers: {} } },
      },
    });
  });

  test('reads the form of opencode, with comments and trailing commas', () => {
    const text = `{
      // the settings
      "$schema": "https://opencode.ai/config.json",
      "mcp": {
        "local one": { "type": "local", "command": ["bun", "x", "{env:FLAG}"], "environment": { "T": "{env:TOKEN}" }, },
        /* and */ "far": { "type": "remote", "url": "https://example.com/mcp", "enabled": true, },
        "off": { "type": "local", "command": ["x"], "enabled": false },
      },
    }`;
    expect(parse(text, { TOKEN: 't' })).toEqual({
      problems: [],
      servers: {
        local_one: { prefix: 'local_one', target: { kind: 'stdio', command: 'bun', args: ['x', ''], env: { T: 't' } } },
        far: { prefix: 'far', target: { kind: 'http', url: 'https://example.com/mcp', headers: {} } },
      },
    });
  });

  test('expands variables', () => {
    const text = '{"mcpServers": {"a": {"url": "${BASE:-https://x}/${PATH_PART}", "headers": {"K": "${K}"}}}}';
    expect(parse(text, { K: 'k', PATH_PART: 'mcp' }).servers).toMatchObject({
      a: { target: { url: 'https://x/mcp', headers: { K: 'k' } } },
    });
  });

  test.each<[text: string, ...problems: string[]]>([
    ['', '1:1: is not valid JSON: expected a value, found the end of the file'],
    ['{"mcpServers": {\n  "a": {"command" "x"}\n}}', '2:19: is not valid JSON: expected ":", found "\\"x\\"}"'],
    ['{"mcpServers": {"a": {}}', '1:25: is not valid JSON: expected "," or "}", found the end of the file'],
    ['{mcpServers: {}}', '1:2: is not valid JSON: expected a name in double quotes, or "}", found "mcpServers: {}}"'],
    ['{"a": \'b\'}', '1:7: is not valid JSON: expected a value, found "\'b\'}"'],
    ['{"a": "b\nc"}', '1:7: is not valid JSON: expected a string in double quotes, found "\\"b"'],
    ['{} x', '1:4: is not valid JSON: expected the end of the file, found "x"'],
    ['{"a": 1 /* x', '1:9: is not valid JSON: expected "*/" at the end of the comment, found "/* x"'],
    ['[]', '1:1: is a list; write an object with "mcpServers"'],
    ['"x"', '1:1: is "x"; write an object with "mcpServers"'],
    ['{}', '1:1: has no "mcpServers" (nor opencode\'s "mcp"), and is empty; name another file'],
    ['{"theme": 1, "other": 2}', '1:1: has no "mcpServers" (nor opencode\'s "mcp"), but has theme, other; name another file'],
    [
      '{"mcpservers": {}}',
      '1:1: has no "mcpServers" (nor opencode\'s "mcp"), but has "mcpservers", which may be meant as "mcpServers"',
    ],
    ['{"mcpServers": []}', '1:16: mcpServers is a list; write an object with one member for each server'],
    ['{"mcpServers": {"a": "npx"}}', '1:22: mcpServers.a is "npx"; write an object with "command" or "url"'],
    ['{"mcpServers": {"a": {}}}', '1:22: mcpServers.a has no member; write "command" or "url"'],
    ['{"mcpServers": {"a": {"cmd": "x"}}}', '1:22: mcpServers.a has only cmd; write "command" or "url"'],
    ['{"mcpServers": {"a": {"command": "x", "url": "y"}}}', '1:22: mcpServers.a has both command and url; keep only one'],
    ['{"mcpServers": {"a": {"command": 3}}}', '1:34: mcpServers.a.command is 3; write a program such as "npx"'],
    ['{"mcp": {"a": {"command": []}}}', '1:27: mcp.a.command is a list; write a program such as "npx"'],
    ['{"mcpServers": {"a": {"command": "x", "args": "-y"}}}', '1:47: mcpServers.a.args is "-y"; write a list of texts'],
    ['{"mcpServers": {"a": {"command": "x", "env": ["A=1"]}}}', '1:46: mcpServers.a.env is a list; write an object of texts'],
    ['{"mcpServers": {"a": {"command": "x", "cwd": 1}}}', '1:46: mcpServers.a.cwd is 1; write a folder'],
    [
      '{"mcpServers": {"a": {"url": "example.com"}}}',
      '1:30: mcpServers.a.url is "example.com"; write a URL such as "https://example.com/mcp"',
    ],
    [
      '{"mcpServers": {"a": {"url": "http://x", "headers": "A: b"}}}',
      '1:53: mcpServers.a.headers is "A: b"; write an object of texts',
    ],
    [
      '{"mcpServers": {"a": {"type": "ws", "url": "http://x"}}}',
      '1:31: mcpServers.a.type is "ws"; write one of "stdio", "http", "streamable-http", "streamableHttp", "sse", "local", "remote"',
    ],
    [
      '{"mcpServers": {"a b": {"command": "x"}, "a.b": {"command": "y"}}}',
      '1:49: mcpServers.a.b becomes a_b, which is also the name of another server; rename one of the servers',
    ],
    ['{"mcpServers": {"": {"command": "x"}}}', '1:21: mcpServers has a server without a name; give this server a name'],
    [
      '{"mcpServers": {"a__b": {"command": "x"}}}',
      '1:25: mcpServers.a__b has the separator "__" in its prefix "a__b"; set another prefix',
    ],
    [
      '{"mcpServers": {"a": {"command": "${X} ${Y}"}}}',
      '1:22: mcpServers.a needs X, Y, which are not set; export the variable, or write ${X:-default}',
    ],
    [
      '{"mcpServers": {"a": 1, "b": 2}}',
      '1:22: mcpServers.a is 1; write an object with "command" or "url"',
      '1:30: mcpServers.b is 2; write an object with "command" or "url"',
    ],
  ])('%s', (text, ...problems) => {
    expect(parse(text).problems).toEqual(problems);
  });

  test('reports a missing file', () => {
    const { problems } = readMcpServers('none.json', { env: {}, cwd: '/nowhere' });
    expect(problems.map((problem) => formatProblem(problem))).toEqual([
      '/nowhere/none.json: cannot be read (ENOENT); name a JSON file with "mcpServers"',
    ]);
  });
});

describe('the parser of JSON with comments', () => {
  test('reads all JSON as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), fc.constantFrom(undefined, 2, '\t'), (text, indent) => {
        const pretty = JSON.stringify(JSON.parse(text), undefined, indent);
        const parsed = parseJsonc(pretty);
        expect(parsed.kind === 'parsed' && toValue(parsed.root)).toEqual(JSON.parse(pretty));
      }),
    );
  });

  test('reads a file with a string of 30 MB, such as the history of an agent, and reports the place of a string without an end', () => {
    const history = 'x'.repeat(30_000_000);
    const text = `{"history":"${history}","mcpServers":{"a":{"command":"npx"}}}`;
    expect(Object.keys(parseMcpServers(text, '/f.json', { env: {} }).servers)).toEqual(['a']);
    expect(parseJsonc(`{"history":"${history}`)).toMatchObject({
      kind: 'malformed',
      expected: 'a string in double quotes',
      at: { line: 1, column: 12 },
    });
  });

  test('never throws, and refuses text that is not JSON', () => {
    const noise = fc.array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '"', '1', '-', 'true', ' ', '\n', '/*', '*/', '//', '\\u'),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(noise, (parts) => {
        const parsed = parseJsonc(parts.join(''));
        if (parsed.kind === 'malformed') expect(parsed.at.line).toBeGreaterThan(0);
      }),
      { numRuns: 2_000 },
    );
    for (const text of ['01', '1.', '.5', '+1', 'nan', '"\\x41"', '[,]', '{,}', '[1 2]', '{"a":1 "b":2}', '['.repeat(10_000)])
      expect([text.slice(0, 20), parseJsonc(text).kind]).toEqual([text.slice(0, 20), 'malformed']);
  });
});
