import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_DIFFERS } from '../../src/core/item.ts';
import { proves } from '../verifies.ts';
import { Stage, textOf, type GatewayClient } from './stage.ts';

const LINES = 400;

/**
 * Calls `read` repeatedly while another process queues `LINES` notifications of one key, and until no notification is open.
 * `message` is the message of all notifications. If `message` is empty, each has a different message.
 */
async function whileCounting(message: readonly string[], read: (client: GatewayClient) => Promise<void>): Promise<void> {
  await using stage = new Stage();
  const ear = await stage.open();
  const client = await stage.gateway();
  const script = join(import.meta.dirname, 'counting-producer.ts');
  const producer = spawn(process.execPath, [script, 'shop/coder#main', `${LINES}`, ...message], {
    env: stage.env(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let ended = false;
  const produced = once(producer, 'close').then(() => (ended = true));
  await once(producer.stdout, 'data');
  while (!ended) await read(client);
  await produced;
  while ((await ear.open('shop/coder')).length > 0) await read(client);
}

describe('a process counts notifications into an open notification while an agent reads', () => {
  it('get_notifications shows all counted notifications', { timeout: 120_000 }, async () => {
    proves('queue:counted-told');
    let counted = 0;
    let answers = 0;
    const shown: number[] = [];
    const expected: number[] = [];
    await whileCounting([], async (client) => {
      const { notifications } = JSON.parse(textOf(await client.call('get_notifications'))) as {
        notifications: { message: string; count?: number }[];
      };
      answers += notifications.length > 0 ? 1 : 0;
      for (const { message, count = 1 } of notifications) {
        counted += count;
        shown.push(message.split('\n').length);
        expected.push(Math.min(count, 1 + MAX_DIFFERS));
      }
    });
    expect(answers).toBeGreaterThan(1);
    expect(counted).toBe(LINES);
    expect(shown).toEqual(expected);
  });

  it('the results of other tools count all notifications', { timeout: 120_000 }, async () => {
    proves('queue:counted-told');
    let counted = 0;
    let frames = 0;
    await whileCounting(['a line'], async (client) => {
      const lines = textOf(await client.call('echo', { text: 'call' }))
        .split('\n')
        .filter((line) => line.includes('a line'));
      frames += lines.length > 0 ? 1 : 0;
      for (const line of lines) counted += Number(/(\d+) times/u.exec(line)?.[1] ?? 1);
    });
    expect(frames).toBeGreaterThan(1);
    expect(counted).toBe(LINES);
  });
});
