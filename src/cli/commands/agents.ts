import type { Command } from 'commander';
import { withEarpiece, type GlobalOptions } from '../context.ts';
import { ago, paint, plain, print, printJson, table } from '../terminal.ts';

export function agents(program: Command): void {
  program
    .command('agents')
    .description('who was seen in this project, what waits for them, who carries to them')
    .option('--all', 'in every project')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { all?: boolean }>();
      await withEarpiece(options, async (ear) => {
        const project = options.all ? undefined : ear.project;
        const there = await ear.store.presence(project === undefined ? {} : { project });
        const overview = new Map((await ear.store.overview(project)).map((o) => [o.log, o.open]));
        const now = ear.store.now();
        const rows = there
          .toSorted((a, b) => b.seenAt - a.seenAt)
          .map((p) => ({ ...p, active: ear.isActive(p, now), open: overview.get(p.log) }));
        if (options.json) {
          for (const row of rows) printJson(row);
          return;
        }
        if (rows.length === 0)
          return print(
            `${paint('dim', `no agent has been seen${options.all ? '' : ` in ${ear.project}`} yet`)}\nInstall the gateway in one: earpiece gateway --print claude -- <command of an MCP server>`,
          );
        print(
          table(
            rows.map((row) => [
              row.active ? paint('green', '●') : paint('dim', '○'),
              plain(`${row.log}#${row.conversation}`),
              plain([row.host, row.hostVersion].filter(Boolean).join(' ')),
              row.open
                ? Object.values(row.open)
                    .reduce((a, b) => a + b, 0)
                    .toString()
                : '0',
              row.endedAt === undefined ? ago(row.seenAt, now) : `ended ${ago(row.endedAt, now)}`,
              plain(Object.keys(row.carriers).join(', ')),
            ]),
            ['', 'conversation', 'host', 'open', 'seen', 'carriers'],
          ),
        );
      });
    });
}
