import type { CommandLine } from '../command-line.ts';
import { addressFrom, withInbox, type GlobalOptions } from '../context.ts';
import { formatAddress } from '../../core/address.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function importing(group: CommandLine): void {
  group.description("Brings another program's conversations into the log.");
  group
    .command('jp <folder>')
    .summary('a conversation of JP')
    .description(
      'A conversation folder of JP (metadata.json, base_config.json, events.json) becomes a conversation of the log, which an agent can go on with. ' +
        'Notifications that JP had not delivered wait for that agent.',
    )
    .option('--to <address>', 'whose conversation it becomes (default: the agent jp of this project)')
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
        if (imported.pending > 0) print(`  ${imported.pending} notifications that JP had not delivered wait for it`);
      });
    });
}
