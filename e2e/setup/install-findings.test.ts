/** Tests the end of `earpiece install`: the problems that `earpiece doctor` would report. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PACKAGE } from '../built.ts';
import { proves } from '../verifies.ts';
import { Home } from './home.ts';

const SETTINGS = '.claude/settings.json';
const TWICE = 'the hooks of Earpiece are installed twice: in ~/.claude/settings.json and in the plugin earpiece@earpiece';

/** Makes a home in which the plugin of Earpiece is enabled, as `claude plugin install` writes it. */
function withPlugin(): Home {
  const home = new Home('claude');
  home.command('node', `exec '${process.execPath}' "$@"`);
  enable(home);
  return home;
}

function enable(home: Home): void {
  const settings = home.has(SETTINGS) ? (JSON.parse(home.read(SETTINGS)) as object) : {};
  home.write(SETTINGS, JSON.stringify({ ...settings, enabledPlugins: { 'earpiece@earpiece': true } }));
  const installPath = join(PACKAGE, 'claude-plugin/earpiece');
  home.write('.claude/plugins/installed_plugins.json', JSON.stringify({ plugins: { 'earpiece@earpiece': [{ installPath }] } }));
}

describe('earpiece install', () => {
  proves('hosts:doctor');
  it.each(['claude', 'gemini', 'qwen'])('does not call %s connected if its settings switch all hooks off', (agent) => {
    using home = new Home(agent);
    const off = agent === 'gemini' ? '{ "hooksConfig": { "enabled": false } }' : '{ "disableAllHooks": true }';
    home.write(`.${agent}/settings.json`, off);
    const { code, stdout } = home.run(['install', '--yes']);
    expect(stdout).toMatch(new RegExp(`✗ .*/\\.${agent}/settings\\.json has .*: no hook runs\n {3}→ remove this entry`, 'u'));
    expect(stdout).not.toContain('✓');
    expect(stdout).not.toContain('Next:');
    expect(code).toBe(8);
  });

  it('shows a tab of a settings file as spaces', () => {
    using home = new Home('claude');
    home.write(SETTINGS, '{\n\t"model": "opus"\n}\n');
    const { stdout } = home.run(['install', '--yes']);
    expect(stdout).toContain('"model": "opus"');
    expect(stdout).not.toMatch(/[\ufffd\t]/u);
  });

  it('says that opencode starts without plugins', () => {
    using home = new Home('opencode');
    const { code, stdout } = home.run(['install', '--yes'], { env: { OPENCODE_PURE: '1' } });
    expect(stdout).toContain('OPENCODE_PURE');
    expect(code).toBe(8);
  });

  it('adds no second copy beside an enabled plugin, and tests the plugin', () => {
    using home = withPlugin();
    const before = home.snapshot();
    const { code, stdout } = home.run(['install', '--yes']);
    expect(stdout).toContain('Claude Code has the plugin earpiece@earpiece, which contains the same hooks as earpiece install');
    expect(stdout).toContain('claude plugin uninstall earpiece@earpiece, then: earpiece install claude');
    expect(stdout).toMatch(/✓ {2}claude {2}Claude Code is connected: \d+ hooks in the plugin earpiece@earpiece;/u);
    expect(code).toBe(0);
    expect(home.snapshot()).toEqual(before);
    const json = home.run(['install', '--json']);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      agent: 'claude',
      change: 'none',
      written: false,
      plugin: 'earpiece@earpiece',
    });
  });

  it('reports a plugin that was enabled after the installation', () => {
    using home = new Home('claude');
    expect(home.run(['install', '--yes'])).toMatchObject({ code: 0 });
    enable(home);
    const { code, stdout } = home.run(['install', '--yes']);
    expect(stdout).toContain(TWICE);
    expect(code).toBe(8);
    expect(home.run(['doctor']).stdout).toContain(TWICE);
  });
});

describe('earpiece install with a database', () => {
  proves('hosts:install');
  const URL = 'postgres://anna:s3cret@host/x';
  const NOT_WRITTEN = 'postgres://…@host/x is not written into the settings of an agent, because the URL may contain a password';

  it('refuses --db with the URL of a server, shows no password, and says where to set the URL', () => {
    using home = new Home('claude');
    const { code, stdout, stderr } = home.run(['install', '--db', URL, 'claude', '--yes']);
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      `earpiece: --db ${NOT_WRITTEN}; set db in ${home.home}/.config/earpiece/earpiece.toml, then run earpiece install without --db\n`,
    ]);
    expect(home.has(SETTINGS)).toBe(false);
  });

  it('accepts the URL in the configuration, and warns about another URL in EARPIECE_DB', () => {
    using home = new Home('claude');
    home.write('.config/earpiece/earpiece.toml', `db = "${URL}"\n`);
    expect(home.run(['install', '--db', URL, 'claude', '--json'])).toMatchObject({
      code: 2,
      stderr: expect.not.stringContaining('URL') as string,
    });
    expect(home.run(['install', 'claude', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = home.run(['install', 'claude', '--yes'], { env: { EARPIECE_DB: `${URL}y` } });
    expect([code, stderr]).toEqual([0, expect.stringContaining(`EARPIECE_DB postgres://…@host/xy is not written`)]);
  });

  it('refuses an empty --db, as other commands do', () => {
    using home = new Home('claude');
    const { code, stderr } = home.run(['install', '--db', '', 'claude', '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^earpiece: flag --db is ""; write the path of a file/u)]);
    expect(home.has(SETTINGS)).toBe(false);
  });
});

it('the plan ends with a summary: one line for each changed file', () => {
  proves('hosts:install');
  using home = new Home('claude', 'gemini', 'qwen');
  home.write('.gemini/settings.json', '{}');
  const { code, stdout } = home.run(['install']);
  const [plan = '', summary = ''] = stdout.split('Summary of the 4 files:\n');
  expect([code, summary.trimEnd().split('\n')]).toEqual([
    2,
    [
      expect.stringMatching(/^ {2}~\/\.claude\/settings\.json is made: hooks at SessionStart, /u),
      '  ~/.claude.json is made: the MCP server earpiece',
      expect.stringMatching(/^ {2}~\/\.gemini\/settings\.json is changed: .*hooks at /u),
      expect.stringMatching(/^ {2}~\/\.qwen\/settings\.json is made: .*hooks at /u),
    ],
  ]);
  expect(plan).toMatch(/^ {4}\+ .*hook claude/mu);
});
