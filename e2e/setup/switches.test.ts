/**
 * Tests `earpiece doctor` on settings, of the user or of the project, with which an agent ignores the installed hooks or
 * servers.
 */
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import {
  about,
  ANOTHER,
  append,
  byHand,
  CLAUDE,
  GEMINI,
  hooksOf,
  inProject,
  merge,
  reports,
  reportsNothing,
  write,
  type Fault,
  type Harmless,
} from './faults.ts';
import { Home } from './home.ts';

const FAULTS: Readonly<Record<string, Fault>> = {
  'Gemini: the project switches every hook off': {
    agent: 'gemini',
    make: write(`shop/${GEMINI}`, { hooksConfig: { enabled: false } }),
    says: /shop\/\.gemini\/settings\.json has hooksConfig\.enabled = false: no hook runs/u,
    advice: /^remove this entry from .*shop\/\.gemini\/settings\.json$/u,
  },
  'Gemini: the user switches the hooks of Earpiece off': {
    agent: 'gemini',
    make: merge(GEMINI, () => ({ hooksConfig: { disabled: ['earpiece'] } })),
    says: /home\/\.gemini\/settings\.json has hooksConfig\.disabled with hooks of Earpiece: these hooks do not run/u,
    advice: /^remove these entries from /u,
  },
  'Gemini: the project switches a hook of Earpiece off': {
    agent: 'gemini',
    make: write(`shop/${GEMINI}`, { hooksConfig: { disabled: ['earpiece'] } }),
    says: /shop\/\.gemini\/settings\.json has hooksConfig\.disabled with hooks of Earpiece/u,
    advice: /^remove these entries from /u,
  },
  'Gemini: the user excludes the MCP server': {
    agent: 'gemini',
    make: merge(GEMINI, () => ({ mcp: { excluded: ['earpiece'] } })),
    says: /has mcp\.excluded with "earpiece": the agent does not have the MCP server earpiece/u,
    advice: /^remove this entry from /u,
  },
  'Gemini: the project excludes the MCP server, with the old key': {
    agent: 'gemini',
    make: write(`shop/${GEMINI}`, { excludeMCPServers: ['earpiece'] }),
    says: /shop\/\.gemini\/settings\.json has excludeMCPServers with "earpiece"/u,
    advice: /^remove this entry from /u,
  },
  'Gemini: the project has another server with this name': {
    agent: 'gemini',
    make: write(`shop/${GEMINI}`, { mcpServers: { earpiece: ANOTHER } }),
    says: /shop\/\.gemini\/settings\.json has another MCP server named "earpiece", which the agent starts instead/u,
    advice: /^rename that server in /u,
  },
  'Qwen: the project switches every hook off': {
    agent: 'qwen',
    make: write('shop/.qwen/settings.json', { disableAllHooks: true }),
    says: /shop\/\.qwen\/settings\.json has disableAllHooks = true: no hook runs/u,
    advice: /^remove this entry from /u,
  },
  'Qwen: the user excludes the MCP server': {
    agent: 'qwen',
    make: merge('.qwen/settings.json', () => ({ mcp: { excluded: ['earpiece'] } })),
    says: /has mcp\.excluded with "earpiece"/u,
    advice: /^remove this entry from /u,
  },
  'Claude: the project settings contain the hooks too': {
    agent: 'claude',
    make: (home) => write(`shop/${CLAUDE}`, { hooks: hooksOf(home, CLAUDE) })(home),
    says: /installed twice: in ~\/\.claude\/settings\.json and ~\/shop\/\.claude\/settings\.json/u,
    advice: /^remove the hooks of Earpiece from ~\/shop\/\.claude\/settings\.json$/u,
  },
  'Claude: a person wrote a second hook in the project': {
    agent: 'claude',
    make: write(`shop/${CLAUDE}`, byHand('npx -y earpiece hook claude')),
    says: /installed twice: in ~\/\.claude\/settings\.json, and by hand in ~\/shop\/\.claude\/settings\.json$/u,
    advice: /^remove the lines with "earpiece hook claude" that you added to ~\/shop\/\.claude\/settings\.json$/u,
  },
  'Claude: a person wrote a second hook beside the hooks of Earpiece': {
    agent: 'claude',
    make: (home) =>
      merge(CLAUDE, () => ({
        hooks: { ...hooksOf(home, CLAUDE), Notification: byHand('earpiece hook claude').hooks.PreToolUse },
      }))(home),
    says: /installed twice: in ~\/\.claude\/settings\.json, and by hand in ~\/\.claude\/settings\.json$/u,
    advice: /^remove the lines with "earpiece hook claude" that you added to /u,
  },
  'Gemini: the MCP server starts a program that does not exist': {
    agent: 'gemini',
    make: merge(GEMINI, () => ({ mcpServers: { earpiece: { command: process.execPath, args: ['/gone/m.js', 'mcp'] } } })),
    says: /^the MCP server earpiece in ~\/\.gemini\/settings\.json starts a program that does not exist: \/gone\/m\.js$/u,
    advice: /^earpiece install gemini$/u,
  },
  'Codex: a person wrote a second hook in config.toml': {
    agent: 'codex',
    make: append(
      '.codex/config.toml',
      '\n[[hooks.PreToolUse]]\nmatcher = ".*"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "earpiece hook codex"\n',
    ),
    says: /installed twice: in ~\/\.codex\/hooks\.json, and by hand in ~\/\.codex\/config\.toml$/u,
    advice: /^remove the lines with "earpiece hook codex" that you added to ~\/\.codex\/config\.toml$/u,
  },
  'Codex: config.toml is broken': {
    agent: 'codex',
    make: append('.codex/config.toml', '\n[[[\n'),
    says: /\.codex\/config\.toml:\d+:\d+: /u,
    advice: /^repair that file, then: earpiece install codex$/u,
  },
  'opencode: the MCP server is gone': {
    agent: 'opencode',
    make: write('.config/opencode/opencode.json', {}),
    says: /^the MCP server earpiece is missing in ~\/\.config\/opencode\/opencode\.json$/u,
    advice: /^earpiece install opencode$/u,
  },
  'Claude: the MCP server is switched off in the project': {
    agent: 'claude',
    make: inProject({ disabledMcpServers: ['earpiece'] }),
    says: /\.claude\.json has projects\["[^"]*\/shop"\]\.disabledMcpServers with "earpiece": the agent does not have/u,
    advice: /^remove this entry from /u,
  },
  'Claude: the user denies the MCP server': {
    agent: 'claude',
    make: merge(CLAUDE, () => ({ deniedMcpServers: [{ serverName: 'earpiece' }] })),
    says: /has deniedMcpServers with "earpiece"/u,
    advice: /^remove this entry from /u,
  },
  'Claude: the project denies the MCP server': {
    agent: 'claude',
    make: write('shop/.claude/settings.local.json', { deniedMcpServers: [{ serverName: 'earpiece' }] }),
    says: /settings\.local\.json has deniedMcpServers with "earpiece"/u,
    advice: /^remove this entry from /u,
  },
  'Claude: another local server has the name': {
    agent: 'claude',
    make: inProject({ mcpServers: { earpiece: ANOTHER } }),
    says: /\.claude\.json has another MCP server named "earpiece" for this project, which the agent starts instead/u,
    advice: /^rename that server in /u,
  },
  'Claude: another server of the project has the name': {
    agent: 'claude',
    make: write('shop/.mcp.json', { mcpServers: { earpiece: { type: 'http', url: 'http://127.0.0.1:9/mcp' } } }),
    says: /shop\/\.mcp\.json has another MCP server named "earpiece"/u,
    advice: /^rename that server in /u,
  },
  'Codex: the project switches the MCP server off': {
    agent: 'codex',
    make(home) {
      home.write('shop/.codex/config.toml', '[mcp_servers.earpiece]\nenabled = false\n');
      const file = '.codex/config.toml';
      home.write(file, `${home.read(file)}\n[projects."${home.project}"]\ntrust_level = "trusted"\n`);
    },
    says: /shop\/\.codex\/config\.toml has mcp_servers\.earpiece\.enabled = false/u,
    advice: /^remove this entry from /u,
  },
  'opencode: the project switches the MCP server off': {
    agent: 'opencode',
    make: write('shop/opencode.json', { mcp: { earpiece: { enabled: false } } }),
    says: /shop\/opencode\.json has mcp\.earpiece\.enabled = false: the agent does not have the MCP server earpiece/u,
    advice: /^remove this entry from /u,
  },
  'opencode: the folder of the project has another server with this name': {
    agent: 'opencode',
    make: write('shop/.opencode/opencode.jsonc', { mcp: { earpiece: { type: 'local', command: ['another'] } } }),
    says: /shop\/\.opencode\/opencode\.jsonc has another MCP server named "earpiece"/u,
    advice: /^rename that server in /u,
  },
  'pi: the settings exclude the file of the plugin': {
    agent: 'pi',
    make: write('.pi/agent/settings.json', { extensions: ['+extensions/earpiece.js', '-extensions/earpiece.js'] }),
    says: /\.pi\/agent\/settings\.json has extensions with "-extensions\/earpiece\.js": pi does not load the plugin/u,
    advice: /^remove this entry from /u,
  },
  'pi: a pattern of the settings excludes the plugin': {
    agent: 'pi',
    make: write('.pi/agent/settings.json', { extensions: ['!**/earpiece.js'] }),
    says: /has extensions with "!\*\*\/earpiece\.js"/u,
    advice: /^remove this entry from /u,
  },
};

