/**
 * Tests commands with an unreadable state folder. Each command that needs the folder reports the problem in one line, and makes
 * no claim about the folder's content.
 */
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Home, type Ran } from './home.ts';

const STATE = '.local/state/earpiece';
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const homes: Home[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) home[Symbol.dispose]();
});

type Run = (args: readonly string[]) => Ran;
type Kind = { readonly code: string; readonly spoil: (folder: string) => void };

/** The ways to make the folder unreadable. `chmod` does not bind root, so tests of root run the commands as another user. */
const KINDS: readonly Kind[] = [
  { code: 'EACCES', spoil: (folder) => chmodSync(folder, 0o000) },
  { code: 'ENOTDIR', spoil: (folder) => (rmSync(folder, { recursive: true }), writeFileSync(folder, 'x')) },
];

/** Makes a home with an agent, runs `prepare`, and then makes the folder unreadable. */
function spoiled({ spoil }: Kind, prepare: (run: Run, home: Home) => void = () => {}): { home: Home; run: Run } {
  const home = new Home('claude');
  homes.push(home);
  mkdirSync(join(home.home, STATE), { recursive: true });
  home.write('shop/earpiece.toml', 'project = "shop"\n');
  const own = (): void => {
    if (isRoot)
      for (const path of ['', ...readdirSync(home.folder, { recursive: true, encoding: 'utf8' })])
        chownSync(join(home.folder, path), NOBODY, NOBODY);
  };
  const wrap = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'] : [];
  const run: Run = (args) => home.run(args, { wrap });
  own();
  prepare(run, home);
  own();
  spoil(join(home.home, STATE));
  return { home, run };
}

/** Runs a command with a read-only file system at the folder `$0`. */
const READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';

describe.skipIf(!isRoot || process.platform !== 'linux')('a state folder on a read-only file system, as root on Linux', () => {
  proves('hosts:doctor');

  it('gets an advice that helps, and no report that a notification arrives', () => {
    using home = new Home('claude');
    expect(home.run(['install', '--yes']).code).toBe(0);
    expect(home.run(['send', '--to', 'coder', 'x']).code).toBe(0);
    const state = join(home.home, STATE);
    const { code, stdout } = home.run(['doctor', '--json'], { wrap: ['unshare', '-m', 'sh', '-c', READ_ONLY, state] });
    const found = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect({ code, state: found.find(({ what }) => what === 'state') }).toEqual({
      code: 8,
      state: {
        what: 'state',
        value: `${state} cannot be used (EROFS)`,
        ok: false,
        advice: 'make the file system writable, or set XDG_STATE_HOME to a folder that you can write',
      },
    });
    expect(found.find(({ what }) => what === 'claude')?.['value']).toMatch(
      /^Claude Code has \d+ hooks in ~\/\.claude\/settings\.json, but no notification arrives, because the store cannot be used$/u,
    );
  });
});

