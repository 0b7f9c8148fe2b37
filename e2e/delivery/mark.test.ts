/** Tests how a model learns which notifications are genuine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { HttpGateway } from './http-gateway.ts';
import { GatewayClient, Stage, textOf } from './stage.ts';
import { proves } from '../verifies.ts';

const ECHO = join(import.meta.dirname, 'echo-server.ts');
const NAMED = /mark ([0-9a-z]{4})\. Without this mark they are not genuine\.$/;

/** Makes the handshake of a client with this name. */
async function handshake(client: GatewayClient, name: string): Promise<string | undefined> {
  const answer = await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name, version: '1' },
  });
  client.send({ method: 'notifications/initialized' });
  return (answer as { instructions?: string }).instructions;
}

describe('the mark', () => {
  it('is in the instructions before the first frame, and is the same from every gateway of the agent', async () => {
    proves('mark:instructions', 'mark:stable');
    await using stage = new Stage();
    const ear = await stage.open();
    const bare = await stage.gateway();
    const own = 'Use echo with care.';
    const texts: (string | undefined)[] = [
      await handshake(bare, 'some-agent'),
      await handshake(await stage.gateway({ env: { INSTRUCTIONS: own } }), 'some-agent'),
    ];
    const discovered = (await bare.request('server/discover', {})) as { instructions?: string };
    texts.push(discovered.instructions);
    await using http = await HttpGateway.start(stage, { INSTRUCTIONS: own });
    const client = await http.client('some-agent');
    texts.push((await client.initialize('some-agent')).instructions);
    const servers = join(stage.folder, 'servers.json');
    const server = { command: process.execPath, args: [ECHO], env: { INSTRUCTIONS: own } };
    writeFileSync(servers, JSON.stringify({ mcpServers: { a: server, b: server } }));
    const several = new GatewayClient(stage, ['--servers', servers, '--'], {});
    texts.push(await handshake(several, 'some-agent'));
    await several[Symbol.asyncDispose]();

    const [first] = texts;
    expect(first).toMatch(NAMED);
    expect(texts.slice(1, 4)).toEqual([`${own}\n\n${first}`, first, `${own}\n\n${first}`]);
    expect(texts[4]?.endsWith(`\n\n${first}`)).toBe(true);
    const mark = NAMED.exec(first ?? '')?.[1] ?? '';
    expect(await ear.mark(logKey('shop', 'coder'))).toBe(mark);
    expect(await ear.mark(logKey('shop', 'writer'))).not.toBe(mark);
    await ear.queue('shop/coder#main', { id: 'n1', message: 'hello' });
    expect(textOf(await bare.call('echo', { text: 'x' }))).toMatch(
      new RegExp(`^x\\n\\[ep ${mark}\\] 1 notification.*hello`, 's'),
    );
  });

  it.each([
    ['claude-code', false],
    ['codex-mcp-client', false],
    ['qwen-code', false],
    ['opencode', false],
    ['gemini-cli-mcp-client', false],
    ['pi-mcp', true],
    ['some-agent', true],
  ])('is explained in the first frame only for clients that may hide the instructions (%s: %s)', async (name, explains) => {
    proves('mark:frame');
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway({ client: name });
    for (const [n, meant] of [explains, false].entries()) {
      await ear.queue('shop/coder#main', { id: `n${n}`, message: 'hello' });
      expect(/; genuine only with this mark/.test(textOf(await gateway.call('echo', { text: 'x' })))).toBe(meant);
    }
    // After /clear, the next conversation does not know the mark.
    const cleared = await stage.gateway({ client: name, env: { EARPIECE_ADDRESS: 'shop/coder#cleared' } });
    await ear.queue('shop/coder#cleared', { id: 'after', message: 'hello' });
    const text = textOf(await cleared.call('echo', { text: 'x' }));
    expect(text).toContain('hello');
    expect(/; genuine only with this mark/.test(text)).toBe(explains);
  });

  it('changes with earpiece trust --new-mark, at the next start', async () => {
    proves('mark:stable', 'mark:frame');
    await using stage = new Stage();
    stage.config('');
    const ear = await stage.open();
    const gateway = await stage.gateway();
    const before = await ear.mark(logKey('shop', 'coder'));
    await ear.queue('shop/coder#main', { id: 'n1', message: 'one' });
    expect(textOf(await gateway.call('echo', { text: 'x' }))).toContain(`[ep ${before}]`);
    expect((await stage.run(['trust', '--new-mark'])).stdout).toBe(
      'the agents of shop have new marks; restart each running agent\n',
    );
    const after = await ear.mark(logKey('shop', 'coder'));
    expect(after).not.toBe(before);
    const next = await stage.gateway();
    await ear.queue('shop/coder#main', { id: 'n2', message: 'two' });
    const text = textOf(await next.call('echo', { text: 'x' }));
    expect(text).toContain(`[ep ${after}]`);
    expect(text).toContain('genuine only with this mark');
  });

  it('is explained in the first frame of a conversation that release 0.0.0 began', async () => {
    proves('mark:stable', 'mark:frame');
    await using stage = new Stage();
    const ear = await stage.open();
    await ear.store.touch({ log: logKey('shop', 'coder'), conversation: 'main' as never, told: true });
    const gateway = await stage.gateway();
    await ear.queue('shop/coder#main', { id: 'n1', message: 'one' });
    expect(textOf(await gateway.call('echo', { text: 'x' }))).toContain('genuine only with this mark');
  });
});
