/** Tests `earpiece install` and `uninstall` on realistic settings. */
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonAt } from '../../src/config/edit-json.ts';
import { digest } from '../../src/hosts/setup/record.ts';
import { proves } from '../verifies.ts';
import { Home, type Ran, type RunOptions } from './home.ts';

const SETTINGS = '.claude/settings.json';
const STATE = '.local/state/earpiece';
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const OTHERS = `// What I like.
{
\t"model": "opus", // the large one
\t"permissions": { "allow": ["Bash(npm test)"], },
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "hooks": [{ "type": "command", "command": "notify-send done" }] }, // tells me
\t\t],
\t\t"PreToolUse": []
\t}
}
`;

const OLD_LINE = `[ -f /old/earpiece/dist/cli/main.js ] && [ -x /old/node ] && exec /old/node /old/earpiece/dist/cli/main.js hook claude; echo 'earpiece: its files are gone' >&2`;
const PERSON = ['notify-send done', 'earpiece hook claude | tee -a /tmp/hooks.log', 'docker exec dev earpiece hook claude'];
const commandHook = (command: string): object => ({ type: 'command', command });
const OLDER = JSON.stringify({
  hooks: {
    Stop: [{ hooks: [...PERSON.map(commandHook), commandHook(OLD_LINE)] }],
    PostToolUseFailure: [{ matcher: '*', hooks: [commandHook(OLD_LINE)] }],
  },
});

const HUGE = JSON.stringify(
  { history: Array.from({ length: 12_000 }, (_, i) => ({ at: i, said: `word ${i} `.repeat(6) })) },
  null,
  2,
);

/** Files of settings that an installation changes and `uninstall` restores. */
const KINDS: Readonly<Record<string, (home: Home) => void>> = {
  missing: () => {},
  empty: (home) => void home.write(SETTINGS, ''),
  'an empty object': (home) => void home.write(SETTINGS, '{}'),
  'comments, trailing commas and hooks of others': (home) => void home.write(SETTINGS, OTHERS),
  "a person's own hooks that start Earpiece": (home) =>
    void home.write(SETTINGS, `{"a": 1, "hooks": ${JSON.stringify({ Stop: [{ hooks: PERSON.map(commandHook) }] })}}`),
  'one line': (home) => void home.write(SETTINGS, '{"model":"opus","hooks":{"Stop":[]}}'),
  'CRLF and a byte order mark': (home) => void home.write(SETTINGS, `\ufeff${OTHERS.replaceAll('\n', '\r\n')}`),
  'a link into a repository of dotfiles': (home) => {
    home.write('dotfiles/claude.json', OTHERS);
    mkdirSync(join(home.home, '.claude'));
    symlinkSync('../dotfiles/claude.json', join(home.home, SETTINGS));
  },
  'a link to a file whose folders are missing': (home) => {
    mkdirSync(join(home.home, '.claude'));
    symlinkSync('../dotfiles/agents/claude.json', join(home.home, SETTINGS));
  },
  'a folder that is a link': (home) => {
    home.write('dotfiles/claude/settings.json', OTHERS);
    symlinkSync('dotfiles/claude', join(home.home, '.claude'));
  },
  'a private file': (home) => void home.write(SETTINGS, OTHERS, 0o600),
  huge: (home) => void home.write(SETTINGS, HUGE),
  'project settings beside it': (home) => {
    home.write(SETTINGS, OTHERS);
    home.write('shop/.claude/settings.json', OTHERS);
    home.write('shop/.claude/settings.local.json', '{ "x": 1 }');
  },
};

const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop', 'SessionEnd'];

const commandsIn = (text: string): readonly string[] =>
  Object.values((jsonAt(text, ['hooks']) ?? {}) as Record<string, { hooks: { command: string }[] }[]>).flatMap((groups) =>
    groups.flatMap(({ hooks }) => hooks.map(({ command }) => command)),
  );

const OURS = / hook claude(?: --wait)?; echo 'earpiece: [^']*' >&2$/u;

const ok = ({ code, stderr }: Ran): void => expect({ code, stderr }).toEqual({ code: 0, stderr: '' });

