import { expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { Inbox } from '../../inbox/index.ts';
import { frameOf, type Request } from '../../mcp/frames/frame.ts';
import { memoryStore } from '../../stores/index.ts';
import { GuardedRider } from './guarded.ts';
import { inboxRider } from './inbox-rider.ts';
import { profileOf } from './profiles.ts';
import type { Connection } from './rider.ts';

const LOG = logKey('shop', 'coder');
const CODEX: Connection = { key: 'codex', profile: profileOf({ name: 'codex-mcp-client', version: '1' }) };

const callIn = (sessionId: string): Request => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'write', _meta: { sessionId } } };
  return frameOf(Buffer.from(`${JSON.stringify(call)}\n`)) as Request;
};

it('beyond the maximum number of sessions, the session with the oldest call loses its connection but does not end', async () => {
  proves('hosts:codex-sessions');
  const store = memoryStore();
  const owner = { machine: 'here', pid: 1, startedAt: '1' };
  const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, owner, isAlive: () => true });
  const identify = (of: Connection) =>
    Promise.resolve({ log: LOG, conversation: (of.caller?.session ?? 'main') as ConversationId, by: 'call' as const });
  const rider = inboxRider({ inbox, identify, carrier: 'gateway:test', complain: () => {} });
  const guarded = new GuardedRider(rider, () => {});
  const calls = async (session: string): Promise<Connection> => {
    const connection = guarded.callerOf(CODEX, callIn(session));
    await guarded.before(connection, { server: 'files', tool: 'write', requestId: session, beganAt: performance.now() });
    return connection;
  };
  const first = await calls('s0');
  const second = await calls('s1');
  for (let n = 2; n < 100; n++) await calls(`s${n}`);
  await calls('s0');
  await inbox.queue('shop/coder#s1', { message: 'for the second session' });
  await calls('s100');
  await rider.idle();
  expect(guarded.callerOf(CODEX, callIn('s0'))).toBe(first);
  expect(guarded.callerOf(CODEX, callIn('s1'))).not.toBe(second);
  const [presence] = await store.presence({ log: LOG, conversation: 's1' as ConversationId });
  expect(presence?.endedAt).toBeUndefined();
  const open = await store.items(LOG, { kind: 'open' });
  expect(open.map(({ audience }) => audience)).toEqual(['s1']);
  await inbox.close();
});
