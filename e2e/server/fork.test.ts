import { expect, it } from 'vitest';
import type { ConversationId, LogKey } from '../../src/core/address.ts';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

verifies('log:fork', "a fork's history is the original's history and then the fork's own records, page by page", async () => {
  await using stage = await Stage.open();
  const { client, inbox } = stage;
  const talk = (id: string): ReturnType<typeof inbox.conversation> =>
    inbox.conversation({ log: 'shop/coder' as LogKey, conversation: id as ConversationId });
  const ask = async (id: string, content: string): Promise<void> => {
    await talk(id).carry([{ type: 'turn_start' }, { type: 'chat_request', content }], { at: 'turn_start' });
  };
  await ask('first', 'one');
  await inbox.fork(talk('first'), { to: 'second' });
  await ask('first', 'not in the fork');
  await ask('second', 'two');

  const shown = async (id: string, page: object = {}): Promise<readonly unknown[]> =>
    (await client.records(`shop/coder#${id}`, page)).items.map(({ body }) => ('content' in body ? body.content : body.type));
  expect(await shown('second')).toEqual(['turn_start', 'one', 'conversation_forked', 'turn_start', 'two']);
  expect(await shown('first')).toEqual(['turn_start', 'one', 'turn_start', 'not in the fork']);
  const newest = await client.records('shop/coder#second', { newest: true, limit: 2 });
  expect(newest.items).toHaveLength(2);
  const rest = await client.records('shop/coder#second', { before: Number(newest.next), limit: 10 });
  expect(rest.items.map(({ body }) => body.type)).toEqual(['turn_start', 'chat_request', 'conversation_forked']);
});

it("an agent sees the part of a fork's history that its token may read", async () => {
  await using stage = await Stage.open();
  const { inbox } = stage;
  const log = 'shop/coder' as LogKey;
  await inbox
    .conversation({ log, conversation: 'first' as ConversationId })
    .carry([{ type: 'turn_start' }, { type: 'chat_request', content: 'of the first' }], { at: 'turn_start' });
  await inbox.fork({ log, id: 'first' as ConversationId }, { to: 'second' });
  const client = await stage.as({ kind: 'agent', project: 'shop', agent: 'coder', conversation: 'second' });
  const { items } = await client.records('shop/coder#second');
  expect(items.map(({ body }) => body.type)).toEqual(['conversation_forked']);
});
