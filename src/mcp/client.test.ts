import { afterEach, expect, it, vi } from 'vitest';
import { frameOf, type Frame } from './frames/frame.ts';
import type { LinkEvents } from './link.ts';
import { McpClient, Unanswered, type ServerEvent } from './client.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const WELCOME = { protocolVersion: '2025-11-25', capabilities: {} };

/** Makes a client. `answer` returns the server's answer to a method, or undefined for no answer. */
async function given(answer: (method: string) => object | undefined) {
  let events: LinkEvents;
  const told: ServerEvent[] = [];
  const send = (frame: Frame): boolean => {
    const { id, method } = JSON.parse(frame.bytes.toString()) as { id?: number; method: string };
    const body = id === undefined ? undefined : answer(method);
    if (body) queueMicrotask(() => events.frame(frameOf(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`))));
    return true;
  };
  const client = new McpClient({
    upstream: { kind: 'absent', name: 'files', why: '' },
    link: (_, given) => {
      events = given;
      return { start: () => {}, send, pause: () => {}, resume: () => {}, stop: async () => {} };
    },
    info: { name: 'x', version: '1' },
    tell: (event) => told.push(event),
    report: () => {},
  });
  await client.start(new AbortController().signal);
  return {
    told,
    restart: () => {
      events.down('exit code 1', 250);
      events.up();
    },
    call: () => client.request('tools/call', {}, new AbortController().signal),
  };
}

it.each(['refuses', 'does not answer'])(
  'a restarted server that %s the handshake is reported as failed, and works again after the next restart',
  async (how) => {
    let isBroken = false;
    const refused = { error: { code: 1, message: 'no licence' } };
    const { told, call, restart } = await given((method) => {
      if (!isBroken) return { result: method === 'tools/call' ? { content: [] } : WELCOME };
      return how === 'refuses' ? refused : undefined;
    });
    const late = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
    isBroken = true;
    restart();
    if (how === 'does not answer') late.abort(new DOMException('late', 'TimeoutError'));
    const why =
      how === 'refuses'
        ? 'the server runs again, but refused the repeated handshake: no licence'
        : 'the server runs again, but did not answer the repeated handshake within 30 s';
    await expect(call()).rejects.toEqual(new Unanswered(`The MCP server "files" does not work: ${why}.`));
    expect(told.at(-1)).toEqual({ server: 'files', state: 'failed', detail: why });

    isBroken = false;
    vi.restoreAllMocks();
    restart();
    expect(await call()).toEqual({ content: [] });
    expect(told.at(-1)).toMatchObject({ state: 'reconnected' });
  },
);
