import path from 'node:path';
import { agentOf, data, message, openInbox } from '../log/ours.ts';
import { mastraNotification, openMastra } from '../peers/mastra.ts';
import { perSecond, versus } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'mastra-queue',
  what: 'queue one notification, against createNotification of @mastra/libsql, one file each, same pragmas and text',
  bar: [{ figure: 'ratio', is: '>=', value: 1 }],
  peers: ['mastra'],
  async run({ quick, folder }) {
    const inbox = await openInbox(folder);
    const mastra = await openMastra(path.join(folder, 'mastra.db'));
    const forMs = quick ? 50 : 400;
    let queued = 0;
    const measured = await versus({
      ours: () =>
        perSecond(forMs, () =>
          inbox.queue(agentOf(++queued), { kind: 'tool.stopped', message: message(queued), data: data(queued) }),
        ),
      theirs: () =>
        perSecond(forMs, () =>
          mastra.storage.createNotification({
            ...mastraNotification(message(++queued), data(queued)),
            threadId: agentOf(queued),
          }),
        ),
      unit: '/s',
      rounds: quick ? 3 : 11,
    });
    await inbox.close();
    mastra.close();
    return measured;
  },
};
