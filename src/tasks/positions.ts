import type { Store } from '../core/ports.ts';
import type { Task } from '../core/task.ts';
import { TASK_RECORDS, type TaskRecord } from './records.ts';

/** The number of positions that one read covers. Between two reads, other work of this process can run. */
const WINDOW = 5_000;

/**
 * Finds the positions of these tasks' records in all logs of the project. Reads from the oldest record, and stops when all
 * records are found, because a task's version is the number of its records.
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
