import { expect, it } from 'vitest';
import { logKey } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { Inbox } from '../../inbox/index.ts';
import { openStore } from '../../stores/index.ts';
import { tellUpstream } from './tell-upstream.ts';

it('a server that is back for one client takes back the failure of that client alone', async () => {
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
