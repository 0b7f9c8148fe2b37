/** Tests that no result carries a notification after the client has closed the gateway's stdin, because the client reads no more. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { proves } from '../verifies.ts';
import { Stage, textOf, type ToolResult } from './stage.ts';

const LOG = logKey('shop', 'coder');
const HERE = 'shop/coder#main';
const ECHO = join(import.meta.dirname, 'echo-server.ts');

it.each([
  ['one server', [], 'echo'],
  ['several servers', ['--servers', 'servers.json'], 'files__echo'],
])(
  'a result of %s after the end of the client carries nothing, and the next client reads the notification',
  async (_, args, tool) => {
    proves('lease:client-ended');
    await using stage = new Stage();
    stage.home('servers.json', JSON.stringify({ mcpServers: { files: { command: process.execPath, args: [ECHO] } } }));
    const ear = await stage.open();
    const client = await stage.gateway({ args });
    await client.call(tool, { text: 'first' });
    const calls = stage.calls().length;
    const { answer } = client.begin('tools/call', { name: tool, arguments: { text: 'late', delayMs: 400 } });
    await expect.poll(() => stage.calls().length).toBe(calls + 1);
    await ear.queue(HERE, { id: 'n', message: 'the build has ended' });
    client.process.stdin?.end();
    expect(textOf((await answer) as ToolResult)).toBe('late');
    expect(await client.exited).toBe(0);
    expect(await ear.store.read({ log: LOG, types: ['carrier_offered'] })).toEqual([]);
    const next = await stage.gateway();
    const heard = textOf(await next.call('echo', { text: 'next' }));
    expect(heard).toContain('the build has ended');
    expect(heard).not.toContain('repeated');
  },
);

it('the answer of get_notifications after the end of the client does not count as read', async () => {
  proves('lease:client-ended');
  await using stage = new Stage();
  const ear = await stage.open();
  const client = await stage.gateway();
  await client.call('echo', { text: 'first' });
  await ear.queue(HERE, { id: 'n', message: 'the build has ended' });
  client.process.kill('SIGSTOP');
  const { answer } = client.begin('tools/call', { name: 'get_notifications', arguments: {} });
  client.process.stdin?.end();
  client.process.kill('SIGCONT');
  await answer.catch(() => {}); // The server may end before the answer, and then the gateway ends too.
  expect(await client.exited).toBe(0);
  const next = await stage.gateway();
  expect(textOf(await next.call('get_notifications'))).toContain('the build has ended');
});