describe.each(Object.entries(KINDS))('settings of Claude Code: %s', (kind, prepare) => {
  proves('hosts:install', 'hosts:uninstall');
  const scopes = kind.startsWith('project') ? ['user', 'project'] : ['user'];

  it.each(scopes)('scope %s: a second install changes nothing, and uninstall restores the earlier bytes', (scope) => {
    using home = new Home('claude');
    prepare(home);
    const before = home.snapshot();
    // A line that a person wrote runs the hooks of Earpiece a second time.
    const code = kind === "a person's own hooks that start Earpiece" ? 8 : 0;
    expect(home.run(['install', '--yes', '--scope', scope])).toMatchObject({ code, stderr: '' });
    const installed = home.snapshot();
    const text = home.read(scope === 'user' ? SETTINGS : 'shop/.claude/settings.local.json');
    expect(Object.keys(jsonAt(text, ['hooks']) as object)).toEqual(expect.arrayContaining(EVENTS));
    expect(commandsIn(text).filter((command) => OURS.test(command) && !command.includes(' --wait;'))).toHaveLength(
      // The event after a tool has two handlers, one for each of its rules.
      EVENTS.length + 1,
    );
    for (const [path, bytes] of Object.entries(before)) expect(installed[path]?.split(' ')[0]).toBe(bytes.split(' ')[0]);

    const again = home.run(['install', '--yes', '--scope', scope]);
    expect(again).toMatchObject({ code, stderr: '' });
    expect(again.stdout).toContain('nothing to change');
    expect(home.snapshot()).toEqual(installed);

    ok(home.run(['uninstall', '--yes']));
    expect(home.snapshot()).toEqual(before);
    const state = readdirSync(join(home.home, '.local/state/earpiece/installed'));
    expect(state).toEqual(['files.json']);
  });
});

describe('entries of an older version', () => {
  proves('hosts:install');
  it("are replaced, and a person's entries stay, even if they start Earpiece", () => {
    using home = new Home('claude');
    home.write(SETTINGS, OLDER);
    const { code, stdout } = home.run(['install', '--yes']);
    expect(code).toBe(8);
    expect(stdout).toContain('remove the lines with "earpiece hook claude" that you added to ~/.claude/settings.json');
    const commands = commandsIn(home.read(SETTINGS));
    expect(commands.filter((command) => !OURS.test(command))).toEqual(PERSON);
    expect(commands.filter((command) => command.includes('/old/'))).toEqual([]);
    expect(jsonAt(home.read(SETTINGS), ['hooks', 'PostToolUseFailure'])).toBeUndefined();

    ok(home.run(['uninstall', '--yes']));
    expect(commandsIn(home.read(SETTINGS))).toEqual(PERSON);
  });
});

describe.each(['gemini', 'qwen'])('the hooks of %s', (agent) => {
  proves('hosts:install');
  it('have a name, which the agent shows instead of the command; an entry without the name is replaced', () => {
    using home = new Home(agent);
    const file = `.${agent}/settings.json`;
    const before = JSON.stringify({
      hooks: { Stop: [{ hooks: [commandHook(OLD_LINE.replace('hook claude', `hook ${agent}`))] }] },
    });
    home.write(file, before);
    ok(home.run(['install', '--yes']));
    const { hooks } = JSON.parse(home.read(file)) as { hooks: Record<string, { hooks: { name?: string }[] }[]> };
    const names = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks.map(({ name }) => name)));
    expect(names.length).toBeGreaterThan(5);
    expect(new Set(names)).toEqual(new Set(['earpiece']));
    expect(home.read(file)).not.toContain('/old/');
  });
});

