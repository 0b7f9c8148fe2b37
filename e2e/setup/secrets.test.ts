/** Tests that the plans of `earpiece install` and `uninstall` show no secret of the settings that they change. */
import { expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Home } from './home.ts';

const FILES: Readonly<Record<string, string>> = {
  '.claude.json': '{"primaryApiKey": "SECRET-KEY", "oauthAccount": {"accessToken": "SECRET-TOKEN"}, "mcpServers": {}}',
  '.claude/settings.json': '{"env": {"ANTHROPIC_AUTH_TOKEN": "SECRET-ENV"}, "hooks": {}}',
  '.config/opencode/opencode.json':
    '{"provider": {"x": {"options": {"apiKey": "SECRET-PROVIDER", "baseURL": "https://h"}}}, "mcp": {}}',
  '.gemini/settings.json': '{"security": {"auth": {"apiKey": "SECRET-AUTH"}}, "hooks": {}}',
  '.codex/config.toml': '[model_providers.p]\nbase_url = "https://h"\nexperimental_bearer_token = "SECRET-BEARER"\n',
};

it('the plan hides each value with the name of a secret, on the screen and in --json, and the file keeps the value', () => {
  proves('hosts:secrets');
  using home = new Home('claude', 'opencode', 'gemini', 'codex');
  for (const [file, text] of Object.entries(FILES)) home.write(file, text);
  const shown = (...args: string[]): void => {
    const { stdout, stderr } = home.run(args);
    expect(stdout).toMatch(/apiKey\W+…/u);
    expect(stdout).toContain('baseURL');
    expect(stdout + stderr).not.toContain('SECRET');
  };
  shown('install');
  shown('install', '--json');
  shown('install', '--yes');
  for (const [file, text] of Object.entries(FILES))
    for (const [secret] of text.matchAll(/SECRET-\w+/gu)) expect(home.read(file)).toContain(secret);
  shown('uninstall', '--json');
  shown('uninstall', '--yes');
  for (const [file, text] of Object.entries(FILES)) expect(home.read(file)).toBe(text);
});
