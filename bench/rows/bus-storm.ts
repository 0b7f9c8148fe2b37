import { createBus, shippedFolder, subscriberFolders } from '../../src/bus/index.ts';
import { AGENT, Stage } from '../bus/stage.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'bus-storm',
  what: '100,000 file events of as many files at once: the lines that the agent reads, the events that they count, and the time of the storm',
  bar: [
    { figure: 'lines', is: '=', value: 1 },
    { figure: 'counted', is: '=', value: 100_000 },
  ],
  async run() {
    const stage = new Stage();
    const bus = createBus({ inbox: stage.inbox, subscribers: subscriberFolders({ shipped: shippedFolder() }) });
    const start = performance.now();
    const emitted: Promise<unknown>[] = [];
    for (let n = 0; n < 100_000; n++) {
      const path = `src/file-${n}.ts`;
      emitted.push(
        bus.emit({
          type: 'file.changed',
          source: 'files',
          subject: AGENT,
          severity: 'warning',
          key: path,
          message: `\`${path}\` was changed by another program`,
          data: { path, change: 'changed' },
        }),
      );
      if (n % 1_000 === 999) await new Promise(setImmediate);
    }
    await Promise.all(emitted);
    const tookMs = performance.now() - start;
    const open = await stage.inbox.open(AGENT);
    const carried = await stage.inbox
      .conversation(`${AGENT}#a`)
      .carry({ type: 'tool_call_response', id: 'c', content: '', is_error: false }, { at: 'tool_batch_end' });
    await bus.close();
    await stage.close();
    return {
      figures: {
        lines: { value: carried.view?.items.length ?? 0, unit: '' },
        counted: { value: open.reduce((sum, item) => sum + item.count, 0), unit: '' },
        took: { value: tookMs, unit: 'ms' },
      },
    };
  },
};
