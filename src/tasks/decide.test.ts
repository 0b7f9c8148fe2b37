import { describe, expect, it } from 'vitest';
import type { ConversationId } from '../core/address.ts';
import { NEXT_STATUSES, TASK_STATUSES, type Task, type TaskActor, type TaskStatus } from '../core/task.ts';
import { proves } from '../../e2e/verifies.ts';
import { defined } from '../core/defined.ts';
import { decide, isClosed, runningOf, type Command, type Decision, type Facts } from './decide.ts';
import { evolve } from './evolve.ts';
import { recordsOf, type Fact } from './records.ts';

const ANN: TaskActor = { kind: 'person', name: 'Ann' };
const CODER: TaskActor = { kind: 'agent', name: 'coder' };
const S1 = 's1' as ConversationId;
const S2 = 's2' as ConversationId;

const CREATED: Fact = {
  type: 'task_created',
  title: 'Fix the login',
  description: '',
  priority: 'normal',
  status: 'todo',
  assignee: 'coder',
};
const TAKEN: Fact[] = [
  { type: 'task_status_changed', from: 'todo', to: 'in_progress' },
  { type: 'task_execution_started', execution: 't1.1', agent: 'coder', conversation: S1 },
];
const BLOCKED: Fact[] = [
  { type: 'task_status_changed', from: 'in_progress', to: 'blocked', reason: 'ask legal' },
  { type: 'task_execution_interrupted', execution: 't1.1', why: 'blocked', reason: 'ask legal', notification: 'n0' },
];

const given = (...facts: readonly Fact[]): Task => grown(undefined, [CREATED, ...facts]);
const grown = (task: Task | undefined, facts: readonly Fact[], by: TaskActor = ANN): Task =>
  recordsOf(facts, { task: 't1', version: task?.version ?? 0, by }).reduce<Task | undefined>(
    (before, record) => evolve(before, record, { project: 'shop', at: 1_000 + record.version }),
    task,
  ) as Task;

const when = (task: Task, command: Command, facts: Partial<Facts> = {}): Decision =>
  decide(task, command, { by: ANN, notification: 'n1', told: false, isActive: () => true, ...facts });
const decided = (decision: Decision): Extract<Decision, { kind: 'decided' }> => {
  if (decision.kind !== 'decided') throw new Error(`${decision.kind}: ${'message' in decision ? decision.message : ''}`);
  return decision;
};
const then = (task: Task, command: Command, facts?: Partial<Facts>): Task =>
  grown(task, decided(when(task, command, facts)).facts, facts?.by);

const move = (to: TaskStatus, reason?: string): Command => ({ kind: 'move', to, ...defined({ reason }) });
const report = (result: 'success' | 'failed' | 'blocked', conversation = S1): Command => ({
  kind: 'report',
  agent: 'coder',
  conversation,
  result,
  summary: 'did it',
});
const take = (conversation = S1, agent = 'coder'): Command => ({ kind: 'take', agent, conversation });

/** A task in each status, made by ordinary changes. */
const IN: Readonly<Record<TaskStatus, Task>> = {
  backlog: given({ type: 'task_status_changed', from: 'todo', to: 'backlog' }),
  todo: given(),
  in_progress: given(...TAKEN),
  blocked: given(...TAKEN, ...BLOCKED),
  done: given(
    ...TAKEN,
    { type: 'task_execution_ended', execution: 't1.1', result: 'success', exit_code: 0, message: 'ok' },
    { type: 'task_status_changed', from: 'in_progress', to: 'done' },
  ),
  cancelled: given({ type: 'task_status_changed', from: 'todo', to: 'cancelled' }),
};

