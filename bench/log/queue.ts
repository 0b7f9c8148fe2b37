import { toLog } from '../../src/inbox/index.ts';
import { perSecond, versus } from '../rounds.ts';
import type { Measured, RunOptions } from '../row.ts';
import { agentOf, data, message, NO_LIMIT, openInbox } from './ours.ts';
import { openRaw, openSame } from './raw.ts';

type Against = 'the same rows' | 'one row';

/**
 * Compares queueing with the raw driver in this thread. The driver writes the same rows as queueing, or only one row. `callers`
 * writes begin at the same time, and the next writes begin when all these writes have ended.
 */
export async function queueVersusInsert(
  { quick, folder }: RunOptions,
  { callers, thread, against }: { readonly callers: number; readonly thread: boolean; readonly against: Against },
): Promise<Measured> {
  const inbox = await openInbox(folder, { thread, policy: NO_LIMIT });
  const [same, raw] = [await openSame(folder), openRaw(folder)];
  const forMs = quick ? 50 : 400;
  let queued = 0;
  const queue = () => inbox.queue(agentOf(++queued), { kind: 'tool.stopped', message: message(queued), data: data(queued) });
  await queue();
  const [stored] = await inbox.store.read({ log: toLog(agentOf(1)) });
  const body = JSON.stringify(stored?.body);
  const all = callers === 1 ? queue : () => Promise.all(Array.from({ length: callers }, queue));
  const inserts = {
    'the same rows': () => perSecond(forMs, () => same.insert(body)),
    'one row': () => perSecond(forMs, () => raw.insert(body)),
  };
  const { [against]: theirs, ...beside } = inserts;
  const measured = await versus({
    ours: async () => callers * (await perSecond(forMs, all)),
    theirs,
    beside,
    unit: '/s',
    rounds: quick ? 3 : 11,
  });
  const logs = await inbox.store.overview();
  const open = logs.reduce((sum, log) => sum + log.open.info, 0);
  if (open !== queued) throw new Error(`${queued} were queued, ${open} are open`);
  await inbox.close();
  same.close();
  raw.close();
  const [other = ''] = Object.keys(beside);
  const { [`against ${other}`]: ratio, [other]: rate } = measured.figures;
  return {
    ...measured,
    figures: { ...measured.figures, row: { value: Buffer.byteLength(body), unit: 'bytes' } },
    note: `${ratio?.value.toFixed(2)} of the raw driver's insert of ${other} (${rate?.value.toFixed(0)}/s)`,
  };
}
