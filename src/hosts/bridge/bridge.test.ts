import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import type { NotificationInput } from '../../core/notification.ts';
import { DEFAULT_POLICY, type Policy } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { Inbox } from '../../inbox/index.ts';
import { memoryStore } from '../../stores/index.ts';
import { opencode } from '../opencode/host.ts';
import { pi } from '../pi/host.ts';
import type { Host } from '../host.ts';
import type { Moment } from '../moment.ts';
import { Bridge } from './bridge.ts';
import type { FromBridge, Push, Reply, SessionState } from './protocol.ts';

const HOST: Owner = { machine: 'here', pid: 10, startedAt: '1' };
const FOLDER = '/nowhere';

describe('the bridge of a plugin', () => {
  let store: Store;
  let inbox: Inbox;
  let policy: Policy;
  let bridge: Bridge;
  let complaints: string[];
  let said: FromBridge[];
  let look: (() => void)[];
  let ids: number;

  const open = (host: Host, from: Inbox = inbox, given?: string): Bridge =>
    new Bridge({
      place: { inbox: from, project: 'shop', given },
      host,
      process: HOST,
      nested: false,
      send: (line) => {
        said.push(line);
        for (const each of look.splice(0)) each();
      },
      complain: (line) => void complaints.push(line),
    });
  const openInbox = (pid: number): Inbox =>
    new Inbox({
      store,
      policies: { policy: (project) => (project === 'other' ? { ...policy, leaseMs: 4_000 } : policy) },
      owner: { machine: 'here', pid, startedAt: '1' },
      isAlive: ({ pid }) => !dead.has(pid),
      timeZone: 'UTC',
    });
  const dead = new Set<number>();

  const until = async <T extends FromBridge>(is: (line: FromBridge) => line is T): Promise<T> => {
    for (;;) {
      const found = said.find(is);
      if (found !== undefined) {
        said.splice(said.indexOf(found), 1);
        return found;
      }
      await new Promise<void>((resolve) => look.push(resolve));
    }
  };
  const pushed = (kind: Push['push']): Promise<Push> => until((line): line is Push => 'push' in line && line.push === kind);
  const ask = async (moment: Moment, { session = 's1', subagent = '' } = {}): Promise<Reply> => {
    const id = ++ids;
    bridge.receive({ do: 'ask', id, session, folder: FOLDER, moment, ...(subagent === '' ? {} : { subagent }) });
    return until((line): line is Reply => 're' in line && line.re === id);
  };
  const state = (state: SessionState, session = 's1'): void => bridge.receive({ do: 'state', state, session, folder: FOLDER });
  const queue = (input: Partial<NotificationInput>, to = 'shop/pi'): Promise<unknown> =>
    inbox.queue(to, { kind: 'ci.failed', level: 'info', message: 'red', ...input });
  const receipts = async (id: string, log = 'shop/pi'): Promise<readonly string[]> =>
    ((await inbox.why(id, logKey('shop', log.slice(5))))?.items[0]?.steps ?? []).map(({ what }) => what);
  /** Resolves when the earlier receipts and states are handled. */
  const settled = (): Promise<Reply> => ask({ kind: 'asked' });

  beforeEach(() => {
    store = memoryStore();
    policy = { ...DEFAULT_POLICY, wake: { info: 'never', warning: 'never', error: 'auto', critical: 'auto' } };
    [complaints, said, look, ids] = [[], [], [], 0];
    dead.clear();
    inbox = openInbox(1);
    bridge = open(pi);
  });
  afterEach(async () => {
    await bridge.close();
    await inbox.close();
    expect(complaints).toEqual([]);
  });

  it('gives a batch its notifications once, and records the evidence of their delivery', async () => {
    await queue({ id: 'n1' });
    const first = await ask({ kind: 'batch_end', tools: ['bash'] });
    expect(first).toMatchObject({
      kind: 'tell',
      text: expect.stringContaining('red') as string,
      carrier: expect.any(String) as string,
    });
    expect(await ask({ kind: 'batch_end', tools: ['bash'] })).toMatchObject({ kind: 'nothing' });
    bridge.receive({ do: 'confirm', id: first.re, evidence: 'pi session entry 1' });
    await settled();
    expect(await receipts('n1')).toEqual(['queued', 'offered', 'delivered', 'observed']);
  });

  it('records the evidence of each session only for that session', async () => {
    await bridge.close();
    bridge = open(opencode);
    for (const session of ['a', 'b']) await ask({ kind: 'prompt' }, { session });
    await inbox.queue('shop/*', { kind: 'ci.failed', level: 'info', message: 'red', id: 'n1' });
    const proofs = async (): Promise<Readonly<Record<string, readonly string[]>>> =>
      Object.fromEntries(
        ((await inbox.why('n1', logKey('shop', 'opencode')))?.items ?? []).map(({ item, receipt, steps }) => [
          item.audience,
          [receipt, ...steps.flatMap(({ what, detail }) => (what === 'observed' ? [detail ?? ''] : []))],
        ]),
      );
    const [a, b] = [await ask({ kind: 'prompt' }, { session: 'a' }), await ask({ kind: 'prompt' }, { session: 'b' })];
    bridge.receive({ do: 'confirm', id: a.re, evidence: 'message of a' });
    await settled();
    expect(await proofs()).toEqual({ a: ['observed', 'message of a'], b: ['offered'] });
    bridge.receive({ do: 'confirm', id: b.re, evidence: 'message of b' });
    await settled();
    expect(await proofs()).toEqual({ a: ['observed', 'message of a'], b: ['observed', 'message of b'] });
  });

  it('offers released notifications again', async () => {
    await queue({ id: 'n1' });
    const first = await ask({ kind: 'prompt' });
    bridge.receive({ do: 'release', id: first.re });
    await settled();
    expect(await ask({ kind: 'prompt' })).toMatchObject({ kind: 'tell', text: expect.stringContaining('red') as string });
  });

  it('gives the length of the lease in the project of the named agent', async () => {
    await queue({ id: 'n1' });
    expect(await ask({ kind: 'prompt' })).toMatchObject({ kind: 'tell', leaseMs: DEFAULT_POLICY.leaseMs });
    await bridge.close();
    bridge = open(pi, inbox, 'other/helper');
    await queue({ id: 'n2' }, 'other/helper');
    expect(await ask({ kind: 'prompt' }, { session: 's2' })).toMatchObject({ kind: 'tell', leaseMs: 4_000 });
  });

  it('releases an answer that arrives after the plugin has continued', async () => {
    await queue({ id: 'n1' });
    bridge.receive({ do: 'ask', id: 100, session: 's1', folder: FOLDER, moment: { kind: 'prompt' } });
    bridge.receive({ do: 'release', id: 100 });
    expect(await until((line): line is Reply => 're' in line && line.re === 100)).toMatchObject({ kind: 'nothing' });
    expect(await ask({ kind: 'prompt' })).toMatchObject({ kind: 'tell', text: expect.stringContaining('red') as string });
  });

  it('denies calls for a critical notification until a request to the model contains the notification', async () => {
    await queue({ id: 'n1', level: 'critical' });
    const denied = await ask({ kind: 'before_tool', tool: 'bash' });
    expect(denied).toMatchObject({ kind: 'deny', text: expect.stringContaining('red') as string });
    bridge.receive({ do: 'confirm', id: denied.re });
    expect(await ask({ kind: 'before_tool', tool: 'bash' }, { subagent: 'c1' })).toMatchObject({ kind: 'deny' });
    bridge.receive({ do: 'ask', id: 0, session: 's1', folder: FOLDER, moment: { kind: 'asked' } });
    expect(await ask({ kind: 'before_tool', tool: 'bash' })).toMatchObject({ kind: 'nothing' });
    expect(await receipts('n1')).toContain('read');
  });

  it('gives a sub-agent no notifications', async () => {
    await queue({ id: 'n1' });
    for (const kind of ['prompt', 'batch_end', 'after_tool'] as const)
      expect(await ask({ kind, tools: [], tool: 'bash' }, { subagent: 'c1' })).toMatchObject({ kind: 'nothing' });
    expect(await ask({ kind: 'prompt' })).toMatchObject({ kind: 'tell' });
  });

  it('wakes an idle session once for a notification, even if another process runs', async () => {
    await ask({ kind: 'session_start' });
    state('idle');
    await queue({ id: 'n1', level: 'error' });
    const wake = (await pushed('wake')) as Extract<Push, { push: 'wake' }>;
    expect(wake).toMatchObject({ session: 's1', text: expect.stringContaining('red') as string });
    // The plugin could not begin a turn. The notification waits for the next message and does not wake the agent again.
    bridge.receive({ do: 'release', id: wake.id });
    await settled();
    state('idle');
    const other = open(pi, openInbox(2));
    other.receive({ do: 'state', state: 'idle', session: 's1', folder: FOLDER });
    await queue({ id: 'n2', level: 'error', message: 'its own doing', origin: { agent: 'shop/pi' } });
    await settled();
    await other.close();
    state('idle');
    // The next wake is for another notification.
    await queue({ id: 'n3', level: 'error', message: 'from elsewhere' });
    expect(await pushed('wake')).toMatchObject({ text: expect.stringContaining('from elsewhere') as string });
    expect(said.filter((line) => 'push' in line && line.push === 'wake')).toEqual([]);
    const woken = await store.read({ log: logKey('shop', 'pi'), types: ['agent_woken'] });
    expect(woken.map(({ body }) => (body as unknown as { ids: string[] }).ids)).toEqual([['n1'], ['n3']]);
  });

  it('wakes a session at most as often in an hour as the policy allows, and not in quiet hours', async () => {
    policy = { ...policy, wakeMaxPerHour: 1 };
    await ask({ kind: 'session_start' });
    state('idle');
    await queue({ id: 'n1', level: 'error' });
    const wake = (await pushed('wake')) as Extract<Push, { push: 'wake' }>;
    bridge.receive({ do: 'confirm', id: wake.id });
    await settled();
    state('idle');
    await queue({ id: 'n2', level: 'error', message: 'a second time' });
    await sleep(100);
    policy = { ...policy, wakeMaxPerHour: 30, wakeQuiet: { from: 0, to: 24 * 60 - 1 } };
    await queue({ id: 'n3', level: 'error', message: 'at night' });
    await sleep(100);
    const woken = await store.read({ log: logKey('shop', 'pi'), types: ['agent_woken'] });
    expect(woken.map(({ body }) => (body as unknown as { ids: string[] }).ids)).toEqual([['n1']]);
  });

  it('wakes no session that works or is paused, and no session for a level that never wakes', async () => {
    await ask({ kind: 'session_start' });
    state('working');
    await queue({ id: 'n1', level: 'error' });
    await settled();
    await ask({ kind: 'batch_end', tools: [] });
    await queue({ id: 'n2', level: 'info' });
    state('idle');
    await queue({ id: 'n3', action: 'pause', origin: { person: 'Ann' } }, 'shop/pi#s1');
    await queue({ id: 'n4', level: 'error' });
    expect(await pushed('gate')).toMatchObject({ up: true });
    await inbox.resume('shop/pi', { person: 'Ann' });
    // The agent never saw the pause, so it gets no notification about the end of the pause. The error that was queued during the
    // pause wakes the agent.
    expect(await pushed('wake')).toMatchObject({ text: expect.stringContaining('ci error') as string });
    const woken = await store.read({ log: logKey('shop', 'pi'), types: ['agent_woken'] });
    expect(woken).toHaveLength(1);
  });

  it('shows a notification to the person once, if the policy asks first', async () => {
    policy = { ...policy, wake: { ...policy.wake, warning: 'ask' } };
    await ask({ kind: 'session_start' });
    state('idle');
    await queue({ id: 'n1', level: 'warning' });
    expect(await pushed('show')).toEqual({ push: 'show', session: 's1', text: 'ci.failed: red' });
    state('working');
    state('idle');
    await ask({ kind: 'session_start' });
    expect(said.filter((line) => 'push' in line)).toEqual([]);
  });

  it('ends one request for a critical notification, denies the calls of that request, and lets the next request finish', async () => {
    await ask({ kind: 'session_start' });
    await ask({ kind: 'asked' });
    await queue({ id: 'n1', level: 'critical' });
    const force = (await pushed('force')) as Extract<Push, { push: 'force' }>;
    expect(force.text).toContain('red');
    expect(await ask({ kind: 'before_tool', tool: 'bash' })).toMatchObject({
      kind: 'deny',
      text: expect.stringContaining('the interrupt in the next message came first') as string,
    });
    bridge.receive({ do: 'confirm', id: force.id });
    await ask({ kind: 'asked' });
    expect(await receipts('n1')).toContain('read');
    for (const up of [true, false]) expect(await pushed('gate')).toMatchObject({ up });
    await queue({ id: 'n2', level: 'critical', message: 'burns' });
    expect(await pushed('gate')).toMatchObject({ up: true });
    for (let times = 0; times < 5; times++) await settled();
    expect(await ask({ kind: 'before_tool', tool: 'bash' })).toMatchObject({
      kind: 'deny',
      text: expect.stringContaining('burns') as string,
    });
    expect(said.filter((line) => 'push' in line && line.push === 'force')).toEqual([]);
  });

  it('informs the plugin when the gate is raised and when it is lowered', async () => {
    await ask({ kind: 'session_start' });
    state('working');
    await queue({ id: 'n1', level: 'critical' });
    expect(await pushed('gate')).toEqual({ push: 'gate', session: 's1', up: true });
    await inbox.withdraw('shop/pi', { id: 'n1' }, { by: 'ann', reason: 'over' });
    expect(await pushed('gate')).toEqual({ push: 'gate', session: 's1', up: false });
  });

  /** Delivers through a process that dies without a confirmation. The session's transcript then proves the delivery. */
  async function proveDelivery(): Promise<typeof bridge> {
    const dying = open(pi, openInbox(2));
    const own = bridge;
    bridge = dying;
    const first = await ask({ kind: 'prompt' });
    dead.add(2);
    bridge = own;
    bridge.receive({ do: 'seen', carrier: first.carrier ?? '', evidence: 'pi session entry 1', session: 's1', folder: FOLDER });
    expect(await ask({ kind: 'prompt' })).toMatchObject({ kind: 'nothing' });
    return dying;
  }

  it('confirms deliveries of an earlier process that the transcript proves', async () => {
    await queue({ id: 'n1' });
    const dying = await proveDelivery();
    expect(await receipts('n1')).toEqual(['queued', 'offered', 'delivered', 'observed']);
    await dying.close();
  });

  it('closes the older state of a delivery that the transcript proves', async () => {
    const state = { key: 'ci', supersede: true };
    await queue({ id: 'red', ...state });
    await queue({ id: 'green', ...state });
    const dying = await proveDelivery();
    expect(await receipts('red')).toEqual(['queued', 'superseded']);
    await dying.close();
  });

  it('keeps the sessions of one process separate, and binds the process to the working session', async () => {
    await bridge.close();
    bridge = open(opencode);
    await ask({ kind: 'prompt' }, { session: 'a' });
    await ask({ kind: 'prompt' }, { session: 'b' });
    await queue({ id: 'n1', message: 'for a' }, 'shop/opencode#a');
    expect(await ask({ kind: 'after_tool', tool: 'bash' }, { session: 'b' })).toMatchObject({ kind: 'nothing' });
    await ask({ kind: 'before_tool', tool: 'bash' }, { session: 'a' });
    expect((await store.binding(HOST))?.conversation).toBe('a' as ConversationId);
    expect(await ask({ kind: 'after_tool', tool: 'bash' }, { session: 'a' })).toMatchObject({
      text: expect.stringContaining('for a') as string,
    });
  });
});
