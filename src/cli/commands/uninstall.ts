import type { Answer, CommandLine } from '../command-line.ts';
import type { SetupOptions } from '../setup/carry-out.ts';

export function uninstall(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Takes out what earpiece install wrote into the settings of coding agents, of you and of every project. ' +
        'A file that nobody changed since is again what it was, byte for byte; in another one only the entries of Earpiece go. It shows the changes and asks once.',
    )
    .option('--all', 'each agent that has such entries (default without names)')
    .option('--yes', 'do not ask')
    .example('earpiece uninstall codex\nearpiece uninstall --all --yes')
    .action(async (names: string[], options: SetupOptions) => {
      const { runUninstall } = await import('../setup/install.ts');
      answer(await runUninstall(names, options));
    });
}
