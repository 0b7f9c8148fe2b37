/**
 * Tests how a gateway treats a text that misses the 250 ms after a tool's answer, while another process holds the lock of the
 * database.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as passing } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { PERSON, Stage, textOf, type GatewayClient } from './stage.ts';
import { proves } from '../verifies.ts';

const LOG = logKey('shop', 'coder');
const HERE = 'shop/coder#main';
/** A time limit in ms. After half of a lease, which is longer, the gateway releases a kept text. */
const SOON_MS = 10_000;

type Scene = { readonly stage: Stage; readonly ear: LoadedInbox; readonly gateway: GatewayClient };

async function begun(stage: Stage): Promise<Scene> {
  const ear = await stage.open();
  const gateway = await stage.gateway({ env: { ALSO: 'other' } });
  await gateway.call('echo', { text: 'first' });
  return { stage, ear, gateway };
}

/** Returns the number of outages that the gateway has reported as ended. */
const ended = ({ gateway }: Scene): number => gateway.stderr.match(/can be reached again/g)?.length ?? 0;

/**
 * Makes a call whose text is too late. `during` runs while the tool runs, and the lock is held when the tool answers. Resolves
 * when the late text has arrived.
 */
async function lateCall(scene: Scene, during: () => Promise<unknown> = async () => {}): Promise<void> {
  const { stage, gateway } = scene;
  const before = ended(scene);
  const calls = stage.calls().length;
  const { answer } = gateway.begin('tools/call', { name: 'echo', arguments: { text: 'late', held: true } });
  await expect.poll(() => stage.calls().length).toBe(calls + 1);
  await during();
  const lock = new DatabaseSync(stage.db);
  lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  await gateway.request('release', {});
  expect(textOf((await answer) as never)).toBe('late');
  lock.exec('COMMIT');
  lock.close();
  await expect.poll(() => ended(scene)).toBeGreaterThan(before);
}

const count = async ({ ear }: Scene, type: string): Promise<number> => (await ear.store.read({ log: LOG, types: [type] })).length;
const released = (scene: Scene): Promise<void> =>
  expect.poll(() => count(scene, 'carrier_released'), { timeout: SOON_MS }).toBe(1);

/** Makes two calls in a row whose texts are too late. The gateway keeps the second text for the next result. */
async function lateTwice(scene: Scene, during: () => Promise<unknown>): Promise<void> {
  await lateCall(scene, during);
  await released(scene);
  await lateCall(scene);
}

const echo = async ({ gateway }: Scene, text: string): Promise<string> => textOf(await gateway.call('echo', { text }));

const other = async ({ gateway }: Scene): Promise<string> => textOf(await gateway.call('other', { text: 'other' }));

it('a notification for the result of a tool comes with the next result if its text was late', async () => {
  proves('gateway:late-text');
  await using stage = new Stage();
  const scene = await begun(stage);
  const deliver = { afterTool: 'echo' };
  await lateCall(scene, () => scene.ear.queue(HERE, { id: 'n', message: 'the build has ended', deliver }));
  await released(scene);
  expect(await other(scene)).toContain('the build has ended');
  await scene.ear.queue(HERE, { id: 'm', message: 'the tests have ended', deliver });
  expect(await other(scene)).toBe('other');
  expect(await echo(scene, 'a')).toContain('the tests have ended');
});

it("a notification for the result of a tool comes with the next result if the tool's own result carries an earlier late text", async () => {
  proves('gateway:late-text');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateTwice(scene, () => scene.ear.queue(HERE, { id: 'n', message: 'the build has ended' }));
  await scene.ear.queue(HERE, { id: 'm', message: 'the tests have ended', deliver: { afterTool: 'echo' } });
  const heard: string[] = [];
  await expect.poll(async () => heard.push(await echo(scene, 'a')) && heard.at(-1)).toContain('the build has ended');
  heard.push(await other(scene));
  expect(heard.join('\n').match(/the tests have ended/g)).toHaveLength(1);
});

it('the next result carries the notification of a late text, once and not marked as repeated', async () => {
  proves('gateway:late-text');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateCall(scene, () => scene.ear.queue(HERE, { id: 'n', message: 'the build has ended' }));
  await released(scene);
  const next = await echo(scene, 'a');
  expect(next).toContain('the build has ended');
  expect(next).not.toContain('repeated');
  expect(await echo(scene, 'b')).toBe('b');
});

