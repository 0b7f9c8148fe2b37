/** Tests a person's pause, with mutes and settings that would filter it, at real gateways. */
import { expect, it } from 'vitest';
import { Stage, textOf } from './stage.ts';
import { proves } from '../verifies.ts';

const KINDS = '[conversation.notifications.kinds]\n"user.message" = false\n"user.interrupt" = false\n"interrupt.pause" = false\n';

it.each<[string, { toml?: string; mute?: string }]>([
  ['mute "*"', { mute: '*' }],
  ['mute user.message', { mute: 'user.message' }],
  ["a cloned project's master switch", { toml: '[conversation.notifications]\nenable = false\n' }],
  ["a cloned project's min_level", { toml: 'min_level = "critical"\n' }],
  ["a cloned project's kinds", { toml: KINDS }],
])("%s does not lift a person's pause", async (_, { toml, mute }) => {
  proves('gate:unfiltered');
  await using stage = new Stage();
  const gateway = await stage.gateway();
  expect(textOf(await gateway.call('echo', { text: 'before' }))).toBe('before');
  const said = ['send', '--to', 'shop/coder', '--kind', 'user.message', '--action', 'pause', '--as', 'ann', 'hold on'];
  expect((await stage.run(said)).code).toBe(0);
  expect(textOf(await gateway.call('echo', { text: 'first' }))).toContain('hold on');
  if (mute !== undefined) expect((await stage.run(['mute', mute, 'coder'])).code).toBe(0);
  if (toml !== undefined) stage.config(toml);
  const later = await stage.gateway();
  for (const client of [gateway, later]) expect(textOf(await client.call('echo', { text: 'second' }))).toContain('hold on');
  expect(stage.calls().map(({ text }) => text)).toEqual(['before']);
});
