import { resolve } from 'node:path';
import type { Command } from 'commander';
import { EarpieceError } from '../../core/errors.ts';
import type { CommandLine } from '../command-line.ts';
import { durationOption, withEarpiece, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import type { Answer } from '../program.ts';
import { plain, print, printJson } from '../terminal.ts';

export function db(program: CommandLine, answer: Answer): void {
  const group = program
    .command('db')
    .summary('check, prune or back up the database')
    .description('Checks, prunes or backs up the database.')
    .usage('<command> [options]')
    .helpCommand(false);
  group
    .command('check')
    .summary('is it sound')
    .description('Is the file sound, and does the index agree with the log? Exit code 8 when not.')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      await withEarpiece(options, async (ear) => {
        const problems = await ear.store.verify();
        if (options.json) printJson({ store: ear.store.name, sound: problems.length === 0, problems });
        else if (problems.length === 0) print(`${plain(ear.store.name)} is sound`);
        else {
          for (const problem of problems) print(plain(problem));
          print('put a backup in its place, or move the file away: what is open in it is then lost');
        }
        if (problems.length > 0) answer(EXIT.problems.code);
      });
    });
  group
    .command('prune')
    .summary('remove what was closed long ago')
    .description('Removes what was closed long ago, and tasks that have been over for so long; what is open stays, however old.')
    .option(
      '--older <duration>',
      'closed longer ago than this (default: what the configuration calls retention and tasks.retention, 30d)',
    )
    .example('earpiece db prune --older 7d')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { older?: string }>();
      const older = options.older === undefined ? undefined : durationOption('--older', options.older);
      await withEarpiece(options, async (ear) => {
        await ear.sweep();
        const pruned = await ear.prune(older);
        if (options.json) printJson(pruned);
        else {
          const { items, tasks, records } = pruned;
          const over = tasks === 0 ? '' : `, ${count(tasks, 'task')} that ${tasks === 1 ? 'was' : 'were'} over`;
          print(`removed ${count(items, 'closed notification')}${over} and ${count(records, 'record')}`);
        }
      });
    });
  group
    .command('backup <file>')
    .summary('copy it while everything goes on')
    .description('Makes a consistent copy, while everything goes on.')
    .example('earpiece db backup ~/earpiece-$(date +%F).db')
    .action(async (file: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      await withEarpiece(options, async (ear) => {
        const { store } = ear;
        if (!('backup' in store) || typeof store.backup !== 'function')
          throw new EarpieceError('bad_argument', `${store.name} has its own backup tools; earpiece backs up SQLite files`);
        await (store.backup as (to: string) => Promise<void>)(file);
        if (options.json) printJson({ store: store.name, file: resolve(file) });
        else print(`${plain(store.name)} copied to ${plain(file)}`);
      });
    });
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