describe.each(KINDS)('an unreadable state folder: $code', (kind) => {
  const { code } = kind;

  describe('doctor', () => {
    proves('hosts:doctor');

    it('reports it with the way out, and continues with its other checks', () => {
      const { home, run } = spoiled(kind);
      const ran = run(['doctor', '--json']);
      expect(ran).toMatchObject({ code: 8, stderr: '' });
      const found = ran.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(found.find(({ what }) => what === 'state')).toEqual({
        what: 'state',
        value: `${join(home.home, STATE)} cannot be used (${code})`,
        ok: false,
        advice: `give yourself access: chmod u+rwx ${join(home.home, STATE)}; or set XDG_STATE_HOME to a folder that you can write`,
      });
      expect(new Set(found.map(({ what }) => what))).toEqual(
        new Set(['earpiece', 'node', 'config', 'state', 'project', 'store', 'claude']),
      );
    });
  });

  describe('each other command', () => {
    proves('cli:bad-input');

    it.each([
      [6, ['inbox']],
      [6, ['log', '--json']],
      [6, ['send', '--to', 'coder', 'x']],
      [6, ['subscribers', 'list']],
      [2, ['trust']],
      [2, ['trust', '--yes']],
      [2, ['trust', '--list']],
      [2, ['install', '--yes']],
    ] as const)('exits with %i and prints one line: %j', (exit, args) => {
      const { home, run } = spoiled(kind);
      const { code: ended, stdout, stderr } = run(args);
      expect({ ended, stdout }).toEqual({ ended: exit, stdout: '' });
      expect(stderr).toMatch(/^earpiece: [^\n]*\n$/u);
      // The database's file cannot be created below a file.
      expect(stderr).toMatch(code === 'ENOTDIR' ? /\((?:ENOTDIR|EEXIST)\)/u : /\(EACCES\)/u);
      expect(stderr).toContain(join(home.home, STATE));
    });

    it.each([[['subscribers', 'check']], [['config', 'check']], [['sources']]])(
      'works if it does not need the folder: %j',
      (args) => {
        const { run } = spoiled(kind);
        expect(run(args)).toMatchObject({ code: 0, stderr: '' });
      },
    );
  });

  describe('uninstall', () => {
    proves('hosts:uninstall');

    it.each([[['uninstall', '--yes']], [['uninstall', 'claude', '--yes']]])(
      'changes nothing and prints the reason: %j',
      (args) => {
        const { home, run } = spoiled(kind, (before) => expect(before(['install', '--yes']).code).toBe(0));
        const before = home.snapshot();
        const { code: ended, stdout, stderr } = run(args);
        expect({ ended, stdout }).toEqual({ ended: 2, stdout: '' });
        const index = join(home.home, STATE, 'installed/files.json');
        expect(stderr).toBe(
          `earpiece: ${index} cannot be read (${code}), so your settings from before earpiece install are unknown and nothing was changed. ` +
            `Give yourself access to the folder ${join(home.home, STATE)}, or move it away with its database: then Earpiece removes only its own entries\n`,
        );
        expect(home.snapshot()).toEqual(before);
      },
    );
  });
});

describe('uninstall', () => {
  proves('hosts:uninstall');

  it('without its record removes its own entries, and does not claim to have restored everything', () => {
    const { home, run } = spoiled({ code: '', spoil: (folder) => rmSync(folder, { recursive: true }) }, (before) =>
      expect(before(['install', '--yes']).code).toBe(0),
    );
    const { code, stdout } = run(['uninstall', '--yes']);
    expect(code).toBe(0);
    expect(stdout).toContain(
      '✓ the entries of Earpiece were removed from Claude Code; Earpiece has no record of the earlier files',
    );
    expect(stdout).not.toContain('as it was');
    expect(home.read('.claude/settings.json')).not.toContain('earpiece');
  });

  it('with unreadable saved bytes changes nothing of that agent', () => {
    const { home, run } = spoiled(
      {
        code: '',
        spoil: (folder) => {
          const saved = readdirSync(join(folder, 'installed')).find((name) => name.endsWith('.before')) ?? '';
          rmSync(join(folder, 'installed', saved));
          mkdirSync(join(folder, 'installed', saved));
        },
      },
      (before, home) => {
        home.write('.claude/settings.json', '{ "model": "opus" }\n');
        if (isRoot) chownSync(join(home.home, '.claude/settings.json'), NOBODY, NOBODY);
        if (isRoot) chownSync(dirname(join(home.home, '.claude/settings.json')), NOBODY, NOBODY);
        expect(before(['install', '--yes']).code).toBe(0);
      },
    );
    const before = home.snapshot();
    const { code, stdout } = run(['uninstall', '--yes']);
    expect(code).toBe(8);
    expect(stdout).toMatch(/the backup of .*settings\.json from before earpiece install cannot be read \(EISDIR\)/u);
    expect(home.snapshot()).toEqual(before);
  });
});
