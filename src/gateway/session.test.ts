import { expect, it } from 'vitest';
import { frameOf } from '../mcp/frames/frame.ts';
import type { LinkEvents } from '../mcp/link.ts';
import { GuardedRider } from './riding/guarded.ts';
import { noRider, type UpstreamEvent } from './riding/rider.ts';
import { Settling } from './riding/settling.ts';
import { Catalog } from './riding/tools.ts';
import { Session } from './session.ts';

it('a server that refuses the handshake after its restart is reported as failed', async () => {
  const told: UpstreamEvent[] = [];
  const { promise, resolve } = Promise.withResolvers<LinkEvents>();
  const session = new Session({
    upstream: { kind: 'absent', name: 'files', why: '' },
    link: (_, events) => {
      resolve(events);
      return { start: () => {}, send: () => true, pause: () => {}, resume: () => {}, stop: async () => {} };
    },
    rider: new GuardedRider(noRider, () => {}),
    catalog: new Catalog(),
    key: 'k',
    settling: new Settling(),
    channel: { send: () => true, pause: () => {}, resume: () => {}, ended: () => {} },
    report: () => {},
    tell: (event) => told.push(event),
  });
  const events = await promise;
  const frame = (text: string) => frameOf(Buffer.from(`${text}\n`));
  session.fromClient(frame('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'));
  events.frame(frame('{"jsonrpc":"2.0","id":0,"result":{}}'));
  events.down('exit code 1', 250);
  events.up();
  events.frame(frame('{"jsonrpc":"2.0","id":"earpiece-1","error":{"code":1,"message":"no licence"}}'));
  await expect.poll(() => told).toHaveLength(2);
  expect(told[1]).toEqual({
    server: 'files',
    state: 'failed',
    detail: 'the server runs again, but refused the repeated handshake: no licence',
  });
  await session.close();
});
