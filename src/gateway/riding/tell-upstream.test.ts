import { expect, it } from 'vitest';
import { logKey } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { Inbox } from '../../inbox/index.ts';
import { openStore } from '../../stores/index.ts';
import { tellUpstream } from './tell-upstream.ts';

it("a server that reconnects for one client withdraws only that client's notification", async () => {
  const inbox = new Inbox({ store: await openStore('memory:'), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  const [one, other] = ['one', 'other'].map((id) => inbox.conversation(`shop/coder#${id}`));
  if (one === undefined || other === undefined) throw new Error('there are two');
  for (const conversation of [one, other])
    await tellUpstream({ inbox }, conversation, { server: 'files', state: 'disconnected', detail: 'exit 7' });
  await tellUpstream({ inbox }, one, { server: 'files', state: 'reconnected', detail: 'it runs again' });
  const open = await inbox.store.items(logKey('shop', 'coder'), { kind: 'open' });
  expect(open.map(({ audience, notification }) => `${audience} ${notification.kind.name}`).toSorted()).toEqual([
    'one reconnected',
    'other disconnected',
  ]);
  await inbox.close();
});

it('the instructions of a server that started late are one notification in the words of that server, cut at 2,000 characters', async () => {
  const inbox = new Inbox({ store: await openStore('memory:'), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  const [one, other] = ['one', 'other'].map((id) => inbox.conversation(`shop/coder#${id}`));
  if (one === undefined || other === undefined) throw new Error('there are two');
  await tellUpstream({ inbox }, one, { server: 'files', state: 'introduced', detail: 'Read before you write.' });
  await tellUpstream({ inbox }, other, { server: 'files', state: 'introduced', detail: 'y'.repeat(9_000) });
  const open = await inbox.store.items(logKey('shop', 'coder'), { kind: 'open' });
  expect(
    open.map(({ audience, notification: { level, message } }) => [audience, level, message.replace(/y{9,}/u, '<y>')]),
  ).toEqual([
    [
      'one',
      'info',
      "MCP server `files` started late. The server's description of itself, not written by the user: Read before you write.",
    ],
    ['other', 'info', "MCP server `files` started late. The server's description of itself, not written by the user: <y>…"],
  ]);
  expect(open[1]?.notification.message.length).toBeLessThan(2_100);
  await inbox.close();
});
