import { expect, it } from 'vitest';
import { frameOf, type Request } from '../../mcp/frames/frame.ts';
import type { Peer } from '../peer.ts';
import { Subscriptions } from './subscriptions.ts';

it('the end of a subscription unsubscribes the resources of no other subscription at a server of the older generation', () => {
  const asked: string[] = [];
  const peer = {
    generation: 'legacy',
    can: () => true,
    newId: () => '"ours"',
    ask: async (method: string, params: object) => void asked.push(`${method} ${JSON.stringify(params)}`),
  } as Partial<Peer> as Peer;
  const subscriptions = new Subscriptions({ envelope: () => ({}), ownerOf: () => undefined });
  const begin = (id: number, uris: readonly string[]): void => {
    const params = JSON.stringify({ notifications: { resourceSubscriptions: uris } });
    const line = `{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":${params}}`;
    subscriptions.begin(frameOf(Buffer.from(line)) as Request, [peer]);
  };
  begin(1, ['test://a', 'test://b']);
  begin(2, ['test://b']);
  asked.length = 0;
  subscriptions.end('1');
  expect(asked).toEqual(['resources/unsubscribe {"uri":"test://a"}']);
  subscriptions.end('2');
  expect(asked.slice(1)).toEqual(['resources/unsubscribe {"uri":"test://b"}']);
  subscriptions.end('2');
  expect(asked).toHaveLength(2);
});
