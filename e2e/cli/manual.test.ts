/**
 * Tests that the pages of the command line contain the output of the commands: `vitest run e2e/cli/manual.test.ts --update`
 * updates the pages.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BY_ERROR, EXIT } from '../../src/cli/exit.ts';
import { wholeProgram } from '../../src/cli/commander.ts';
import { proves, verifies } from '../verifies.ts';
import { referencePage } from './reference.ts';
import { Shell } from './shell.ts';

const PAGE = join(import.meta.dirname, '../../docs/cli.md');

const REFERENCE = join(import.meta.dirname, '../../docs/cli-reference.md');

verifies(
  'cli:commands',
  'docs/cli-reference.md is the help of each command, and each help fits 80 columns',
  async () => {
    await using shell = new Shell();
    const page = await referencePage(shell);
    await expect(page).toMatchFileSnapshot(REFERENCE);
    const blocks = [...page.matchAll(/^```\n([^]*?)^```\n/gmu)].map(([, text = '']) => text);
    expect(blocks.length).toBeGreaterThan(40);
    expect(blocks.flatMap((text) => text.split('\n')).filter((line) => line.length > 80)).toEqual([]);
    for (const command of (await wholeProgram()).commands) {
      expect(command.summary().length).toBeGreaterThan(5);
      expect(command.summary().length).toBeLessThan(50);
      expect(command.description()).toMatch(/^[A-Z].*[.:*]$/);
    }
  },
  120_000,
);

it('earpiece help and --help print the same text', async () => {
  proves('cli:commands');
  await using shell = new Shell();
  const help = await shell.says(['help']);
  expect(help).toBe(await shell.says(['--help']));
  expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(await shell.says(['why', '--help'])).toBe(await shell.says(['help', 'why']));
});

it('without a command it prints its help on stderr and ends with 2', async () => {
  proves('cli:exit-codes');
  await using shell = new Shell();
  const groups = (await wholeProgram()).commands.filter(({ commands }) => commands.length > 0);
  for (const name of [undefined, ...groups.map((group) => group.name())]) {
    const { code, stdout, stderr } = await shell.run(name === undefined ? [] : [name]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^Usage: earpiece ${name === undefined ? '' : `${name} `}<command> \\[options\\]\n`, 'u'));
    // The help contains none of commander's own text.
    expect(stderr).not.toContain('display help');
  }
});

it('options of all commands may precede or follow the command', async () => {
  proves('cli:commands');
  await using shell = new Shell();
  const db = join(shell.folder, 'other.db');
  const before = await shell.says(['--json', '--db', db, 'send', '--to', 'coder', '--id', 'n1', 'x']);
  const behind = await shell.says(['send', '--to', 'coder', '--id', 'n2', '--db', db, 'x', '--json']);
  expect([before, behind].map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(['n1', 'n2']);
  const ear = await shell.open();
  expect(await ear.open('shop/coder')).toEqual([]);
});

it('docs/cli.md lists every environment variable that the code reads', async () => {
  await using shell = new Shell();
  const source = join(import.meta.dirname, '../../src');
  const looked = globSync('**/*.ts', { cwd: source })
    .filter((file) => !file.includes('.test.'))
    .flatMap((file) => [...readFileSync(join(source, file), 'utf8').matchAll(/(?:env\[|VARIABLE = |MARK = )'([A-Z][A-Z_]+)'/gu)])
    .map(([, name]) => name as string);
  expect(looked).toContain('EARPIECE_TOKEN');
  const settings = (await shell.json(['config', 'explain'])).map(({ env }) => env);
  const page = readFileSync(PAGE, 'utf8');
  const told = page.slice(page.indexOf('## Environment'));
  const untold = looked.filter((name) => !told.includes(`\`${name}\``) && !settings.includes(name));
  // Variables of the system, and the key of a provider for which the page has only a general sentence.
  const known = ['CI', 'GIT_SSH_COMMAND', 'OPENAI_COMPATIBLE_API_KEY', 'PATH', 'SHELL', 'TERM', 'USER'];
  expect(untold.filter((name) => !known.includes(name))).toEqual([]);
});

it('earpiece help and docs/cli.md list every exit code', async () => {
  proves('cli:exit-codes');
  await using shell = new Shell();
  const codes = Object.values(EXIT).map(({ code, means }) => ({ code, means }));
  expect(await shell.json(['help', 'exit-codes'])).toMatchObject(codes);
  const said = await shell.says(['help', 'exit-codes']);
  expect(said).toBe(codes.map(({ code, means }) => `${code}  ${means}\n`).join(''));
  const rows = Object.values(EXIT).flatMap(({ code }) => {
    const errors = Object.entries(BY_ERROR).flatMap(([error, exit]) => (exit === code ? [`\`${error}\``] : []));
    return errors.length === 0 ? [] : [`| ${code} | ${errors.join(', ')} |\n`];
  });
  const page = readFileSync(PAGE, 'utf8')
    .replace(/^(```\n\$ earpiece help exit-codes\n)[^]*?^```$/mu, (_all, head: string) => `${head}${said}\`\`\``)
    .replace(
      /^(<!-- made: error codes -->\n)[^]*?^<!-- made -->$/mu,
      (_all, head: string) => `${head}\n| exit code | \`code\` of the error |\n|---|---|\n${rows.join('')}\n<!-- made -->`,
    );
  await expect(page).toMatchFileSnapshot(PAGE);
});
