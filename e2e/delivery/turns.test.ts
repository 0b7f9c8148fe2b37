/** Tests the warning of the command line about a turn that no carrier can count. */
import { expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Stage, textOf } from './stage.ts';

const AFTER_THREE = ['remind', '--to', 'shop/coder', 'after 3 turns', 'look at the build'];

it('a reminder after some turns warns that a gateway cannot see turns, and arrives with the next result', async () => {
  proves('sources:timers');
  await using stage = new Stage();
  const gateway = await stage.gateway();
  await gateway.call('echo', { text: 'hello' });
  const reminded = await stage.run(AFTER_THREE);
  expect(reminded.code).toBe(0);
  expect(reminded.stderr).toContain(
    'shop/coder is reached only through the gateway, which cannot see turns: this notification arrives with the next result of a wrapped tool',
  );
  const sent = await stage.run(['send', '--to', 'shop/coder', '--deliver', 'turns:2', 'later']);
  expect(sent.stderr).toContain('cannot see turns');
  expect(textOf(await gateway.call('echo', { text: 'again' }))).toContain('look at the build');
});

it('a reminder after some turns gives no warning for a host that starts turns or an agent that was never seen', async () => {
  await using stage = new Stage();
  const ear = await stage.open();
  expect((await stage.run(AFTER_THREE)).stderr).not.toContain('turns:');
  await ear.conversation('shop/coder#main', { carrier: 'agent' }).seen({ turnStarted: true });
  expect((await stage.run(AFTER_THREE)).stderr).not.toContain('cannot see turns');
});
