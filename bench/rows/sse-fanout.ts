import { createParser } from 'eventsource-parser';
import { request } from 'node:http';
import { message } from '../log/ours.ts';
import { poster, startSide } from '../http/side.ts';
import { percentile } from '../rounds.ts';
import type { Row } from '../row.ts';

const SUBSCRIBERS = 1_000;

export const row: Row = {
  name: 'sse-fanout',
  what: `the time from an HTTP request until the last of ${SUBSCRIBERS} streams has the record, and the records a second that reach streams`,
  bar: [{ figure: 'missing', is: '=', value: 0 }],
  async run({ quick, folder }) {
    const server = await startSide('ours', folder);
    const count = quick ? 5 : 40;
    const { hostname, port } = new URL(server.url);
    const headers = { authorization: `Bearer ${server.token}` };
    let got = 0;
    let wanted = Number.POSITIVE_INFINITY;
    let all = Promise.withResolvers<void>();
    const streams = await Promise.all(
      Array.from(
        { length: SUBSCRIBERS },
        () =>
          new Promise<{ destroy(): void }>((resolve, reject) => {
            const asked = request(
              { hostname, port, path: '/api/stream?project=bench&types=system_notification_queued', headers },
              (answer) => {
                if (answer.statusCode !== 200) return reject(new Error(`the answer was ${answer.statusCode}`));
                // Each stream begins with a `ready` event, which does not count as a record.
                const parser = createParser({
                  onEvent({ event }) {
                    if (event === 'ready') resolve(asked);
                    if (event === 'record') got++;
                    if (got >= wanted) all.resolve();
                  },
                });
                answer.setEncoding('utf8').on('data', (text: string) => parser.feed(text));
              },
            );
            asked.once('error', reject).end();
          }),
      ),
    );
    const { post, close } = poster(server, 1);
    const took: number[] = [];
    for (let n = 1; n <= count; n++) {
      all = Promise.withResolvers<void>();
      wanted = n * SUBSCRIBERS;
      const start = performance.now();
      await post(JSON.stringify({ to: 'bench/agent', kind: 'ci.failed', message: message(n) }));
      await Promise.race([all.promise, new Promise((resolve) => setTimeout(resolve, 5_000))]);
      took.push(performance.now() - start);
    }
    const missing = count * SUBSCRIBERS - got;
    for (const stream of streams) stream.destroy();
    close();
    await server.stop();
    const p50 = percentile(took, 50);
    return {
      figures: {
        p50: { value: p50, unit: 'ms' },
        p99: { value: percentile(took, 99), unit: 'ms' },
        records: { value: (SUBSCRIBERS * 1_000) / p50, unit: '/s' },
        missing: { value: missing, unit: 'records' },
      },
    };
  },
};
