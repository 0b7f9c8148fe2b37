/** Tests the routes for tasks over real HTTP, through the typed client. */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/wire/client/index.ts';
import { Stage } from '../server/stage.ts';
import { proves } from '../verifies.ts';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it went through',
    (error: unknown) => (error instanceof ApiError ? { status: error.status, code: error.code, said: error.message } : error),
  );

describe('tasks over HTTP', () => {
  proves('tasks:routes');

  it('are created, shown, changed and moved, with the next possible statuses', async () => {
    await using stage = await Stage.open();
    const { client } = stage;
    const made = await client.createTask({ title: 'Fix the login', description: 'It hangs', assignee: 'coder', author: 'Ann' });
    expect(made).toMatchObject({
      id: 't1',
      project: 'shop',
      title: 'Fix the login',
      description: 'It hangs',
      priority: 'normal',
      status: 'todo',
      assignee: 'coder',
      blockedReason: null,
      version: 1,
      createdBy: { kind: 'person', name: 'Ann' },
      execution: null,
      mayBecome: ['backlog', 'in_progress', 'cancelled'],
    });
    expect(await client.task('t1')).toEqual(made);
    const edited = await client.editTask('t1', { priority: 'high', title: 'Fix the logins', expected: 1 });
    expect(edited).toMatchObject({ title: 'Fix the logins', priority: 'high', version: 2 });
    const moved = await client.moveTask('t1', { status: 'in_progress', expected: 'todo' });
    expect(moved).toMatchObject({ status: 'in_progress', statusChangedBy: { name: 'tests' }, execution: { id: 't1.1' } });
    expect(await client.moveTask('t1', { status: 'in_progress' })).toEqual(moved);
    await client.moveTask('t1', { status: 'blocked', reason: 'wait' });
    expect((await client.taskExecutions('t1')).items).toMatchObject([
      { id: 't1.1', interrupted: { why: 'blocked' }, endedAt: null },
    ]);
    expect((await client.notifications({ log: 'shop/coder', state: 'open' })).items).toMatchObject([
      { kind: 'task.blocked', key: 'task:t1', purpose: 'task', person: 'tests', gate: true, action: 'cancel', level: 'critical' },
    ]);
  });

  it('are listed newest first, in pages, and filtered by status, agent and project', async () => {
    await using stage = await Stage.open();
    const { client } = stage;
    for (let i = 1; i <= 7; i++)
      await client.createTask({ title: `n${i}`, assignee: i % 2 === 0 ? 'coder' : null, status: i < 3 ? 'backlog' : 'todo' });
    await client.createTask({ title: 'elsewhere', project: 'web' });
    await client.moveTask('t5', { status: 'cancelled' });
    const ids = async (query: Parameters<typeof client.tasks>[0]): Promise<string[]> =>
      (await client.tasks(query)).items.map(({ id }) => id);
    const seen: string[] = [];
    for (let before: string | undefined; ;) {
      const page = await client.tasks({ limit: 3, ...(before === undefined ? {} : { before }) });
      seen.push(...page.items.map(({ id }) => id));
      if (page.next === null) break;
      before = page.next;
    }
    expect(seen).toEqual(['t7', 't6', 't5', 't4', 't3', 't2', 't1']);
    expect(await ids({ status: 'backlog' })).toEqual(['t2', 't1']);
    expect(await ids({ status: ['backlog', 'cancelled'] })).toEqual(['t5', 't2', 't1']);
    expect(await ids({ open: true, assignee: 'coder' })).toEqual(['t6', 't4', 't2']);
    expect(await ids({ status: ['backlog', 'cancelled'], open: true })).toEqual(['t2', 't1']);
    expect(await ids({ status: 'cancelled', open: true })).toEqual([]);
    expect(await ids({ project: 'web' })).toEqual(['t1']);
    expect(await ids({ project: 'nowhere' })).toEqual([]);
  });

  it('are created once for one Idempotency-Key', async () => {
    await using stage = await Stage.open();
    const made = await Promise.all(
      Array.from({ length: 5 }, () => stage.client.createTask({ title: 'once' }, { idempotencyKey: 'k-1' })),
    );
    expect(new Set(made.map(({ id }) => id))).toEqual(new Set(['t1']));
    expect((await stage.client.tasks()).items).toHaveLength(1);
  });

  it('need a right: a project token manages its own project, an agent token reads its own tasks, a send token has no right', async () => {
    await using stage = await Stage.open();
    await stage.client.createTask({ title: 'x', assignee: 'coder' });
    await stage.client.createTask({ title: 'y', assignee: 'tester' });
    const web = await stage.as({ kind: 'project', project: 'web' });
    const coder = await stage.as({ kind: 'agent', project: 'shop', agent: 'coder' });
    const send = await stage.as({ kind: 'send', project: 'shop' });
    expect((await web.tasks()).items).toEqual([]);
    expect(await failure(web.tasks({ project: 'shop' }))).toMatchObject({ status: 403 });
    expect(await failure(web.task('t1', { project: 'shop' }))).toMatchObject({ status: 403 });
    expect(await failure(web.moveTask('t1', { status: 'cancelled' }, { project: 'shop' }))).toMatchObject({ status: 403 });
    expect((await coder.tasks()).items.map(({ id }) => id)).toEqual(['t1']);
    expect(await coder.task('t1')).toMatchObject({ id: 't1' });
    for (const refused of [
      () => coder.task('t2'),
      () => coder.tasks({ assignee: 'tester' }),
      () => coder.tasks({ project: 'web' }),
      () => coder.moveTask('t1', { status: 'cancelled' }),
      () => coder.editTask('t1', { title: 'z' }),
      () => coder.createTask({ title: 'z' }),
      () => send.tasks(),
      () => send.task('t1'),
      () => send.createTask({ title: 'z' }),
    ])
      expect(await failure(refused())).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await stage.client.tasks()).items.map(({ title }) => title)).toEqual(['y', 'x']);
  });

  it('answer a wrong request with a problem that says what to do', async () => {
    await using stage = await Stage.open();
    const { client } = stage;
    await client.createTask({ title: 'x', assignee: 'coder' });
    expect(await failure(client.moveTask('t1', { status: 'done' }))).toEqual({
      status: 409,
      code: 'conflict',
      said: 'task t1 "x" is todo and cannot become done; the task can become backlog, in_progress, cancelled',
    });
    expect(await failure(client.task('t9'))).toMatchObject({ status: 404, code: 'not_found' });
    expect(await failure(client.tasks({ status: 'blokced' as never }))).toMatchObject({
      status: 400,
      said: 'status "blokced" must be one of backlog, todo, in_progress, blocked, done, cancelled; did you mean blocked?',
    });
    expect(await failure(client.createTask({ title: 'a\nb' }))).toMatchObject({ status: 400, code: 'bad_argument' });
    expect(await failure(client.createTask({ title: 'x', project: 'a#b' }))).toMatchObject({ status: 400, code: 'bad_address' });
    expect(await failure(client.call('POST', '/api/tasks', { body: { titel: 'x' } }))).toMatchObject({
      status: 400,
      said: expect.stringContaining('title') as string,
    });
    expect(await failure(client.call('DELETE', '/api/tasks/t1'))).toMatchObject({ status: 405 });
  });
});
