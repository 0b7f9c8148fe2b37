/** Tests that a notification with a delivery time lives from that time on, whichever way it was queued. */
import { describe, expect, it } from 'vitest';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { Shell } from '../cli/shell.ts';
import { Stage } from '../server/stage.ts';
import { proves, verifies } from '../verifies.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Opens the shell's log as a process whose clock is `laterMs` ahead. */
const later = (shell: Shell, laterMs: number): Promise<LoadedInbox> =>
  openLoadedInbox({ db: shell.db, cwd: shell.folder, env: shell.env(), clock: { now: () => Date.now() + laterMs } });

async function reads(shell: Shell, laterMs: number): Promise<string> {
  await using ear = await later(shell, laterMs);
  return (await ear.conversation('shop/coder#main').carry({ type: 'chat_request', content: 'hi' }, { at: 'turn_start' })).text;
}

/** Returns how long each open notification of the agent lives after its delivery time, in ms. */
async function lifetimes(shell: Shell): Promise<Readonly<Record<string, number | null>>> {
  const ear = await shell.open();
  return Object.fromEntries(
    (await ear.open('shop/coder')).map(({ notification: { message, deliver, expiresAt } }) => [
      message,
      typeof expiresAt === 'number' && typeof deliver === 'object' && 'at' in deliver ? expiresAt - deliver.at : null,
    ]),
  );
}

describe('the lifetime of a notification with a delivery time', () => {
  verifies('queue:expiry', 'send: the lifetime counts from --deliver in:<duration>', async () => {
    await using shell = new Shell();
    const send = (...args: string[]): Promise<string> => shell.says(['send', '--to', 'coder', ...args]);
    await send('--deliver', 'in:25h', 'an info');
    await send('--deliver', 'in:4d', '--level', 'warning', 'a warning');
    await send('--deliver', 'in:8s', '--ttl', '4s', 'a short one');
    await send('--deliver', 'in:3d', '--ttl', 'never', 'for ever');
    expect(await lifetimes(shell)).toEqual({ 'an info': DAY, 'a warning': 3 * DAY, 'a short one': 4_000, 'for ever': null });
    const text = await reads(shell, 26 * HOUR);
    expect(text).toContain('an info');
    expect(text).not.toContain('a short one');
    expect(await reads(shell, 5 * DAY)).toContain('a warning');
  });

  it('an interrupt waits for no time, so its lifetime counts from now', async () => {
    proves('queue:expiry');
    await using shell = new Shell();
    const began = Date.now();
    await shell.run(['send', '--to', 'coder', '--action', 'pause', '--deliver', 'in:3d', '--ttl', '30m', 'hold on']);
    const ear = await shell.open();
    const [pause] = await ear.open('shop/coder');
    expect((pause?.notification.expiresAt ?? 0) - began).toBeLessThan(2 * HOUR);
  });

  it('emit: the lifetime of an event counts from its `deliver`, with and without `ttlms`', async () => {
    proves('queue:expiry');
    await using shell = new Shell();
    const deliver = new Date(Date.now() + 4 * DAY).toISOString();
    const event = { type: 'cli.event', source: 'ci', deliver };
    const input = [
      { ...event, id: '1', message: 'by its level', data: { event_name: 'a' } },
      { ...event, id: '2', message: 'by itself', data: { event_name: 'b' }, ttlms: 1_000 },
    ];
    await shell.says(['emit', '--to', 'coder', '-'], { input: JSON.stringify(input) });
    expect(await lifetimes(shell)).toEqual({ 'by its level': DAY, 'by itself': 1_000 });
  });

  it('the copies of a notification for a project live from its delivery time on', async () => {
    proves('queue:expiry');
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.conversation('shop/coder#main').seen();
    await shell.says(['send', '--to', 'shop/*', '--deliver', 'in:25h', 'for all']);
    expect(await lifetimes(shell)).toEqual({ 'for all': DAY });
  });

  it('a notification that is queued again lives from its delivery time on', async () => {
    proves('queue:expiry');
    await using shell = new Shell();
    await shell.says(['send', '--to', 'coder', '--id', 'n1', '--deliver', 'in:25h', 'again']);
    await shell.says(['withdraw', 'n1', '--to', 'coder']);
    await shell.says(['requeue', 'n1', '--to', 'coder']);
    expect(await lifetimes(shell)).toEqual({ again: DAY });
  });

  it('the server: the lifetime counts from `deliver`; an earlier `expiresAt` and a time after ten years are refused', async () => {
    proves('queue:expiry');
    await using stage = await Stage.open();
    const post = async (body: object): Promise<{ status: number; code: string; detail: string }> => {
      const answer = await fetch(`${stage.at.url}/api/notifications`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ to: 'shop/coder', message: 'x', ...body }),
      });
      return { ...((await answer.json()) as { code: string; detail: string }), status: answer.status };
    };
    expect(await post({ deliver: { inMs: 3 * DAY } })).toMatchObject({ status: 201 });
    const [queued] = await stage.inbox.open('shop/coder');
    const { deliver, expiresAt } = queued?.notification ?? {};
    expect(expiresAt).toBe(typeof deliver === 'object' && 'at' in deliver ? deliver.at + DAY : undefined);
    const at = Date.now() + 2 * DAY;
    const early = await post({ deliver: { at }, expiresAt: at });
    expect(early).toMatchObject({ status: 400, code: 'bad_argument' });
    const time = new Date(at).toISOString();
    expect(early.detail).toContain(`expiresAt ${time} must be after the delivery time ${time}`);
    expect(await post({ deliver: { at }, expiresAt: at + 1 })).toMatchObject({ status: 201 });
    const late = await post({ deliver: { inMs: 9_999 * DAY } });
    expect(late).toMatchObject({ status: 400, code: 'bad_notification' });
    expect(late.detail).toContain('must be at most 3650d from now');
  });
});
