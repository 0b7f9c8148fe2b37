import { nameTold } from '../../config/index.ts';
import type { CommandLine } from '../command-line.ts';
import type { ConversationId, LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { Item } from '../../core/items.ts';
import type { LogOverview, Presence } from '../../core/ports.ts';
import { isPaused } from '../../inbox/index.ts';
import { SERVER_OPTION, readInbox, type GlobalOptions } from '../context.ts';
import { addressName } from '../foreign.ts';
import { table } from '../table.ts';
import { ago, nameOf, paint, plain, print, printJson } from '../terminal.ts';

export function agents(command: CommandLine): void {
  command
    .description(
      'Lists the conversations of the agents of this project, and whether they are active now (●). The list names the hooks, gateways and programs that bring notifications to them. ' +
        "The number of an agent's open notifications is in the first line of the agent.",
    )
    .option('--all', 'list the agents of every project')
    .option(...SERVER_OPTION)
    .action(async (options: Options) => {
      if (options.server !== undefined) {
        const { remotely } = await import('../remote.ts');
        return remotely(options.server, async ({ client, config }) => {
          const rows: (Row & { readonly seenAt: number })[] = [];
          const overview = new Map<string, Agent>();
          for (let after: string | undefined; ;) {
            const page = await client.agents({
              limit: 200,
              ...(options.all ? {} : { project: config.project }),
              ...defined({ after }),
            });
            for (const { log, open, paused, conversations } of page.items) {
              overview.set(log, { open, paused });
              for (const { host, hostVersion, endedAt, passedTo, carriers, ...known } of conversations)
                rows.push({
                  ...known,
                  log,
                  open,
                  ...(host === null ? {} : { host }),
                  ...(hostVersion === null ? {} : { hostVersion }),
                  ...(endedAt === null ? {} : { endedAt }),
                  ...(passedTo ? { passedTo: { ...passedTo, conversation: passedTo.conversation as ConversationId } } : {}),
                  carriers: Object.fromEntries(carriers.map(({ name, at }) => [name, at])),
                });
            }
            if (page.next === null) break;
            after = page.next;
          }
          tell([...rows.toSorted((a, b) => b.seenAt - a.seenAt), ...unseen(overview, rows)], config.project, Date.now(), options);
        });
      }
      await readInbox(options, async (ear) => {
        const project = options.all ? undefined : ear.project;
        const there = (await ear.store.presence(defined({ project }))).filter((p) => ear.wasConversation(p));
        const overview = new Map<string, Agent>();
        const gates = new Map<string, readonly Item[]>();
        for (let after: LogKey | undefined; ;) {
          const page = await ear.agents({
            ...defined({ project, after }),
          });
          for (const { log, open, paused } of page) {
            overview.set(log, { open, paused });
            if (paused) gates.set(log, await ear.gates(log));
          }
          after = page.at(-1)?.log;
          if (after === undefined) break;
        }
        const now = ear.store.now();
        const rows = there
          .toSorted((a, b) => b.seenAt - a.seenAt)
          .map((p): Row => ({
            ...p,
            active: ear.isActive(p, now),
            open: overview.get(p.log)?.open ?? NONE,
            paused: isPaused(gates.get(p.log) ?? [], p.conversation),
          }));
        tell([...rows, ...unseen(overview, rows)], ear.project, now, options);
        const told = nameTold(ear.config);
        if (told !== undefined && !options.json) print(paint('dim', plain(told, 400)));
      });
    });
}

type Options = GlobalOptions & { readonly all?: boolean; readonly server?: string };
/** A row of the list. A row without `conversation` and `seenAt` is an agent that has records, but was never seen. */
type Row = Pick<Presence, 'host' | 'hostVersion' | 'endedAt' | 'carriers' | 'passedTo'> & {
  readonly log: string;
  readonly conversation?: string;
  readonly seenAt?: number;
  readonly active: boolean;
} & Agent;

/** Open notifications by level. `paused`: whether the conversation of the row, or an agent that was never seen, is paused. */
type Agent = { readonly open: LogOverview['open'] | undefined; readonly paused: boolean };
const NONE: LogOverview['open'] = { info: 0, warning: 0, error: 0, critical: 0 };

function seenAs({ endedAt, seenAt, active, passedTo }: Row, now: number): string {
  if (seenAt === undefined) return 'not seen yet';
  const seen = endedAt === undefined ? ago(seenAt, now) : `ended ${ago(endedAt, now)}`;
  return active || passedTo === undefined ? seen : `${seen}, continued by #${nameOf(passedTo.conversation, 40)}`;
}

/** Lists agents that got records from an import or a producer before they were ever seen. */
function unseen(overview: ReadonlyMap<string, Agent>, rows: readonly Row[]): readonly Row[] {
  const seen = new Set(rows.map(({ log }) => log));
  return [...overview].flatMap(([log, agent]) =>
    seen.has(log) || log.endsWith('/*') ? [] : [{ log, ...agent, active: false, carriers: {} }],
  );
}

/** Keeps a count of open notifications only in an agent's first row: in other rows, it would look like a conversation's count. */
function countedOnce(rows: readonly Row[]): readonly Row[] {
  const counted = new Set<string>();
  return rows.map((row) => {
    if (counted.has(row.log)) return { ...row, open: undefined };
    counted.add(row.log);
    return row;
  });
}

function tell(all: readonly Row[], project: string, now: number, options: Options): void {
  const rows = countedOnce(all);
  if (options.json) return rows.forEach((row) => printJson(row));
  if (rows.length === 0)
    return print(
      `${paint('dim', `no agent has been seen${options.all ? '' : ` in ${project}`} yet`)}\nTo connect your coding agents: earpiece install\nFor another MCP client: earpiece gateway --help. For your own loop: npm install earpiece (docs/guides/put-it-into-your-loop.md)`,
    );
  print(
    table(
      rows.map((row) => [
        row.active ? paint('green', '●') : paint('dim', '○'),
        addressName(row.log, row.conversation),
        row.open === undefined ? '' : String(Object.values(row.open).reduce((a, b) => a + b, 0)),
        `${seenAs(row, now)}${row.paused ? ', paused' : ''}`,
        nameOf([row.host, row.hostVersion].filter(Boolean).join(' '), 40),
        Object.keys(row.carriers)
          .map((carrier) => nameOf(carrier))
          .join(', '),
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
