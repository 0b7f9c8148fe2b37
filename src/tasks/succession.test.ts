import { expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import type { TaskActor } from '../core/task.ts';
import { begin, Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { executionsPass, nextFor, report, Tasks } from './index.ts';

const ANN: TaskActor = { kind: 'person', name: 'Ann' };

it('the task of an ended conversation continues in its heir, with the interrupt that waits for a report', async () => {
  proves('succession:heir', 'tasks:interrupts');
  const policies = { policy: () => DEFAULT_POLICY };
  await using inbox = new Inbox({ store: memoryStore(), policies, companions: [executionsPass], timeZone: 'UTC' });
  const tasks = new Tasks(inbox);
  await tasks.create('shop', { title: 'x', assignee: 'coder' }, ANN);
  const first = inbox.conversation('shop/coder#first', { pulls: true });
  await begin(first);
  await nextFor(tasks, first);
  await tasks.move('shop', 't1', 'blocked', { by: ANN, reason: 'wait' });
  await first.ended();

  const heir = inbox.conversation('shop/coder#heir', { pulls: true });
  expect(await begin(heir)).toEqual({ from: ['first'], waits: false });
  expect((await heir.gate()).map(({ notification }) => notification.kind.name)).toEqual(['blocked']);
  expect((await tasks.get('shop', 't1')).executions).toMatchObject([{ id: 't1.1', conversation: 'heir', endedAt: null }]);
  const reported = await report(tasks, heir, { result: 'blocked', summary: 'stopped' });
  expect(reported.kind).toBe('interrupted');
  expect(await heir.gate()).toEqual([]);
  expect(await inbox.store.verify()).toEqual([]);
});
