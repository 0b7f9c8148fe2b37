/** Tests `earpiece remind`: one process queues, a later process delivers, and no process runs between the two. */
import { describe, expect, it } from 'vitest';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { timersSource } from '../../src/sources/timers/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

const MIN = 60_000;
const HOUR = 60 * MIN;

/** Opens the shell's log as a process whose clock is `laterMs` ahead. */
const later = (shell: Shell, laterMs: number): Promise<LoadedInbox> =>
  openLoadedInbox({ db: shell.db, cwd: shell.folder, env: shell.env(), clock: { now: () => Date.now() + laterMs } });

/** Returns the text that the agent reads in a message at that time. */
async function reads(shell: Shell, laterMs: number): Promise<string> {
  await using ear = await later(shell, laterMs);
  const carried = await ear.conversation('shop/coder#main').carry({ type: 'chat_request', content: 'hi' }, { at: 'turn_start' });
  return carried.text;
}

const idOf = (line: string): string => line.split(' ')[0] ?? '';

describe('remind', () => {
  proves('sources:timers', 'cli:commands');

  verifies('sources:timers', 'a reminder arrives once, at the first contact point after its time', async () => {
    await using shell = new Shell('time_zone = "Europe/Berlin"');
    const line = await shell.says(['remind', '--to', 'coder', 'in 10m', 'look', 'at', 'the', 'build']);
    expect(line).toMatch(/^r[0-9a-f]{8} {2}reminds shop\/coder \w{3} \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? \(Europe\/Berlin\)\n$/u);
    expect(await reads(shell, 9 * MIN)).not.toContain('look at the build');
    expect(await reads(shell, 11 * MIN)).toContain('Reminder: look at the build');
    expect(await reads(shell, 12 * MIN)).not.toContain('look at the build');
  });

  it('a reminder expires 24 h after its time, or after --ttl', async () => {
    await using shell = new Shell();
    await shell.says(['remind', '--to', 'coder', 'in 48 hours', 'still there']);
    await shell.says(['remind', '--to', 'coder', '--ttl', '1h', 'in 48 hours', 'gone by then']);
    const text = await reads(shell, 50 * HOUR);
    expect(text).toContain('still there');
    expect(text).not.toContain('gone by then');
    // This reminder needs a separate shell, because the time of a log never runs backwards.
    await using other = new Shell();
    await other.says(['remind', '--to', 'coder', 'in 48 hours', 'much too late']);
    expect(await reads(other, 73 * HOUR)).toBe('hi');
  });

  it('a reminder after a number of turns waits for that number', async () => {
    await using shell = new Shell();
    await shell.says(['remind', '--to', 'coder', 'after 2 turns', 'say where you are']);
    await using ear = await later(shell, 0);
    const turn = async (): Promise<string> => {
      const conversation = ear.conversation('shop/coder#main', { points: ['turn_start', 'tool_batch_end'] });
      return (await conversation.carry([{ type: 'turn_start' }, { type: 'chat_request', content: 'hi' }], { at: 'turn_start' }))
        .text;
    };
    const texts = [await turn(), await turn(), await turn(), await turn()];
    expect(texts.map((text) => text.includes('say where you are'))).toEqual([false, false, true, false]);
  });

  it('--list omits a reminder that has expired, before a sweep closes the reminder', async () => {
    await using shell = new Shell();
    await shell.says(['remind', '--to', 'coder', '--ttl', '1ms', 'after 1 turn', 'x']);
    expect(await shell.says(['remind', '--list'])).toBe('no reminder is waiting\n');
    expect(await shell.json(['remind', '--list'])).toEqual([]);
  });

  it('--list shows the next reminder first; --cancel withdraws by id or key; a new reminder replaces those of its key', async () => {
    await using shell = new Shell('time_zone = "UTC"');
    expect(await shell.says(['remind', '--list'])).toBe('no reminder is waiting\n');
    const first = idOf(await shell.says(['remind', '--to', 'coder', 'in 3 hours', 'the third']));
    const older = idOf(await shell.says(['remind', '--to', 'coder', '--key', 'standup', 'in 1 hour', 'the first']));
    const newer = idOf(await shell.says(['remind', '--to', 'coder', '--key', 'standup', 'in 2 hours', 'the second']));
    await shell.says(['remind', '--to', 'shop/writer#s1', 'after 3 turns', 'the last']);
    const texts = async (...more: string[]): Promise<unknown[]> =>
      (await shell.json(['remind', '--list', ...more])).map(({ to, message }) => [to, message]);
    expect(await texts()).toEqual([
      ['shop/coder', 'Reminder: the second'],
      ['shop/coder', 'Reminder: the third'],
      ['shop/writer#s1', 'Reminder: the last'],
    ]);
    expect(await texts('--to', 'writer')).toEqual([['shop/writer#s1', 'Reminder: the last']]);
    expect((await shell.says(['remind', '--list'])).split('\n')[0]).toMatch(/^id +due +to +text$/u);
    expect(await shell.says(['remind', '--cancel', first])).toBe(`${first}  cancelled for shop/coder\n`);
    expect(await shell.says(['remind', '--cancel', older])).toBe(
      `${older}  was replaced for shop/coder by ${newer}, which still waits; to cancel ${newer}: earpiece remind --cancel ${newer}\n`,
    );
    expect(await shell.says(['remind', '--cancel', 'standup'])).toBe(`${newer}  cancelled for shop/coder\n`);
    expect(await texts('--to', 'coder')).toEqual([]);
    expect(await reads(shell, 4 * HOUR)).not.toMatch(/the (?:first|second|third)/u);
    expect(await shell.run(['remind', '--cancel', first])).toEqual({
      code: 7,
      stdout: '',
      stderr: `earpiece: no waiting reminder of shop has the id or key "${first}"; earpiece remind --list shows the waiting reminders\n`,
    });
  });

  it('a program can set a reminder through the library', async () => {
    await using shell = new Shell();
    await using ear = await later(shell, 0);
    const timers = timersSource({ emitter: ear.bus });
    const { heard } = await timers.remind({ subject: 'shop/coder', message: 'the cake', when: { inMs: 30 * MIN } });
    expect(heard).toMatchObject([{ subscriber: 'timer', kind: 'queued' }]);
    await ear.close();
    expect(await reads(shell, 29 * MIN)).not.toContain('the cake');
    expect(await reads(shell, 31 * MIN)).toContain('Reminder: the cake');
  });

  it('if the subscriber `timer` is disabled, no agent is reminded, and the output says so', async () => {
    await using shell = new Shell();
    await using ear = await later(shell, 0);
    await ear.toggles.disable({ kind: 'project', project: 'shop' }, 'timer', 'test', ear.bus.subscribers('shop'));
    const { code, stdout, stderr } = await shell.run(['remind', '--to', 'coder', 'in 10m', 'x']);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(/^earpiece: timer: nothing, because/u);
  });
});
