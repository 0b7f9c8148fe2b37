/** `docs/cli.md` shows what the commands print: `vitest run e2e/cli/manual.test.ts --update` brings it up to date. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit.ts';
import { wholeProgram } from '../../src/cli/commander.ts';
import { proves, verifies } from '../verifies.ts';
import { Shell } from './shell.ts';

const PAGE = join(import.meta.dirname, '../../docs/cli.md');

verifies(
  'cli:commands',
  'the page shows what each command says of itself',
  async () => {
    await using shell = new Shell();
    const page = readFileSync(PAGE, 'utf8');
    const parts = await Promise.all(
      page.split(/^(```\n\$ earpiece [^\n]*\n[^]*?^```\n)/mu).map(async (part) => {
        const [, command] = /^```\n\$ earpiece ([^\n]*)\n/u.exec(part) ?? [];
        if (command === undefined) return part;
        return `\`\`\`\n$ earpiece ${command}\n${await shell.says(command.split(' '))}\`\`\`\n`;
      }),
    );
    await expect(parts.join('')).toMatchFileSnapshot(PAGE);
    // A command that is not on the page yet: write its `$ earpiece help <command>` block there, then --update.
    const told = [...page.matchAll(/^\$ earpiece help (.*)$/gmu)].map((match) => match[1]);
    const all = (await wholeProgram()).commands.flatMap((command) =>
      command.commands.length > 0 ? command.commands.map((each) => `${command.name()} ${each.name()}`) : [command.name()],
    );
    expect(all.filter((name) => name !== 'help' && !told.includes(name))).toEqual([]);
  },
  120_000,
);

it('the whole of it fits 80 columns, and every command says what it does and takes --help', async () => {
  proves('cli:commands');
  await using shell = new Shell();
  const help = await shell.says(['help']);
  expect(help).toBe(await shell.says(['--help']));
  const pages = [...readFileSync(PAGE, 'utf8').matchAll(/^```\n\$ earpiece (?:help\b|--help)[^\n]*\n([^]*?)^```\n/gmu)];
  expect(pages.length).toBeGreaterThan(30);
  const lines = [help, ...pages.map((match) => match[1] ?? '')].flatMap((text) => text.split('\n'));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  for (const command of (await wholeProgram()).commands) {
    expect(command.summary().length).toBeGreaterThan(5);
    expect(command.summary().length).toBeLessThan(50);
    expect(command.description()).toMatch(/^[A-Z].*[.:*]$/);
  }
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
    // Of commander's own words none.
    expect(stderr).not.toContain('display help');
  }
});

it('options of all commands stand before or behind the command', async () => {
  proves('cli:commands');
  await using shell = new Shell();
  const db = join(shell.folder, 'other.db');
  const before = await shell.says(['--json', '--db', db, 'send', '--to', 'coder', '--id', 'n1', 'x']);
  const behind = await shell.says(['send', '--to', 'coder', '--id', 'n2', '--db', db, 'x', '--json']);
  expect([before, behind].map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(['n1', 'n2']);
  const ear = await shell.open();
  expect(await ear.open('shop/coder')).toEqual([]);
});

it('every variable that is looked at is told, here or as a setting', async () => {
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
  // Of the system; and a key of a provider of whom the page says that there are more.
  const known = ['CI', 'GIT_SSH_COMMAND', 'OPENAI_COMPATIBLE_API_KEY', 'PATH', 'SHELL', 'TERM', 'USER'];
  expect(untold.filter((name) => !known.includes(name))).toEqual([]);
});

it('every exit code is told', async () => {
  proves('cli:exit-codes');
  await using shell = new Shell();
  const codes = Object.values(EXIT).map(({ code, means }) => ({ code, means }));
  expect(await shell.json(['help', 'exit-codes'])).toMatchObject(codes);
  expect(await shell.says(['help', 'exit-codes'])).toBe(codes.map(({ code, means }) => `${code}  ${means}\n`).join(''));
});