describe('a change after the installation', () => {
  proves('hosts:uninstall');
  it.each([
    OTHERS,
    '{"model":"opus"}',
    `\ufeff${OTHERS.replaceAll('\n', '\r\n')}`,
    OTHERS.replace('\t"hooks"', '\t// mine\n\t"hooks"'),
  ])("stays, byte for byte, when Earpiece's entries are removed: %j", (text) => {
    using home = new Home('claude');
    home.write(SETTINGS, text);
    ok(home.run(['install', '--yes']));
    const more = home.read(SETTINGS).replace('"opus"', '"sonnet" /* cheaper */');
    home.write(SETTINGS, more);
    ok(home.run(['uninstall', '--yes']));
    const left = home.read(SETTINGS);
    expect(left.replaceAll(/\s/gu, '')).toBe(text.replace('"opus"', '"sonnet" /* cheaper */').replaceAll(/\s/gu, ''));
    if (text !== '{"model":"opus"}') expect(left).toBe(text.replace('"opus"', '"sonnet" /* cheaper */'));
  });

  it('survives a second installation', () => {
    using home = new Home('claude');
    home.write(SETTINGS, OTHERS);
    ok(home.run(['install', '--yes']));
    home.write(SETTINGS, home.read(SETTINGS).replace('"opus"', '"sonnet"').replace(' hook claude', ' hook claude --old'));
    ok(home.run(['install', '--yes']));
    ok(home.run(['uninstall', '--yes']));
    expect(home.read(SETTINGS)).toBe(OTHERS.replace('"opus"', '"sonnet"'));
  });

  it('without the record of the installation, uninstall still removes only its own entries', () => {
    using home = new Home('claude');
    home.write(SETTINGS, OTHERS);
    ok(home.run(['install', '--yes']));
    home.write('.local/state/earpiece/installed/files.json', 'not what it was');
    ok(home.run(['uninstall', '--yes']));
    expect(jsonAt(home.read(SETTINGS), ['hooks', 'Stop'])).toHaveLength(1);
    expect(commandsIn(home.read(SETTINGS))).toEqual(['notify-send done']);
  });
});

type Refusal = { readonly prepare: (home: Home) => RunOptions; readonly says: RegExp };

