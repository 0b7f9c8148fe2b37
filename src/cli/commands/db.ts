import type { Command } from 'commander';
import { EarpieceError } from '../../core/errors.ts';
import { durationOption, withEarpiece, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { plain, print, printJson } from '../terminal.ts';

export function db(program: Command, answer: (code: number) => void): void {
  const group = program.command('db').description("check, prune or back up the log's database");
  group
    .command('check')
    .description('is the file sound, and does the index agree with the log')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      await withEarpiece(options, async (ear) => {
        const problems = await ear.store.verify();
        if (options.json) printJson({ store: ear.store.name, problems });
        else print(problems.length === 0 ? `${ear.store.name}: sound` : problems.map((p) => plain(p)).join('\n'));
        if (problems.length > 0) answer(EXIT.problems.code);
      });
    });
  group
    .command('prune')
    .description('remove what was closed long ago (default: what the configuration calls retention)')
    .option('--older <duration>', 'e.g. 7d')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { older?: string }>();
      await withEarpiece(options, async (ear) => {
        await ear.sweep();
        const age = options.older === undefined ? ear.config.policy.retentionMs : durationOption('--older', options.older);
        const pruned = await ear.store.prune(ear.store.now() - age);
        if (options.json) printJson(pruned);
        else print(`removed ${pruned.items} closed notifications and ${pruned.records} records`);
      });
    });
  group
    .command('backup <file>')
    .description('a consistent copy, while everything goes on')
    .action(async (file: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      await withEarpiece(options, async (ear) => {
        const { store } = ear;
        if (!('backup' in store) || typeof store.backup !== 'function')
          throw new EarpieceError('bad_argument', `${store.name} has its own backup tools; earpiece backs up SQLite files`);
        await (store.backup as (to: string) => Promise<void>)(file);
        if (options.json) printJson({ file });
        else print(`${store.name} copied to ${plain(file)}`);
      });
    });
}