reports(FAULTS);

const HARMLESS: Readonly<Record<string, Harmless>> = {
  'Gemini: hooks of others are switched off': {
    agent: 'gemini',
    make: merge(GEMINI, () => ({ hooksConfig: { enabled: true, disabled: ['lint'] }, mcp: { excluded: ['files'] } })),
  },
  'Claude: other servers are denied, and the project starts Earpiece too': {
    agent: 'claude',
    make(home) {
      inProject({ disabledMcpServers: ['files'] })(home);
      home.write('shop/.claude/settings.json', '{ "deniedMcpServers": [{ "serverName": "files" }] }');
      home.write('shop/.mcp.json', '{ "mcpServers": { "earpiece": { "command": "npx", "args": ["-y", "earpiece", "mcp"] } } }');
    },
  },
  'Gemini: keys that Gemini CLI does not read from these files': {
    agent: 'gemini',
    make: merge(GEMINI, () => ({ tools: { enableHooks: false }, admin: { mcp: { enabled: false } } })),
  },
  'pi: the file of the plugin is included again, and the project has its own list': {
    agent: 'pi',
    make(home) {
      write('.pi/agent/settings.json', { extensions: ['!**/*.js', '+extensions/earpiece.js', '-extensions/other.js'] })(home);
      write('shop/.pi/settings.json', { extensions: ['-extensions/earpiece.js'] })(home);
    },
  },
};

