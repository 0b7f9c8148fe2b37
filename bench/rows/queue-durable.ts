import { toLog } from '../../src/inbox/index.ts';
import { agentOf, data, message, openInbox } from '../log/ours.ts';
import { openRaw } from '../log/raw.ts';
import { perSecond, versus } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'queue-durable',
  what: 'queue, one durable transaction each, id uniqueness and open index on, against one prepared insert of the same bytes by the raw driver',
  bar: [{ figure: 'ratio', is: '>=', value: 0.6 }],
  async run({ quick, folder }) {
    const inbox = await openInbox(folder);
    const raw = openRaw(folder);
    const forMs = quick ? 50 : 400;
    let queued = 0;
    const queue = () => inbox.queue(agentOf(++queued), { kind: 'tool.stopped', message: message(queued), data: data(queued) });
    await queue();
    const [stored] = await inbox.store.read({ log: toLog(agentOf(1)) });
    const body = JSON.stringify(stored?.body);
    const measured = await versus({
      ours: () => perSecond(forMs, queue),
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
  },
};