it('if two texts in a row are late, a later result carries the second text, once and not marked as repeated', async () => {
  proves('gateway:late-text');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateTwice(scene, () => scene.ear.queue(HERE, { id: 'n', message: 'the build has ended' }));
  const heard: string[] = [];
  await expect.poll(async () => heard.push(await echo(scene, 'a')) && heard.at(-1)).toContain('the build has ended');
  expect(heard.at(-1)).not.toContain('repeated');
  expect(await echo(scene, 'b')).toBe('b');
  expect(await count(scene, 'carrier_offered')).toBe(2);
});

it.each([
  ['one text was', lateCall],
  ['two texts were', lateTwice],
])('a state that a newer state replaces after %s late is not shown', async (_, late) => {
  proves('gateway:late-checked');
  await using stage = new Stage();
  const scene = await begun(stage);
  await late(scene, () => scene.ear.queue(HERE, { id: 'red', key: 'build', supersede: true, message: 'build is RED' }));
  await scene.ear.queue(HERE, { id: 'green', key: 'build', supersede: true, message: 'build is GREEN' });
  const heard = [await echo(scene, 'a'), await echo(scene, 'b'), await echo(scene, 'c')].join('\n');
  expect(heard.match(/build is GREEN/g)).toHaveLength(1);
  expect(heard).not.toContain('RED');
  expect((await scene.ear.why('red'))?.items[0]?.receipt).toBe('superseded');
});

it('a notification that is withdrawn while its late text is kept is not shown', async () => {
  proves('gateway:late-checked');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateTwice(scene, () => scene.ear.queue(HERE, { id: 'n', message: 'the build has ended' }));
  expect((await stage.run(['withdraw', 'n'], PERSON)).code).toBe(0);
  expect([await echo(scene, 'a'), await echo(scene, 'b')]).toEqual(['a', 'b']);
});

it('a pause in a late text refuses the next call, and is not shown after a person has resumed the agent', async () => {
  proves('gateway:late-checked');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateCall(scene, () => stage.run(['send', '--to', HERE, '--action', 'pause', '--as', 'Ann', 'hold on'], PERSON));
  const refused = await echo(scene, 'a');
  expect(refused).toContain('Ann asks to pause: “hold on”');
  expect(refused).not.toContain('repeated');
  expect((await stage.run(['resume', HERE, '--as', 'Ann'], PERSON)).code).toBe(0);
  expect(await echo(scene, 'b')).toContain('Ann asks to resume');
  expect([await echo(scene, 'c'), await echo(scene, 'd')]).toEqual(['c', 'd']);
});

it('a critical notification in a late text is marked as repeated only from its second showing on', async () => {
  proves('gateway:late-checked');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateCall(scene, () => scene.ear.queue(HERE, { id: 'stop', level: 'critical', message: 'do not deploy' }));
  const refused = await echo(scene, 'a');
  expect(refused).toContain('do not deploy');
  expect(refused).not.toContain('repeated');
  expect(textOf(await scene.gateway.call('get_notifications'))).toMatch(/do not deploy.*"repeated":true/s);
  expect(await echo(scene, 'b')).toBe('b');
});

it('a critical notification in a late text refuses calls only until a call begins 1 s after a refusal', async () => {
  proves('gateway:late-checked');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateCall(scene, () => scene.ear.queue(HERE, { id: 'stop', level: 'critical', message: 'do not deploy' }));
  await released(scene);
  expect(await echo(scene, 'a')).toContain('do not deploy');
  await passing(ASKED_AGAIN_MS + 50);
  expect(await echo(scene, 'b')).toBe('b');
});

it('earpiece inbox --read reads a notification whose text was late', async () => {
  proves('gateway:late-checked');
  await using stage = new Stage();
  const scene = await begun(stage);
  await lateCall(scene, () => scene.ear.queue(HERE, { id: 'n', message: 'the build has ended' }));
  await released(scene);
  expect((await stage.run(['inbox', '--read', HERE], PERSON)).stdout).toContain('the build has ended');
  expect([await echo(scene, 'a'), await echo(scene, 'b')]).toEqual(['a', 'b']);
});