reportsNothing(HARMLESS);

describe.each(['opencode', 'pi'])('the plugin of %s', (agent) => {
  proves('hosts:doctor');
  const file = { opencode: '.config/opencode/plugins/earpiece.js', pi: '.pi/agent/extensions/earpiece.js' }[agent] ?? '';

  it('passes if a test notification goes through its bridge', () => {
    using home = new Home(agent);
    expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect(about(home, agent)).toMatchObject([
      { ok: true, value: expect.stringMatching(/; a test notification arrived through its bridge in \d+ ms/u) as string },
    ]);
    expect(home.has('.local/state/earpiece/earpiece.db')).toBe(false);
  });

  it('passes with a separate database, which the test does not create', () => {
    using home = new Home(agent);
    const db = `${home.home}/own.db`;
    expect(home.run(['--db', db, 'install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect(home.read(file)).toContain('own.db');
    const { stdout } = home.run(['doctor', '--json'], { env: { EARPIECE_DB: db } });
    expect(stdout).toContain('a test notification arrived through its bridge');
    expect(home.has('own.db')).toBe(false);
  });

  it.each([['/bin/false', 'ended with exit code 1 and carried nothing']])(
    'is named if its bridge carries nothing: %s',
    (node, why) => {
      using home = new Home(agent);
      expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
      home.write(file, home.read(file).replace(/"node":"[^"]*"/u, `"node":"${node}"`));
      const found = about(home, agent);
      expect(found.map(({ value }) => value).join('\n')).toContain(
        `a test notification did not arrive through the bridge of the plugin: the bridge ${why}`,
      );
    },
  );
});

describe.each(['opencode', 'pi'])('the plugin of %s without its package', (agent) => {
  proves('hosts:doctor');
  const file = { opencode: '.config/opencode/plugins/earpiece.js', pi: '.pi/agent/extensions/earpiece.js' }[agent] ?? '';

  it.each([
    ['node', '/gone/node'],
    ['entry', '/gone/cli/main.js'],
  ])('has one finding, which names the path: %s', (part, path) => {
    using home = new Home(agent);
    expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    home.write(file, home.read(file).replace(new RegExp(`"${part}":"[^"]*"`, 'u'), `"${part}":"${path}"`));
    expect(about(home, agent)).toEqual([
      {
        what: agent,
        value: `the plugin starts a program that does not exist: ${path}`,
        ok: false,
        advice: `earpiece install ${agent}`,
      },
    ]);
  });
});

describe('a broken file of Codex', () => {
  proves('hosts:doctor');
  it('is the only finding', () => {
    using home = new Home('codex');
    expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    append('.codex/config.toml', '\n[[[\n')(home);
    expect(about(home, 'codex').map(({ value }) => value)).toEqual([expect.stringMatching(/config\.toml:\d+:\d+: /u) as string]);
  });
});

describe('a home that is the project', () => {
  proves('hosts:doctor');
  it('is not reported as installed twice', () => {
    using home = new Home('gemini');
    expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = home.run(['doctor', '--json'], { wrap: ['env', '-C', home.home] });
    expect(stdout).not.toContain('installed twice');
  });
});
