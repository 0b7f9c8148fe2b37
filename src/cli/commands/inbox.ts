import type { Command } from 'commander';
import { formatKind } from '../../core/notification.ts';
import type { Item } from '../../core/items.ts';
import type { LogKey } from '../../core/address.ts';
import { receiptOf } from '../../inbox/index.ts';
import { logsFrom, withEarpiece, type GlobalOptions } from '../context.ts';
import { ago, columns, level, paint, plain, print, printJson, table } from '../terminal.ts';

export function inbox(program: Command): void {
  program
    .command('inbox [address]')
    .description('what waits for the agents of this project, and what was only summarized to them')
    .option('--all', 'of every project')
    .option('--read', 'mark what was summarized, and interrupts, as read')
    .action(async (address: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { all?: boolean; read?: boolean }>();
      await withEarpiece(options, async (ear) => {
        const { logs, conversation } = await logsFrom(ear, address, options.all ?? false);
        const found: { log: LogKey; item: Item }[] = [];
        for (const log of logs) {
          const scope = conversation === undefined ? {} : { conversation };
          const unread = (await ear.store.items(log, { kind: 'unread', ...scope })).filter(
            (item) => !item.read && (item.outcome === 'summarized' || item.gate),
          );
          for (const item of [...(await ear.store.items(log, { kind: 'open', ...scope })), ...unread]) found.push({ log, item });
          if (options.read && unread.length > 0)
            await ear.markRead(log, [...new Set(unread.map((item) => item.id))], 'earpiece inbox --read');
        }
        if (options.json) {
          for (const { log, item } of found) printJson({ log, ...shown(item) });
          return;
        }
        if (found.length === 0) return print(paint('dim', `nothing waits${options.all ? '' : ` in ${ear.project}`}`));
        const now = ear.store.now();
        print(
          table(
            found.map(({ log, item }) => [
              level(item.notification.level),
              item.id,
              plain(item.audience === '' ? log : `${log}#${item.audience}`),
              item.state === 'open' && item.offers === 0 ? 'waiting' : receiptOf(item),
              ago(item.at, now),
              formatKind(item.notification.kind),
              plain(
                `${item.notification.message}${item.count > 1 ? ` (${item.count} times)` : ''}`,
                Math.max(30, columns() - 90),
              ),
            ]),
            ['level', 'id', 'for', 'state', 'queued', 'kind', 'message'],
          ),
        );
      });
    });
}

const shown = (item: Item): object => ({
  id: item.id,
  conversation: item.audience || undefined,
  kind: formatKind(item.notification.kind),
  level: item.notification.level,
  message: item.notification.message,
  receipt: receiptOf(item),
  count: item.count,
  queuedAt: new Date(item.at).toISOString(),
  ...(item.notification.action ? { action: item.notification.action } : {}),
  ...(item.notification.instruction ? { instruction: item.notification.instruction } : {}),
});
