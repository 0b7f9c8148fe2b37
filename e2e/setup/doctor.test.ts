/**
 * Tests `earpiece doctor` on installed hooks: green if the hooks deliver notifications, otherwise red with the reason and the
 * cure.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Home } from './home.ts';

const SETTINGS = '.claude/settings.json';

const INSTALL = /^earpiece install claude$/u;
const REPAIR = /^repair that file, then: earpiece install claude$/u;

type Found = { readonly what: string; readonly value: string; readonly ok: boolean; readonly advice?: string };

function about(
  home: Home,
  env: Readonly<Record<string, string>> = {},
  { agent = 'claude', cwd = home.project } = {},
): { readonly code: number | null; readonly found: readonly Found[] } {
  const { code, stdout } = home.run(['doctor', '--json'], { env, cwd });
  const all = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Found);
  return { code, found: all.filter(({ what }) => what === agent) };
}

function installed(): Home {
  const home = new Home('claude');
  expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
  return home;
}

const change = (home: Home, from: string | RegExp, to: string): void => {
  const text = home.read(SETTINGS);
  home.write(SETTINGS, text.replace(from, to));
  expect(home.read(SETTINGS)).not.toBe(text);
};

describe('an agent with hooks', () => {
  proves('hosts:doctor');
  it('passes if a test notification arrives through its hook, and the test leaves nothing in the database', () => {
    using home = installed();
    const { code, found } = about(home);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ ok: true });
    expect(found[0]?.value).toMatch(
      /^Claude Code is connected: \d+ hooks in ~\/\.claude\/settings\.json; a test notification arrived through PostToolBatch in \d+ ms$/u,
    );
    expect(code).toBe(0);
    expect(home.has('.local/state/earpiece/earpiece.db')).toBe(false);
  });

  it('passes with hooks that call the server, and with commands only', () => {
    using home = installed();
    home.command('claude', 'echo "2.1.330 (Claude Code)"');
    expect(about(home)).toMatchObject({ code: 0, found: [{ ok: true }] });
    expect(home.run(['install', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect(home.read(SETTINGS)).toContain('"mcp_tool"');
    expect(about(home)).toMatchObject({ code: 0, found: [{ ok: true }] });
  });

  it('gets the advice to run earpiece install if it is not connected', () => {
    using home = new Home('claude');
    expect(about(home)).toMatchObject({ code: 0, found: [{ ok: true, advice: 'earpiece install claude' }] });
  });
});

describe('an agent that is not connected', () => {
  proves('hosts:doctor');
  it('gets the place of the error in its settings, because an installation needs these settings', () => {
    using home = new Home('claude');
    home.write(SETTINGS, '{ "hooks": ');
    const { code, found } = about(home);
    expect(found).toMatchObject([{ ok: true, advice: expect.stringMatching(REPAIR) }]);
    expect(found[0]?.value).toMatch(
      /but not connected to Earpiece; \S+settings\.json:1:12: is not valid JSON: expected a value/u,
    );
    expect(code).toBe(0);
  });
});

describe.each(['claude', 'codex', 'gemini', 'qwen', 'opencode', 'pi'])('%s, installed for another project', (agent) => {
  proves('hosts:doctor');
  it('is not connected here, and the advice makes no second installation in the other project', () => {
    using home = new Home(agent);
    const cwd = join(home.home, 'other');
    mkdirSync(join(cwd, '.git'), { recursive: true });
    expect(home.run(['install', agent, '--scope', 'project', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    const there = about(home, {}, { agent }).found;
    const { code, found } = about(home, {}, { agent, cwd });
    expect({ code, found }).toMatchObject({
      code: 0,
      found: [{ ok: true, advice: `earpiece install ${agent} --scope project` }],
    });
    expect(found[0]?.value).toMatch(/, but not connected to Earpiece in this folder, only in the project ~\/shop$/u);
    const advised = found[0]?.advice?.split(' ').slice(1) ?? [];
    expect(home.run([...advised, '--yes'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(about(home, {}, { agent }).found.map(({ ok }) => ok)).toEqual(there.map(({ ok }) => ok));
  });

  it('is reported if its file in this project is gone', () => {
    using home = new Home(agent);
    expect(home.run(['install', agent, '--scope', 'project', '--yes'])).toMatchObject({ code: 0 });
    const folder = { claude: '.claude', codex: '.codex', gemini: '.gemini', qwen: '.qwen', opencode: '.opencode', pi: '.pi' }[
      agent
    ];
    rmSync(join(home.project, folder ?? ''), { recursive: true });
    expect(about(home, {}, { agent }).found).toMatchObject([
      {
        ok: false,
        value: expect.stringMatching(/is missing from|are missing from ~\/shop/u) as string,
        advice: `earpiece install ${agent} --scope project`,
      },
    ]);
  });
});

type Fault = {
  readonly make: (home: Home) => Readonly<Record<string, string>> | void;
  readonly says: RegExp;
  readonly advice: RegExp;
};

const FAULTS: Readonly<Record<string, Fault>> = {
  'every hook is switched off': {
    make: (home) => change(home, '"hooks"', '"disableAllHooks": true,\n  "hooks"'),
    says: /settings\.json has disableAllHooks = true: no hook runs/u,
    advice: /remove this entry from .*settings\.json/u,
  },
  'the project switches every hook off': {
    make: (home) => void home.write('shop/.claude/settings.json', '{ "disableAllHooks": true }'),
    says: /shop\/\.claude\/settings\.json has disableAllHooks = true/u,
    advice: /remove this entry from/u,
  },
  'the Earpiece that the hooks start is gone': {
    make: (home) => change(home, /\/dist\/cli\/main\.js/gu, '/gone/cli/main.ts'),
    says: /the hooks start an Earpiece that does not exist: .*\/gone\/cli\/main\.ts/u,
    advice: INSTALL,
  },
  'Node is gone': {
    make: (home) => change(home, /\/\S+\/node(?= )/gu, '/opt/node-24.1.0/bin/node'),
    says: /the hooks start a Node that does not exist: \/opt\/node-24\.1\.0\/bin\/node; another Node runs instead, or none/u,
    advice: INSTALL,
  },
  'an event is missing': {
    make: (home) => change(home, '"PostToolBatch"', '"PostToolBatched"'),
    says: /the hooks at PostToolBatch are missing/u,
    advice: INSTALL,
  },
  'the hooks are of another version': {
    make: (home) => change(home, /"timeout": 5/u, '"timeout": 50'),
    says: /the entries in ~\/\.claude\/settings\.json were written by another version/u,
    advice: INSTALL,
  },
  'the project has a second copy': {
    make: (home) => void home.run(['install', '--yes', '--scope', 'project']),
    says: /the hooks of Earpiece are installed twice: in ~\/\.claude\/settings\.json and ~\/shop\/\.claude\/settings\.local\.json/u,
    advice: /^earpiece uninstall claude --yes && earpiece install claude$/u,
  },
  'this shell uses another database': {
    make: (home) => ({ EARPIECE_DB: join(home.home, 'other.db') }),
    says: /the hooks use the database of this user, but this shell uses .*other\.db/u,
    advice: INSTALL,
  },
  'the hooks are twice in one file': {
    make(home) {
      const settings = JSON.parse(home.read(SETTINGS)) as { hooks: Record<string, object[]> };
      const groups = settings.hooks['PreToolUse'] ?? [];
      home.write(SETTINGS, JSON.stringify({ hooks: { ...settings.hooks, PreToolUse: [...groups, ...groups] } }));
    },
    says: /^~\/\.claude\/settings\.json has the hooks of Earpiece at PreToolUse more than once$/u,
    advice: INSTALL,
  },
  'the hooks start a program that somebody renamed': {
    make: (home) => change(home, /\/\S+\/main\.js/gu, '/gone/m.js'),
    says: /^the hooks start an Earpiece that does not exist: \/gone\/m\.js$/u,
    advice: INSTALL,
  },
  'the file of the MCP server is broken': {
    make: (home) => void home.write('.claude.json', '{ "mcpServers": '),
    says: /^\S+\/\.claude\.json:1:17: is not valid JSON: expected a value/u,
    advice: REPAIR,
  },
  'the MCP server starts a program that does not exist': {
    make: (home) =>
      void home.write('.claude.json', home.read('.claude.json').replace(/\/[^"]+\/dist\/cli\/main\.js/u, '/gone/cli/main.js')),
    says: /^the MCP server earpiece in ~\/\.claude\.json starts a program that does not exist: \/gone\/cli\/main\.js$/u,
    advice: INSTALL,
  },
  'another server has the name': {
    make: (home) =>
      void home.write('.claude.json', '{ "mcpServers": { "earpiece": { "command": "cat", "args": ["--token", "s3cret"] } } }'),
    says: /^~\/\.claude\.json has another MCP server named "earpiece", which starts cat --token …$/u,
    advice: /^rename that server in ~\/\.claude\.json, then: earpiece install claude$/u,
  },
  'the settings are broken': {
    make: (home) => void home.write(SETTINGS, '{ "hooks": '),
    says: /settings\.json:1:12: is not valid JSON: expected a value/u,
    advice: REPAIR,
  },
  'the MCP server is gone': {
    make: (home) => void home.write('.claude.json', '{}'),
    says: /the MCP server earpiece is missing in ~\/\.claude\.json/u,
    advice: INSTALL,
  },
  'Claude Code is too old for hooks that call a server': {
    make(home) {
      home.command('claude', 'echo "2.1.330 (Claude Code)"');
      expect(home.run(['install', '--yes'])).toMatchObject({ code: 0 });
      expect(home.read(SETTINGS)).toContain('"mcp_tool"');
      home.command('claude', 'echo "2.1.100 (Claude Code)"');
    },
    says: /this Claude Code is older than 2\.1\.200 and ignores all hooks of the file/u,
    advice: /^update Claude Code, or: earpiece install claude$/u,
  },
  'somebody took the hooks out': {
    make: (home) => void home.write(SETTINGS, '{}'),
    says: /the hooks of Earpiece are missing from ~\/\.claude\/settings\.json/u,
    advice: INSTALL,
  },
  'the agent is gone': {
    make: (home) => rmSync(join(home.bin, 'claude')),
    says: /claude is not on the PATH/u,
    advice: /earpiece uninstall claude/u,
  },
  'the hook fails': {
    make: (home) => change(home, / hook claude(?=[;"])/gu, ' hook claude --no-such-option'),
    says: /a test notification did not arrive through the hook at PostToolBatch: the hook ended with exit code 0: .*--no-such-option/u,
    advice: INSTALL,
  },
};

describe.each(Object.entries(FAULTS))('red: %s', (_fault, { make, says, advice }) => {
  proves('hosts:doctor');
  it('doctor reports the reason and the way out', () => {
    using home = installed();
    const { code, found } = about(home, make(home) ?? {});
    expect(code).toBe(8);
    const [reason] = found.filter(({ value }) => says.test(value));
    expect(reason, JSON.stringify(found, null, 2)).toMatchObject({ ok: false });
    expect(reason?.advice).toMatch(advice);
    // A hook that starts a missing program delivers no test notification, so doctor has only this finding.
    if (/start an? (?:Earpiece|Node) that/u.test(says.source)) expect(found.map(({ value }) => value)).toEqual([reason?.value]);
  });
});

describe('an agent that is installed with --db', () => {
  proves('hosts:doctor');
  it('gets hooks that also use that database', () => {
    using home = new Home('claude');
    mkdirSync(join(home.home, 'my data'));
    const db = join(home.home, "my data/it's.db");
    expect(home.run(['--db', db, 'install', '--yes'])).toMatchObject({ code: 0 });
    expect(home.read(SETTINGS)).toContain('--db ');
    const { code, stdout } = home.run(['--db', db, 'send', '--to', 'coder', 'x']);
    expect({ code, stdout: stdout !== '' }).toEqual({ code: 0, stdout: true });
    expect(about(home, { EARPIECE_DB: db })).toMatchObject({ code: 0, found: [{ ok: true }] });
  });
});
