/** Passes the executions of an ended conversation to its heir, including interrupted executions that wait for a report. */
import { splitLog } from '../core/address.ts';
import type { Store, Swap } from '../core/ports.ts';
import type { Draft } from '../core/records.ts';
import type { Task, TaskActor } from '../core/task.ts';
import type { Succession } from '../inbox/index.ts';
import type { Board } from './board.ts';
import { runningOf } from './decide.ts';
import { evolve } from './evolve.ts';
import { recordsOf } from './records.ts';
import { boardKey, taskKey } from './settings.ts';

type Passing = { readonly drafts: readonly Draft[]; readonly swaps: readonly Swap[] };

/** Makes the records that pass the executions to the heir. Returns undefined if the conversation has no executions. */
export async function executionsPass(store: Store, { log, from, to }: Succession): Promise<Passing | undefined> {
  const { project, agent } = splitLog(log);
  const board = (await store.setting(boardKey(project))) as Board | undefined;
  const drafts: Draft[] = [];
  const swaps: Swap[] = [];
  const by: TaskActor = { kind: 'agent', name: agent };
  for (const id of board?.open ?? []) {
    const key = taskKey(project, id);
    const task = (await store.setting(key)) as Task | undefined;
    const running = task && runningOf(task, agent);
    if (task === undefined || running?.conversation !== from) continue;
    const fact = { type: 'task_execution_taken', execution: running.id, conversation: to } as const;
    const records = recordsOf([fact], { task: id, version: task.version, by });
    let after = task;
    for (const record of records) after = evolve(after, record, { project, at: store.now() });
    for (const record of records) drafts.push(record);
    swaps.push({ key, from: task, to: after });
  }
  return drafts.length === 0 ? undefined : { drafts, swaps };
}
