import type { Scope } from '../../hosts/setup/index.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import type { SetupOptions } from '../setup/carry-out.ts';

export type InstallOptions = SetupOptions & { readonly scope: Scope; readonly wrap?: boolean; readonly statusLine?: boolean };

export function install(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Finds the coding agents of this machine, shows the changes to their settings, asks once, and writes the changes. The changes are hooks or a plugin, and usually the MCP server of Earpiece. ' +
        'The command earpiece uninstall restores the earlier settings. Without a terminal, earpiece install changes nothing unless --yes is given.',
    )
    .option('--all', 'every agent that is found here (the default if you name no agent)')
    .option('--yes', 'do not ask')
    .option('--status-line', 'also show open notifications in the status line of Claude Code, after the text of your status line')
    .option('--wrap', 'also put one gateway in front of the MCP servers of the agent')
    .addOption({
      flags: '--scope <scope>',
      description: 'the settings to change: your own settings, or only your settings in this project',
      words: ['user', 'project'],
      fallback: 'user',
    })
    .example(
      `earpiece install
earpiece install claude codex --yes
earpiece install gemini --scope project`,
    )
    .action(async (names: string[], options: InstallOptions) => {
      const { runInstall } = await import('../setup/install.ts');
      answer(await runInstall(names, options));
    });
}
