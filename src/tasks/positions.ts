import type { Store } from '../core/ports.ts';
import type { Task } from '../core/task.ts';
import { TASK_RECORDS, type TaskRecord } from './records.ts';

/** Positions looked at in one go, so that others of this process get their turn. */
const WINDOW = 5_000;

/**
 * Where the records of these tasks are, by task, in whichever logs of the project. From the oldest on, and only as far as
 * they reach: a task has as many records as its version says.
 */
export async function positionsOf(
  store: Store,
  project: string,
  tasks: readonly Task[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const positions = new Map(tasks.map(({ id }): [string, number[]] => [id, []]));
  let left = tasks.reduce((sum, { version }) => sum + version, 0);
  const head = await store.head();
  for (let after = 0; after < head && left > 0; after += WINDOW) {
    const upTo = after + WINDOW;
    for (const { seq, body } of await store.read({ project, types: TASK_RECORDS, after, upTo, limit: WINDOW })) {
      const found = positions.get((body as unknown as TaskRecord).task);
      if (found === undefined) continue;
      found.push(seq);
      left--;
    }
  }
  return positions;
}
