import { describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { memoryStore } from '../../stores/index.ts';
import {
  ancestors,
  identify,
  Inbox,
  placeholder,
  selfOwner,
  shownAs,
  systemProcesses,
  isAlive,
  type Process,
  type Processes,
} from '../index.ts';
import { proves } from '../../../e2e/verifies.ts';

/** Makes a chain of processes that ends with this process. Each process is the child of the preceding process. */
function tree(...line: readonly { name: string; args?: readonly string[]; pid?: number }[]): Processes {
  const all = new Map<number, Process>();
  line.forEach(({ name, args = [name], pid }, i) => {
    const id = i === line.length - 1 ? process.pid : (pid ?? 100 + i);
    const parent = i === 0 ? 1 : (line[i - 1]?.pid ?? 100 + i - 1);
    all.set(id, { pid: id, parent, startedAt: `t${id}`, name, args });
  });
  return { machine: 'here', get: (pid) => all.get(pid) };
}

const shell = { name: 'bash' };
const gateway = { name: 'node', args: ['node', '/x/earpiece.js', 'gateway'] };
const owner = (pid: number): { machine: string; pid: number; startedAt: string } => ({
  machine: 'here',
  pid,
  startedAt: `t${pid}`,
});

describe('the conversation of a process', () => {
  proves('address:order');
  const store = memoryStore();
  const ask = (processes: Processes, more: Partial<Parameters<typeof identify>[0]> = {}): ReturnType<typeof identify> =>
    identify({ project: 'shop', env: {}, processes, ...more }, store);

  it.each([
    ['a flag with a conversation', tree(shell, gateway), { given: 'shop/coder#a' }, 'shop/coder#a', 'given'],
    ['a flag with an agent only', tree(shell, gateway), { given: 'shop/coder' }, 'shop/coder#main', 'given'],
    ['a bare agent name', tree(shell, gateway), { given: 'coder' }, 'shop/coder#main', 'given'],
    ['the environment', tree(shell, gateway), { env: { EARPIECE_ADDRESS: 'x/y#z' } }, 'x/y#z', 'given'],
    [
      'the flag before the environment',
      tree(shell, gateway),
      { given: 'a/b#c', env: { EARPIECE_ADDRESS: 'x/y#z' } },
      'a/b#c',
      'given',
    ],
    [
      "the host's own session id",
      tree({ name: 'claude' }, gateway),
      { env: { CLAUDE_CODE_SESSION_ID: 's-1' } },
      'shop/claude-code#s-1',
      'session variable',
    ],
    ['the host process', tree(shell, { name: 'codex', pid: 77 }, shell, gateway), {}, 'shop/codex#pid-77-t77', 'host process'],
    [
      'a host that is a script',
      tree({ name: 'node', args: ['/usr/bin/node', '/x/bin/gemini', '-p'], pid: 78 }, gateway),
      {},
      'shop/gemini-cli#pid-78-t78',
      'host process',
    ],
    [
      'a folder called like a host is no host',
      tree({ name: 'bash', args: ['bash', '/home/pi'] }, gateway),
      { client: 'my-app' },
      'shop/my-app#main',
      'client name',
    ],
    ["the client's name", tree(shell, gateway), { client: 'Claude-Code' }, 'shop/claude-code#main', 'client name'],
    ['a strange client name', tree(shell, gateway), { client: 'a/b#c*\u202e' }, 'shop/a-b-c--#main', 'client name'],
    ['nothing at all: one conversation per agent, never one per process', tree(shell, gateway), {}, 'shop/agent#main', 'default'],
    [
      'HTTP: the ancestors are not the client',
      tree({ name: 'claude' }, gateway),
      { lookAtAncestors: false, client: 'codex-mcp-client' },
      'shop/codex#main',
      'client name',
    ],
  ] as const)('%s', async (_what, processes, more, address, by) => {
    const found = await ask(processes, more);
    expect(`${found.log}#${found.conversation}`).toBe(address);
    expect(found.by).toBe(by);
  });

  describe('behind a host that names its session in each call', () => {
    const server = (pid: number): Processes => tree({ name: 'codex', args: ['codex', 'app-server'], pid }, gateway);
    const terminal = (pid: number): Processes => tree({ name: 'codex', pid }, gateway);
    const called = { client: 'codex-mcp-client', session: 's1', namesSession: true };
    const bound = (pid: number, conversation: string): Promise<void> =>
      store.bind(owner(pid), { log: logKey('shop', 'codex'), conversation: conversation as ConversationId });

    it.each([
      ['in a process of several sessions, is the session of the call', server(301), called, 's1', 'call'],
      ['in a process of one session, is the process', terminal(302), called, 'pid-302-t302', 'host process'],
      ['over HTTP, is the session of the call', terminal(303), { ...called, lookAtAncestors: false }, 's1', 'call'],
      ['is the given conversation', server(304), { ...called, given: 'shop/codex#a' }, 'a', 'given'],
    ])('%s', async (_what, processes, more, conversation, by) => {
      const found = await ask(processes, more);
      expect([found.conversation, found.by, found.untilCall]).toEqual([conversation, by, undefined]);
    });

    it('is the session of the call if the hooks have reported another session', async () => {
      await bound(305, 's2');
      expect(await ask(terminal(305), called)).toMatchObject({ conversation: 's1', by: 'call' });
      await bound(305, 's1');
      expect(await ask(terminal(305), called)).toMatchObject({ conversation: 's1', by: 'binding' });
    });

    it('is not known before the first call, unless the process shows one session', async () => {
      const before = { ...called, session: undefined };
      const until = async (processes: Processes, more: object = {}): Promise<boolean | undefined> =>
        (await ask(processes, { ...before, ...more })).untilCall;
      expect(await until(server(306))).toBe(true);
      expect(await until(terminal(307), { lookAtAncestors: false })).toBe(true);
      expect(await until(terminal(308))).toBeUndefined();
      expect(await until(server(309), { given: 'shop/codex#a' })).toBeUndefined();
    });
  });

  it('a host that serves an editor is recognized by its arguments', async () => {
    const serving = async (...args: readonly string[]) =>
      (await ask(tree({ name: args[0] ?? '', args, pid: 79 }, shell, gateway))).host?.serves;
    expect(await serving('codex', 'app-server', '--listen', 'stdio://')).toBe(true);
    expect(await serving('gemini', '--experimental-acp')).toBe(true);
    expect(await serving('qwen', '--acp')).toBe(true);
    expect(await serving('codex', 'exec', 'serve the app-server')).toBeUndefined();
  });

  it('the address of a whole project is refused for a carrier', async () => {
    await expect(ask(tree(shell, gateway), { given: 'shop/*' })).rejects.toThrow('is a whole project');
  });

  it('two windows of one agent are two conversations, and carriers of one window are one conversation', async () => {
    proves('address:windows');
    const first = tree({ name: 'claude', pid: 201 }, gateway);
    const hook = tree({ name: 'claude', pid: 201 }, shell, gateway);
    const second = tree({ name: 'claude', pid: 202 }, gateway);
    const found = await Promise.all([ask(first), ask(hook), ask(second)]);
    expect(new Set(found.map((f) => f.log)).size).toBe(1);
    expect(found[0]?.conversation).toBe(found[1]?.conversation);
    expect(found[0]?.conversation).not.toBe(found[2]?.conversation);
  });

  it('after /clear the binding is used, and not the stale session variable', async () => {
    proves('address:clear');
    const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
    const window = tree({ name: 'claude', pid: 203 }, gateway);
    const log = logKey('shop', 'claude-code');
    const env = { CLAUDE_CODE_SESSION_ID: 'old' };
    const now = async (): Promise<string> =>
      (await identify({ project: 'shop', env, processes: window }, inbox.store)).conversation;

    expect(await now()).toBe('old');
    await inbox.bind(owner(203), { log, conversation: 'old' as ConversationId });
    await inbox.conversation('shop/claude-code#old').seen();
    await inbox.queue('shop/claude-code#old', { message: 'for the old one', id: 'n1' });
    await inbox.bind(owner(203), { log, conversation: 'new' as ConversationId });
    expect(await now()).toBe('new');
    // The same window continues, so the new conversation gets the notifications of the old conversation, which is no longer
    // active.
    await inbox.conversation('shop/claude-code#new').seen();
    const offer = await inbox.conversation('shop/claude-code#new').offer({ at: 'tool_result' });
    expect(offer?.ids).toEqual(['n1']);
    expect((await inbox.queue('shop/*', { message: 'all' })).to).toEqual(['shop/claude-code#new']);
  });

  it('notifications for a host process pass to its session when the session is known', async () => {
    const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
    const log = logKey('shop', 'claude-code');
    await inbox.queue(`shop/claude-code#${placeholder(owner(204))}`, { message: 'early', id: 'n1' });
    await inbox.bind(owner(204), { log, conversation: 's1' as ConversationId });
    const offer = await inbox.conversation('shop/claude-code#s1').offer({ at: 'tool_result' });
    expect(offer?.view.text).toContain('early');
    // The notification keeps its id.
    expect((await inbox.why('n1'))?.items.map(({ item, receipt }) => [item.audience, receipt])).toEqual([['s1', 'offered']]);
  });

  it('the parent process and the life of an owner are read from the real processes of this system', () => {
    expect(ancestors()[0]?.pid).toBe(process.ppid);
    expect(isAlive(selfOwner())).toBe(true);
    expect(isAlive({ ...selfOwner(), startedAt: '1' })).toBe(false);
    expect(isAlive({ machine: 'elsewhere', pid: 1, startedAt: '1' })).toBeUndefined();
    expect(isAlive({ machine: `${systemProcesses.machine} pid:[1]`, pid: 1, startedAt: '1' })).toBeUndefined();
    expect(systemProcesses.get(2 ** 30)).toBeUndefined();
  });
});

it.each([
  [
    { name: 'codex-mcp-client', version: '0.169.0' },
    { host: 'codex', hostVersion: '0.169.0' },
  ],
  [
    { name: 'gemini-cli-mcp-client', version: '0.61.0' },
    { host: 'gemini-cli', hostVersion: '0.61.0' },
  ],
  [{ name: 'qwen-cli-mcp-client-earpiece', version: '0.0.1' }, { host: 'qwen-code' }],
  [
    { name: 'my-client', version: '2' },
    { host: 'my-client', hostVersion: '2' },
  ],
])('the client %s is shown as %s', (client, shown) => {
  expect(shownAs(client)).toEqual(shown);
});
