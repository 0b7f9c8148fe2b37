/**
 * Tests that an agent, a conversation or a notification with any name is reachable over HTTP, even if its name looks like a
 * path.
 */
import { expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Stage } from './stage.ts';

const ODD = ['.', '..', '...', '%2e%2e', '%252e', '100%', 'a\\b', 'a b', 'é日本', 'a;b=c', 'a?b', 'a&b', '~', ':id', 'a+b'];

it('agents and conversations with odd names have working routes', async () => {
  proves('server:routes');
  await using stage = await Stage.open();
  const { client, inbox } = stage;
  for (const name of [...ODD, 'agents', 'conversations', 'interrupt', 'records', 'subscribers']) {
    const agent = `${name}/${name}`;
    const address = `${agent}#${name}`;
    await inbox.conversation(address, { host: 'codex' }).seen();
    const said = await client.say(address, { content: 'hello' });
    expect({ name, kind: said.kind, open: (await inbox.open(agent)).map(({ audience }) => audience) }).toEqual({
      name,
      kind: 'queued',
      open: [name],
    });
    expect((await client.conversations(agent)).items).toMatchObject([{ conversation: name, address }]);
    expect((await client.records(address)).items.map(({ log }) => log)).toEqual([agent]);
    expect((await client.interrupt(address, { action: 'pause' })).effects).toMatchObject([{ address }]);
    expect((await client.interrupt(agent, { action: 'pause' })).effects).toMatchObject([{ address }]);
    expect((await client.resume(agent)).effects).toMatchObject([{ address }]);
  }
});

it('notifications with odd ids have working routes, also if the id looks like a route', async () => {
  proves('server:routes');
  await using stage = await Stage.open();
  const { client } = stage;
  const words = await wordsBeside(stage, '/api/notifications/{id}');
  expect(words).toContain('subscribers');
  const log = 'shop/coder';
  for (const id of [...ODD.filter((each) => !/[ ~]/u.test(each)), 'a/b', 'a#b', 'read', 'receipt', ...words]) {
    expect((await client.queue({ to: log, id, message: 'x' })).id).toBe(id);
    expect({ id, found: (await client.why(id, log)).items?.map(({ notification }) => notification.id) }).toEqual({
      id,
      found: [id],
    });
    expect(await client.receipt(id, { log, until: 'queued' })).toMatchObject({ id, reached: true });
    expect(await client.read(id, { log })).toMatchObject({ id });
    expect(await client.withdraw(id, { log })).toEqual({ id, result: 'withdrawn' });
    expect((await client.requeue(id, { log })).kind).toBe('queued');
  }
});

it('the server removes one space before an id, which escapes the id, and no other space of a path', async () => {
  proves('server:bad-input');
  await using stage = await Stage.open({ db: 'memory:' });
  await stage.inbox.queue('shop/coder', { id: 'n1', message: 'x' });
  const at = async (path: string): Promise<number> => (await stage.raw(path)).status;
  expect(await at('/api/notifications/%20n1')).toBe(200);
  for (const path of ['/api/notifications/%20%20n1', '/api/notifications/n1%20'])
    expect([path, await at(path)]).toEqual([path, 404]);
  expect(await at('/api/projects/shop/agents/%20%20coder/conversations')).toBe(400);
  expect(await at('/api/projects/shop/agents/%20/conversations')).toBe(400);
});

/**
 * Returns the words that other routes have in place of the last part of this path. The client must know each of these words
 * (`src/wire/client/paths.ts`).
 */
async function wordsBeside(stage: Stage, path: string): Promise<readonly string[]> {
  const { paths } = (await (await stage.raw('/openapi.json')).json()) as { paths: Record<string, object> };
  const before = path.slice(0, path.lastIndexOf('/') + 1);
  const words = Object.keys(paths)
    .filter((other) => other.startsWith(before))
    .map((other) => other.slice(before.length).split('/')[0] ?? '');
  return [...new Set(words)].filter((word) => !word.startsWith('{'));
}
