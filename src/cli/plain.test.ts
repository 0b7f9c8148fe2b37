import fc from 'fast-check';
import { expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { CommandLine, GLOBAL_OPTIONS } from './command-line.ts';
import { treeOf } from './commander.ts';
import { COMMANDS } from './commands.ts';
import { commandAt, readPlainly } from './plain.ts';

const NO_WORK = () => {};

async function lines(): Promise<readonly CommandLine[]> {
  const all = Object.values(COMMANDS).flat();
  return Promise.all(
    all.map(async (entry) => {
      const line = new CommandLine(entry.term, entry.summary);
      (await entry.load())(line, NO_WORK);
      return line;
    }),
  );
}

type Seen = { readonly command: string; readonly given: readonly unknown[] };

/** Replaces the function of each command by a function that records the call. */
function noting(all: readonly CommandLine[], seen: Seen[]): readonly CommandLine[] {
  for (const line of all.flatMap((each) => [each, ...each.commands]))
    if (line.work !== undefined) line.action((...given: readonly unknown[]) => seen.push({ command: line.name, given }));
  return all;
}

const words = [
  'x',
  'coder',
  '-',
  '--',
  '',
  'error',
  '30d',
  '7',
  '-7',
  '--json',
  '--db',
  '--db=y',
  '--unknown',
  '--help',
  '-V',
  'a=b',
];
const flagOf = (flags: string): string => flags.split(' ')[0] ?? '';

type Words = fc.Arbitrary<readonly string[]>;

/** Generates command lines, most of them valid. */
function lineOf(command: CommandLine): Words {
  const leaves = command.commands.length > 0 ? command.commands : [command];
  return fc.constantFrom(...leaves).chain((leaf) => {
    const option = fc.constantFrom(...leaf.options, ...GLOBAL_OPTIONS).chain(({ flags, words: only = words }): Words => {
      const value = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...only) }, fc.constantFrom(...words));
      if (!flags.includes(' ')) return fc.constant([flagOf(flags)]);
      return value.chain((one) => fc.constantFrom<readonly string[]>([flagOf(flags), one], [`${flagOf(flags)}=${one}`]));
    });
    const part = fc.oneof(
      option,
      fc.constantFrom(...words).map((word): readonly string[] => [word]),
    );
    const before = fc.constantFrom<readonly string[]>([], [], [], ['--json'], ['--db', 'x'], ['--db=x'], ['--'], ['-x']);
    return fc.tuple(before, fc.array(part, { maxLength: 6 })).map(([first, rest]) => {
      const named = leaf === command ? [command.name] : [command.name, leaf.name];
      return [...first, ...named, ...rest.flat()];
    });
  });
}

it('the plain parser reads a command line as commander does', async () => {
  proves('cli:commands');
  const all = await lines();
  const seen: Seen[] = [];
  const tree = treeOf({ all: noting(all, seen) });
  let plain = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...all).chain(lineOf), async (args) => {
      const at = commandAt(args);
      const top = at === undefined ? undefined : all.find(({ name }) => name === args[at]);
      const read = at === undefined || top === undefined ? undefined : readPlainly(top, args.toSpliced(at, 1));
      if (read === undefined) return;
      plain++;
      seen.length = 0;
      await tree.parseAsync(args, { from: 'user' });
      expect(seen).toEqual([{ command: read.command.name, given: read.given }]);
    }),
    { numRuns: 4_000 },
  );
  expect(plain).toBeGreaterThan(500);
});

it.each([
  [['send', 'hi']],
  [['send', '--to', 'coder', '--level=error', 'CI', 'failed', '--json']],
  [['--db', 'x.db', 'inbox', '--peek']],
  [['gateway', '--name', 'files', '--', 'npx', '-y', 'server', '--json', '--', '-x']],
  [['db', 'check', '--json']],
])('%j is read without commander', async (args) => {
  const at = commandAt(args) ?? -1;
  const top = (await lines()).find(({ name }) => name === args[at]);
  expect(top && readPlainly(top, args.toSpliced(at, 1))).toBeDefined();
});
