import type { CommandLine } from '../command-line.ts';

export function statusline(command: CommandLine): void {
  command
    .description(
      'Prints one line about the open notifications of a session of Claude Code, or nothing. The command reads the JSON that Claude Code passes to a status line. ' +
        'The command earpiece install --status-line adds this line after your own status line.',
    )
    .action(() => {});
}
