import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { NEXT_STATUSES, TASK_RESULTS, TASK_STATUSES, type Task, type TaskActor } from '../core/task.ts';
import { Inbox, type Conversation } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { proves } from '../../e2e/verifies.ts';
import { nextFor, replayTask, report, runningOf, TASK_RECORDS, Tasks, type TaskRecord } from './index.ts';

const ANN: TaskActor = { kind: 'person', name: 'Ann' };
const AGENTS = ['coder', 'tester'] as const;
const SESSIONS = ['s1', 's2'] as const;

const who = { agent: fc.constantFrom(...AGENTS), session: fc.constantFrom(...SESSIONS) };
const task = fc.constantFrom<string[]>('t1', 't2', 't3');
const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('create' as const), assignee: fc.constantFrom(...AGENTS, null) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('assign' as const), task, to: fc.constantFrom(...AGENTS, null) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('move' as const), task, to: fc.constantFrom(...TASK_STATUSES) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('next' as const), ...who }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('report' as const), ...who, result: fc.constantFrom(...TASK_RESULTS) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('call' as const, 'read' as const, 'leave' as const), ...who }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class World {
  now = 1_700_000_000_000;
  readonly inbox = new Inbox({
    store: memoryStore({ clock: { now: () => this.now++ } }),
    policies: { policy: () => DEFAULT_POLICY },
    timeZone: 'UTC',
  });
  readonly tasks = new Tasks(this.inbox);

  talk(agent: string, session: string): Conversation {
    const at = { log: logKey('shop', agent), conversation: session as ConversationId };
    return this.inbox.conversation(at, { pulls: true, purpose: 'task' });
  }

  async take(one: Step): Promise<void> {
    switch (one.do) {
      case 'create':
        return void (await this.tasks.create('shop', { title: 'x', assignee: one.assignee }, ANN));
      case 'assign':
        return void (await this.tasks.assign('shop', one.task, one.to, { by: ANN }));
      case 'move':
        return void (await this.tasks.move('shop', one.task, one.to, { by: ANN }));
      case 'next':
      case 'report':
      case 'call':
      case 'read':
      case 'leave': {
        const conversation = this.talk(one.agent, one.session);
        await conversation.seen({ ended: one.do === 'leave' });
        if (one.do === 'next') await nextFor(this.tasks, conversation);
        if (one.do === 'report') await report(this.tasks, conversation, { result: one.result, summary: 'x' });
        if (one.do === 'call') await (await conversation.refuse({ on: 'echo' }))?.offer?.confirm();
        if (one.do === 'read') await (await conversation.pull({ mark: true })).offer?.confirm();
      }
    }
  }

  async check(before: ReadonlyMap<string, Task>): Promise<Map<string, Task>> {
    const { tasks } = await this.tasks.list('shop');
    const open = await this.tasks.open('shop');
    for (const each of tasks) {
      const { id, status, assignee } = each;
      // The records have no gap, and their replay gives the stored task. Times are not compared, because they may differ by some
      // ms.
      const records = (await this.inbox.store.read({ project: 'shop', types: TASK_RECORDS }))
        .map(({ body }) => body as unknown as TaskRecord)
        .filter((record) => record.task === id)
        .toSorted((a, b) => a.version - b.version);
      expect(records.map(({ version }) => version)).toEqual(records.map((_, i) => i + 1));
      const replayed = replayTask(records.map((record) => ({ record, project: 'shop', at: 0 })));
      expect(timeless(replayed)).toEqual(timeless(each));

      const was = before.get(id);
      if (was !== undefined && was.status !== status) {
        const byAgent = each.statusChangedBy.kind === 'agent' || was.assignee !== assignee;
        if (!byAgent) expect(NEXT_STATUSES[was.status]).toContain(status);
      }
      for (const agent of AGENTS) {
        const running = each.executions.filter((one) => one.agent === agent && one.endedAt === null);
        expect(running.length).toBeLessThanOrEqual(1);
        const interrupts = (await this.inbox.store.items(logKey('shop', agent), { kind: 'gate' })).filter(
          ({ notification }) => notification.key === `task:${id}`,
        );
        // At most one interrupt of a task keeps the gate up, and only while the agent's work on the task is interrupted.
        // Therefore, no interrupt stops an agent that may work.
        expect(new Set(interrupts.map((item) => item.id)).size).toBeLessThanOrEqual(1);
        if (interrupts.length > 0) expect(runningOf(each, agent)?.interrupted).not.toBeNull();
        if (status === 'in_progress' && assignee === agent) expect(interrupts).toEqual([]);
      }
      if (status === 'in_progress' && assignee !== null) expect(runningOf(each, assignee)?.interrupted).toBeNull();
      const over = NEXT_STATUSES[status].length === 0 && each.executions.every(({ endedAt }) => endedAt !== null);
      expect(open.some((one) => one.id === id)).toBe(!over);
    }
    return new Map(tasks.map((each) => [each.id, each]));
  }
}

/** The steps that random runs almost always contain. As an example, they are part of each run of the test. */
const OFTEN: Step[] = [
  { do: 'next', agent: 'coder', session: 's1' },
  { do: 'move', task: 't1', to: 'backlog' },
  { do: 'move', task: 't1', to: 'blocked' },
  { do: 'report', agent: 'coder', session: 's1', result: 'blocked' },
  { do: 'next', agent: 'tester', session: 's1' },
  { do: 'report', agent: 'tester', session: 's1', result: 'success' },
  { do: 'create', assignee: null },
  { do: 'move', task: 't3', to: 'backlog' },
  { do: 'create', assignee: 'coder' },
  { do: 'next', agent: 'coder', session: 's1' },
  { do: 'create', assignee: 'tester' },
  { do: 'move', task: 't5', to: 'cancelled' },
  { do: 'create', assignee: 'tester' },
];

const timeless = (value: Task | undefined): unknown =>
  JSON.parse(JSON.stringify(value), (key, inner: unknown) => (/^(at|.*At)$/u.test(key) && inner !== null ? 0 : inner));

describe('for any actions of persons and agents', () => {
  it('a task has only allowed changes, replays to the stored state, and interrupts only the working agent', async () => {
    proves('tasks:replay', 'tasks:interrupts', 'tasks:transitions');
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const world = new World();
        let before = new Map<string, Task>();
        for (const one of [...AGENTS.map((assignee): Step => ({ do: 'create', assignee })), ...steps]) {
          await world.take(one).catch((error: unknown) => {
            if (!(error instanceof EarpieceError)) throw error;
            seen.add(`refused ${error.code}`);
          });
          before = await world.check(before);
        }
        for (const { status, executions } of before.values()) {
          seen.add(status);
          for (const { result, interrupted } of executions) seen.add(`${result} ${interrupted?.why}`);
        }
      }),
      { numRuns: 120, examples: [[OFTEN]] },
    );
    // The runs reached all these statuses, results and refusals, so the properties were tested on them.
    expect([...seen]).toEqual(
      expect.arrayContaining([...TASK_STATUSES, 'success undefined', 'blocked blocked', 'refused conflict']),
    );
  }, 60_000);
});
