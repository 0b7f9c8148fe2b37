import { describe, expect, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { veiled } from './veiled.ts';

describe('secrets of servers in a text that a person is shown', () => {
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
      'a comment beside them',
      'a.jsonc',
      '{"env": {\n// "OLD": "s"\n"A": "b" /* s\ns */ }}',
      '{"env": {\n//…\n"A": "…" /*…\n*/ }}',
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
    ['lines of TOML', 'c.toml', 'env.A = """s\ns"""\nb = 1\n', 'env.A = "…"\n\nb = 1\n'],
    ['a text that is no JSON', 'a.json', '{"env": {"A": "s"', '…'],
    ['another file', 'a.js', 'env = {"A": "b"}', 'env = {"A": "b"}'],
  ])('%s', (_what, file, text, shown) => {
    expect(veiled(text, file)).toBe(shown);
  });
});
