/** Tests that `docs/cli.md` lists the fields in the output of `--json`, and that each field exists. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');

/** The arguments of each command, in this order, because later commands use the results of earlier commands. */
const ARGS: Readonly<Record<string, readonly string[]>> = {
  send: ['--to', 'coder', '--id', 'n1', 'hello'],
  inbox: [],
  why: ['n1'],
  log: ['coder'],
  agents: [],
  withdraw: ['n1'],
  requeue: ['n1'],
  mute: ['ci.*', 'coder'],
  emit: ['-'],
  follow: ['log', 'app.log', '--match', 'ERROR', '--to', 'coder'],
  following: [],
  unfollow: ['f1'],
  remind: ['--to', 'coder', 'in 10m', 'look'],
  'remind --list': ['--to', 'coder'],
  'tasks add': ['--to', 'coder', 'a title'],
  'tasks list': [],
  'token create': ['--kind', 'send', '--name', 'ci'],
  'token list': [],
  'gateway --print': ['claude', '--', 'server'],
  doctor: [],
  'config explain': ['view'],
  'config check': ['wrong.toml'],
  sources: [],
  'subscribers list': [],
  'db check': [],
  'db prune': [],
  'help exit-codes': [],
};
/** Commands that never end by themselves, which `e2e/cli/log.test.ts` tests. */
const ENDLESS = ['watch'];

it('docs/cli.md names only fields that exist', { timeout: 120_000 }, async () => {
  proves('cli:commands');
  const table = PAGE.slice(PAGE.indexOf('<!-- json: '), PAGE.indexOf('## Environment'));
  const promised = new Map(
    table
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => {
        const [, commands = '', , has = ''] = line.split('|');
        // Fields after a semicolon are optional.
        return words(commands).map((command) => [command, words(has.split(';')[0] ?? '')] as const);
      }),
  );
  expect([...promised.keys()].toSorted()).toEqual([...Object.keys(ARGS), ...ENDLESS].toSorted());

  await using shell = new Shell();
  const ear = await shell.open();
  await ear.conversation('shop/coder').seen();
  writeFileSync(join(shell.folder, 'wrong.toml'), 'vew = "toon"\n');
  const missing: string[] = [];
  for (const [command, args] of Object.entries(ARGS)) {
    const input = '{"type": "cli.event", "message": "hello"}';
    const { stdout, stderr } = await shell.run(['--json', ...command.split(' '), ...args], { input });
    for (const line of stdout.split('\n').filter((each) => each !== '')) JSON.parse(line);
    const [first = ''] = stdout.split('\n');
    for (const field of promised.get(command) ?? [])
      if (!first.includes(`"${field}":`)) missing.push(`${command}: no ${field} in ${first || stderr}`);
  }
  expect(missing).toEqual([]);
});

const words = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/gu)].map(([, word]) => word as string);
