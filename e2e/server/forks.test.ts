/** Tests the origin of a conversation, and its forks. */
import { expect } from 'vitest';
import type { ConversationId, LogKey } from '../../src/core/address.ts';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

const log = 'shop/coder' as LogKey;

verifies(
  'server:forks',
  'the API gives the origin, the forks, and the turns up to a record as `chat --fork --turns` counts them',
  async () => {
    await using stage = await Stage.open();
    const { client, inbox } = stage;
    const turn = async (id: string, content: string): Promise<number> => {
      const talk = inbox.conversation({ log, conversation: id as ConversationId });
      await talk.seen();
      await talk.carry([{ type: 'turn_start' }, { type: 'chat_request', content }], { at: 'turn_start' });
      return inbox.store.head();
    };
    const first = await turn('main', 'one');
    const second = await turn('main', 'two');
    expect(await client.forks('shop/coder#main')).toEqual({ origin: null, forks: [], more: false, turns: null });
    await inbox.fork({ log, id: 'main' as ConversationId }, { to: 'other', upTo: first });
    await inbox.fork({ log, id: 'main' as ConversationId }, { to: 'whole' });
    const third = await turn('other', 'three');
    await inbox.fork({ log, id: 'other' as ConversationId }, { to: 'of-other' });

    const { forks } = await client.forks('shop/coder#main');
    expect(new Map(forks.map(({ conversation, upTo }) => [conversation, upTo]))).toEqual(
      new Map([
        ['other', first],
        ['whole', expect.any(Number) as number],
      ]),
    );
    const other = await client.forks('shop/coder#other', { at: third });
    expect(other).toMatchObject({ origin: { conversation: 'main', upTo: first }, turns: 2 });
    expect(other.forks.map(({ conversation }) => conversation)).toEqual(['of-other']);
    expect((await client.forks('shop/coder#main', { at: first })).turns).toBe(1);
    expect((await client.forks('shop/coder#main', { at: second })).turns).toBe(2);
    expect(await client.forks('shop/coder#nobody', { at: 1 })).toEqual({ origin: null, forks: [], more: false, turns: 0 });

    const one = await stage.as({ kind: 'agent', project: 'shop', agent: 'coder', conversation: 'main' });
    expect((await one.forks('shop/coder#main')).forks).toEqual([]);
    await expect(one.forks('shop/coder#other')).rejects.toMatchObject({ status: 403 });
    const docs = await stage.as({ kind: 'project', project: 'docs' });
    await expect(docs.forks('shop/coder#main')).rejects.toMatchObject({ status: 403 });
  },
);
