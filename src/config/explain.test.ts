import { describe, expect, test } from 'vitest';
import { world, type World } from './fixtures.ts';
import { explain, type ExplainedSetting } from './index.ts';
import { proves } from '../../e2e/verifies.ts';

const setting = (here: World, key: string, given?: Parameters<World['read']>[0]): ExplainedSetting => {
  const found = explain(here.read(given).config, key);
  if (found.kind !== 'setting') throw new Error(JSON.stringify(found));
  return found;
};
const line = (here: World, key: string, given?: Parameters<World['read']>[0]): string => {
  const { text, decidedBy, overridden } = setting(here, key, given);
  const instead = overridden.map((other) => ` | ${other.text} by ${other.decidedBy}`);
  return here.short(`${text} by ${decidedBy}${instead.join('')}`);
};

describe('the deciding layer', () => {
  proves('config:explain');
  test('each layer overrides the next layer', () => {
    const here = world({ project: '\nview = "json"', user: 'view = "toon"' });
    const project = 'json by project file …/web/earpiece.toml:2:1';
    const user = 'toon by user file …/home/.config/earpiece/earpiece.toml:1:1';
    expect(line(here, 'view')).toBe(`${project} | ${user}`);
    expect(line(here, 'view', { env: { EARPIECE_VIEW: 'xml' } })).toBe(`xml by EARPIECE_VIEW | ${project} | ${user}`);
    expect(line(here, 'view', { env: { EARPIECE_VIEW: 'xml' }, flags: { view: 'markdown' } })).toBe(
      `markdown by flag --view | xml by EARPIECE_VIEW | ${project} | ${user}`,
    );
    expect(setting(here, 'view')).toMatchObject({
      key: 'view',
      value: 'json',
      env: 'EARPIECE_VIEW',
      expects: expect.stringMatching(/^one of/),
    });
  });

  test('without a value in any layer, the default decides', () => {
    const here = world();
    expect(line(here, 'max_defer')).toBe('30m by default');
    expect(line(here, 'ttl.critical')).toBe('never by default');
    expect(line(here, 'address')).toBe('not set by default');
    expect(line(here, 'project')).toBe('web by default');
    expect(line(here, 'db')).toBe('…/home/.local/state/earpiece/earpiece.db by default');
    expect(line(here, 'conversation.tools.any.notifications.stopped')).toBe('true by default');
    expect(line(here, 'conversation.tools.any.notifications.content')).toBe('false by default');
    expect(line(here, 'conversation.notifications.kinds.mcp.disconnected')).toBe('true by default');
  });

  test('a list that joins all layers is decided by each layer with entries', () => {
    const here = world({ project: 'redact = ["b"]', user: 'redact = ["a"]' });
    expect(line(here, 'redact')).toBe(
      '"b", "a" by project file …/web/earpiece.toml:1:1 + user file …/home/.config/earpiece/earpiece.toml:1:1 + default',
    );
  });

  test('both spellings of a kind and of a tool explain the same setting', () => {
    const here = world({
      project:
        '[conversation.notifications.kinds]\n"mcp.reconnected" = false\n[conversation.tools.t.spawn.notifications]\non_success = false',
    });
    const kind = 'false by project file …/web/earpiece.toml:2:1';
    for (const key of ['conversation.notifications.kinds.mcp.reconnected', 'conversation.notifications.kinds."mcp.reconnected"'])
      expect(line(here, key)).toBe(kind);
    const tool = 'false by project file …/web/earpiece.toml:4:1';
    for (const key of ['conversation.tools.t.notifications.stopped', 'conversation.tools.t.spawn.notifications.on_success'])
      expect(line(here, key)).toBe(tool);
  });

  test('a kind whose source is off is decided by the switch of the source', () => {
    const here = world({
      project: '[conversation.notifications.kinds.mcp]\nenable = false',
      user: '[conversation.notifications.kinds]\n"mcp.x" = true',
    });
    expect(line(here, 'conversation.notifications.kinds.mcp.x')).toBe(
      'false by conversation.notifications.kinds.mcp.enable = false, project file …/web/earpiece.toml:2:1',
    );
  });

  test('the switch of a source overrides a kind in the table of the source, but not the quoted form', () => {
    const off = '[conversation.notifications.kinds.mcp]\nenable = false\n';
    const key = 'conversation.notifications.kinds.mcp.x';
    expect(line(world({ project: `${off}x = true` }), key)).toBe(
      'false by conversation.notifications.kinds.mcp.enable = false, project file …/web/earpiece.toml:2:1 | true by project file …/web/earpiece.toml:3:1',
    );
    const quoted = world({ project: `${off}[conversation.notifications.kinds]\n"mcp.x" = true` });
    expect(line(quoted, key)).toBe('true by project file …/web/earpiece.toml:4:1');
  });

  test('a password in a URL is not shown', () => {
    expect(line(world(), 'db', { env: { EARPIECE_DB: 'postgres://me:s3cr3t@host/db' } })).toBe(
      'postgres://…@host/db by EARPIECE_DB',
    );
    const here = world({ project: 'db = "postgres://me:s3cr3t@host/db"' });
    expect(here.read().config.untrusted[0]?.what).toEqual(['db (stores queued notifications in postgres://…@host/db)']);
  });

  test('a server is explained without its secrets', () => {
    const here = world({ user: '[gateway.servers.gh]\ncommand = "npx"\nenv = { TOKEN = "s3cr3t" }' });
    const whole = 'npx (env: TOKEN) by user file …/home/.config/earpiece/earpiece.toml:1:18';
    expect(line(here, 'gateway.servers.gh')).toBe(whole);
    expect(line(here, 'gateway.servers.gh.command')).toBe(whole);
    expect(line(here, 'gateway.servers.other')).toBe('not set by default');
  });
});

