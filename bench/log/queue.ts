import { toLog } from '../../src/inbox/index.ts';
import { perSecond, versus } from '../rounds.ts';
import type { Measured, RunOptions } from '../row.ts';
import { agentOf, data, message, NO_LIMIT, openInbox } from './ours.ts';
import { openRaw } from './raw.ts';

/** `callers` queue at once, each one after the other, against the raw driver's insert of the same bytes. */
export async function queueVersusInsert(
  { quick, folder }: RunOptions,
  { callers, thread }: { readonly callers: number; readonly thread: boolean },
): Promise<Measured> {
  const inbox = await openInbox(folder, { thread, policy: NO_LIMIT });
  const raw = openRaw(folder);
  const forMs = quick ? 50 : 400;
  let queued = 0;
  const queue = () => inbox.queue(agentOf(++queued), { kind: 'tool.stopped', message: message(queued), data: data(queued) });
  await queue();
  const [stored] = await inbox.store.read({ log: toLog(agentOf(1)) });
  const body = JSON.stringify(stored?.body);
  const all = callers === 1 ? queue : () => Promise.all(Array.from({ length: callers }, queue));
  const measured = await versus({
    ours: async () => callers * (await perSecond(forMs, all)),
    theirs: () => perSecond(forMs, () => raw.insert(body)),
    unit: '/s',
    rounds: quick ? 3 : 11,
  });
  const logs = await inbox.store.overview();
  const open = logs.reduce((sum, log) => sum + log.open.info, 0);
  if (open !== queued) throw new Error(`${queued} were queued, ${open} are open`);
  await inbox.close();
  raw.close();
  return { ...measured, figures: { ...measured.figures, row: { value: Buffer.byteLength(body), unit: 'bytes' } } };
}
