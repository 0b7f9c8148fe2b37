/**
 * Tests that the known faults of the original design of tasks are fixed, each by its number in that design (2.10), with real
 * processes.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/wire/client/index.ts';
import { logKey } from '../../src/core/address.ts';
import { proves } from '../verifies.ts';
import { Office } from './stage.ts';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it went through',
    (error: unknown) => (error instanceof ApiError ? { status: error.status, code: error.code } : error),
  );

describe('known faults', () => {
  proves('tasks:known-faults');

  it('2.10.1: a chat of the same agent does not get the interrupt, does not consume it, and reports nothing', async () => {
    proves('tasks:purpose');
    await using office = await Office.open();
    const agent = await office.agent('s1');
    const chat = await office.agent('c1', { purpose: 'chat' });
    await office.working(agent);
    expect((await chat.call('echo', { text: 'hello' })).text).toBe('hello');
    await office.person.moveTask('t1', { status: 'blocked', reason: 'wait' });

    expect(await chat.call('echo', { text: 'talking' })).toMatchObject({ text: 'talking', isError: false });
    expect(await chat.does('get_notifications')).toEqual({ success: true, count: 0, notifications: [] });
    expect(await chat.tools()).toEqual(['echo', 'fail', 'get_notifications']);
    // A second gateway of the chat does not know the purpose of the conversation.
    const unaware = await office.agent('c1', { purpose: '' });
    expect((await unaware.call('echo', { text: 'talking' })).text).toBe('talking');
    expect(await unaware.does('get_notifications')).toMatchObject({ count: 0 });
    for (const tool of ['get_next_action', 'report_completed'])
      expect(await unaware.does(tool, tool === 'report_completed' ? { result: 'blocked', summary: 'x' } : {})).toEqual({
        refused: 'shop/coder#c1 is for chat; only conversations with the purpose task take and report tasks',
      });

    expect((await agent.call('echo', { text: 'x' })).text).toContain('is blocked: wait');
    expect(await agent.does('get_notifications')).toMatchObject({ count: 1 });
  });

  it('2.10.2: a refused call has no effect, and no change stays hidden from the agent', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.person.moveTask('t1', { status: 'blocked' });
    expect((await agent.call('echo', { text: 'delete everything' })).isError).toBe(true);
    expect(office.calls()).toEqual([]);
  });

  it('2.10.3: get_notifications without marking read shows the details, and the gate stays', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.person.moveTask('t1', { status: 'blocked', reason: 'wait' });
    for (let i = 0; i < 2; i++)
      expect(await agent.does('get_notifications', { mark_as_read: false })).toMatchObject({
        notifications: [{ type: 'interrupt', task_id: 't1', message: 'Task t1 "Fix the login" is blocked: wait' }],
      });
    expect((await agent.call('echo')).isError).toBe(true);
    expect(await agent.does('get_notifications')).toMatchObject({ count: 1 });
    expect((await agent.call('echo')).isError).toBe(false);
  });

  it('2.10.4: a notification that arrives while the agent reads is not marked read unseen', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.person.moveTask('t1', { status: 'blocked' });
    const shown = new Set<string>();
    const queued: Promise<unknown>[] = [];
    for (let i = 0; i < 10; i++) {
      queued.push(office.ear.queue('shop/coder#s1', { id: `n${i}`, message: `m${i}`, action: 'pause' }));
      const { notifications } = await agent.does('get_notifications');
      for (const { id } of notifications as { id: string }[]) shown.add(id);
    }
    await Promise.all(queued);
    for (const { id } of (await agent.does('get_notifications'))['notifications'] as { id: string }[]) shown.add(id);
    expect([...shown].filter((id) => /^n\d$/u.test(id)).toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => `n${i}`));
  });

  it('2.10.5: a refused update leaves no interrupt, regardless of its error', async () => {
    proves('tasks:expected');
    await using office = await Office.open();
    const { person } = office;
    const agent = await office.agent();
    await office.working(agent);
    expect(await failure(person.moveTask('t1', { status: 'blocked', expected: 'todo' }))).toEqual({
      status: 409,
      code: 'conflict',
    });
    expect(await failure(person.moveTask('t1', { status: 'blocked', expected: 1 }))).toMatchObject({ status: 409 });
    expect(await failure(person.moveTask('t1', { status: 'backlog' }))).toMatchObject({ status: 409 });
    expect(await failure(person.moveTask('t1', { status: 'blocked', reason: 'x'.repeat(5_000) }))).toMatchObject({ status: 400 });
    expect(await failure(person.moveTask('t1', { status: 'paused' as never }))).toMatchObject({ status: 400 });
    expect(await failure(person.editTask('t1', { title: 'x', assignee: 'web/coder' }))).toMatchObject({ status: 400 });
    expect(await failure(person.moveTask('t2', { status: 'blocked' }))).toMatchObject({ status: 404 });
    const stranger = await office.ear.store.head();
    expect((await person.notifications({ log: 'shop/coder', state: 'all' })).items).toEqual([]);
    expect(await agent.call('echo', { text: 'on' })).toMatchObject({ text: 'on', isError: false });
    expect(await office.ear.store.head()).toBe(stranger);
    expect((await person.task('t1')).title).toBe('Fix the login');
  });

  it('2.10.6 and 2.10.10: if a task is blocked and unblocked repeatedly, at most one interrupt waits, and none at the end', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    for (let i = 0; i < 4; i++) {
      await office.person.moveTask('t1', { status: 'blocked', reason: `round ${i}` });
      await office.person.moveTask('t1', { status: 'in_progress' });
    }
    expect((await agent.call('echo', { text: 'on' })).text).toBe('on');
    await office.person.moveTask('t1', { status: 'blocked', reason: 'the last' });
    expect(await agent.does('get_notifications')).toMatchObject({
      count: 1,
      notifications: [{ message: 'Task t1 "Fix the login" is blocked: the last' }],
    });
  });

  it('2.10.7: a priority is stored and shown, and a value outside of the enum is refused', async () => {
    await using office = await Office.open();
    const made = await office.person.createTask({ title: 'x', priority: 'urgent' });
    expect([made.priority, (await office.person.task(made.id)).priority]).toEqual(['urgent', 'urgent']);
    expect(await failure(office.person.createTask({ title: 'x', priority: 'asap' as never }))).toMatchObject({ status: 400 });
  });

  it('2.10.8: the task and the tool that an interrupt names exist', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.person.moveTask('t1', { status: 'blocked' });
    const { notifications } = await agent.does('get_notifications');
    const [{ task_id: id }] = notifications as [{ task_id: string }];
    expect((await office.person.task(id)).status).toBe('blocked');
    expect(await agent.does('report_completed', { result: 'blocked', summary: 'x', task_id: id })).toMatchObject({
      success: true,
    });
  });

  it('2.10.9: every possible interrupt has a producer, and read interrupts are cleaned up', async () => {
    await using office = await Office.open();
    const { person, ear } = office;
    const agent = await office.agent();
    const kinds: string[] = [];
    for (const change of [
      (id: string) => person.moveTask(id, { status: 'blocked' }),
      (id: string) => person.moveTask(id, { status: 'cancelled' }),
      (id: string) => person.moveTask(id, { status: 'done' }),
      (id: string) => person.editTask(id, { assignee: 'tester' }),
    ]) {
      const id = await office.working(agent);
      await change(id);
      const [open] = (await person.notifications({ log: 'shop/coder', state: 'open' })).items;
      kinds.push(open?.kind ?? 'none');
      await agent.does('report_completed', { result: 'blocked', summary: 'x' });
    }
    expect(kinds).toEqual(['task.blocked', 'task.cancelled', 'task.stopped', 'task.reassigned']);
    expect(await ear.open('shop/coder')).toEqual([]);
    // Three of the four ended notifications are removed, because the store keeps its newest record.
    expect((await ear.store.prune(ear.store.now() + 1)).items).toBe(3);
    // The tasks and their results stay.
    expect((await person.tasks()).items).toHaveLength(4);
    expect((await ear.store.read({ log: logKey('shop', 'coder'), types: ['task_created'] })).length).toBe(4);
  });

  it("2.10.10: a failing call also carries notifications, even a call to the gateway's own tool", async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.ear.queue('shop/coder#s1', { message: 'CI is red' });
    const refused = await agent.call('report_completed', { result: 'success', summary: 'x' });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('shop/coder#s1 works on no task');
    expect(refused.text).toContain('CI is red');
    await office.ear.queue('shop/coder#s1', { message: 'CI is green' });
    expect((await agent.call('get_next_action')).text).toContain('CI is green');
    await office.ear.queue('shop/coder#s1', { message: 'a third' });
    expect((await agent.call('fail')).text).toContain('a third');
  });

  it('2.10.11: a cancelled, stopped or reassigned task stops its agent like a blocked task', async () => {
    await using office = await Office.open();
    const { person } = office;
    const agent = await office.agent();
    for (const [change, says] of [
      [(id: string) => person.moveTask(id, { status: 'cancelled' }), 'is cancelled'],
      [(id: string) => person.moveTask(id, { status: 'done' }), 'is done'],
      [(id: string) => person.editTask(id, { assignee: 'tester' }), 'is now assigned to tester'],
      [(id: string) => person.editTask(id, { assignee: null }), 'no longer has an assignee'],
      [(id: string) => person.moveTask(id, { status: 'todo' }), 'is put back'],
    ] as const) {
      const id = await office.working(agent);
      await change(id);
      const refused = await agent.call('echo');
      expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining(says)]);
      expect(await agent.does('report_completed', { result: 'blocked', summary: 'x' })).toMatchObject({
        already_interrupted: true,
      });
      expect((await agent.call('echo')).isError).toBe(false);
      expect((await person.taskExecutions(id)).items).toMatchObject([{ result: 'blocked', exitCode: 1 }]);
    }
    // The new assignee takes the task.
    const tester = await office.agent('s1', { agent: 'tester' });
    expect(await tester.does('get_next_action')).toMatchObject({ action: 'work', task: { id: 't3' } });
    expect((await tester.call('echo')).isError).toBe(false);
  });

  it('if one task of an agent is stopped, the agent ends only that task, and its other task continues', async () => {
    await using office = await Office.open();
    const { person, tasks } = office;
    const agent = await office.agent();
    await office.working(agent, 'first');
    await person.createTask({ title: 'second', assignee: 'coder' });
    const by = { kind: 'agent', name: 'coder' } as const;
    await tasks.change('shop', 't2', { kind: 'take', agent: 'coder', conversation: 's1' as never }, { by });
    await person.moveTask('t1', { status: 'blocked' });
    expect(await agent.does('report_completed', { result: 'blocked', summary: 'x' })).toMatchObject({
      tasks: [{ id: 't1' }],
      instruction: 'Go on with t2.',
    });
    expect(await person.task('t2')).toMatchObject({ status: 'in_progress', execution: { endedAt: null } });
  });
});
