/** `earpiece/tasks`. What agents are to do, taken and reported by them, and led by people. */
import '../node-version.ts';

export * from '../tasks/index.ts';
export * from '../core/task.ts';
