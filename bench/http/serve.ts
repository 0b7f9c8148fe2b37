/**
 * Serves one side in a separate process: `node bench/http/serve.ts ours|bare FOLDER`. The process prints its URL and token on
 * stdout.
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createServer } from '../../src/server/index.ts';
import { openInbox, NO_LIMIT } from '../log/ours.ts';
import { openRaw } from '../log/raw.ts';

const [side = '', folder = ''] = process.argv.slice(2);
const NO_RATE = { perSecond: 1e9, burst: 1e9 };

if (side === 'ours') {
  // Like `earpiece serve`, this process opens the store in a thread.
  const inbox = await openInbox(folder, { policy: NO_LIMIT, thread: true });
  const server = createServer({
    inbox,
    project: 'bench',
    version: '0',
    rates: { token: NO_RATE },
    streams: { maxStreams: 5_000 },
  });
  const { token } = await server.tokens.create({ kind: 'admin', name: 'bench' });
  const { url } = await server.listen({ port: 0 });
  console.log(JSON.stringify({ url, token }));
} else {
  const raw = openRaw(folder);
  const app = new Hono();
  app.post('/api/notifications', async (c) => {
    const body: unknown = await c.req.json();
    raw.insert(JSON.stringify(body));
    return c.json({ ok: true }, 201);
  });
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
    console.log(JSON.stringify({ url: `http://127.0.0.1:${port}`, token: 'none' })),
  );
}
