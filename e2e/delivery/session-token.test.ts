/** Tests that a known connection reads only its own notifications, with any token. */
import { describe, expect, it } from 'vitest';
import { sessionTokenOf } from '../../src/inbox/index.ts';
import { HttpGateway } from './http-gateway.ts';
import { Stage, textOf } from './stage.ts';
import { proves } from '../verifies.ts';

describe('an agent that asks for the notifications of another agent', () => {
  it('reads no notification and lowers no gate, whatever the token contains', async () => {
    proves('address:tokens');
    await using stage = new Stage();
    const ear = await stage.open();
    const victim = await stage.gateway({ env: { EARPIECE_ADDRESS: 'projA/first#main' } });
    await victim.call('echo', { text: 'here' });
    await ear.queue('projA/first#main', { id: 'stop', message: 'the secret plan', level: 'critical' });
    const theirs = ear.conversation('projA/first#main');
    const real = await sessionTokenOf(ear.store, theirs);
    await using http = await HttpGateway.start(stage, { EARPIECE_ADDRESS: '' });
    const bound = await stage.gateway({ env: { EARPIECE_ADDRESS: 'projB/second#main' } });
    const byName = await http.client('claude-code');
    const nobody = await http.client();

    const forms = ['projA/first#main', 'projA/first', 'first', 'main', '', ' projA/first#main', 'PROJA/first#main', `${real} `];
    for (const client of [bound, byName, nobody])
      for (const session_token of [...forms, 7, null, ['projA/first#main'], { address: 'projA/first#main' }]) {
        const answer = await client.call('get_notifications', { session_token });
        expect([session_token, textOf(answer)]).toEqual([session_token, expect.not.stringContaining('secret plan') as string]);
        // `null` counts as no token.
        expect(answer.isError).toBe(session_token === null ? undefined : true);
      }
    // A known connection cannot use a real token either.
    for (const client of [bound, byName]) {
      const answer = textOf(await client.call('get_notifications', { session_token: real }));
      expect(answer).toContain('is not the token of');
      expect(answer).not.toContain('projA');
    }
    expect(await theirs.gate()).toHaveLength(1);
    expect((await ear.why('stop'))?.items[0]?.receipt).toBe('queued');
    expect(textOf(await victim.call('echo', { text: 'refused' }))).toContain('the secret plan');
  });

  it('reads with a valid token over an unknown connection, which why then names', async () => {
    proves('address:tokens');
    await using stage = new Stage();
    const ear = await stage.open();
    await using http = await HttpGateway.start(stage, { EARPIECE_ADDRESS: '' });
    const nobody = await http.client();
    const own = JSON.parse(textOf(await nobody.call('get_notifications'))) as { session_token: string };
    expect(own.session_token).toMatch(/^st_[\w-]{32}$/);
    const talk = ear.conversation('projA/first#main');
    await ear.queue('projA/first#main', { id: 'stop', message: 'stop', level: 'critical' });
    const token = await sessionTokenOf(ear.store, talk);
    expect(await sessionTokenOf(ear.store, talk)).toBe(token);
    expect(textOf(await nobody.call('get_notifications', { session_token: token }))).toContain('stop');
    await nobody.call('echo', { text: 'x' });
    await expect
      .poll(async () => (await ear.why('stop'))?.items[0]?.steps.at(-1)?.detail)
      .toMatch(/^get_notifications by an unnamed client, gateway:http .+, process \d+$/);
  });

  it('gets no token over a known connection', async () => {
    proves('address:tokens');
    await using stage = new Stage();
    const gateway = await stage.gateway();
    expect(textOf(await gateway.call('get_notifications'))).not.toContain('session_token');
  });
});
