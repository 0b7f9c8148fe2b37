/** Tests the completion scripts in their shells. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn as spawnPty } from '@lydell/node-pty';
import { describe, expect, it } from 'vitest';
import { wholeProgram } from '../../src/cli/commander.ts';
import { SHELLS, type ShellName } from '../../src/cli/completion.ts';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

type Asked = Exclude<ShellName, 'zsh'>;

/** Returns the arguments with which a shell prints the words that complete the last word of a line. */
const ASK: Readonly<Record<Asked, (script: string, line: readonly string[]) => string[]>> = {
  bash: (script, line) => {
    const words = line.map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _earpiece; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return ['--norc', '-c', `source '${script}'; ${ask}`];
  },
  fish: (script, line) => ['-N', '-c', `source '${script}'; complete -C '${line.join(' ')}'`],
};

async function scriptFor(stage: Shell, shell: ShellName): Promise<string> {
  const script = join(stage.folder, 'script');
  writeFileSync(script, await stage.says(['completion', shell]));
  return script;
}

describe('the completion of a command line', () => {
  proves('cli:completion');

  for (const shell of SHELLS.filter((each) => each !== 'zsh'))
    it(`${shell} completes commands, options and values`, async () => {
      await using stage = new Shell();
      const script = await scriptFor(stage, shell);
      const offered = (...line: string[]): string[] => {
        const { stdout, stderr } = spawnSync(shell, ASK[shell](script, ['earpiece', ...line]), { encoding: 'utf8' });
        expect(stderr).toBe('');
        return stdout
          .split('\n')
          .flatMap((row) => row.split('\t')[0] || [])
          .toSorted();
      };
      expect(offered('')).toEqual((await wholeProgram()).commands.map((command) => command.name()).toSorted());
      expect(offered('wi')).toEqual(['withdraw']);
      expect(offered('db', '')).toEqual(['backup', 'check', 'prune']);
      expect(offered('--db', 'log', 'db', 'pr')).toEqual(['prune']);
      expect(offered('send', '--le')).toEqual(['--level']);
      expect(offered('send', '--level', '')).toEqual(['critical', 'error', 'info', 'warning']);
      expect(offered('token', 'create', '--kind', 'a')).toEqual(['admin', 'agent']);
      expect(offered('help', 'exit')).toEqual(['exit-codes']);
      expect(offered('completion', '')).toEqual(['bash', 'fish', 'zsh']);
    });

  it('the lines of the help install the scripts in a new home', async () => {
    await using stage = new Shell();
    const home = join(stage.folder, 'new-home');
    mkdirSync(home);
    const help = await stage.says(['help', 'completion']);
    const lines = help.split('\n').filter((line) => /^ {2}(?:mkdir|earpiece|echo) /u.test(line));
    expect(lines).toHaveLength(5);
    const script = ['set -e', `earpiece() { '${process.execPath}' '${CLI}' "$@"; }`, ...lines].join('\n');
    const env = { ...stage.env(), HOME: home };
    const { status, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8', env });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('zsh completes commands, options and values on a terminal', async () => {
    await using stage = new Shell();
    const script = await scriptFor(stage, 'zsh');
    const terminal = spawnPty('zsh', ['-f', '-i'], {
      cols: 200,
      rows: 50,
      cwd: stage.folder,
      env: { ...stage.env(), PS1: '> ' },
    });
    let shown = '';
    const { promise, resolve } = Promise.withResolvers<void>();
    terminal.onData((text) => {
      shown += text;
      if (shown.includes('is the end')) resolve();
    });
    terminal.write(`source ${script}; earpiece() { print -r -- "given: $*"; }\r`);
    for (const line of ['wi\t', 'db pr\t', 'send --lev\t', 'token create --kind ad\t', 'help exit\t'])
      terminal.write(`earpiece ${line}\r`);
    terminal.write("print 'is the' end\r");
    await promise;
    terminal.kill();
    const given = [...shown.matchAll(/^given: (.*?)\s*$/gmu)].map(([, words]) => words);
    expect(given).toEqual(['withdraw', 'db prune', 'send --level', 'token create --kind admin', 'help exit-codes']);
  });

  it('an unknown shell is refused', async () => {
    await using stage = new Shell();
    expect(await stage.run(['completion', 'bsh'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'earpiece: "bsh" is not a supported shell; choose one of bash, zsh, fish; did you mean bash?\n',
    });
  });
});
