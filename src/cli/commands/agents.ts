import type { Command } from 'commander';
import type { CommandLine } from '../command-line.ts';
import { withEarpiece, type GlobalOptions } from '../context.ts';
import { table } from '../table.ts';
import { ago, paint, plain, print, printJson } from '../terminal.ts';

export function agents(program: CommandLine): void {
  program
    .command('agents')
    .summary('who is there')
    .description('Who was seen in this project, whether they are active now (●), what waits for them and who carries to them.')
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
        if (options.json) return rows.forEach((row) => printJson(row));
        if (rows.length === 0)
          return print(
            `${paint('dim', `no agent has been seen${options.all ? '' : ` in ${ear.project}`} yet`)}\nInstall the gateway in one: earpiece gateway --print claude -- <command of an MCP server>`,
          );
        print(
          table(
            rows.map((row) => [
              row.active ? paint('green', '●') : paint('dim', '○'),
              plain(`${row.log}#${row.conversation}`),
              String(Object.values(row.open ?? {}).reduce((a, b) => a + b, 0)),
              row.endedAt === undefined ? ago(row.seenAt, now) : `ended ${ago(row.endedAt, now)}`,
              plain([row.host, row.hostVersion].filter(Boolean).join(' '), 40),
              plain(Object.keys(row.carriers).join(', ')),
            ]),
            [
              {},
              { head: 'conversation' },
              { head: 'open', right: true },
              { head: 'seen' },
              { head: 'host', spare: 1 },
              { head: 'carriers' },
            ],
          ),
        );
      });
    });
}
