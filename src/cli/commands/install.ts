import type { Scope } from '../../hosts/setup/index.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import type { SetupOptions } from '../setup/carry-out.ts';

export type InstallOptions = SetupOptions & { readonly scope: Scope; readonly wrap?: boolean; readonly statusLine?: boolean };

export function install(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Finds the coding agents of this machine, shows what it would change in their settings, asks once, and changes it: hooks, and the MCP server of Earpiece. ' +
        'earpiece uninstall gives back what was there before. Without a terminal it changes nothing unless --yes is given.',
    )
    .option('--all', 'each agent that is found here (default without names)')
    .option('--yes', 'do not ask')
    .option('--status-line', 'also show what is open in the status line of Claude Code, behind the one that you have')
    .option('--wrap', 'also put one gateway before the MCP servers that the agent has')
    .addOption({
      flags: '--scope <scope>',
      description: 'whose settings: yours (user), or yours in this project',
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
