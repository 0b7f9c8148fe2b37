import { EarpieceError } from '../../core/errors.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { onlyAPerson } from '../context.ts';
import type { SetupOptions } from '../setup/carry-out.ts';

export function uninstall(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Removes the entries of earpiece install from the settings of coding agents, both your own settings and those of every project. ' +
        'A file without later changes is restored byte for byte. In any other file, only the entries of Earpiece are removed. The command shows the changes and asks once. ' +
        'With --purge, the command also removes the database, the configuration of the user and the caches, and lists these files first.',
    )
    .option('--all', 'every agent with entries of earpiece install (the default if you name no agent)')
    .option('--purge', 'also remove the database, the configuration of the user and the caches')
    .option('--yes', 'do not ask')
    .example('earpiece uninstall codex\nearpiece uninstall --all --yes\nearpiece uninstall --purge')
    .action(async (names: string[], options: SetupOptions & { readonly purge?: boolean }) => {
      if (options.purge === true) {
        if (names.length > 0)
          throw new EarpieceError('bad_argument', `give either agents (${names.join(', ').slice(0, 80)}) or --purge, got both`);
        onlyAPerson('to remove the database');
        const { runPurge } = await import('../setup/purge.ts');
        return answer(await runPurge(options));
      }
      const { runUninstall } = await import('../setup/install.ts');
      answer(await runUninstall(names, options));
    });
}