describe('the status of a task', () => {
  proves('tasks:transitions');
  const cases = TASK_STATUSES.flatMap((from) =>
    TASK_STATUSES.map((to) => ({ from, to, legal: NEXT_STATUSES[from].includes(to) })),
  );

  it.each(cases)('$from → $to: $legal', ({ from, to, legal }) => {
    const decision = when(IN[from], move(to));
    if (from === to) expect(decision).toEqual({ kind: 'unchanged' });
    else if (legal) expect(then(IN[from], move(to))).toMatchObject({ status: to, statusChangedBy: ANN });
    else expect(decision).toMatchObject({ kind: 'refused', code: 'conflict' });
  });

  it('becomes blocked only after in_progress, and cancelled after any status but done', () => {
    expect(TASK_STATUSES.filter((from) => NEXT_STATUSES[from].includes('blocked'))).toEqual(['in_progress']);
    expect(TASK_STATUSES.filter((from) => !NEXT_STATUSES[from].includes('cancelled'))).toEqual(['done', 'cancelled']);
  });

  it('a refusal names the allowed statuses', () => {
    expect(when(IN.todo, move('blocked'))).toMatchObject({
      message: 'task t1 "Fix the login" is todo and cannot become blocked; the task can become backlog, in_progress, cancelled',
    });
    expect(when(IN.done, move('todo'))).toMatchObject({
      message: 'task t1 "Fix the login" is done and cannot become todo; done is final, so add a new task',
    });
  });

  it('a change that expects an outdated status or version is refused', () => {
    proves('tasks:expected');
    expect(when(IN.blocked, move('cancelled'), { expected: 'in_progress' })).toMatchObject({
      kind: 'refused',
      code: 'conflict',
      message:
        'task t1 "Fix the login" was changed by Ann: the task is blocked (version 5) now, and not in_progress; read the task again',
    });
    // The status change was Ann's, but the version may be outdated because of another person's edit, so no person is named.
    const renamed = grown(IN.todo, [{ type: 'task_edited', title: 'Fix the logout' }], { kind: 'person', name: 'Bob' });
    expect(when(renamed, move('cancelled'), { expected: 1 })).toMatchObject({
      kind: 'refused',
      code: 'conflict',
      message: 'task t1 "Fix the logout" is todo (version 2) now, and not version 1; read the task again',
    });
    expect(when(IN.blocked, move('cancelled'), { expected: 5 })).toMatchObject({ kind: 'decided' });
    expect(when(IN.blocked, move('cancelled'), { expected: 'blocked' })).toMatchObject({ kind: 'decided' });
  });
});

describe('the notified agents', () => {
  proves('tasks:interrupts');
  const tells = (task: Task, command: Command, facts?: Partial<Facts>): string | undefined =>
    decided(when(task, command, facts)).tells?.why;

  it.each([
    ['in_progress', 'blocked', 'blocked'],
    ['in_progress', 'cancelled', 'cancelled'],
    ['in_progress', 'todo', 'stopped'],
    ['in_progress', 'done', 'stopped'],
    ['backlog', 'todo', undefined],
    ['backlog', 'in_progress', undefined],
    ['todo', 'in_progress', undefined],
    ['todo', 'backlog', undefined],
    ['todo', 'cancelled', undefined],
    ['blocked', 'in_progress', undefined],
  ] as const)('%s → %s: %s', (from, to, why) => {
    const decision = decided(when(IN[from], move(to)));
    expect(decision.tells?.why).toBe(why);
    if (why !== undefined) expect(decision).toMatchObject({ agent: 'coder', tells: { conversation: 's1' } });
  });

  it('include no agent if no agent has the task', () => {
    const unassigned = grown(IN.todo, [{ type: 'task_assigned', from: 'coder', to: null }]);
    const going = then(unassigned, move('in_progress'));
    expect(going.executions).toEqual([]);
    expect(decided(when(going, move('blocked')))).toEqual({
      kind: 'decided',
      facts: [{ type: 'task_status_changed', from: 'in_progress', to: 'blocked' }],
      agent: null,
    });
  });

  it('do not include the agent that makes the change itself', () => {
    expect(tells(IN.in_progress, move('todo'), { by: CODER })).toBeUndefined();
    expect(tells(IN.in_progress, { kind: 'edit', assignee: 'tester' }, { by: CODER })).toBeUndefined();
  });

  it('get only the cancellation if it follows an unread block', () => {
    const unread = decided(when(IN.blocked, move('cancelled')));
    expect(unread).toMatchObject({ takesBack: 'the task is cancelled', tells: { why: 'cancelled' } });
    const read = decided(when(IN.blocked, move('cancelled'), { told: true }));
    expect([read.tells, read.takesBack]).toEqual([undefined, undefined]);
  });

  it('include the old assignee of a task in progress, while the new assignee finds the task in todo', () => {
    const decision = decided(when(IN.in_progress, { kind: 'edit', assignee: 'tester' }));
    expect(decision).toMatchObject({ agent: 'coder', tells: { why: 'reassigned', says: 'is now assigned to tester' } });
    expect(then(IN.in_progress, { kind: 'edit', assignee: 'tester' })).toMatchObject({ status: 'todo', assignee: 'tester' });
    expect(tells(IN.todo, { kind: 'edit', assignee: 'tester' })).toBeUndefined();
    expect(when(IN.done, { kind: 'edit', assignee: 'tester' })).toMatchObject({ kind: 'refused', code: 'conflict' });
  });

  it('after an unblock, the agent reads that it may continue, but only if it has read the request to stop', () => {
    const before = decided(when(IN.blocked, move('in_progress')));
    expect(before).toMatchObject({ takesBack: 'the task is in_progress again' });
    expect(before.tells).toBeUndefined();
    const after = decided(when(IN.blocked, move('in_progress'), { told: true }));
    expect(after).toMatchObject({ takesBack: 'the task is in_progress again', tells: { why: 'unblocked', conversation: 's1' } });
    expect(then(IN.blocked, move('in_progress')).executions).toMatchObject([{ id: 't1.1', interrupted: null, endedAt: null }]);
  });
});

