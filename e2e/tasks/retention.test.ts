/** Tests that a long-running process or a command removes ended tasks, and that lists stay correct. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { Tasks } from '../../src/tasks/index.ts';
import { Shell } from '../cli/shell.ts';
import { Office } from './stage.ts';
import { proves } from '../verifies.ts';

const DAY = 86_400_000;
const BY = { kind: 'person', name: 'Ann' } as const;
const folder = mkdtempSync(join(tmpdir(), 'earpiece-tasks-kept-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('ended tasks', () => {
  proves('tasks:retention');

  it.each([
    ['30 days by default', '', 31],
    [
      'as long as tasks.retention says, regardless of the retention of notifications',
      'retention = "1d"\n[tasks]\nretention = "90d"\n',
      91,
    ],
  ])('are kept %s', async (_how, toml, days) => {
    writeFileSync(join(folder, 'earpiece.toml'), `project = "shop"\n${toml}`);
    let now = Date.now();
    await using ear = await openLoadedInbox({
      db: 'memory:',
      cwd: folder,
      env: { HOME: folder, XDG_CONFIG_HOME: folder, TZ: 'UTC' },
      clock: { now: () => now },
    });
    const tasks = new Tasks(ear);
    for (const title of ['over', 'open']) await tasks.create('shop', { title, assignee: 'coder' }, BY);
    await tasks.move('shop', 't1', 'cancelled', { by: BY });
    await ear.queue('shop/coder', { message: 'something else' });
    const left = async (): Promise<string[]> => (await tasks.list('shop')).tasks.map(({ id }) => id);
    for (let day = 1; day < days; day++) {
      now += DAY;
      await ear.sweep();
      expect([day, await left()]).toEqual([day, ['t2', 't1']]);
    }
    now += DAY;
    // The age of a task is measured from the newest record, so the log needs a new record first.
    await ear.queue('shop/coder', { message: 'the work goes on' });
    expect((await ear.sweep()).pruned).toBeGreaterThanOrEqual(2);
    expect(await left()).toEqual(['t2']);
  });

  it('are removed by earpiece db prune, which names the remaining tasks', async () => {
    await using shell = new Shell();
    for (const title of ['one', 'two', 'three']) await shell.says(['tasks', 'add', '--to', 'coder', title]);
    for (const id of ['t1', 't3']) await shell.says(['tasks', 'status', id, 'cancelled']);
    await shell.says(['send', '--to', 'coder', 'something else']);
    expect(await shell.says(['db', 'prune'])).toBe('removed 0 closed notifications and 0 records\n');
    expect(await shell.says(['db', 'prune', '--older', '0'])).toBe(
      'removed 0 closed notifications, 2 finished tasks and 4 records\n',
    );
    expect((await shell.json(['tasks', 'list', '--all'])).map(({ id }) => id)).toEqual(['t2']);
    expect(await shell.says(['tasks', 'list', '--status', 'cancelled'])).toBe('no cancelled tasks in shop\n');
    expect(await shell.run(['tasks', 'show', 't1'])).toEqual({
      code: 7,
      stdout: '',
      stderr: 'earpiece: task t1 of project shop has ended and was removed; tasks.retention sets how long ended tasks are kept\n',
    });
    expect(await shell.says(['tasks', 'add', 'four'])).toContain('t4  todo');
    expect(await shell.says(['db', 'check'])).toContain('is intact');
  }, 60_000);

  it('disappear from the lists of the API, and their agents continue', async () => {
    await using office = await Office.open();
    const { person, ear, tasks } = office;
    const agent = await office.agent();
    for (let i = 1; i <= 5; i++)
      await office.working(agent, `n${i}`).then(() => agent.does('report_completed', { result: 'success', summary: 'x' }));
    await office.working(agent, 'in hand');
    await ear.queue('shop/other', { message: 'something else' });
    expect((await tasks.prune('shop', ear.store.now() + 1)).tasks).toBe(5);
    expect(await person.tasks({ limit: 2 })).toMatchObject({ items: [{ id: 't6' }], next: null });
    expect((await person.tasks({ status: 'done' })).items).toEqual([]);
    await expect(person.task('t1')).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await person.moveTask('t6', { status: 'blocked', author: 'Ann' });
    expect((await agent.call('echo')).text).toContain('Task t6 "in hand" is blocked');
    expect(await agent.does('report_completed', { result: 'blocked', summary: 'x' })).toMatchObject({
      already_interrupted: true,
    });
    await office.working(agent, 'n7');
    expect((await person.tasks()).items.map(({ id }) => id)).toEqual(['t7', 't6']);
  }, 60_000);
});
