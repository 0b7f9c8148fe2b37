import { resolve } from 'node:path';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Store } from '../../core/ports.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { durationOption, onlyAPerson, withDatabase, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { plain, print, printJson } from '../terminal.ts';
import { verified, wayOutOf } from '../verified.ts';

export function db(group: CommandLine, answer: Answer): void {
  group.description('Checks, prunes or backs up the database.');
  group
    .command('check')
    .summary('check whether the database is intact')
    .description(
      'Checks whether the database is intact, and whether its index agrees with the log. The exit code is 8 if there is a problem.',
    )
    .action(async (options: GlobalOptions) => {
      const { store, problems, todo } = await checked(options);
      if (options.json) printJson({ store, sound: problems.length === 0, problems });
      else if (problems.length === 0) print(`${plain(store)} is intact`);
      else {
        for (const problem of problems) print(plain(problem));
        if (todo !== undefined) print(todo);
      }
      if (problems.length > 0) answer(EXIT.problems.code);
    });
  group
    .command('prune')
    .summary('remove notifications and tasks that closed long ago')
    .description(
      'Removes notifications and tasks that closed long ago. Open notifications and tasks stay, regardless of their age. The database file usually becomes smaller. ' +
        'With an archive, the command first writes all new records to compressed files.',
    )
    .option(
      '--older <duration>',
      'the minimum age of removed notifications and tasks (default: the settings retention and tasks.retention, 30d)',
    )
    .option('--archive <folder>', 'the folder for the records of all agents (default: the setting archive)')
    .example('earpiece db prune --older 7d\nearpiece db prune --archive ~/earpiece-archive')
    .action(async (options: GlobalOptions & { older?: string; archive?: string }) => {
      onlyAPerson('to prune the database');
      const older = options.older === undefined ? undefined : durationOption('--older', options.older);
      await withDatabase(options, async (ear) => {
        // The sweep may already archive and prune. So the command archives first, to know the number of archived records.
        const archived = await ear.archive();
        await ear.sweep();
        if (!(await ear.witnesses.mayRemove()))
          throw new EarpieceError(
            'store_refused',
            `nothing was pruned: the clock of this process shows ${new Date(ear.store.now()).toISOString()}, and no other process that uses this database has that time. Set the clock, then try again`,
          );
        const pruned = await ear.prune(older);
        const bytes = await compacted(ear.store);
        if (options.json) printJson({ ...pruned, ...defined({ archived, bytes }) });
        else {
          const { items, tasks, records } = pruned;
          if (archived !== undefined) print(`archived ${count(archived.records, 'record')} in ${plain(archived.folder)}`);
          const over = tasks === 0 ? '' : `, ${count(tasks, 'finished task')}`;
          print(`removed ${count(items, 'closed notification')}${over} and ${count(records, 'record')}${freed(bytes)}`);
        }
      });
    });
  group
    .command('backup <file>')
    .summary('copy the database while other processes use it')
    .description('Makes a consistent copy while other processes use the database.')
    .example('earpiece db backup ~/earpiece-$(date +%F).db')
    .action(async (file: string, options: GlobalOptions) => {
      if (file.trim() === '')
        throw new EarpieceError(
          'bad_argument',
          `the path of the backup must not be empty, got ${JSON.stringify(file)}; write e.g. ~/earpiece.db`,
        );
      await withDatabase(options, async (ear) => {
        const { store } = ear;
        if (!('backup' in store) || typeof store.backup !== 'function')
          throw new EarpieceError(
            'bad_argument',
            `earpiece db backup copies only SQLite files, and this database is ${store.name}; use the backup tools of the database server`,
          );
        await (store.backup as (to: string) => Promise<void>)(file);
        if (options.json) printJson({ store: store.name, file: resolve(file) });
        else print(`${plain(store.name)} copied to ${plain(file)}`);
      });
    });
}

type Checked = { readonly store: string; readonly problems: readonly string[]; readonly todo?: string };

/**
 * Checks the database. A file that is too damaged to be opened or read counts as one problem, and its message says what to do.
 */
async function checked(options: GlobalOptions): Promise<Checked> {
  try {
    return await withDatabase(options, async ({ store }) => ({
      store: store.name,
      problems: await verified(store),
      todo: wayOutOf(store),
    }));
  } catch (error) {
    if (!(error instanceof EarpieceError) || error.code !== 'store_corrupt') throw error;
    const { store, path } = error.data;
    return { store: typeof store === 'string' ? store : `sqlite ${String(path)}`, problems: [error.message] };
  }
}

type Bytes = { readonly before: number; readonly after: number; readonly unused: number };

const compacted = async (store: Store): Promise<Bytes | undefined> =>
  'compact' in store && typeof store.compact === 'function' ? await (store.compact as () => Promise<Bytes>)() : undefined;

function freed(bytes: Bytes | undefined): string {
  if (bytes !== undefined && bytes.unused > 0 && bytes.after >= bytes.before)
    return `; the file keeps its ${megabytes(bytes.after)}, of which ${megabytes(bytes.unused)} are unused. A version before 0.1.0 created this file, so it is too large to shrink while other processes use it. To shrink the file, stop the programs that use it and run: sqlite3 <file> "PRAGMA auto_vacuum=INCREMENTAL; VACUUM"`;
  if (bytes === undefined || bytes.after >= bytes.before) return '';
  return `; the file has ${megabytes(bytes.after)} now, and had ${megabytes(bytes.before)} before`;
}

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`;

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
