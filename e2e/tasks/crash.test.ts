/**
 * Tests a person's change whose process is killed at each write boundary: the whole change is stored, recorded
 * and sent, or nothing.
 */
import { describe, expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { isTaskRecord, replayTask, TASK_RECORDS, Tasks, type TaskRecord } from '../../src/tasks/index.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';

/** The fault points of one change: its two records, its interrupt, and the commit. */
const POINTS = [
  'append.begun',
  'append.record_written:1',
  'append.record_written:2',
  'append.record_written:3',
  'append.items_written',
  'append.committed',
];

type Seen = { readonly status: string; readonly records: number; readonly told: number };

async function seen(ear: LoadedInbox): Promise<Seen> {
  const task = await new Tasks(ear).get('shop', 't1');
  const stored = await ear.store.read({ project: 'shop', types: TASK_RECORDS });
  const records = stored.map(({ body, at }) => ({ record: body as unknown as TaskRecord, project: 'shop', at }));
  const whole = replayTask(records.toSorted((a, b) => a.record.version - b.record.version));
  expect({ ...whole, changedAt: 0, statusChangedAt: 0, createdAt: 0, executions: 0 }).toEqual({
    ...task,
    changedAt: 0,
    statusChangedAt: 0,
    createdAt: 0,
    executions: 0,
  });
  expect(stored.every(({ body }) => isTaskRecord(body))).toBe(true);
  return { status: task.status, records: stored.length, told: (await ear.open('shop/coder')).length };
}

describe('a kill in the middle', () => {
  it.each(POINTS)(
    'a kill at %s while a person blocks a task stores both halves of the block or neither, and the person can repeat the block',
    async (point) => {
      proves('tasks:one-step', 'store:kill-9');
      await using shell = new Shell();
      const ear = await shell.open();
      const tasks = new Tasks(ear);
      const by = { kind: 'person', name: 'Ann' } as const;
      await tasks.create('shop', { title: 'x', assignee: 'coder' }, by);
      await tasks.move('shop', 't1', 'in_progress', { by });
      const before = await seen(ear);
      const { stderr } = await shell.run(['tasks', 'status', 't1', 'blocked'], { env: { EARPIECE_FAULT: point } });
      expect(stderr).toBe('');
      const after = await seen(ear);
      const blocked = { status: 'blocked', records: before.records + 2, told: 1 };
      expect(after).toEqual(point === 'append.committed' ? blocked : before);
      // The person got no answer and repeats the action.
      expect(await shell.says(['tasks', 'status', 't1', 'blocked'])).toContain('t1  blocked of coder');
      expect(await seen(ear)).toEqual(blocked);
      expect(await ear.conversation('shop/coder#main', { purpose: 'task' }).gate()).toHaveLength(1);
    },
  );

  it('after a kill between the two halves of a reassignment, the interrupt stays, and the next reader adds the other half', async () => {
    proves('tasks:one-step');
    await using shell = new Shell();
    const ear = await shell.open();
    const tasks = new Tasks(ear);
    const by = { kind: 'person', name: 'Ann' } as const;
    await tasks.create('shop', { title: 'x', assignee: 'coder' }, by);
    await tasks.move('shop', 't1', 'in_progress', { by });
    await shell.run(['tasks', 'assign', 't1', 'tester'], { env: { EARPIECE_FAULT: 'append.committed' } });
    expect(await ear.store.read({ log: logKey('shop', 'tester') })).toEqual([]);
    expect((await ear.open('shop/coder')).map(({ notification }) => notification.kind.name)).toEqual(['reassigned']);
    expect(await shell.says(['tasks', 'list'])).toContain('tester');
    expect((await ear.store.read({ log: logKey('shop', 'tester') })).map(({ body }) => body.type)).toEqual(['task_received']);
    await seen(ear);
  });
});
