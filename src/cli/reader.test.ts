import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { Inbox, type Process, type Processes } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { conversationOf, readerOf } from './reader.ts';

/** Describes the ancestors of this process, the oldest first. */
function below(...names: readonly string[]): Processes {
  const line = [...names, 'node'];
  const all = new Map<number, Process>();
  line.forEach((name, i) => {
    const pid = i === line.length - 1 ? process.pid : 100 + i;
    all.set(pid, { pid, parent: i === 0 ? 1 : 99 + i, startedAt: `t${i}`, name, args: [name] });
  });
  return { machine: 'here', get: (pid) => all.get(pid) };
}

const open = (): Inbox => new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
const person = below('bash');

describe('the conversation for which a shell reads', () => {
  const ask = async (question: Omit<Parameters<typeof readerOf>[1], 'project'>): Promise<string | undefined> => {
    const reader = await readerOf(open(), { project: 'shop', ...question });
    return reader && `${reader.log}#${reader.conversation}`;
  };

  it.each([
    ["a person's shell has no conversation", { env: {}, processes: person }, undefined],
    [
      'an address in the configuration does not make a person an agent',
      { env: {}, address: 'coder', processes: person },
      undefined,
    ],
    [
      'EARPIECE_ADDRESS names the conversation',
      { env: { EARPIECE_ADDRESS: 'shop/coder#s1' }, processes: person },
      'shop/coder#s1',
    ],
    [
      'EARPIECE_ADDRESS without a conversation means #main',
      { env: { EARPIECE_ADDRESS: 'coder' }, processes: person },
      'shop/coder#main',
    ],
    [
      'an address of a whole project names no reader',
      { env: { EARPIECE_ADDRESS: 'shop/*' }, address: 'shop/*', processes: person },
      undefined,
    ],
    ['an empty EARPIECE_ADDRESS counts as not set', { env: { EARPIECE_ADDRESS: ' ' }, processes: person }, undefined],
    ['a host among the ancestors is the reader', { env: {}, processes: below('claude', 'bash') }, 'shop/claude-code#pid-100-t0'],
    [
      'the session of the host is the conversation',
      { env: { CLAUDE_CODE_SESSION_ID: 's-1' }, processes: below('claude', 'bash') },
      'shop/claude-code#s-1',
    ],
    [
      'the agent that the configuration names, in the conversation of the host',
      { env: { CLAUDE_CODE_SESSION_ID: 's-1' }, address: 'coder', processes: below('claude', 'bash') },
      'shop/coder#s-1',
    ],
    [
      'a host is the reader even if EARPIECE_ADDRESS names a whole project',
      { env: { EARPIECE_ADDRESS: 'shop/*' }, address: 'shop/*', processes: below('codex', 'bash') },
      'shop/codex#pid-100-t0',
    ],
  ])('%s', async (_what, question, expected) => {
    expect(await ask(question)).toBe(expected);
  });
});

describe('the conversation that an address means', () => {
  it('the reader is the named conversation, the only active conversation, or #main', async () => {
    const ear = open();
    expect(await conversationOf(ear, 'shop/coder#x')).toEqual({ log: 'shop/coder', conversation: 'x' });
    expect(await conversationOf(ear, 'shop/coder')).toEqual({ log: 'shop/coder', conversation: 'main' });
    await ear.conversation('shop/coder#s1').seen();
    expect(await conversationOf(ear, 'shop/coder')).toEqual({ log: 'shop/coder', conversation: 's1' });
  });

  it('the address must name one of several active conversations, and a whole project is refused', async () => {
    const ear = open();
    await ear.conversation('shop/coder#s1').seen();
    await ear.conversation('shop/coder#s2').seen();
    await expect(conversationOf(ear, 'shop/coder')).rejects.toThrow(
      'shop/coder has 2 active conversations; name one conversation: shop/coder#s1, shop/coder#s2',
    );
    await expect(conversationOf(ear, 'shop/*')).rejects.toThrow('is a whole project');
  });
});
