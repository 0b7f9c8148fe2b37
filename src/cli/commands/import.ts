import type { CommandLine } from '../command-line.ts';
import { addressFrom, withInbox, type GlobalOptions } from '../context.ts';
import { formatAddress } from '../../core/address.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function importing(group: CommandLine): void {
  group.description("Imports another program's conversations into the log.");
  group
    .command('jp <folder>')
    .summary('import a conversation of the program JP')
    .description(
      'Imports a conversation folder of the program JP (metadata.json, base_config.json, events.json) as a conversation that an agent can continue. ' +
        'Notifications that JP had not delivered then wait for that agent.',
    )
    .option('--to <address>', 'the agent of the conversation (default: the agent jp of this project)')
    .action(async (folder: string, options: GlobalOptions & { to?: string }) => {
      await withInbox(options, async (ear) => {
        const to = options.to === undefined ? `${ear.project}/jp` : formatAddress(addressFrom(ear, options.to));
        const { importJp } = await import('../../agent/jp/import.ts');
        const imported = await importJp(ear, folder, to);
        if (options.json) return printJson(imported);
        print(`${plain(imported.address)}${imported.title === undefined ? '' : `  ${plain(imported.title)}`}`);
        print(
          paint(
            'dim',
            `  ${imported.records} events: ${Object.entries(imported.byType)
              .map(([type, n]) => `${n} ${plain(type)}`)
              .join(', ')}`,
          ),
        );
        if (imported.pending > 0) print(`  ${imported.pending} notifications that JP did not deliver wait for this agent`);
      });
    });
}
