import path from 'node:path';
import { AGENT, CONVERSATION, data, message, openInbox } from '../log/ours.ts';
import { mastraNotification, openMastra } from '../peers/mastra.ts';
import { median, medianMs, versus } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'mastra-deliver',
  what: "carry 10 open notifications into a tool's response, against dispatchDueNotifications of @mastra/core with 10 due ones and an agent that costs nothing",
  bar: [{ figure: 'ratio', is: '>=', value: 15 }],
  peers: ['mastra'],
  async run({ quick, folder }) {
    const inbox = await openInbox(folder, { policy: { coalesceMs: { '*': 0 } } });
    const conversation = inbox.conversation(CONVERSATION);
    const mastra = await openMastra(path.join(folder, 'mastra.db'));
    const forMs = quick ? 20 : 150;
    let n = 0;
    const ten = async (queue: (i: number) => Promise<unknown>): Promise<void> => {
      for (let i = 0; i < 10; i++) await queue(++n);
    };
    const deliveries = (ms: number): number => 1000 / ms;
    const bulk: number[] = [];

    const measured = await versus({
      ours: async () => {
        const took = await medianMs(
          forMs,
          () => ten((i) => inbox.queue(AGENT, { kind: 'tool.stopped', message: message(i), data: data(i) })),
          async () => {
            const { records } = await conversation.carry(
              { type: 'tool_call_response', id: `call_${n}`, content: 'done', is_error: false },
              { at: 'tool_result' },
            );
            const carried = records.at(-1)?.body as { notifications?: readonly unknown[] };
            if (carried.notifications?.length !== 10) throw new Error(`10 were due, ${carried.notifications?.length} rode`);
          },
        );
        return deliveries(took);
      },
      theirs: async () => {
        const due = () =>
          ten((i) => mastra.storage.createNotification({ ...mastraNotification(message(i), data(i)), deliverAt: new Date(0) }));
        const took = await medianMs(forMs, due, async () => {
          const delivered = await mastra.deliverDue();
          if (delivered !== 10) throw new Error(`10 were due, Mastra delivered ${delivered}`);
        });
        bulk.push(
          await medianMs(forMs, due, async () => {
            const listed = await mastra.storage.listDueNotifications({ now: new Date(), limit: 100 });
            const ids = listed.map((record) => record.id);
            await mastra.storage.updateNotificationsStatus({ threadId: 'agent', ids, status: 'delivered' });
          }),
        );
        return deliveries(took);
      },
      unit: '/s',
      rounds: quick ? 3 : 9,
    });
    await inbox.close();
    mastra.close();
    const theirsInBulk = deliveries(median(bulk));
    return {
      ...measured,
      figures: {
        ...measured.figures,
        'theirs in bulk': { value: theirsInBulk, unit: '/s' },
        'ratio to bulk': { value: (measured.ours?.value ?? 0) / theirsInBulk, unit: '' },
      },
      note:
        `Mastra's dispatcher reads and updates each record separately, and writes no transcript. Listing the due records and one ` +
        `updateNotificationsStatus for all of them, which the dispatcher does not use, reaches ${Math.round(theirsInBulk)}/s`,
    };
  },
};
