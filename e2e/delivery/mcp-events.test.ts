import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { isType } from '../../src/core/records.ts';
import { verifies } from '../verifies.ts';
import { HttpGateway, type HttpClient } from './http-gateway.ts';
import { Stage, textOf, type GatewayClient } from './stage.ts';

const LOG = logKey('shop', 'coder');
const ECHO = join(import.meta.dirname, 'echo-server.ts');

/** Returns the echo server as a process that reports its pid, and that refuses to start while a file forbids it. */
function fragile(stage: Stage): { args: string[]; pid: () => number; hold: () => void; free: () => void } {
  const [script, pidFile, held] = [join(stage.folder, 'fragile.mjs'), join(stage.folder, 'pid'), join(stage.folder, 'held')];
  writeFileSync(
    script,
    `import { existsSync, writeFileSync } from 'node:fs';
if (existsSync(${JSON.stringify(held)})) process.exit(7);
writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
await import(${JSON.stringify(ECHO)});`,
  );
  return {
    args: ['--name', 'files', '--', process.execPath, script],
    pid: () => Number(readFileSync(pidFile, 'utf8')),
    hold: () => writeFileSync(held, ''),
    free: () => rmSync(held),
  };
}

describe('a server behind the gateway', () => {
  const connected = async (stage: Stage, args: readonly string[]): Promise<GatewayClient> => {
    const gateway = await stage.gateway({ args });
    expect(textOf(await gateway.call('echo', { text: 'x' }))).toBe('x');
    return gateway;
  };

  verifies(
    'gateway:mcp-events',
    'fails the running call when it is killed; when it works again, an undelivered report of the disconnect is withdrawn',
    async () => {
      await using stage = new Stage();
      const ear = await stage.open();
      const server = fragile(stage);
      const gateway = await connected(stage, server.args);
      const running = gateway.call('echo', { text: 'slow', held: true });
      await gateway.request('ping', {});
      process.kill(server.pid(), 'SIGKILL');
      const failed = await running.then(
        (result) => textOf(result),
        (error: Error) => error.message,
      );
      expect(failed).toContain('files');

      for await (const { body } of ear.watch({ log: LOG, after: 0, signal: AbortSignal.timeout(25_000) }))
        if (isType(body, 'system_notification_queued') && body.kind.name === 'reconnected') break;
      const next = textOf(await gateway.call('echo', { text: 'again' }));
      expect(next).toMatch(/^again\n/);
      expect(next).toContain('`files` is connected again');
      const items = await ear.store.items(LOG, { kind: 'latest', limit: 10 });
      const of = (name: string): (typeof items)[number] | undefined => items.find((item) => item.notification.kind.name === name);
      expect(of('disconnected')?.notification).toMatchObject({ level: 'error', kind: { source: 'mcp' } });
      expect(of('reconnected')?.notification).toMatchObject({ level: 'info', kind: { source: 'mcp' } });
      // The notification was in the result of the failing call, or was withdrawn before any carrier. In both cases, the
      // notification does not arrive again.
      expect(of('disconnected')?.outcome).toBe(failed.includes('has disconnected') ? 'delivered' : 'withdrawn');
      expect(next).not.toContain('has disconnected');
    },
  );

  verifies('gateway:mcp-events', 'is reported with the next carrier of the conversation if it stays down', async () => {
    await using stage = new Stage();
    const server = fragile(stage);
    await connected(stage, server.args);
    const other = await stage.gateway();
    server.hold();
    process.kill(server.pid(), 'SIGKILL');
    const ear = await stage.open();
    for await (const { body } of ear.watch({ log: LOG, after: 0, signal: AbortSignal.timeout(25_000) }))
      if (isType(body, 'system_notification_queued') && body.kind.name === 'disconnected') break;
    expect(textOf(await other.call('echo', { text: 'y' }))).toContain('`files` has disconnected');
    server.free();
  });

  verifies(
    'gateway:mcp-events',
    'runs as a separate process for each HTTP client, which is notified only about that process',
    async () => {
      await using stage = new Stage();
      const server = fragile(stage);
      await using gateway = await HttpGateway.start(stage, {}, server.args);
      const ear = await stage.open();
      const of = async (conversation: string): Promise<{ client: HttpClient; pid: number }> => {
        const client = await gateway.client('codex', { 'earpiece-conversation': `shop/coder#${conversation}` });
        expect(textOf(await client.call('echo', { text: 'x' }))).toBe('x');
        return { client, pid: server.pid() };
      };
      const [hit, spared] = [await of('hit'), await of('spared')];
      expect(hit.pid).not.toBe(spared.pid);
      process.kill(hit.pid, 'SIGKILL');
      for await (const { body } of ear.watch({ log: LOG, after: 0, signal: AbortSignal.timeout(25_000) }))
        if (isType(body, 'system_notification_queued') && body.kind.name === 'reconnected') break;
      expect(textOf(await hit.client.call('echo', { text: 'y' }))).toContain('`files` is connected again');
      expect(textOf(await spared.client.call('echo', { text: 'z' }))).toBe('z');
      const items = await ear.store.items(LOG, { kind: 'latest', limit: 10 });
      expect([...new Set(items.map(({ audience }) => audience))]).toEqual(['hit']);
    },
  );
});
