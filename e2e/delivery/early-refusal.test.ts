/**
 * Tests the refusals that a gateway bases on the last known gate while another process holds the lock of the database. The
 * gateway records these refusals when the lock is released.
 */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { proves } from '../verifies.ts';
import { PERSON, Stage, textOf, type GatewayClient } from './stage.ts';

const LOG = logKey('shop', 'coder');
const HERE = 'shop/coder#main';

type Scene = { readonly stage: Stage; readonly ear: LoadedInbox; readonly gateway: GatewayClient };

const echo = async ({ gateway }: Scene, text: string): Promise<string> => textOf(await gateway.call('echo', { text }));

const refusals = async ({ ear }: Scene): Promise<number> => (await ear.store.read({ log: LOG, types: ['gate_refused'] })).length;

/**
 * Sends the interrupt `stop`, and makes two calls that are refused while the lock is held. `meanwhile` runs after the release of
 * the lock, and before the gateway notices the release.
 */
async function refusedEarly(
  stage: Stage,
  { send, says, meanwhile }: { readonly send: readonly string[]; readonly says: string; readonly meanwhile: readonly string[] },
): Promise<Scene> {
  const ear = await stage.open();
  const gateway = await stage.gateway();
  const scene = { stage, ear, gateway };
  await echo(scene, 'first');
  expect((await stage.run(['send', '--to', HERE, '--as', 'Ann', '--id', 'stop', ...send, says], PERSON)).code).toBe(0);
  const lock = new DatabaseSync(stage.db);
  lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  for (const call of ['a', 'b']) expect(await echo(scene, call)).toContain(says);
  gateway.process.kill('SIGSTOP');
  await expect.poll(() => readFileSync(`/proc/${gateway.process.pid}/stat`, 'utf8')).toContain(') T ');
  lock.exec('COMMIT');
  lock.close();
  expect((await stage.run([...meanwhile], PERSON)).code).toBe(0);
  expect(await refusals(scene)).toBe(0);
  gateway.process.kill('SIGCONT');
  return scene;
}

const PAUSE = { send: ['--action', 'pause'], says: 'hold on', meanwhile: ['resume', HERE, '--as', 'Ann'] };
const CRITICAL = { send: ['--level', 'critical'], says: 'do not deploy', meanwhile: ['withdraw', 'stop'] };

it('if a person lifts a pause before an early refusal is recorded, the agent is notified once that it may continue', async () => {
  proves('gate:early');
  await using stage = new Stage();
  const scene = await refusedEarly(stage, PAUSE);
  await expect.poll(() => refusals(scene)).toBe(2);
  const heard = [await echo(scene, 'c'), await echo(scene, 'd'), await echo(scene, 'e')].join('\n');
  expect(heard.match(/Ann asks to resume: “Go on.”/g)).toHaveLength(1);
  expect((await scene.ear.why('stop'))?.items[0]?.receipt).toBe('maybe_seen');
});

it('a resume after an early refusal lifts no newer pause', async () => {
  proves('gate:early');
  await using stage = new Stage();
  const scene = await refusedEarly(stage, PAUSE);
  await scene.ear.queue(HERE, { id: 'again', message: 'hold on again', action: 'pause', origin: { person: 'Ann' } });
  await expect.poll(() => refusals(scene)).toBe(2);
  expect(await echo(scene, 'c')).toContain('hold on again');
});

it('an interrupt that is withdrawn after an early refusal counts as maybe seen', async () => {
  proves('gate:early');
  await using stage = new Stage();
  const scene = await refusedEarly(stage, CRITICAL);
  await expect.poll(() => refusals(scene)).toBe(2);
  expect(await echo(scene, 'c')).toBe('c');
  expect((await scene.ear.why('stop'))?.items[0]?.receipt).toBe('maybe_seen');
});

it('a gateway whose client disconnects first records the early refusals', async () => {
  proves('gate:early');
  await using stage = new Stage();
  const scene = await refusedEarly(stage, { ...CRITICAL, meanwhile: ['withdraw', 'stop'] });
  scene.gateway.process.stdin?.end();
  expect(await scene.gateway.exited).toBe(0);
  expect(await refusals(scene)).toBe(2);
});