const asNobody = (home: Home): RunOptions => {
  if (!isRoot) return {};
  for (const path of ['', ...readdirSync(home.folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(home.folder, path), NOBODY, NOBODY);
  return { wrap: ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'] };
};

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'broken JSON': {
    prepare: (home) => (home.write(SETTINGS, '{\n  "model": "opus",\n  "hooks": {\n'), {}),
    says: /settings\.json:4:1: is not valid JSON: expected a name in double quotes.*repair the file, then run the command again/u,
  },
  'a list': { prepare: (home) => (home.write(SETTINGS, '[]'), {}), says: /settings\.json:1:1: is a list; write an object/u },
  'hooks that are not a list': {
    prepare: (home) => (home.write(SETTINGS, '{"hooks": {"Stop": {}}}'), {}),
    says: /hooks\.Stop must be a list; correct the file/u,
  },
  'bytes that are not UTF-8': {
    prepare: (home) => (home.write(SETTINGS, Buffer.from([0x7b, 0xff, 0x7d])), {}),
    says: /is not UTF-8; save the file as UTF-8/u,
  },
  'a read-only file': {
    prepare: (home) => (home.write(SETTINGS, OTHERS, 0o444), {}),
    says: /is read-only; make the file writable \(chmod u\+w\)/u,
  },
  'a folder in its place': {
    prepare: (home) => (mkdirSync(join(home.home, SETTINGS), { recursive: true }), {}),
    says: /cannot be read \(EISDIR\)/u,
  },
  'a read-only folder': {
    prepare(home) {
      home.write(SETTINGS, OTHERS);
      const run = asNobody(home);
      chmodSync(join(home.home, '.claude'), 0o555);
      return run;
    },
    says: /cannot be changed \(EACCES\); make the folder writable/u,
  },
};

describe.each(Object.entries(REFUSALS))('settings that cannot be changed: %s', (_kind, { prepare, says }) => {
  proves('hosts:install');
  it('are reported with the way out, stay unchanged, and do not stop the installation of other agents', () => {
    using home = new Home('claude');
    const options = prepare(home);
    const before = home.snapshot();
    const { code, stdout } = home.run(['install', '--yes'], options);
    expect(code).toBe(8);
    expect(stdout).toMatch(says);
    expect(stdout).toContain('because of the problem after ✗, Earpiece changes no file of Claude Code');
    expect(home.snapshot()).toEqual(before);
    chmodSync(join(home.home, '.claude'), 0o755);
  });
});

describe('the installer', () => {
  proves('hosts:install');
  it('asks before it changes anything: without a terminal and without --yes nothing changes', () => {
    using home = new Home('claude');
    const before = home.snapshot();
    const { code, stdout, stderr } = home.run(['install']);
    expect(code).toBe(2);
    expect(stdout).toContain('+  "hooks": {');
    expect(stderr).toBe(
      'earpiece: nothing was changed, because the command can ask for confirmation only in a terminal and without --json; add --yes to make the changes without this question\n',
    );
    expect(home.snapshot()).toEqual(before);
  });

  it('reports that Codex runs the hooks only after its user has trusted them', () => {
    using home = new Home('codex');
    const { code, stdout } = home.run(['install', '--yes']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ Codex has its hooks: .*\n\nFirst start codex once and choose "Trust all[^]*\nNext: restart Codex/u);
    expect(stdout).not.toContain('Codex is connected');
  });

  it('asks to trust the hooks of Codex only until its user has trusted them', () => {
    using home = new Home('codex');
    expect(home.run(['install', '--yes']).code).toBe(0);
    const commands = [...home.read('.codex/hooks.json').matchAll(/"command": ("(?:\\.|[^"])*")/gu)].map(
      ([, json = '']) => JSON.parse(json) as string,
    );
    expect(commands.length).toBeGreaterThan(3);
    const status = (trustStatus: string): void => {
      const data = [{ hooks: commands.map((command) => ({ command, trustStatus, enabled: true })) }];
      home.write('list.json', `${JSON.stringify({ id: 1, result: { data } })}\n`);
      home.command('codex', `cat ${join(home.home, 'list.json')}; cat > /dev/null`);
    };
    status('untrusted');
    expect(home.run(['install', '--yes']).stdout).toContain('First start codex once');
    status('trusted');
    const { code, stdout } = home.run(['install', '--yes']);
    expect(code).toBe(0);
    expect(stdout).not.toContain('Trust all');
    expect(stdout).toContain('Next: restart Codex');
  });

  it('sets up a named agent that is not installed, and says so at each step', () => {
    using home = new Home();
    const { code, stdout } = home.run(['install', 'claude', '--yes']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Claude Code was not found here\n/u);
    expect(stdout).toMatch(
      /✓ Claude Code has its hooks, but is not installed yet: a test .*\n\nNext: install Claude Code, start the agent in/u,
    );
    expect(home.run(['uninstall', '--yes']).code).toBe(0);
    expect(home.run(['uninstall', '--yes']).stdout).toBe('nothing of Earpiece is installed in any coding agent\n');
  });

  it('on a machine without agents it names the next step', () => {
    using home = new Home();
    const { code, stdout, stderr } = home.run(['install', '--yes']);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(/^earpiece: no coding agent was found: none of claude.* is on the PATH.*earpiece install claude\n$/u);
    expect(Object.keys(home.snapshot())).toEqual(['shop', 'shop/.git']);
  });

  it('a named agent is set up, found or not', () => {
    using home = new Home();
    ok(home.run(['install', 'claude', '--yes']));
    expect(home.has(SETTINGS)).toBe(true);
    const { code, stderr } = home.run(['install', 'cluade', '--yes']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean claude?') as string });
  });

  it('with --json the output is one line per file', () => {
    using home = new Home('claude');
    const lines = (args: readonly string[]): Record<string, unknown>[] =>
      home
        .run([...args, '--json'])
        .stdout.trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines(['install'])[0]).toMatchObject({ agent: 'claude', change: 'make', written: false });
    expect(lines(['install', '--yes'])[0]).toMatchObject({ agent: 'claude', change: 'make', written: true });
    expect(lines(['install', '--yes'])[0]).toMatchObject({ agent: 'claude', change: 'none', written: false });
  });

  it('with --json a file whose write failed is not printed as written, and has the reason', () => {
    using home = new Home('claude', 'codex');
    const file = home.write(SETTINGS, OTHERS);
    const backup = `${STATE}/installed/${digest(file).slice(0, 24)}.before`;
    mkdirSync(join(home.home, backup), { recursive: true });
    const { code, stdout } = home.run(['install', '--yes', '--json']);
    expect(code).toBe(8);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const reason = expect.stringMatching(/\.before cannot be written \(EISDIR\); make .* writable/u) as string;
    expect(lines.find((line) => line['file'] === file)).toMatchObject({ change: 'change', written: false, problem: reason });
    expect(lines.filter(({ agent }) => agent === 'codex')[0]).toMatchObject({ change: 'make', written: true });
    expect(home.read(SETTINGS)).toBe(OTHERS);
  });
});
