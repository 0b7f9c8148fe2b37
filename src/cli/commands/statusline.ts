import type { CommandLine } from '../command-line.ts';

export function statusline(command: CommandLine): void {
  command
    .description(
      'Prints one line about what is open for the session of Claude Code, or nothing. It reads the JSON that Claude Code gives a status line. ' +
        'earpiece install --status-line puts it behind the status line that you have.',
    )
    .action(() => {});
}
