import type { Followed, State } from '../../sources/follow/index.ts';
import type { CommandLine } from '../command-line.ts';
import { readInbox, type GlobalOptions } from '../context.ts';
import { table } from '../table.ts';
import { ago, nameOf, paint, plain, print, printJson } from '../terminal.ts';

/** A check that is overdue by more than this time, in ms, is shown as late. */
const LATE_MS = 90_000;

export function following(command: CommandLine): void {
  command
    .description(
      'Lists the followers of this project. Each line shows the agent to notify, the last state and its time, and, if the thing is not checked now, the reason.',
    )
    .action(async (options: GlobalOptions) => {
      const follow = await import('../../sources/follow/index.ts');
      await readInbox(options, async (ear) => {
        const { store, project } = ear;
        const list = await follow.following(store, project);
        const owner = await follow.looker(store, project, ear.isAlive);
        const runs = owner !== undefined;
        const now = Date.now();
        const rows = await Promise.all(
          list.map(async (followed) => ({ followed, state: await follow.stateOf(store, follow.groupOf(followed)) })),
        );
        const there = (await ear.active({ project })).length > 0;
        const how = (row: Row): How =>
          howOf(row, {
            now,
            runs: row.followed.process === undefined ? runs : ear.isAlive(row.followed.process) !== false,
            there,
          });
        if (options.json) return rows.forEach((row) => printJson(valueOf(row, how(row), owner?.pid ?? null)));
        if (rows.length === 0)
          return print(`${paint('dim', `${nameOf(project)} follows nothing`)}\nFollow a pull request: earpiece follow pr`);
        print(
          table(
            rows.map((row) => [
              row.followed.id,
              plain(follow.nameOf(row.followed), 80),
              nameOf(row.followed.to),
              row.state.lookedAt === undefined ? 'not yet' : ago(row.state.lookedAt, now),
              paint(how(row).ok ? 'green' : 'yellow', how(row).word),
              plain(how(row).says),
            ]),
            [
              { head: 'id' },
              { head: 'follows' },
              { head: 'for', spare: 2 },
              { head: 'looked', spare: 1 },
              { head: 'state' },
              { head: 'saw' },
            ],
          ),
        );
      });
    });
}

type Row = { readonly followed: Followed; readonly state: State };
type How = { readonly word: 'follows' | 'waits' | 'fails' | 'runs' | 'gone'; readonly ok: boolean; readonly says: string };
type Around = { readonly now: number; readonly runs: boolean; readonly there: boolean };

function howOf({ followed, state }: Row, { now, runs, there }: Around): How {
  const saw = state.summary ?? '';
  if (followed.what.kind === 'command')
    return runs
      ? { word: 'runs', ok: true, says: saw }
      : { word: 'gone', ok: false, says: 'the process of this command was killed; start the command again' };
  if (state.trouble !== undefined) return { word: 'fails', ok: false, says: failure(state.trouble, state, now) };
  if (runs && (state.nextAt === undefined || now - state.nextAt < LATE_MS)) return { word: 'follows', ok: true, says: saw };
  if (runs && (there || followed.keep === true))
    return { word: 'waits', ok: false, says: `the next check is late${saw === '' ? '' : `; last seen: ${saw}`}` };
  if (there)
    return {
      word: 'waits',
      ok: false,
      says: 'no process checks this thing now; start a session of this project, or run an earpiece follow command',
    };
  return { word: 'waits', ok: true, says: `for the next session${saw === '' ? '' : `; last seen: ${saw}`}` };
}

function failure({ says, since, times }: NonNullable<State['trouble']>, { nextAt }: State, now: number): string {
  const next = nextAt === undefined || nextAt <= now ? 'now' : `in ${Math.ceil((nextAt - now) / 60_000)} min`;
  return `${says} (${times === 1 ? 'one failure' : `${times} failures`}, the first ${ago(since, now)}; next check ${next})`;
}

const valueOf = ({ followed, state }: Row, { word, says }: How, pid: number | null): object => ({
  id: followed.id,
  kind: followed.what.kind,
  what: followed.what,
  to: followed.to,
  keep: followed.keep === true,
  by: followed.by ?? null,
  state: word,
  says,
  lookedAt: state.lookedAt ?? null,
  nextAt: state.nextAt ?? null,
  failures: state.trouble?.times ?? 0,
  told: Object.keys(state.told).length,
  process: followed.process?.pid ?? pid,
});