describe('an execution', () => {
  proves('tasks:executions');
  it('starts when an agent takes the task', () => {
    const taken = then(IN.todo, take(), { by: CODER });
    expect(taken).toMatchObject({ status: 'in_progress', statusChangedBy: CODER });
    expect(taken.executions).toMatchObject([{ id: 't1.1', agent: 'coder', conversation: 's1', endedAt: null }]);
    expect(when(taken, take())).toEqual({ kind: 'unchanged' });
  });

  it('starts when the task becomes in_progress, and is taken by the first conversation that begins', () => {
    const going = then(IN.todo, move('in_progress'));
    expect(going.executions).toMatchObject([{ id: 't1.1', conversation: null }]);
    expect(then(going, take(S2)).executions).toMatchObject([{ id: 't1.1', conversation: 's2' }]);
  });

  it('is not taken by another conversation while its own conversation is active, nor by another agent', () => {
    expect(when(IN.in_progress, take(S2))).toMatchObject({ kind: 'refused', code: 'conflict' });
    expect(when(IN.todo, take(S1, 'tester'))).toMatchObject({ kind: 'refused', code: 'conflict' });
    const after = then(IN.in_progress, take(S2), { isActive: () => false });
    expect(after.executions).toMatchObject([
      { id: 't1.1', result: 'lost', exitCode: 1 },
      { id: 't1.2', conversation: 's2', endedAt: null },
    ]);
  });

  it.each([
    ['success', 'done', 0, null],
    ['failed', 'blocked', 1, 'failed: did it'],
    ['blocked', 'blocked', 1, 'did it'],
  ] as const)('that is reported as %s ends, and the task is %s', (result, status, exitCode, blockedReason) => {
    const after = then(IN.in_progress, report(result), { by: CODER });
    expect(after).toMatchObject({ status, blockedReason, executions: [{ result, exitCode, message: 'did it' }] });
    expect(decided(when(IN.in_progress, report(result)))).toMatchObject({ answer: 'ended' });
    expect(isClosed(after)).toBe(status === 'done');
  });

  it('that is reported as blocked after a person blocked the task names that person, and the task stays unchanged', () => {
    proves('pull:report-completed');
    const decision = decided(when(IN.blocked, report('blocked'), { by: CODER }));
    expect(decision).toMatchObject({ answer: 'interrupted', takesBack: 'the execution of the task has ended' });
    expect(grown(IN.blocked, decision.facts)).toMatchObject({
      status: 'blocked',
      statusChangedBy: ANN,
      blockedReason: 'ask legal',
      executions: [{ result: 'blocked', exitCode: 1, message: 'Ann blocked the task: ask legal' }],
    });
  });

  it('that is reported as success after a person blocked the task ends as success, and the task stays blocked', () => {
    const after = then(IN.blocked, report('success'), { by: CODER });
    expect(after).toMatchObject({ status: 'blocked', executions: [{ result: 'success', exitCode: 0 }] });
  });

  it('ends with the report of its agent if its task is cancelled or reassigned', () => {
    const cancelled = then(IN.in_progress, move('cancelled'));
    expect(isClosed(cancelled)).toBe(false);
    expect(isClosed(then(cancelled, report('blocked')))).toBe(true);
    const moved = then(IN.in_progress, { kind: 'edit', assignee: 'tester' });
    expect(then(moved, report('blocked'))).toMatchObject({
      status: 'todo',
      assignee: 'tester',
      executions: [{ result: 'blocked' }],
    });
  });

  it('is reported once, and by another conversation only if its own has ended', () => {
    expect(when(IN.in_progress, report('blocked', S2))).toMatchObject({ kind: 'refused', code: 'bad_argument' });
    expect(when(then(IN.in_progress, report('blocked')), report('blocked'))).toMatchObject({
      kind: 'refused',
      code: 'not_found',
      message:
        'coder has nothing to report about task t1 "Fix the login": t1.1 has already ended as blocked; nothing was changed',
    });
    expect(then(IN.in_progress, report('success', S2), { isActive: () => false }).status).toBe('done');
  });

  it('does not end with the first report "blocked" if the task was unblocked before that report', () => {
    const back = then(IN.blocked, move('in_progress'), { told: true });
    const first = decided(when(back, report('blocked')));
    expect(first).toMatchObject({ answer: 'go_on' });
    const asked = grown(back, first.facts);
    expect(asked).toMatchObject({ status: 'in_progress', executions: [{ endedAt: null }] });
    expect(decided(when(asked, report('blocked')))).toMatchObject({ answer: 'ended' });
    expect(decided(when(back, report('success')))).toMatchObject({ answer: 'ended' });
    // The agent never saw the request to stop, so its report `blocked` does not answer that request.
    expect(decided(when(then(IN.blocked, move('in_progress')), report('blocked')))).toMatchObject({ answer: 'ended' });
  });

  it('is lost if its conversation has ended', () => {
    expect(when(IN.blocked, { kind: 'lose', agent: 'coder' })).toEqual({ kind: 'unchanged' });
    const lost = then(IN.blocked, { kind: 'lose', agent: 'coder' }, { isActive: () => false });
    expect(runningOf(lost, 'coder')).toBeUndefined();
    expect(lost.executions).toMatchObject([{ result: 'lost', exitCode: 1 }]);
  });

  it('is removed from the task after twenty later executions, unless it still runs', () => {
    let task = grown(IN.in_progress, []);
    const one = (id: string): Fact[] => [
      { type: 'task_execution_started', execution: id, agent: 'tester' },
      { type: 'task_execution_ended', execution: id, result: 'failed', exit_code: 1, message: 'no' },
    ];
    for (let i = 2; i < 40; i++) task = grown(task, one(`t1.${i}`));
    expect(task.executions).toHaveLength(20);
    expect(task.executions[0]?.id).toBe('t1.1');
    expect(task.executions.at(-1)?.id).toBe('t1.39');
  });
});

describe('an edit', () => {
  it('records only the changed fields', () => {
    expect(when(IN.todo, { kind: 'edit', title: 'Fix the login' })).toEqual({ kind: 'unchanged' });
    expect(decided(when(IN.todo, { kind: 'edit', title: 'Fix the login', priority: 'urgent' })).facts).toEqual([
      { type: 'task_edited', priority: 'urgent' },
    ]);
  });

  it('changes all its fields and the assignee, or nothing', () => {
    const both: Command = { kind: 'edit', title: 'Fix it', assignee: 'tester' };
    expect(then(IN.in_progress, both)).toMatchObject({ title: 'Fix it', assignee: 'tester', status: 'todo' });
    expect(decided(when(IN.in_progress, both)).tells?.why).toBe('reassigned');
    expect(when(IN.done, both)).toMatchObject({ kind: 'refused', code: 'conflict' });
  });
});
