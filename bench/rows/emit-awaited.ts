import type { EventInput } from '../../src/core/event.ts';
import { AGENT, event, Stage } from '../bus/stage.ts';
import { openInbox, NO_LIMIT } from '../log/ours.ts';
import { median, perSecond } from '../rounds.ts';
import type { Row } from '../row.ts';

/** The storms, each as a function that makes its nth event. */
const STORMS: Readonly<Record<string, (n: number) => EventInput>> = {
  'nine kinds': event,
  'one thing': () => ({ ...event(0), data: { tool_name: 'build', error_type: 'timeout', error_message: 'after 3 s' } }),
  'different things': (n) => ({
    ...event(0),
    data: { tool_name: `tool_${n}`, error_type: 'timeout', error_message: `after ${n} ms` },
  }),
};

export const row: Row = {
  name: 'emit-awaited',
  what: `events a second of one caller that awaits each \`emit\`, durable, by the thread of the store, in a storm of ${Object.keys(STORMS).join(', of ')}`,
  bar: Object.keys(STORMS).map((storm) => ({ figure: storm, is: '>=', value: 1_000 }) as const),
  async run({ quick, folder }) {
    const figures = [];
    for (const [storm, make] of Object.entries(STORMS)) {
      const inbox = await openInbox(folder, { file: `${figures.length}.db`, policy: NO_LIMIT, thread: true });
      const stage = new Stage(inbox);
      let n = 0;
      const rates: number[] = [];
      for (let round = -1; round < (quick ? 2 : 7); round++) {
        const rate = await perSecond(quick ? 100 : 600, () => stage.bus.emit(make(n++)));
        if (round >= 0) rates.push(rate);
        // The agent reads all open notifications.
        while ((await stage.read()) !== '');
      }
      figures.push([storm, { value: median(rates), unit: '/s' as const }] as const);
      await stage.close();
    }
    return { figures: Object.fromEntries(figures), note: `in the log of ${AGENT}, which is read each 600 ms` };
  },
};
