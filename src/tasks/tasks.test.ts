import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../core/address.ts';
import type { Item } from '../core/items.ts';
import { formatKind } from '../core/notification.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import type { Store } from '../core/ports.ts';
import type { Task, TaskActor } from '../core/task.ts';
import { Inbox, type Conversation } from '../inbox/index.ts';
import { memoryStore, openSqliteStore } from '../stores/index.ts';
import { proves } from '../../e2e/verifies.ts';
import { defined } from '../core/defined.ts';
import { nextFor, replayTask, report, TASK_RECORDS, Tasks, type TaskRecord } from './index.ts';

const CODER = logKey('shop', 'coder');
const ANN: TaskActor = { kind: 'person', name: 'Ann' };

const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

describe.each(STORES)('tasks over $name', ({ open }) => {
  let folder: string;
  let now: number;
  let inbox: Inbox;
  let tasks: Tasks;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-tasks-'));
    now = 1_700_000_000_000;
    inbox = new Inbox({
      store: await open({ now: () => now }, folder),
      policies: { policy: () => DEFAULT_POLICY },
      timeZone: 'UTC',
    });
    tasks = new Tasks(inbox);
  });
  afterEach(async () => {
    await inbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const talk = async (agent = 'coder', id = 's1', purpose: string | undefined = 'task'): Promise<Conversation> => {
    const options = { pulls: true, ...defined({ purpose }) };
    const conversation = inbox.conversation({ log: logKey('shop', agent), conversation: id as ConversationId }, options);
    await conversation.seen();
    return conversation;
  };
  const waiting = async (agent = 'coder'): Promise<readonly Item[]> => inbox.open(`shop/${agent}`);
  const kinds = async (agent = 'coder'): Promise<string[]> =>
    (await waiting(agent)).map((item) => `${formatKind(item.notification.kind)} → ${item.audience || 'anyone'}`);
  const read = async (conversation: Conversation): Promise<number> => {
    const pulled = await conversation.pull({ mark: true });
    await pulled.offer?.confirm();
    return pulled.notifications.length;
  };
  /** Makes a task on which the agent works in this conversation. */
  const working = async (conversation: Conversation, title = 'Fix the login'): Promise<Task> => {
    const { id } = await tasks.create('shop', { title, assignee: conversation.log.slice(5) }, ANN);
    const next = await nextFor(tasks, conversation);
    expect(next).toMatchObject({ kind: 'work', task: { id } });
    return tasks.get('shop', id);
  };
  const block = (task: Task, reason = 'ask legal first'): Promise<Task> =>
    tasks.move('shop', task.id, 'blocked', { by: ANN, expected: 'in_progress', reason });
  /** Returns the task from a replay of the records of all logs. */
  const replayed = async (task: Task): Promise<Task | undefined> => {
    const records = (await inbox.store.read({ project: 'shop', types: TASK_RECORDS }))
      .map(({ body, at }) => ({ record: body as unknown as TaskRecord, project: 'shop', at }))
      .filter(({ record }) => record.task === task.id);
    return replayTask(records.toSorted((a, b) => a.record.version - b.record.version));
  };

  it('are numbered in their project, stored, listed newest first and found by their id', async () => {
    const first = await tasks.create('shop', { title: ' Fix the login ', assignee: 'coder', priority: 'high' }, ANN);
    const second = await tasks.create('shop', { title: 'Later', status: 'backlog' }, ANN);
    const other = await tasks.create('web', { title: 'Another project' }, ANN);
    expect([first.id, second.id, other.id]).toEqual(['t1', 't2', 't1']);
    expect(await tasks.get('shop', 't1')).toEqual(first);
    expect(first).toMatchObject({ title: 'Fix the login', status: 'todo', priority: 'high', version: 1, createdBy: ANN });
    expect(await tasks.list('shop')).toEqual({ tasks: [second, first], next: null });
    expect(await tasks.list('shop', { limit: 1 })).toEqual({ tasks: [second], next: 't2' });
    expect(await tasks.list('shop', { limit: 1, before: 't2' })).toEqual({ tasks: [first], next: null });
    expect((await tasks.list('shop', { statuses: ['todo'] })).tasks).toEqual([first]);
    expect((await tasks.list('shop', { assignee: 'coder' })).tasks).toEqual([first]);
    expect([await tasks.any('shop'), await tasks.any('nowhere')]).toEqual([true, false]);
    await tasks.move('shop', 't1', 'cancelled', { by: ANN });
    expect((await tasks.list('shop', { statuses: ['backlog', 'todo'] })).tasks.map(({ id }) => id)).toEqual(['t2']);
    expect((await tasks.list('shop', { statuses: ['cancelled'] })).tasks.map(({ id }) => id)).toEqual(['t1']);
  });

  it('keep the block of a person when a command of an agent would move or assign the task', async () => {
    proves('agent:no-person');
    const task = await working(await talk());
    await block(task);
    const { store, policies } = inbox;
    const inside = new Inbox({ store, policies, timeZone: 'UTC', speaker: { log: CODER } });
    const command = new Tasks(inside);
    const by: TaskActor = { kind: 'agent', name: 'coder' };
    for (const change of [
      () => command.move('shop', task.id, 'in_progress', { by }),
      () => command.move('shop', task.id, 'cancelled', { by: ANN }),
      () => command.assign('shop', task.id, 'tester', { by }),
    ])
      await expect(change()).rejects.toMatchObject({ code: 'not_trusted' });
    expect(await tasks.get('shop', task.id)).toMatchObject({ status: 'blocked', assignee: 'coder' });
    expect(await kinds()).toEqual(['task.blocked → s1']);
    expect(await command.edit('shop', task.id, { title: 'Fix it' }, { by })).toMatchObject({ title: 'Fix it' });
    expect(await command.assign('shop', task.id, 'coder', { by })).toMatchObject({ status: 'blocked' });
    // The agent itself may lift a block that an agent set.
    await tasks.move('shop', task.id, 'in_progress', { by: ANN });
    await command.move('shop', task.id, 'blocked', { by });
    expect(await command.move('shop', task.id, 'in_progress', { by })).toMatchObject({ status: 'in_progress' });
    await inside.close();
  });

  it('have their records in the log of their assignee, or without an assignee in the log of the project', async () => {
    proves('tasks:replay');
    const { id } = await tasks.create('shop', { title: 'x' }, ANN);
    await tasks.assign('shop', id, 'coder', { by: ANN });
    await tasks.assign('shop', id, 'tester', { by: ANN });
    const types = async (log: string): Promise<string[]> =>
      (await inbox.store.read({ log: log as never })).map(({ body }) => body.type);
    expect(await types('shop/*')).toEqual(['task_created', 'task_assigned']);
    expect(await types('shop/coder')).toEqual(['task_received', 'task_assigned']);
    expect(await types('shop/tester')).toEqual(['task_received']);
    const task = await tasks.get('shop', id);
    expect(await replayed(task)).toEqual(task);
  });

  it('an interrupted reassignment is completed by the next reader', async () => {
    proves('tasks:one-step');
    const { id } = await tasks.create('shop', { title: 'x', assignee: 'coder' }, ANN);
    const append: typeof inbox.store.append = inbox.store.append.bind(inbox.store);
    let appends = 0;
    inbox.store.append = async (...args) => {
      if (++appends === 2) throw new Error('killed');
      return append(...args);
    };
    await expect(tasks.assign('shop', id, 'tester', { by: ANN })).rejects.toThrow('killed');
    inbox.store.append = append;
    expect(await inbox.store.read({ log: logKey('shop', 'tester') })).toEqual([]);
    expect(await tasks.get('shop', id)).toMatchObject({ assignee: 'tester', version: 3 });
    expect(await inbox.store.read({ log: logKey('shop', 'tester') })).toMatchObject([
      { body: { type: 'task_received', from: 'coder', by: ANN, version: 3 } },
    ]);
    expect(await replayed(await tasks.get('shop', id))).toEqual(await tasks.get('shop', id));
  });

  describe('blocked by a person', () => {
    it('interrupt the conversation that works on them, and no other', async () => {
      proves('tasks:interrupts', 'tasks:purpose');
      const s1 = await talk();
      await talk('coder', 'chat', 'chat');
      await talk('coder', 'other', undefined);
      const task = await working(s1);
      await block(task);
      expect(await kinds()).toEqual(['task.blocked → s1']);
      const [item] = await waiting();
      expect(item?.notification).toMatchObject({
        level: 'critical',
        action: 'cancel',
        key: 'task:t1',
        purpose: 'task',
        message: 'Task t1 "Fix the login" is blocked: ask legal first',
        instruction: 'Stop the current work and call report_completed(result="blocked", task_id="t1").',
        data: { task_id: 't1', title: 'Fix the login', reason: 'ask legal first' },
        origin: { person: 'Ann', depth: 0 },
        expiresAt: null,
      });
      expect(new Set((await waiting()).map(({ id }) => id)).size).toBe(1);
    });

    it('interrupt the first conversation for tasks if none is active yet', async () => {
      const { id } = await tasks.create('shop', { title: 'x', assignee: 'coder' }, ANN);
      await tasks.move('shop', id, 'in_progress', { by: ANN });
      await block(await tasks.get('shop', id));
      expect(await kinds()).toEqual(['task.blocked → anyone']);
      const chat = await talk('coder', 'chat', 'chat');
      expect([await chat.gate(), await read(chat)]).toEqual([[], 0]);
      expect(await (await talk()).gate()).toHaveLength(1);
    });

    it('interrupt the conversation that works on them, even after an hour of silence', async () => {
      const task = await working(await talk());
      now += 3_600_000;
      await talk('coder', 's2');
      await block(task);
      expect(await kinds()).toEqual(['task.blocked → s1']);
    });

    it('2.10.5: a refused change writes nothing and notifies no agent', async () => {
      proves('tasks:expected');
      const task = await working(await talk());
      const head = await inbox.store.head();
      const refused = tasks.move('shop', task.id, 'blocked', { by: ANN, expected: 'todo' });
      await expect(refused).rejects.toMatchObject({ code: 'conflict' });
      const long = tasks.move('shop', task.id, 'blocked', { by: ANN, reason: 'x'.repeat(3_000) });
      await expect(long).rejects.toMatchObject({ code: 'bad_argument' });
      await expect(tasks.move('shop', 't9', 'blocked', { by: ANN })).rejects.toMatchObject({ code: 'not_found' });
      await expect(tasks.assign('shop', task.id, 'web/coder', { by: ANN })).rejects.toMatchObject({ code: 'bad_argument' });
      expect([await inbox.store.head(), await waiting()]).toEqual([head, []]);
    });

    it('2.10.5: one of two simultaneous changes is decided again, and one interrupt is queued', async () => {
      const task = await working(await talk());
      const both = await Promise.allSettled([
        block(task),
        tasks.move('shop', task.id, 'done', { by: { kind: 'person', name: 'Bob' }, expected: 'in_progress' }),
        block(task),
      ]);
      expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await waiting()).toHaveLength(1);
      expect(await replayed(task)).toEqual(await tasks.get('shop', task.id));
    });

    it('2.10.6: if the task is unblocked before the agent read the interrupt, the interrupt is withdrawn and the gate goes down', async () => {
      const s1 = await talk();
      const task = await working(s1);
      await block(task);
      expect(await s1.gate()).toHaveLength(1);
      await tasks.move('shop', task.id, 'in_progress', { by: ANN });
      expect([await waiting(), await s1.gate(), await read(s1)]).toEqual([[], [], 0]);
      expect((await tasks.get('shop', task.id)).executions).toMatchObject([{ id: 't1.1', endedAt: null, interrupted: null }]);
    });

    it('2.10.6: if the task is unblocked after a refused call, the gate goes down and the agent is notified that it may continue', async () => {
      const s1 = await talk();
      const task = await working(s1);
      await block(task);
      const refusal = await s1.refuse({ on: 'echo' });
      await refusal?.offer?.confirm();
      expect(await s1.gate()).toHaveLength(1);
      await tasks.move('shop', task.id, 'in_progress', { by: ANN });
      expect(await s1.gate()).toEqual([]);
      expect(await kinds()).toEqual(['task.unblocked → s1']);
      // The task is blocked again before the agent reads that it may continue, so only the last request counts.
      await block(task);
      expect(await kinds()).toEqual(['task.blocked → s1']);
    });

    it('a report of blocked without a task id concerns the stopped task, and not a task on which the agent may go on', async () => {
      const s1 = await talk();
      const first = await working(s1);
      await block(first);
      await (await s1.refuse({ on: 'echo' }))?.offer?.confirm();
      await tasks.move('shop', first.id, 'in_progress', { by: ANN });
      const { id } = await tasks.create('shop', { title: 'Fix the logout', assignee: 'coder' }, ANN);
      await tasks.move('shop', id, 'in_progress', { by: ANN });
      await tasks.assign('shop', id, 'tester', { by: ANN });
      expect(await report(tasks, s1, { result: 'blocked', summary: 'stopped' })).toMatchObject({
        kind: 'interrupted',
        tasks: [{ id }],
        left: [{ id: first.id }],
      });
      expect(await report(tasks, s1, { result: 'blocked', summary: 'stopped' })).toMatchObject({
        kind: 'go_on',
        tasks: [{ id: first.id }],
      });
    });

    it('2.10.10: if the task is blocked and unblocked repeatedly, one interrupt waits', async () => {
      const task = await working(await talk());
      for (let i = 0; i < 5; i++) {
        await block(task);
        await tasks.move('shop', task.id, 'in_progress', { by: ANN });
      }
      await block(task);
      await block({ ...task }).catch(() => undefined);
      expect(await kinds()).toEqual(['task.blocked → s1']);
      expect(await tasks.move('shop', task.id, 'blocked', { by: ANN })).toMatchObject({ status: 'blocked' });
      expect(await kinds()).toEqual(['task.blocked → s1']);
    });

    it('2.10.11: an agent is also notified if its task is cancelled, put back, marked as done or reassigned', async () => {
      for (const [change, kind] of [
        [(id: string) => tasks.move('shop', id, 'cancelled', { by: ANN }), 'task.cancelled'],
        [(id: string) => tasks.move('shop', id, 'todo', { by: ANN }), 'task.stopped'],
        [(id: string) => tasks.move('shop', id, 'done', { by: ANN }), 'task.stopped'],
        [(id: string) => tasks.assign('shop', id, 'tester', { by: ANN }), 'task.reassigned'],
        [(id: string) => tasks.assign('shop', id, null, { by: ANN }), 'task.reassigned'],
      ] as const) {
        const s1 = await talk();
        const { id } = await working(s1);
        await change(id);
        expect(await kinds()).toEqual([`${kind} → s1`]);
        expect(await report(tasks, s1, { result: 'blocked', summary: 'stopped' })).toMatchObject({ kind: 'interrupted' });
        expect([await waiting(), await s1.gate()]).toEqual([[], []]);
        // The task must not be part of the next round of this loop.
        const { status, assignee } = await tasks.get('shop', id);
        if (assignee === 'coder' && status === 'todo') await tasks.move('shop', id, 'backlog', { by: ANN });
      }
      expect(await waiting('tester')).toEqual([]);
    });

    it('a task without an assignee or a working agent notifies no agent', async () => {
      const { id } = await tasks.create('shop', { title: 'x' }, ANN);
      await tasks.move('shop', id, 'in_progress', { by: ANN });
      await tasks.move('shop', id, 'blocked', { by: ANN });
      await tasks.create('shop', { title: 'y', assignee: 'coder', status: 'backlog' }, ANN);
      await tasks.move('shop', 't2', 'todo', { by: ANN });
      expect((await inbox.store.overview()).map(({ log, open: { critical } }) => [log, critical])).toEqual([
        ['shop/*', 0],
        ['shop/coder', 0],
      ]);
    });
  });

  describe('an agent', () => {
    it('gets the most urgent task first, then the oldest, and works on one task until it reports', async () => {
      const s1 = await talk();
      expect(await nextFor(tasks, s1)).toEqual({ kind: 'nothing', blocked: [] });
      for (const [title, priority] of [
        ['a', 'low'],
        ['b', 'urgent'],
        ['c', 'normal'],
        ['d', 'urgent'],
      ] as const)
        await tasks.create('shop', { title, priority, assignee: 'coder' }, ANN);
      await tasks.create('shop', { title: 'not yet', assignee: 'coder', status: 'backlog' }, ANN);
      await tasks.create('shop', { title: 'not mine', assignee: 'tester' }, ANN);
      const order: string[] = [];
      for (;;) {
        const next = await nextFor(tasks, s1);
        if (next.kind !== 'work') break;
        expect(await nextFor(tasks, s1)).toMatchObject({ kind: 'work', resumed: true, task: { id: next.task.id } });
        order.push(next.task.title);
        await report(tasks, s1, { result: 'success', summary: 'ok' });
      }
      expect(order).toEqual(['b', 'd', 'c', 'a']);
    });

    it('gets an interrupt before a task, and the call for the next action marks nothing as read', async () => {
      const s1 = await talk();
      const task = await working(s1);
      await block(task);
      const asked = await nextFor(tasks, s1);
      expect(asked).toMatchObject({
        kind: 'interrupt',
        interrupts: [{ notification: { key: 'task:t1' }, state: 'open', offers: 0 }],
      });
      expect(await s1.gate()).toHaveLength(1);
      expect(await read(s1)).toBe(1);
      expect(await nextFor(tasks, s1)).toMatchObject({ kind: 'stop', task: { id: 't1' } });
      await report(tasks, s1, { result: 'blocked', summary: 'stopped' });
      expect(await nextFor(tasks, s1)).toMatchObject({ kind: 'nothing', blocked: [{ id: 't1' }] });
    });

    it('a report about a blocked task, sent before the agent read the block, lowers the gate and ends the execution', async () => {
      proves('pull:report-completed', 'tasks:executions');
      const s1 = await talk();
      const task = await working(s1);
      await block(task);
      const reported = await report(tasks, s1, { result: 'blocked', summary: 'stopped' });
      expect(reported).toMatchObject({ kind: 'interrupted', left: [] });
      expect([await s1.gate(), await waiting()]).toEqual([[], []]);
      expect((await tasks.get('shop', 't1')).executions).toMatchObject([
        { result: 'blocked', exitCode: 1, message: 'Ann blocked the task: ask legal first', endedAt: now },
      ]);
      await expect(report(tasks, s1, { result: 'blocked', summary: 'again' })).rejects.toMatchObject({ code: 'not_found' });
      await expect(report(tasks, s1, { result: 'blocked', summary: 'again', task: 't1' })).rejects.toThrow(
        'has already ended as blocked',
      );
    });

    it('with a blocked and another task ends only the blocked task by a report; the answer names the other task', async () => {
      const s1 = await talk();
      const first = await working(s1);
      await tasks.create('shop', { title: 'second', assignee: 'coder' }, ANN);
      await tasks.move('shop', 't2', 'in_progress', { by: ANN });
      await tasks.change(
        'shop',
        't2',
        { kind: 'take', agent: 'coder', conversation: s1.id },
        { by: { kind: 'agent', name: 'coder' } },
      );
      await expect(report(tasks, s1, { result: 'success', summary: 'x' })).rejects.toThrow(
        'works on t1, t2; name one of them with task_id',
      );
      await block(first);
      expect(await report(tasks, s1, { result: 'blocked', summary: 'x' })).toMatchObject({
        kind: 'interrupted',
        tasks: [{ id: 't1' }],
        left: [{ id: 't2' }],
      });
      expect((await tasks.get('shop', 't2')).status).toBe('in_progress');
      expect(await report(tasks, s1, { result: 'success', summary: 'x' })).toMatchObject({
        kind: 'ended',
        tasks: [{ id: 't2' }],
      });
    });

    it('cannot take or report a task in a conversation with the purpose chat, nor for another agent or conversation', async () => {
      proves('tasks:purpose');
      const task = await working(await talk());
      const chat = await talk('coder', 'chat', 'chat');
      await expect(nextFor(tasks, chat)).rejects.toThrow('shop/coder#chat is for chat');
      const mine = { result: 'success', summary: 'x', task: task.id };
      await expect(report(tasks, chat, mine)).rejects.toThrow('shop/coder#chat is for chat');
      await expect(report(tasks, await talk('tester'), mine)).rejects.toThrow('the task is in_progress and assigned to coder');
      await expect(report(tasks, await talk('coder', 's2'), mine)).rejects.toThrow('coder#s1 works on');
      expect(await nextFor(tasks, await talk('coder', 's2'))).toMatchObject({ kind: 'nothing' });
      // A carrier that was not given the conversation's purpose learns the purpose from other carriers.
      const unaware = inbox.conversation({ log: CODER, conversation: 'chat' as ConversationId }, { pulls: true });
      await expect(report(tasks, unaware, mine)).rejects.toThrow('is for chat');
      await block(task);
      expect([await unaware.gate(), await read(unaware)]).toEqual([[], 0]);
    });

    it('gets the task of an ended conversation in its next conversation', async () => {
      const s1 = await talk();
      await working(s1);
      const s2 = await talk('coder', 's2');
      await s1.ended();
      expect(await nextFor(tasks, s2)).toMatchObject({ kind: 'work', resumed: false, task: { id: 't1' } });
      expect((await tasks.get('shop', 't1')).executions).toMatchObject([
        { id: 't1.1', result: 'lost' },
        { id: 't1.2', conversation: 's2' },
      ]);
      await block(await tasks.get('shop', 't1'));
      await s2.ended();
      await tasks.move('shop', 't1', 'cancelled', { by: ANN });
      const s3 = await talk('coder', 's3');
      // The execution of `s2` is lost, so nothing asks `s3` to stop the work of `s2`.
      expect(await nextFor(tasks, s3)).toMatchObject({ kind: 'nothing' });
      expect(await tasks.open('shop')).toEqual([]);
      expect(await s2.gate()).toEqual([]);
    });
  });

  it('2.10.7: have one set of priorities; an invalid value is refused, and the error lists the set', async () => {
    const refused = async (input: Record<string, unknown>): Promise<string> =>
      tasks.create('shop', { title: 'x', ...input }, ANN).then(
        () => 'made',
        (error: unknown) => String(error instanceof Error ? error.message : error),
      );
    expect(await refused({ priority: 'urgnet' })).toBe(
      'priority "urgnet" must be one of low, normal, high, urgent; did you mean urgent?',
    );
    expect(await refused({ title: ' ' })).toBe('title " " must be one line of text; put more text into the description');
    expect(await refused({ title: 'a\nb' })).toContain('must be one line of text');
    expect(await refused({ title: 'x'.repeat(201) })).toContain('title has 201 characters, at most 200 are allowed');
    expect(await refused({ status: 'done' })).toContain('a new task is in backlog or todo');
    expect(await refused({ assignee: 'coder#s1' })).toContain('must be an agent of project shop');
    expect(await refused({ assignee: '*' })).toContain('must be an agent of project shop');
    await expect(tasks.create('a#b', { title: 'x' }, ANN)).rejects.toMatchObject({ code: 'bad_address' });
    await expect(tasks.list('shop', { before: 'x' })).rejects.toThrow('"x" must be a task id, such as t7');
    expect(await tasks.any('shop')).toBe(false);
    expect((await tasks.create('shop', { title: 'x', priority: 'urgent' }, ANN)).priority).toBe('urgent');
  });

  it('each of many simultaneous tasks gets its own number', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, i) => tasks.create('shop', { title: `n${i}` }, ANN)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(20);
    expect((await tasks.open('shop')).length).toBe(20);
    const once = await Promise.all(Array.from({ length: 8 }, () => tasks.create('shop', { title: 'once' }, ANN, 'k-1')));
    expect(new Set(once.map(({ id }) => id)).size).toBe(1);
    expect((await tasks.open('shop')).length).toBe(21);
  });
});
