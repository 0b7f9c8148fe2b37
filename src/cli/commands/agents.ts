import type { Command } from 'commander';
import type { CommandLine } from '../command-line.ts';
import type { LogOverview, Presence } from '../../core/ports.ts';
import { SERVER_OPTION, withEarpiece, type GlobalOptions } from '../context.ts';
import { table } from '../table.ts';
import { ago, paint, plain, print, printJson } from '../terminal.ts';

export function agents(program: CommandLine): void {
  program
    .command('agents')
    .summary('who is there')
    .description('Who was seen in this project, whether they are active now (●), what waits for them and who carries to them.')
    .option('--all', 'in every project')
    .option(...SERVER_OPTION)
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      if (options.server !== undefined) {
        const { remotely } = await import('../remote.ts');
        return remotely(options.server, async ({ client, config }) => {
          const rows: Row[] = [];
          for (let after: string | undefined; ;) {
            const page = await client.agents({
              limit: 200,
              ...(options.all ? {} : { project: config.project }),
              ...(after === undefined ? {} : { after }),
            });
            for (const { log, open, conversations } of page.items)
              for (const { host, hostVersion, endedAt, carriers, ...known } of conversations)
                rows.push({
                  ...known,
                  log,
                  open,
                  ...(host === null ? {} : { host }),
                  ...(hostVersion === null ? {} : { hostVersion }),
                  ...(endedAt === null ? {} : { endedAt }),
                  carriers: Object.fromEntries(carriers.map(({ name, at }) => [name, at])),
                });
            if (page.next === null) break;
            after = page.next;
          }
          tell(
            rows.toSorted((a, b) => b.seenAt - a.seenAt),
            config.project,
            Date.now(),
            options,
          );
        });
      }
      await withEarpiece(options, async (ear) => {
        const project = options.all ? undefined : ear.project;
        const there = await ear.store.presence(project === undefined ? {} : { project });
        const overview = new Map((await ear.store.overview(project)).map((o) => [o.log, o.open]));
        const now = ear.store.now();
        const rows = there
          .toSorted((a, b) => b.seenAt - a.seenAt)
          .map((p) => ({ ...p, active: ear.isActive(p, now), open: overview.get(p.log) }));
        tell(rows, ear.project, now, options);
      });
    });
}

type Options = GlobalOptions & { readonly all?: boolean; readonly server?: string };
type Row = Pick<Presence, 'host' | 'hostVersion' | 'seenAt' | 'endedAt' | 'carriers'> & {
  readonly log: string;
  readonly conversation: string;
  readonly active: boolean;
  readonly open: LogOverview['open'] | undefined;
};

function tell(rows: readonly Row[], project: string, now: number, options: Options): void {
  if (options.json) return rows.forEach((row) => printJson(row));
  if (rows.length === 0)
    return print(
      `${paint('dim', `no agent has been seen${options.all ? '' : ` in ${project}`} yet`)}\nInstall the gateway in one: earpiece gateway --print claude -- <command of an MCP server>`,
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
}
