import type { Inbox } from '../../src/inbox/index.ts';
import { startModel, type Model } from '../../e2e/model/server.ts';

/**
 * Makes a model that queues a critical notification in the middle of the first answer of each turn. Reports how long the socket
 * of that answer then stayed open, in ms. The second answer ends the turn.
 */
export const cuttingModel = (inbox: Inbox, to: () => string, took: (ms: number) => void): Promise<Model> =>
  startModel((_request, n) =>
    n % 2 === 1
      ? { says: [{ kind: 'text', text: 'I stop' }] }
      : {
          says: [{ kind: 'text', text: 'I will delete all of it' }],
          at: [
            {
              part: 0,
              delta: 2,
              do: async ({ cutOff }) => {
                const began = process.hrtime.bigint();
                await inbox.queue(to(), { kind: 'user.stop', level: 'critical', message: 'stop that' });
                const ended = await cutOff;
                if (ended !== undefined) took(Number(ended - began) / 1e6);
              },
            },
          ],
        },
  );
