import { describe, expect, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { veiled } from './veiled.ts';

describe('secrets of servers are hidden in a shown text', () => {
  proves('hosts:wrap');

  test.each<[what: string, file: string, text: string, shown: string]>([
    ['escapes', 'a.json', String.raw`{"env": {"U": "https:\/\/u:s@h", "T": "\u0073"}}`, '{"env": {"U": "…", "T": "…"}}'],
    ['a server over HTTP', 'a.json', '{"h": {"url": "u", "headers": {"A": "s"}}}', '{"h": {"url": "u", "headers": {"A": "…"}}}'],
    ['opencode', 'a.jsonc', '{"mcp": {"o": {"environment": {"A": "s"}}}}', '{"mcp": {"o": {"environment": {"A": "…"}}}}'],
    [
      'lists, numbers, tables below',
      'a.json',
      '{"env": {"A": ["s", 80, {"b": "s"}], "B": true}}',
      '{"env": {"A": ["…", "…", {"b": "…"}], "B": true}}',
    ],
    [
      'a name that is there twice',
      'a.json',
      '{"env": {"A": "s1", "A": "s2"}, "env": {"A": "s3"}}',
      '{"env": {"A": "…", "A": "…"}, "env": {"A": "…"}}',
    ],
    [
      'comments in them and elsewhere',
      'a.jsonc',
      '// s\n{"env": {\n// "OLD": "s"\n"A": "b" /* s\ns */ },\n// "headers": {"A": "s"}\n"args": ["x" /* "--token", "s" */]}',
      '//…\n{"env": {\n//…\n"A": "…" /*…\n*/ },\n//…\n"args": ["x" /*…*/]}',
    ],
    [
      'settings with the name of a secret',
      'a.json',
      '{"provider": {"x": {"options": {"apiKey": "s", "baseURL": "u"}}}, "oauth": {"accessToken": "s"}, "customApiKeyResponses": ["s"]}',
      '{"provider": {"x": {"options": {"apiKey": "…", "baseURL": "u"}}}, "oauth": {"accessToken": "…"}, "customApiKeyResponses": ["…"]}',
    ],
    [
      'the way to sign in, which is no secret',
      'settings.json',
      '{"security": {"auth": {"selectedType": "openai", "enforcedType": "sk-12345678", "apiKey": "s", "x": "s"}}, "auth": {"selectedType": "s"}}',
      '{"security": {"auth": {"selectedType": "openai", "enforcedType": "…", "apiKey": "…", "x": "…"}}, "auth": {"selectedType": "…"}}',
    ],
    [
      'settings of TOML with the name of a secret',
      'c.toml',
      '[model_providers.p]\nexperimental_bearer_token = "s"\nenv_key = "s"\nbase_url = "u"\n[a]\nbearer_token_env_var = "X"\n',
      '[model_providers.p]\nexperimental_bearer_token = "…"\nenv_key = "…"\nbase_url = "u"\n[a]\nbearer_token_env_var = "X"\n',
    ],
    ['no secret', 'a.json', '{"args": ["x"], "envs": {"A": "b"}}', '{"args": ["x"], "envs": {"A": "b"}}'],
    [
      'a header of TOML',
      'c.toml',
      '[mcp_servers.a.env]\nT = "s"\nU = \'s\'\n[b]\nx = "y"\n',
      '[mcp_servers.a.env]\nT = "…"\nU = "…"\n[b]\nx = "y"\n',
    ],
    [
      'an inline table of TOML',
      'c.toml',
      '[mcp_servers.a]\nhttp_headers = { A = "s" }\n',
      '[mcp_servers.a]\nhttp_headers = { A = "…" }\n',
    ],
    [
      'comments of TOML',
      'c.toml',
      '# s\n[a.env] # s\n# T = "s"\nU = "#" # s\nV = [ # s\n "s"]\n[b]\n# env = { A = "s" }\nx = "#y" # s',
      '#…\n[a.env] #…\n#…\nU = "…" #…\nV = "…"\n\n[b]\n#…\nx = "#y" #…',
    ],
    ['lines of TOML', 'c.toml', 'env.A = """s\ns"""\nb = 1\n', 'env.A = "…"\n\nb = 1\n'],
    [
      'flags, assignments and headers among the words of a server',
      'a.json',
      '{"command": "npx", "args": ["-y", "x", "--api-key", "s", "--token=s", "-e", "A=s", "GH_TOKEN=s", "-H", "X-Me: s", "--port", "80"]}',
      '{"command": "npx", "args": ["-y", "x", "--api-key", "…", "--token=…", "-e", "A=…", "GH_TOKEN=…", "-H", "X-Me: …", "--port", "80"]}',
    ],
    [
      'a command line in one list, and in one text',
      'a.jsonc',
      '{"a": {"command": ["x", "--authToken", "s"]}, "b": {"command": "x  --pass s y"}}',
      '{"a": {"command": ["x", "--authToken", "…"]}, "b": {"command": "x  --pass … y"}}',
    ],
    [
      'the password, the query and the keys of a URL',
      'a.json',
      '{"args": ["https://u:s@h/p?key=s&b=s#s"], "url": "https://h/sk-12345678/mcp?x=s"}',
      '{"args": ["https://…@h/p?key=…&b=…#…"], "url": "https://h/…/mcp?x=…"}',
    ],
    [
      'keys as services write them',
      'a.json',
      '{"args": ["ghp_0123456789ab", "Zx81Kq0Pw7Ls2Mv5Bn9Rt4Yu6", "@modelcontextprotocol/server-filesystem", "/home/anna/a1"]}',
      '{"args": ["…", "…", "@modelcontextprotocol/server-filesystem", "/home/anna/a1"]}',
    ],
    [
      'keys without a digit, but not the names of packages',
      'a.json',
      '{"args": ["ghp_abcdefghijklmnop", "sk-abcdefghij", "npm_abcdefghijkl", "npm-check-updates"]}',
      '{"args": ["…", "…", "…", "npm-check-updates"]}',
    ],
    [
      'words of TOML',
      'c.toml',
      `[mcp_servers.a]\ncommand = "npx"\nargs = ["-y", # don't\n 'x', "--token", "s"]\nurl = "https://u:s@h"\nb = "c"\n`,
      `[mcp_servers.a]\ncommand = "npx"\nargs = ["-y", #…\n 'x', "--token", "…"]\nurl = "https://…@h"\nb = "c"\n`,
    ],
    ['a text that is no JSON', 'a.json', '{"env": {"A": "s"', '…'],
    ['another file', 'a.js', 'env = {"A": "b"}', 'env = {"A": "b"}'],
  ])('%s', (_what, file, text, shown) => {
    expect(veiled(text, file)).toBe(shown);
  });
});
