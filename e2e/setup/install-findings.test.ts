/** The end of `earpiece install`: the problems that `earpiece doctor` would report. */
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
