import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { world } from './fixtures.ts';
import { checkConfigText, formatProblem, trustBook } from './index.ts';
import { parseMcpServers } from './mcp-servers.ts';
import { ALL_SETTINGS } from './schema.ts';

const page = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8');
const block = (language: string): string => new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(page)?.[1] ?? '';
const example = block('toml');

test('the example in docs/config.md has no problem and can be used', () => {
  expect(checkConfigText(example, 'example').problems.map(formatProblem)).toEqual([]);
  const { read, projectFile, options } = world({ project: example });
  trustBook(options()).trust(projectFile);
  const { config, problems } = read({ env: { HOME: '/home/me' } });
  expect([problems, config.gateway.problems]).toEqual([[], []]);
  expect(Object.keys(config.gateway.servers)).toEqual(['files', 'issues']);
});

test('the example in docs/config.md contains every key except one', () => {
  const { entries } = checkConfigText(example, 'example');
  const shown = new Set(entries.map((entry) => entry.setting));
  // The example writes `content` as `on_content`.
  const missing = ALL_SETTINGS.filter((setting) => !shown.has(setting)).map((setting) => setting.pattern.join('.'));
  expect(missing).toEqual(['conversation.tools.*.notifications.content']);
});

test('the example in docs/config.md shows the defaults, except in lines marked "example"', () => {
  const { entries } = checkConfigText(example, 'example');
  const lines = example.split('\n');
  for (const { key, setting, value, at } of entries) {
    if (setting.pattern.includes('*') || setting.fallback === undefined || lines[at.line - 1]?.includes('example')) continue;
    expect([key, value]).toEqual([key, setting.fallback]);
  }
});

test('each environment variable is named EARPIECE_ and the key in capitals, except EARPIECE_ENABLE', () => {
  const others = ALL_SETTINGS.filter(
    ({ pattern, env }) => env !== (pattern.includes('*') ? undefined : `EARPIECE_${pattern.join('_').toUpperCase()}`),
  );
  expect(others.map(({ pattern, env }) => `${pattern.join('.')}: ${env}`)).toEqual([
    'conversation.notifications.enable: EARPIECE_ENABLE',
  ]);
});

test('the JSON example in docs/config.md is read', () => {
  const { servers, problems } = parseMcpServers(block('json'), '/x/mcp.json', { env: {} });
  expect([problems, Object.keys(servers)]).toEqual([[], ['files', 'issues']]);
});
