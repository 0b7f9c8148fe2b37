import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commandOf as commandOfCli } from '../../cli/hook-guard.ts';
import { commandOf, isOwnAgent } from './own-agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'earpiece own agent-'));
afterAll(() => rmSync(folder, { recursive: true }));

const at = (path: string): string => join(folder, path);
const file = (path: string, text = ''): void => {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), text);
};
file('earpiece/package.json', '{"name":"earpiece"}');
file('earpiece/dist/cli/main.js');
file('earpiece/src/cli/main.ts');
file('earpiece/dist/cli/other.js');
file('theirs/package.json', '{"name":"theirs"}');
file('theirs/src/cli/main.js');
file('my tools/node');
mkdirSync(at('bin'));
symlinkSync(at('earpiece/dist/cli/main.js'), at('bin/earpiece'));
symlinkSync(at('earpiece/dist/cli/main.js'), at('ear'));

const MAIN = at('earpiece/dist/cli/main.js');
const isAgent = (args: readonly string[]): boolean =>
  isOwnAgent({ pid: 7, parent: 1, startedAt: 't', name: 'node', args }, (pid) => (pid === 7 ? folder : undefined));
/** Returns the words that `ps` shows. */
const shown = (...args: readonly string[]): readonly string[] => args.join(' ').split(/\s+/u);

describe('an agent of Earpiece is recognized by its command line', () => {
  it.each([
    ['the file of the package', ['node', MAIN, 'run', 'go']],
    ['a link to this file', ['/usr/bin/node', at('bin/earpiece'), 'chat']],
    ['a link of another name', ['node', './ear', 'run', 'go']],
    ['a file without its ending', ['node', at('earpiece/dist/cli/main'), 'run']],
    ['an option of Node with a value', ['node', '--unhandled-rejections', 'strict', MAIN, 'run']],
    ['an option with a value before another option', ['node', '--max-http-header-size', '9000', '--no-warnings', MAIN, 'run']],
    ['an interpreter of another name', ['/opt/node-24', MAIN, 'run']],
    ['a relative link', ['node', 'bin/earpiece', 'run', 'go']],
    ['the sources', ['node', '--import', './x.js', '--no-warnings', at('earpiece/src/cli/main.ts'), 'run']],
    ['an interpreter that the system does not name', [at('bin/earpiece'), 'run']],
    ['global options before the command', ['node', MAIN, '--json', '--db', 'run.db', 'chat']],
    ['a path with blanks, as ps shows it', shown('node', MAIN, '--db', 'x', 'run', 'go')],
    ['an interpreter with blanks in its path', shown(at('my tools/node'), MAIN, 'run')],
  ])('%s', (_, args) => expect(isAgent(args)).toBe(true));

  it.each([
    ['another command', ['node', MAIN, 'run-and-tell', '--', 'npm', 'run', 'x']],
    ['a command with a task called run', ['node', MAIN, 'in', '--', 'earpiece', 'run']],
    ['a server', ['node', MAIN, 'serve']],
    ['a database called run', ['node', MAIN, '--db', 'run', 'serve']],
    ['another file of the package', ['node', at('earpiece/dist/cli/other.js'), 'run']],
    ['the command line of another package', ['node', at('theirs/src/cli/main.js'), 'run']],
    ['a missing file', ['node', at('none/dist/cli/main.js'), 'run']],
    ['a launcher', ['node', at('earpiece/dist/cli/other.js'), MAIN, 'run']],
    ['a shell', ['bash', '-c', `node ${MAIN} run`]],
    ['a shell, as ps shows it', shown('bash', '-c', `node ${MAIN} run`)],
    ['a program called run', ['npm', 'run', 'dev']],
    ['no words', []],
  ])('%s does not count as an agent', (_, args) => expect(isAgent(args)).toBe(false));

  it('finds the command as the command line does', () => {
    for (const args of [
      ['run'],
      ['--json', 'run'],
      ['--db', 'x', 'run'],
      ['--db=x', 'run'],
      ['--db', 'run'],
      ['-x', 'in', 'run'],
      [],
    ])
      expect(commandOf(args)).toBe(commandOfCli(args));
  });
});