describe('a table, all settings, or an unknown key', () => {
  test('a table lists its settings', () => {
    const here = world({ project: '[coalesce.sources]\nfile = "5s"' });
    const table = explain(here.read().config, 'coalesce');
    expect(table.kind === 'table' && table.settings.map(({ key, text }) => `${key} = ${text}`)).toEqual([
      'coalesce.window = 2s',
      'coalesce.sources.file = 5s',
    ]);
    expect(explain(here.read().config, 'gateway.servers')).toEqual({ kind: 'table', key: 'gateway.servers', settings: [] });
  });

  test('without a key, every setting is listed once', () => {
    const here = world({
      project: 'db = "x"\n[conversation.tools.t.spawn]\nstateful = true\n[gateway.servers.a]\ncommand = "x"',
    });
    const all = explain(here.read().config);
    const keys = all.kind === 'table' ? all.settings.map(({ key }) => key) : [];
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toEqual(
      expect.arrayContaining(['project', 'view', 'ttl.info', 'conversation.tools.t.stateful', 'gateway.servers.a']),
    );
  });

  test.each([
    ['veiw', 'veiw is not a setting; did you mean view?'],
    ['budget.max_item', 'budget.max_item is not a setting; did you mean budget.max_items?'],
    ['max_items', 'max_items is not a setting; did you mean budget.max_items?'],
    ['budgt', 'budgt is not a setting; did you mean budget?'],
    ['nosuch', 'nosuch is not a setting; earpiece config explain lists all settings'],
    ['nothing.like.it', 'nothing.like.it is not a setting; earpiece config explain lists all settings'],
    ['view.x', 'view.x is not a setting; did you mean view?'],
    ['a..b', '"a..b" is not a key; write the key as in the file, e.g. budget.max_items'],
    ['__proto__', '__proto__ is not a setting; earpiece config explain lists all settings'],
  ])('%s', (key, message) => {
    expect(explain(world().read().config, key)).toEqual({ kind: 'unknown', key, message });
  });
});
