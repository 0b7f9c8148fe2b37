import { agentOf, data, message } from '../log/ours.ts';
import { poster, startSide } from '../http/side.ts';
import { perSecondOf, versus } from '../rounds.ts';
import type { Row } from '../row.ts';

const IN_FLIGHT = 8;

export const row: Row = {
  name: 'http-queue',
  what: `queue over HTTP, ${IN_FLIGHT} in flight: token, schema, rate, id uniqueness and open index, by the thread of the store. The other side is a bare Hono route in a separate process, which parses the same body and inserts it with the raw driver`,
  bar: [{ figure: 'ratio', is: '>=', value: 0.6 }],
  async run({ quick, folder }) {
    const [ours, bare] = [await startSide('ours', folder), await startSide('bare', folder)];
    const sides = { ours: poster(ours, IN_FLIGHT), theirs: poster(bare, IN_FLIGHT) };
    let sent = 0;
    const rate = (side: 'ours' | 'theirs') => () =>
      perSecondOf(quick ? 200 : 800, async (times) => {
        let left = times;
        const one = async (): Promise<void> => {
          while (left-- > 0) {
            const n = ++sent;
            await sides[side].post(JSON.stringify({ to: agentOf(n), kind: 'tool.stopped', message: message(n), data: data(n) }));
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, one));
      });
    const measured = await versus({
      ours: rate('ours'),
      theirs: rate('theirs'),
      unit: '/s',
      rounds: quick ? 3 : 9,
      pids: { ours: [ours.pid], theirs: [bare.pid] },
    });
    for (const side of Object.values(sides)) side.close();
    await ours.stop();
    await bare.stop();
    return measured;
  },
};
