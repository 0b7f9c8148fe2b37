import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY, type Policy } from '../../core/policy.ts';
import { SUBAGENT_REFUSED } from '../../core/views/wording.ts';
import { Inbox } from '../../inbox/index.ts';
import { memoryStore } from '../../stores/index.ts';
import { GuardedRider } from './guarded.ts';
import { inboxRider, type InboxRider } from './inbox-rider.ts';
import { profileOf } from './profiles.ts';
import type { Call, Connection } from './rider.ts';

const LOG = logKey('shop', 'codex');
const call = (requestId: string): Call => ({ server: 'files', tool: 'write', requestId });

type Codex = {
  readonly inbox: Inbox;
  readonly rider: InboxRider;
  readonly client: Connection;
  readonly main: Connection;
  readonly sub: Connection;
};

/** Makes a rider for a client that names the session `s1` in its calls and the calls of its sub-agent. */
function codex(policy: Policy = DEFAULT_POLICY, store = memoryStore()): Codex {
  const inbox = new Inbox({
    store,
    policies: { policy: () => policy },
    owner: { machine: 'here', pid: 1, startedAt: '1' },
    isAlive: () => true,
    timeZone: 'UTC',
  });
  const rider = inboxRider({
    inbox,
    identify: async ({ caller }) =>
      caller === undefined
        ? { log: LOG, conversation: 'main' as ConversationId, by: 'client name', untilCall: true }
        : { log: LOG, conversation: caller.session as ConversationId, by: 'call' },
    carrier: 'gateway:test',
    complain: () => {},
  });
  const client: Connection = { key: 'k', profile: profileOf({ name: 'codex-mcp-client', version: '1' }) };
  const main: Connection = { ...client, key: 'k s1', caller: { client, session: 's1', subagent: false } };
  const sub: Connection = { ...client, key: 'k sub-agent of s1', caller: { client, session: 's1', subagent: true } };
  return { inbox, rider, client, main, sub };
}

it('a policy that withholds results refuses no call of a sub-agent', async () => {
  proves('hosts:codex-sessions');
  const { inbox, rider, main, sub } = codex({ ...DEFAULT_POLICY, interrupt: 'after' });
  await rider.before(main, call('1'));
  await inbox.queue(`${LOG}#s1`, { level: 'critical', message: 'stop that' });
  expect(await rider.before(main, call('2'))).toEqual({ kind: 'pass' });
  expect(await rider.before(sub, call('3'))).toEqual({ kind: 'pass' });
  await inbox.close();
});

describe('a call of a sub-agent', () => {
  it('is refused by an interrupt to the whole project, also if no main agent has called before', async () => {
    proves('hosts:codex-sessions');
    const { inbox, rider, sub } = codex();
    await inbox.queue('shop/*', { level: 'critical', message: 'stop that' });
    expect(await rider.before(sub, call('1'))).toMatchObject({ kind: 'refuse', text: SUBAGENT_REFUSED });
    await inbox.close();
  });

  it.each(['main agent', 'sub-agent'] as const)(
    'is refused without a record while the store hangs, if a call of the %s has met the gate',
    async (first) => {
      proves('gate:unwritable');
      const stuck = Promise.withResolvers<void>();
      let isStuck = false;
      const memory = memoryStore();
      const items = memory.items.bind(memory);
      memory.items = async (...args) => {
        if (isStuck) await stuck.promise;
        return items(...args);
      };
      const { inbox, rider, main, sub } = codex(DEFAULT_POLICY, memory);
      const guarded = new GuardedRider(rider, () => {});
      const refusals = async (): Promise<number> => (await memory.read({ log: LOG, types: ['gate_refused'] })).length;
      await guarded.before(main, call('1'));
      await guarded.before(sub, call('2'));
      await inbox.queue(`${LOG}#s1`, { id: 'hold', action: 'pause', message: 'hold on', origin: { person: 'Ann' } });
      const met = await guarded.before(first === 'sub-agent' ? sub : main, call('3'));
      if (met.kind !== 'refuse') throw new Error('the gate is down');
      met.delivery?.confirm();
      await rider.idle();
      const before = await refusals();

      isStuck = true;
      expect(await guarded.before(sub, call('4'))).toMatchObject({ kind: 'refuse', text: SUBAGENT_REFUSED });
      isStuck = false;
      stuck.resolve();
      guarded.closed(sub);
      await rider.idle();
      expect(await refusals()).toBe(before);

      await inbox.resume(`${LOG}#s1`, { person: 'Ann' });
      expect(await guarded.before(sub, call('5'))).toEqual({ kind: 'pass' });
      await inbox.close();
    },
  );
});

it('a session hears an event about a server, even if only its sub-agent has called', async () => {
  proves('hosts:codex-sessions');
  const { inbox, rider, client, sub } = codex();
  rider.opened(client);
  rider.opened(sub);
  await rider.before(sub, call('1'));
  rider.upstream({ server: 'files', state: 'disconnected', detail: 'it has ended' }, client.key);
  await rider.idle();
  await rider.before(sub, call('2'));
  await rider.idle();
  const items = await inbox.store.items(LOG, { kind: 'latest', limit: 10 });
  expect(items.map(({ audience, notification }) => [audience, notification.message])).toEqual([
    ['s1', expect.stringContaining('files')],
  ]);
  await inbox.close();
});

it('a session hears only the newest state of a server that failed again and again before the first call', async () => {
  proves('hosts:codex-sessions');
  const { inbox, rider, client, main } = codex();
  rider.opened(client);
  await rider.idle();
  for (const server of ['files', 'search'])
    for (let times = 0; times < 50; times++)
      for (const state of ['reconnected', 'disconnected'] as const)
        rider.upstream({ server, state, detail: `${times}` }, client.key);
  rider.upstream({ server: 'search', state: 'introduced', detail: 'Search first.' }, client.key);
  await rider.idle();
  await rider.before(main, call('1'));
  await rider.idle();
  const items = await inbox.store.items(LOG, { kind: 'latest', limit: 100 });
  expect(items.map(({ notification }) => notification.message).toSorted()).toEqual([
    'MCP server `files` has disconnected: 49',
    'MCP server `search` has disconnected: 49',
    expect.stringContaining('MCP server `search` started late'),
  ]);
  await inbox.close();
});

it('a session hears an event about a server once, although its client has its own connection', async () => {
  proves('hosts:codex-sessions');
  const { inbox, rider, client, main } = codex();
  rider.opened(client);
  await rider.before(main, call('1'));
  rider.upstream({ server: 'files', state: 'disconnected', detail: 'it has ended' }, client.key);
  await rider.idle();
  await rider.before(main, call('2'));
  await rider.idle();
  const items = await inbox.store.items(LOG, { kind: 'latest', limit: 10 });
  expect(items.map(({ audience, notification }) => [audience, notification.message])).toEqual([
    ['s1', expect.stringContaining('files')],
  ]);
  await inbox.close();
});
